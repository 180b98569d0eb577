"""Queries that are stopped, or end because a worker is broken, on threads of this process."""

import os
import signal
import subprocess
import sys
import threading

import pytest
import treemill as tm
from treemill.backends.threads import ThreadPass
from treemill.session.api import connect
from treemill.workers import worker as worker_module

from tests.raising import raises


@pytest.fixture(params=[1, 2, 5])
def threads(request):
    """For tests that reach into workers, which they can where these are threads."""
    with connect(workers=request.param) as made:
        yield made


@pytest.fixture
def paused(monkeypatch):
    """Lets two packets through, then holds every worker until the pass is stopped. Says when they
    are held."""
    held, stopped = threading.Event(), threading.Event()
    done = []
    process, stop = worker_module.Worker._process, ThreadPass.stop

    def slow(self, packet):
        if len(done) >= 2:
            held.set()
            stopped.wait(60)
        done.append(packet)
        return process(self, packet)

    def noted(self, reason):
        stop(self, reason)
        stopped.set()

    monkeypatch.setattr(worker_module.Worker, "_process", slow)
    monkeypatch.setattr(ThreadPass, "stop", noted)
    return held


def test_stop_keeps_what_is_done(threads, events, paused):
    query = threads.submit(events.count(), events.sum("nJet"))
    assert paused.wait(60)
    assert not query.done
    query.stop()
    count, _ = query.result(timeout=60)
    report = query.report
    assert 0 < count < 12322
    assert count == report.entries
    missing = sum(gap.stop - gap.start for gap in report.missing if gap.stop is not None)
    unopened = [gap.file for gap in report.missing if gap.stop is None]
    assert report.entries + missing <= 12322
    assert (report.entries + missing == 12322) == (not unopened)
    assert {gap.reason for gap in report.missing} == {"stopped by the user"}
    # An unfinished result is not taken for the value.
    assert not query.bookings[0].done


def test_ctrl_c(threads, events, paused):
    def press():
        paused.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        threads.run(events.count())
    presser.join()
    assert isinstance(caught.value, tm.QueryInterrupted)
    assert caught.value.partial_result[0] == caught.value.report.entries
    assert 0 < caught.value.report.entries < 12322
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_session_works_after_ctrl_c(events, paths):
    code = f"""
import os, signal, threading
import treemill as tm
from treemill.backends.threads import ThreadPass
from treemill.workers import worker
process, stop = worker.Worker._process, ThreadPass.stop
first, stopped = threading.Lock(), threading.Event()
def pressed(self, packet):
    if first.acquire(blocking=False):
        os.kill(os.getpid(), signal.SIGINT)
    stopped.wait(60)  # else the query may be done before the main thread hears of the signal
    return process(self, packet)
def noted(self, reason):
    stop(self, reason)
    stopped.set()
worker.Worker._process, ThreadPass.stop = pressed, noted
events = tm.dataset({paths!r} * 20, "Events")
try:
    tm.run(events.count())
except KeyboardInterrupt as interrupt:
    print("interrupted", interrupt.report.complete)
print(events.count().value)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    lines = done.stdout.split("\n")
    assert lines[0].startswith("interrupted")
    assert lines[1] == str(20 * 12322)


def test_a_defect_in_a_worker_ends_the_query(threads, events, monkeypatch):
    def broken(self, action):
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(worker_module.Worker, "perform", broken)
    with raises(tm.WorkerError, said="ZeroDivisionError: a defect"):
        threads.run(events.count())
