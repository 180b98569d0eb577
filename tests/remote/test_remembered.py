"""Columns of files on servers that are remembered in memory (`tm.cache.limit`): of a file that is
as it was, a server is asked for its state and for no byte; of one that has changed, anew."""

import os

import pytest
import treemill as tm

from tests.remote.conftest import settle, skip_without
from tools.servers.nginx import Nginx
from tools.servers.xrootd import XRootD

PATH = "store/trees/events_2.root"


@pytest.fixture
def remembered(core):
    """Room for all of it, without what others have left."""
    before = tm.cache.limit
    tm.cache.limit = 0
    tm.cache.limit = "256 MB"
    yield
    tm.cache.limit = before


@pytest.mark.parametrize("kind", [XRootD, Nginx])
def test_a_file_is_asked_for_its_state_and_for_no_byte_until_it_changes(kind, files, remembered):
    skip_without(kind.missing())
    trees = [files[f"store/trees/events_{number}.root"] for number in (2, 0)]
    expected = [tm.dataset(str(tree), "Events").sum("Jet_pt").value for tree in trees]
    with kind() as server, tm.connect(workers=2, mode="threads") as session:
        datasets = []  # a file is open for as long as one of it is there

        def run():
            datasets.append(tm.dataset(f"{url}:Events"))
            found = session.run(datasets[-1].sum("Jet_pt"), progress=False)
            return found, session.report.io

        url = server.put(trees[0], PATH)
        long_ago(server, 1000)
        settle(url)
        found, first = run()
        assert (found, first.bytes_from_cache) == (expected[0], 0)
        assert min(first.requests, first.bytes_wanted) > 0
        run()  # what is read a second time is kept
        before = asked(server)
        found, again = run()
        assert found == expected[0]
        assert (again.requests, again.bytes_read, again.bytes_wanted) == (0, 0, 0)
        assert again.bytes_from_cache > 0
        assert all("range=bytes=0-0 " in line for line in asked(server)[len(before) :])

        server.put(trees[1], PATH)
        long_ago(server, 500)
        settle(url)
        found, changed = run()
        assert found == expected[1]
        assert changed.requests > 0


@pytest.mark.parametrize(("fresh", "looks"), [(3600.0, 0), (0.0, 1)])
def test_a_pass_takes_the_word_of_the_look_that_opened_the_file_once(
    files, monkeypatch, fresh, looks
):
    skip_without(Nginx.missing())
    monkeypatch.setattr("treemill.data.remote._FRESH", fresh)
    with Nginx() as server, tm.connect(workers=1, mode="threads") as session:
        url = server.put(files[PATH], PATH)
        long_ago(server, 1000)
        events = tm.dataset(f"{url}:Events")
        assert events.branches  # opens the file

        def looks_of_a_pass():
            before = len(asked(server))
            session.run(events.sum("Jet_pt"), progress=False)
            return sum("range=bytes=0-0 " in line for line in asked(server)[before:])

        assert looks_of_a_pass() == looks
        assert looks_of_a_pass() == 1


def long_ago(server, seconds):
    """The file was written before: its state is certain at once."""
    path = server.data / PATH
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


def asked(server):
    """What nginx has noted, which tells a state with a first byte; XRootD notes nothing."""
    return server.requests() if isinstance(server, Nginx) else []
