"""Processes of a cluster that die, stop or join: the counts are those of an undisturbed run, or an
error says what happened. `STRESS=20` repeats each test so many times.
"""

import os
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path

import pytest
import treemill as tm

from tests.raising import raises
from tests.waiting import until

from .processes import Processes, scheduler_state
from .queries import again, at_work, check, committed, hurried, started

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="stops processes by signals")


@pytest.fixture
def processes(tmp_path):
    with Processes(tmp_path) as made:
        yield made


@pytest.fixture
def connected(processes):
    """A cluster of three workers, and a session."""
    processes.add(3)
    with tm.connect(processes.address, silence=20) as session:
        client = session._pool._client
        client.wait_for_workers(3, timeout=60)
        yield session, client


@again
def test_a_worker_is_killed(connected, events, tmp_path, turn):
    session, client = connected
    query = started(session, events, tmp_path)
    until(lambda: committed(client), "a commit")
    victim = next(pid for pid in at_work(tmp_path / "seen") if pid not in committed(client))
    os.kill(victim, signal.SIGKILL)
    check(events, hurried(query, tmp_path))


@pytest.mark.slow
@again
def test_the_worker_that_holds_the_partials_is_killed(connected, events, tmp_path, turn):
    session, client = connected
    query = started(session, events, tmp_path)
    until(lambda: committed(client), "a commit")
    os.kill(committed(client)[0], signal.SIGKILL)
    check(events, hurried(query, tmp_path))


@pytest.mark.slow
@again
@pytest.mark.parametrize("seconds", [2, 30], ids=["heard of again", "given up meanwhile"])
def test_a_worker_is_stopped_for_a_while(connected, events, tmp_path, seconds, turn):
    session, client = connected
    query = started(session, events, tmp_path)
    until(lambda: committed(client), "a commit")
    victim = committed(client)[0]
    os.kill(victim, signal.SIGSTOP)
    time.sleep(seconds)  # how long the fault lasts
    os.kill(victim, signal.SIGCONT)
    check(events, hurried(query, tmp_path))


@pytest.mark.slow
@again
def test_a_worker_that_stays_silent_is_given_up(processes, events, tmp_path, turn):
    processes.add(3)
    with tm.connect(processes.address, silence=2) as session:
        client = session._pool._client
        client.wait_for_workers(3, timeout=60)
        query = started(session, events, tmp_path)
        until(lambda: committed(client), "a commit")
        victim = committed(client)[0]
        os.kill(victim, signal.SIGSTOP)
        check(events, hurried(query, tmp_path))
        os.kill(victim, signal.SIGCONT)
        until(lambda: len(client.scheduler_info()["workers"]) == 3, "it is back")
        assert session.run(events.count()) == events.num_entries


@pytest.mark.slow
@again
def test_a_worker_joins(processes, events, tmp_path, turn):
    processes.add(1)
    with tm.connect(processes.address) as session:
        query = started(session, events, tmp_path, workers=1)
        processes.add(2)
        until(lambda: len(at_work(tmp_path / "seen")) == 3 or query.done, "all are at work")
        assert not query.done
        check(events, hurried(query, tmp_path))


@again
def test_a_query_waits_for_the_first_worker(processes, events, turn):
    with tm.connect(processes.address) as session:
        query = session.submit(events.count())
        processes.add(1)
        assert query.result(60) == (events.num_entries,)


@pytest.mark.slow
@again
def test_a_nanny_starts_its_worker_anew(processes, events, tmp_path, turn):
    processes.add(1, 1, "--nanny")
    with tm.connect(processes.address) as session:
        query = started(session, events, tmp_path, workers=1)
        os.kill(at_work(tmp_path / "seen").pop(), signal.SIGKILL)
        check(events, hurried(query, tmp_path))


@again
def test_the_scheduler_is_killed(connected, processes, events, tmp_path, turn):
    session, _ = connected
    query = started(session, events, tmp_path)
    os.kill(processes.scheduler.pid, signal.SIGKILL)
    with raises(tm.WorkerError, said="scheduler start it again"):
        query.result(60)


@pytest.mark.slow
@again
def test_no_worker_is_left(processes, events, tmp_path, turn):
    processes.add(1)
    with tm.connect(processes.address, wait=4) as session:
        session._pool._client.wait_for_workers(1, timeout=60)
        query = started(session, events, tmp_path, workers=1)
        os.kill(at_work(tmp_path / "seen").pop(), signal.SIGKILL)
        with raises(
            tm.WorkerError, about=query.title, said="no worker has been there for 4 seconds"
        ):
            query.result(60)


CLIENT = """
import os, sys
import treemill as tm

events = tm.dataset(sys.argv[2:], tree="Events")
session = tm.connect(sys.argv[1])
kind = os.environ["KIND"]
if kind == "bookings":
    good = events.filter("nMuon >= 2")
    query = session.submit(good.hist("MET_pt", bins=20), good.count())
else:
    def spans(chunk):
        import time
        time.sleep(len(chunk) * 1e-4)
        data = chunk.metadata
        span = (data["filename"], data["entrystart"], data["entrystop"])
        return {"n": len(chunk), "spans": [span]}

    query = session.submit(spans, events)
print(query.id, flush=True)
sys.stdin.read()
"""


def attached_after_the_client_was_killed(processes, events, kind):
    """Kills a client, and gets its result in another session."""
    words = [sys.executable, "-c", textwrap.dedent(CLIENT), processes.address, *events.files]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    variables = os.environ | {"KIND": kind}
    with subprocess.Popen(words, env=variables, **pipes) as client:
        name = client.stdout.readline().decode().strip()
        assert name
        client.kill()
    with tm.connect(processes.address) as session:
        assert [kept.id for kept in session.queries] == [name]
        query = session.attach(name)
        found = query.result(60)
        if kind == "bookings":
            good = events.filter("nMuon >= 2")
            histogram, count = tm.run(good.hist("MET_pt", bins=20), good.count())
            assert found[0] == histogram
            assert found[1] == count
        else:
            check(events, found)
        assert query.report.entries == events.num_entries
        assert [account.id for account in session.queries] == [name], "it was fetched"
        # The scheduler forgets it when Dask tells it that the killed client waits no more.
        is_forgotten = partial(
            scheduler_state, session._pool._client, lambda kept: not kept._passes
        )
        until(is_forgotten, "the scheduler to forget the query")
        with raises(tm.QueryError, said="no query"):
            session.attach(name)


@again
@pytest.mark.parametrize("kind", ["bookings", "selector"])
def test_the_client_is_killed_and_another_one_attaches(processes, events, kind, turn):
    processes.add(2)
    attached_after_the_client_was_killed(processes, events, kind)
