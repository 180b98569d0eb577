"""NFSv4.1 and 4.2 in user space, against nfs-ganesha: versions, links, long folders, and what a
server that is killed and started anew has forgotten.
"""

import awkward as ak
import numpy as np
import pytest
import treemill as tm

from tests.raising import raises
from tests.remote.conftest import skip_without
from tests.remote.test_faults import outcome
from tools.servers.ganesha import Ganesha


def url(server, number, query=""):
    return f"{server.url(f'store/trees/events_{number}.root')}{query}"


@pytest.fixture
def own(files, nothing_remembered):
    """A server that the test may break; it has a period of grace after its start."""
    skip_without(Ganesha.missing())
    with Ganesha(grace=20) as server:
        for path, source in files.items():
            server.put(source, path)
        yield server


@pytest.mark.parametrize("version", ["4.1", "4.2"])
def test_both_versions(ganesha, paths, nothing_remembered, version):
    here = tm.dataset(paths, "Events").hist("MET_pt", bins=(50, 0, 200))
    pattern = ganesha.url(f"store/trees/events_*.root?vers={version}")
    there = tm.dataset(pattern, "Events").hist("MET_pt", bins=(50, 0, 200))
    assert np.array_equal(here.value.view(flow=True), there.value.view(flow=True))


@pytest.mark.parametrize("version", ["3", "4.0", "4.9"])
def test_other_versions_are_refused_by_name(ganesha, version):
    with raises(tm.SourceError, said="4 1 and 4 2"):
        len(tm.dataset(url(ganesha, 0, f"?vers={version}"), "Events"))


def test_links_on_the_way_are_followed(ganesha, paths, nothing_remembered):
    link = ganesha.data / "store" / "linked"
    if not link.is_symlink():
        link.symlink_to("../store/trees")
    (ganesha.data / "last.root").unlink(missing_ok=True)
    (ganesha.data / "last.root").symlink_to("store/linked/events_2.root")
    for path in ("store/linked/events_2.root", "last.root"):
        assert tm.dataset(ganesha.url(path), "Events").num_entries == 7321


def test_a_long_path_and_many_names(ganesha, paths, nothing_remembered):
    """More names than fit one request, and more entries than fit one answer."""
    path = "/".join(f"level{i}" for i in range(100))
    folder = ganesha.data / path
    folder.mkdir(parents=True)
    for number in range(3000):
        (folder / f"{number}-{'x' * 200}.txt").touch()
    there = ganesha.put(paths[1], f"{path}/events.root")
    assert tm.dataset(there, "Events").num_entries == 1
    assert tm.dataset(ganesha.url(f"{path}/*.root"), "Events").num_entries == 1
    from treemill import _core

    assert len(_core.remote_list(ganesha.url(f"{path}/"))) == 3001


def test_a_server_that_is_killed_in_mid_read_and_comes_back(own, paths):
    """What was open is claimed back while the server takes nothing new."""
    events = tm.dataset(url(own, 2), "Events")
    first = events.arrays("Jet_pt", start=0, stop=1000)
    own.kill()
    own.restart()
    second = outcome(lambda: events.arrays("Jet_pt", start=1000))
    assert not isinstance(second, Exception), second
    expected = tm.dataset(paths[2], "Events").arrays("Jet_pt")
    assert ak.array_equal(ak.concatenate([first, second]), expected)


def test_what_reading_took_is_counted(ganesha, nothing_remembered):
    events = tm.dataset(url(ganesha, 0), "Events")
    assert events.count().value == 5000
    assert len(events.arrays("MET_pt")) == 5000
    server = f"nfs://127.0.0.1:{ganesha.ports[0]}"
    assert server in [one.source for one in events.io_report().sources]
