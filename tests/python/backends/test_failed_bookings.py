"""Bookings that fail or are interrupted: their errors are theirs alone, whatever comes next."""

import gc
import os
import signal
import threading

import hist
import pytest
import treemill as tm
from treemill.backends.threads import ThreadPass
from treemill.session import booking_run as booked_module
from treemill.workers import worker as worker_module

from tests.raising import raises


@pytest.fixture
def passes(monkeypatch):
    """Of each query that has started: the titles of its bookings."""
    seen = []
    start = booked_module.BookingRun.first_pass

    def noted(self):
        planned = start(self)
        seen.append(list(self.titles))
        return planned

    monkeypatch.setattr(booked_module.BookingRun, "first_pass", noted)
    return seen


def too_many(events):
    return events.unique("MET_pt", limit=10)


# Each fails while it runs, or when its value is made.
FAILING = {
    "unique": too_many,
    "take": lambda events: events.take("MET_pt", limit=10),
    "arrays": lambda events: events.filter("nJet >= 0").take(["MET_pt"], limit=10),
    "category": lambda events: events.hist(
        "event * 4294967296", bins=hist.axis.IntCategory([], growth=True)
    ),
    "snapshot": lambda events: events.snapshot("/dev/null/there/is.root", ["MET_pt"]),
}


@pytest.mark.parametrize("kind", FAILING)
def test_an_error_is_its_bookings_alone(events, truth, kind):
    failing = FAILING[kind](events)
    with pytest.raises(Exception) as first:  # noqa: PT011 - each kind has one of its own
        _ = failing.value
    count = events.count()
    assert count.value == len(truth)
    assert "books" in events.count().explain()
    with pytest.raises(type(first.value)) as again:
        _ = failing.value
    assert str(again.value)[:40] == str(first.value)[:40], "but for names of temporary folders"


@pytest.mark.parametrize("kind", FAILING)
def test_what_fails_beside_another_does_not_spoil_it(events, truth, kind):
    failing, count = FAILING[kind](events), events.count()
    assert count.value == len(truth)
    with pytest.raises(Exception):  # noqa: B017, PT011
        _ = failing.value


def test_a_failed_booking_is_not_taken_along(events, passes):
    failing = too_many(events)
    with pytest.raises(tm.QueryError):
        _ = failing.value
    passes.clear()
    one, other = events.count(), events.sum("nJet")
    _ = one.value
    assert passes == [[one.title, other.title]]


def test_who_fails_among_many_is_found_in_few_passes(events, truth, passes):
    sums = [events.sum(f"nJet * {i}") for i in range(40)]
    failing = too_many(events)
    total = int(truth.nJet.to_numpy().sum())
    assert [each.value for each in sums] == [total * i for i in range(40)]
    assert len(passes) < 16, "not one for each"
    with raises(tm.QueryError, said="more than 10"):
        _ = failing.value


def test_the_wanted_ones_own_error_leaves_the_others_together(events, passes):
    failing, one, other = too_many(events), events.count(), events.sum("nJet")
    with raises(tm.QueryError, said="more than 10"):
        _ = failing.value
    passes.clear()
    _ = one.value
    assert other.done
    assert passes == [[one.title, other.title]]


def test_after_a_run_that_failed_each_is_asked_for_itself(events, truth, passes):
    failing, count, later = too_many(events), events.count(), events.sum("nJet")
    with raises(tm.QueryError, said="more than 10"):
        tm.run(failing, count)
    passes.clear()
    _ = later.value
    assert not count.done
    assert count.value == len(truth)
    assert passes == [[later.title], [count.title]]


def test_bookings_that_do_not_compile_poison_nothing(events, truth):
    wrong = events.hist("MET_px", bins=(1, 0, 1))
    refused = events.take("combinations(Jet_pt, 2)")
    count, total = events.count(), events.sum("nJet")
    assert "books" in count.explain()
    assert "books" in events.explain()
    assert count.value == len(truth)
    assert total.done, "what compiles shares the pass"
    for each in (wrong, refused):
        with pytest.raises(tm.TreemillError):
            _ = each.value
        with pytest.raises(tm.TreemillError):
            each.explain()


def test_a_part_of_the_data_is_no_value(events, truth):
    count, total = events.count(), events.sum("nJet")
    assert tm.run(count, entries=100) == 100
    assert not count.done
    _ = total.value
    assert count.done, "it is as if it had not been run"
    assert count.value == len(truth)


@pytest.fixture
def interrupted(monkeypatch):
    """Ctrl-C comes at the first packet, once."""
    process, stop = worker_module.Worker._process, ThreadPass.stop
    stopped, once = threading.Event(), threading.Lock()

    def pressed(self, packet):
        if once.acquire(blocking=False):
            os.kill(os.getpid(), signal.SIGINT)
        stopped.wait(60)
        return process(self, packet)

    def noted(self, reason):
        stop(self, reason)
        stopped.set()

    monkeypatch.setattr(worker_module.Worker, "_process", pressed)
    monkeypatch.setattr(ThreadPass, "stop", noted)


@pytest.mark.usefixtures("interrupted")
def test_what_was_interrupted_stays_so_until_it_is_asked_for_itself(events, truth, passes):
    slow, along = events.take("MET_pt"), events.sum("nMuon")
    with pytest.raises(tm.QueryInterrupted):
        _ = slow.value
    passes.clear()
    count = events.count()
    assert count.value == len(truth)
    assert (slow.done, along.done) == (False, False)
    assert len(slow.value) == len(truth)
    assert not along.done
    assert along.value == int(truth.nMuon.to_numpy().sum())
    assert passes == [[count.title], [slow.title], [along.title]]


def test_a_failed_booking_that_nobody_holds_is_gone(events):
    """Neither workers nor the session keep it; the error's traceback is the test's own."""
    failing = too_many(events)
    with pytest.raises(tm.QueryError):
        _ = failing.value
    del failing
    open_ = events.node.origin._open
    for _ in range(600):  # the workers' threads may be in frames that know it a moment longer
        gc.collect()
        if all(reference() is None for reference in open_.values()):
            break
        threading.Event().wait(0.05)
    assert all(reference() is None for reference in open_.values())
