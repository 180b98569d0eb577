"""Files on real servers read as the same files on this disk do: entries, values and histograms, by
every protocol. A scheme that this version does not support is skipped, and says so.
"""

from contextlib import contextmanager
from dataclasses import dataclass

import awkward as ak
import numpy as np
import pytest
import treemill as tm
from treemill.data import source

PLACES = (
    *("xrootd", "redirector", "xrootd-http", "xrootd-dav", "redirector-http"),
    *("http", "https", "davs", "s3", "nfs", "dcap"),
    *("ftp", "fsspec-local", "official-xrootd"),
)
LISTS = tuple(place for place in PLACES if place not in ("davs", "dcap"))
"""Where folders are listed. nginx takes `davs://` for reading, but does not speak WebDAV; dCap does
not list."""


@dataclass
class Place:
    """A server as a user names it: `base` and a path make a URL."""

    base: str
    server: str
    """What an error must name."""

    def url(self, path):
        return f"{self.base}{path}"


def of_xrootd(request):
    server = request.getfixturevalue("xrootd")
    return Place(server.url(""), f"127.0.0.1:{server.ports[0]}")


def of_redirector(request):
    base = request.getfixturevalue("federation").url("")
    return Place(base, base.split("/")[2])


def of_xrootd_http(request):
    server = request.getfixturevalue("xrootd")
    return Place(server.http_url(""), f"127.0.0.1:{server.ports[0]}")


def of_xrootd_dav(request):
    place = of_xrootd_http(request)
    return Place(place.base.replace("http://", "dav://"), place.server)


def of_redirector_http(request):
    base = request.getfixturevalue("federation").redirector.http_url("")
    return Place(base, base.split("/")[2])


def of_http(request):
    server = request.getfixturevalue("nginx")
    return Place(server.url(""), f"127.0.0.1:{server.ports[0]}")


def of_https(request):
    request.getfixturevalue("token")
    server = request.getfixturevalue("nginx_tls")
    return Place(server.url(""), f"127.0.0.1:{server.ports[0]}")


def of_davs(request):
    place = of_https(request)
    return Place(place.base.replace("https://", "davs://"), place.server)


def of_s3(request):
    server = request.getfixturevalue("s3")
    for name, value in server.environment.items():
        request.getfixturevalue("monkeypatch").setenv(name, value)
    return Place(server.url(""), server.BUCKET)


def of_nfs(request):
    server = request.getfixturevalue("ganesha")
    return Place(server.url(""), f"127.0.0.1:{server.ports[0]}")


def of_dcap(request):
    server = request.getfixturevalue("dcap")
    return Place(server.url(""), f"127.0.0.1:{server.port}")


def of_ftp(request):
    server = request.getfixturevalue("ftp")
    return Place(server.url(""), f"127.0.0.1:{server.ports[0]}")


def of_fsspec_local(request):
    """fsspec's own words for the files of this machine, which `file://` and paths do not go by."""
    return Place(f"local://{request.getfixturevalue('xrootd').data}/", "local://")


def of_official_xrootd(request):
    pytest.importorskip("XRootD", reason="the official client of XRootD is not installed")
    place = of_xrootd(request)
    return Place(f"xrootd+{place.base}", place.server)


MAKERS = {name: globals()[f"of_{name.replace('-', '_')}"] for name in PLACES}


def supported(url):
    """Skips for a scheme that the table of storages does not have."""
    try:
        source.address(url)
    except tm.UnsupportedError as error:
        pytest.skip(str(error))


@pytest.fixture(params=PLACES)
def place(request, nothing_remembered):
    made = MAKERS[request.param](request)
    supported(made.base)
    return made


def trees(place):
    return [f"{place.url(f'store/trees/events_{i}.root')}:Events" for i in range(3)]


def histograms(events):
    good = events.filter("nMuon >= 2").define("ht", "sum(Jet_pt[Jet_pt > 30])")
    return [
        events.hist("MET_pt", bins=(50, 0, 200)),
        good.hist("ht", bins=(40, 0, 800)),
        good.hist("Muon_pt", bins=(40, 0, 100)),
        good.count(),
    ]


def assert_same(found, expected):
    for one, other in zip(found[:-1], expected[:-1], strict=True):
        assert np.array_equal(one.view(flow=True), other.view(flow=True))
    assert found[-1] == expected[-1]


def test_a_tree_reads_as_it_does_here(place, paths):
    here, there = tm.dataset(paths[0], "Events"), tm.dataset(trees(place)[0])
    assert there.num_entries == here.num_entries
    assert list(there.branches) == list(here.branches)
    names = ["MET_pt", "nMuon", "Muon_pt", "Jet_pt"]
    assert ak.array_equal(there.arrays(names), here.arrays(names))


def test_part_of_a_tree(place, paths):
    here, there = tm.dataset(paths[2], "Events"), tm.dataset(trees(place)[2])
    found = there.arrays(["Jet_pt", "run"], start=990, stop=4321)
    assert ak.array_equal(found, here.arrays(["Jet_pt", "run"], start=990, stop=4321))


def test_an_ntuple_reads_as_it_does_here(place, ntuple):
    here, there = tm.dataset(ntuple), tm.dataset(place.url("store/ntuples/staff.root"))
    assert there.num_entries == here.num_entries
    assert ak.array_equal(there.arrays(), here.arrays())


def test_a_file_that_is_shorter_than_the_first_request(place, files):
    here = tm.dataset(str(files["store/ntuples/tiny.root"]))
    there = tm.dataset(place.url("store/ntuples/tiny.root"))
    assert ak.array_equal(there.arrays(), here.arrays())


@contextmanager
def own_or_shared(place, mode, shared_session):
    """A session of two workers: of its own where processes need the environment of this test, or a
    client whose threads do not survive a fork."""
    if mode == "threads" or not place.base.startswith(("https:", "davs:", "s3:", "xrootd+")):
        yield shared_session(2, mode)
        return
    start = "spawn" if place.base.startswith("xrootd+") else None
    with tm.connect(workers=2, mode=mode, start=start) as session:
        yield session


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_histograms_are_the_same(place, paths, mode, shared_session):
    with own_or_shared(place, mode, shared_session) as session:
        expected = session.run(*histograms(tm.dataset(paths, "Events")))
        assert_same(session.run(*histograms(tm.dataset(trees(place)))), expected)


@pytest.mark.parametrize("place", LISTS, indirect=True)
def test_a_glob_and_a_directory(place, paths):
    expected = tm.dataset(paths, "Events").num_entries
    found = tm.dataset(place.url("store/trees/events_*.root:Events")).num_entries
    assert found == expected
    assert tm.dataset(place.url("store/trees/"), tree="Events").num_entries == expected


def test_a_folder_is_what_all_servers_of_a_federation_have(federation, files, nothing_remembered):
    """Each of two data servers has a file of its own, and one that both have."""
    supported("root://r/")
    first, second, third = (files[f"store/trees/events_{i}.root"] for i in range(3))
    federation.put(first, "store/parts/a/one.root", 0)
    federation.put(second, "store/parts/b/two.root", 1)
    federation.put(third, "store/parts/b/both.root")
    found = tm.dataset(federation.url("store/parts/*/*.root:Events"))
    assert found.num_entries == 5000 + 1 + 7321
    assert tm.dataset(federation.url("store/parts/b/"), tree="Events").num_entries == 1 + 7321
    with pytest.raises(tm.SourceError) as caught:
        tm.dataset(federation.url("store/none/*.root"), tree="Events")
    assert "store/none" in str(caught.value)


def test_a_file_that_is_not_there(place):
    url = place.url("store/trees/none.root")
    with pytest.raises(tm.SourceError) as caught:
        len(tm.dataset(f"{url}:Events"))
    assert place.server in str(caught.value)
    assert "none.root" in str(caught.value)
