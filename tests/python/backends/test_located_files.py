"""Servers are asked once for all files of a pass, whichever leases want to know where they are."""

import threading
from types import SimpleNamespace

import pytest
from treemill.backends.base import Request, policy_of
from treemill.backends.sites.pool import LocatedFiles
from treemill.backends.sites.site import leased_request
from treemill.scheduling.leases import Part

BATCHES = [{0: ["root://one//a"], 2: ["root://two//c"]}, {3: ["root://one//d"]}]


def request(locate, second_runs=True):
    given = {1: ["root://two//b", "root://three//b"]}
    nodes = ["n0", "n1", None, "n3", "n4"]
    return Request(
        SimpleNamespace(
            commit_seconds=1.0,
            least_seconds=0.0,
            alone_entries=0,
            second_runs=second_runs,
            small_files=False,
            holds_lock=False,
            share_entries=0,
        ),
        [None] * 5,
        2,
        False,
        lambda ended: None,
        addresses=lambda: given,
        nodes=lambda: nodes,
        locate=locate,
    )


@pytest.mark.parametrize("twice", [True, False])
def test_packets_are_run_twice_only_if_the_task_allows_it(twice):
    assert policy_of(request(None, second_runs=twice), 6).speculate is twice


def test_servers_are_asked_once():
    asked = []

    def locate(wanted):
        asked.append(list(wanted))
        yield from BATCHES

    files = LocatedFiles(request(locate))
    assert sorted(files.addresses()) == [1]
    found = {file: at for each in files.locate([3, 2, 4]) for file, at in each.items()}
    assert found == {2: BATCHES[0][2], 3: BATCHES[1][3]}
    assert list(files.locate([0])) == [{0: BATCHES[0][0]}]
    assert list(files.locate([4])) == []
    assert sorted(files.addresses()) == [0, 1, 2, 3]
    assert asked == [[0, 1, 2, 3, 4]]


def test_what_is_known_is_told_before_the_rest_is():
    go = threading.Event()

    def locate(wanted):
        yield BATCHES[0]
        go.wait()
        yield BATCHES[1]

    told = LocatedFiles(request(locate)).locate([0, 3])
    assert next(told) == {0: BATCHES[0][0]}
    go.set()
    assert list(told) == [{3: BATCHES[1][3]}]


def test_at_the_end_of_the_pass_nothing_is_waited_for():
    go = threading.Event()

    def locate(wanted):
        go.wait()
        yield BATCHES[0]

    files = LocatedFiles(request(locate))
    threading.Timer(0.01, files.end).start()
    assert list(files.locate([0])) == []
    go.set()
    assert sorted(files.addresses()) == [1]


def test_servers_that_fail_leave_the_rest_unknown(monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda raised: None)

    def locate(wanted):
        yield BATCHES[0]
        raise OSError("gone")

    files = LocatedFiles(request(locate))
    assert list(files.locate([0, 3])) == [{0: BATCHES[0][0]}]


def test_the_parts_of_a_lease_are_its_files():
    asked = []

    def locate(wanted):
        asked.append(list(wanted))
        yield from BATCHES

    whole = request(locate)
    parts = [Part(2, 0, 10), Part(1, 5, 7), Part(2, 20, 30), Part(4, 0, None)]
    mine = leased_request(whole, parts, 2, lambda ended: None)
    assert mine.nodes() == [None, "n1", None, "n4"]
    assert mine.addresses() == {1: ["root://two//b", "root://three//b"]}
    assert list(mine.locate(range(4))) == [{0: BATCHES[0][2], 2: BATCHES[0][2]}]
    assert asked == [[1, 2, 4]]
