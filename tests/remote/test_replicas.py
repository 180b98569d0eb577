"""Files that lie on several real servers, read as one: one server dies before or while it is read,
or has another file.
"""

import threading
import warnings

import numpy as np
import pytest
import treemill as tm

from tests.raising import raises
from tests.remote.conftest import settle, skip_without
from tests.remote.test_faults import outcome
from tools.servers.nginx import Nginx
from tools.servers.xrootd import XRootD

PATHS = [f"store/trees/events_{i}.root" for i in range(3)]


@pytest.fixture
def servers(files, nothing_remembered):
    """Two servers of the test's own with the same files."""
    skip_without(XRootD.missing())
    with XRootD() as one, XRootD() as two:
        for path, source in files.items():
            one.put(source, path)
            two.put(source, path)
        yield one, two


def fileset(*servers):
    return {f"/{path}": [server.url(path) for server in servers] for path in PATHS}


def read(files):
    """Sums over all events, in one pass."""
    events = tm.dataset(files, tree="Events")
    good = events.filter("nMuon >= 1")
    return tm.run(good.count(), events.hist("MET_pt", bins=(20, 0, 100)))


def assert_same(found, paths):
    count, met = found
    expected_count, expected_met = read(paths)
    assert count == expected_count
    np.testing.assert_array_equal(met.values(), expected_met.values())


def test_replicas_are_read_as_the_file_is(servers, paths):
    assert_same(read(fileset(*servers)), paths)


def test_a_file_has_its_logical_name_in_errors(servers):
    one, two = servers
    files = {"/store/none.root": [one.url("store/none.root"), two.url("store/none.root")]}
    with raises(tm.SourceError, about="none.root"):
        tm.dataset(files, tree="Events").arrays(["MET_pt"])


def test_each_error_of_a_file_that_is_nowhere_names_all_places(servers):
    files = {"/logical/a.root": [server.url("store/none.root") for server in servers]}
    for _ in range(2):  # the second time it is known that the file cannot be opened
        with pytest.raises(tm.SourceError) as raised:
            _ = tm.dataset(files, tree="Events").num_entries
        for words in ("(file /logical/a.root)", *files["/logical/a.root"]):
            assert words in str(raised.value)


@pytest.mark.parametrize("dead", [0, 1])
def test_a_server_that_is_dead_is_left_alone(servers, paths, dead):
    servers[dead].kill()
    assert_same(outcome(lambda: read(fileset(*servers))), paths)


def test_a_server_that_dies_while_it_is_read_changes_nothing(servers, paths):
    files = fileset(*servers)
    assert tm.dataset(files, tree="Events").branches
    killer = threading.Thread(target=servers[0].kill)
    killer.start()
    found = outcome(lambda: read(files))
    killer.join()
    assert_same(found, paths)


def test_a_longer_list_of_places_counts_though_a_shorter_one_is_open(servers, paths):
    one, two = servers
    shorter = tm.dataset(fileset(one), tree="Events")
    longer = tm.dataset(fileset(one, two), tree="Events")
    settle(*longer.files)  # only then do datasets share what is open
    assert shorter.num_entries == longer.num_entries
    one.kill()
    assert longer.sum("MET_pt").value == tm.dataset(paths, tree="Events").sum("MET_pt").value


def test_a_server_that_is_silent_is_not_waited_for(servers, paths):
    servers[0].freeze()
    assert_same(outcome(lambda: read(fileset(*servers))), paths)


def test_a_place_with_another_file_is_left_out(servers, files, paths):
    one, two = servers
    two.put(files[PATHS[0]], PATHS[2])
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        assert_same(read(fileset(one, two)), paths)


def test_protocols_may_differ(servers, files, paths):
    skip_without(Nginx.missing())
    with Nginx() as nginx:
        for path, source in files.items():
            nginx.put(source, path)
        both = {f"/{path}": [nginx.url(path), servers[0].url(path)] for path in PATHS}
        servers[1].kill()
        assert_same(read(both), paths)
        nginx.kill()
        assert_same(outcome(lambda: read(both)), paths)


def test_each_place_is_opened_once(files, paths, nothing_remembered):
    skip_without(Nginx.missing())
    with Nginx() as one, Nginx() as two:
        for server in (one, two):
            for path, source in files.items():
                server.put(source, path)
        events = tm.dataset(fileset(one, two), tree="Events")
        for column in ("MET_pt", "nMuon"):  # the second pass has the files open
            expected = tm.dataset(paths, "Events").sum(column).value
            assert events.sum(column).value == expected
        for server in (one, two):
            opened = [line for line in server.requests() if "range=bytes=0-8191" in line]
            assert len(opened) == len({line.split()[2] for line in opened})
