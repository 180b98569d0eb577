"""Names with signs that addresses give a meaning: a file of a folder is never taken for another."""

import pytest
import treemill as tm

from tests.raising import raises
from tests.remote.conftest import skip_without
from tools.servers.ganesha import Ganesha
from tools.servers.nginx import Nginx
from tools.servers.xrootd import XRootD

SERVERS = {"http": Nginx, "xrootd http": XRootD, "dav": XRootD, "root": XRootD, "nfs": Ganesha}
ORIGINALS = "store/trees/events_0.root", "store/trees/events_1.root"
"""They have 5000 entries, and one."""


@pytest.fixture(params=SERVERS)
def odd(request, files):
    """What puts a file of one of `ORIGINALS` on a server, and what gives addresses there."""
    kind = SERVERS[request.param]
    skip_without(kind.missing())
    with kind() as server:
        of = server.http_url if request.param in ("xrootd http", "dav") else server.url

        def url(path):
            return of(path).replace("http:", "dav:") if request.param == "dav" else of(path)

        def put(original, path):
            server.put(files[original], path)

        yield put, url


def test_names_that_differ_by_an_escape_are_different_files(odd):
    put, url = odd
    for original, name in zip(ORIGINALS, ("per cent.root", "per%20cent.root"), strict=True):
        put(original, f"odd/{name}")
    for pattern in ("odd/", "odd/*.root", "**/per*cent.root"):
        events = tm.dataset(url(pattern), tree="Events")
        assert (events.num_entries, events.count().value) == (5001, 5001)


@pytest.mark.parametrize("name", ["hash#1.root", "br[1].root", "a+b&c;d.root", "ünïcode.root"])
def test_odd_names_are_found_in_folders(odd, name):
    put, url = odd
    put(ORIGINALS[1], f"odd {name[0]}/{name}")
    for pattern in (f"odd {name[0]}/", "*/*.root"):
        assert tm.dataset(url(pattern), tree="Events").num_entries == 1


@pytest.mark.parametrize("name", ["q?x.root", "q?x=1.root"])
def test_a_question_mark_begins_no_query(odd, name, request):
    put, url = odd
    for original, path in zip(ORIGINALS, ("odd/q", f"odd/{name}"), strict=True):
        put(original, path)
    put(ORIGINALS[1], "odd/other.root")
    patterns = ("odd/", "odd/q*.root", "*/*.root")
    if request.node.callspec.params["odd"] == "http":
        assert [tm.dataset(url(each), tree="Events").num_entries for each in patterns] == [2, 1, 2]
    else:
        for pattern in patterns:
            with raises(tm.SourceError, said="cannot be written in an address") as caught:
                tm.dataset(url(pattern), tree="Events")
            assert name in str(caught.value)
    assert tm.dataset(url("odd/o*.root"), tree="Events").num_entries == 1
