"""Processes of a cluster that die, stop or join: the counts are those of an undisturbed run, or an
error says what happened. `STRESS=20` repeats each test so many times.
"""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
import treemill as tm

from .processes import Processes, desk, until

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="stops processes by signals")

TIMES = range(int(os.environ.get("STRESS", "1")))
again = pytest.mark.parametrize("turn", TIMES)


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


def slow(folder, seconds=1e-4):
    """Says which entries it saw, and takes a while for each entry; a worker says once that it is at
    work, by a file with its process id."""
    folder = str(folder)

    def spans(chunk):
        import os
        import time

        open(os.path.join(folder, f"at-work-{os.getpid()}"), "w").close()
        time.sleep(len(chunk) * seconds)
        data = chunk.metadata
        span = (data["filename"], data["entrystart"], data["entrystop"])
        return {"n": len(chunk), "spans": [span]}

    return spans


def at_work(folder):
    return {int(path.name.rsplit("-", 1)[1]) for path in folder.glob("at-work-*")}


def check(events, output):
    assert output["n"] == events.num_entries
    for path, (entries, _) in zip(events.files, events.chain.sizes, strict=True):
        mine = sorted((a, b) for name, a, b in output["spans"] if name == path)
        assert [a for a, _ in mine] == [0, *(b for _, b in mine)][:-1], "no gap, nothing twice"
        assert mine[-1][1] == entries


def started(session, events, folder, workers=3, **options):
    folder = folder / "seen"
    folder.mkdir()
    query = session.submit(slow(folder), events, **options)
    until(lambda: len(at_work(folder)) >= workers or query.done, "workers at work")
    if query.done:
        query.result()
    return query


def committed(client):
    """Process ids of the workers that hold partials."""

    def look(desk):
        leads = list(desk._leads.values())
        return [part.address for lead in leads for part in lead.parts(whole=False) or ()]

    addresses = desk(client, look)
    pids = client.run(os.getpid)
    return [pids[each] for each in addresses if each in pids]


@again
def test_a_worker_is_killed(connected, events, tmp_path, turn):
    session, client = connected
    query = started(session, events, tmp_path)
    until(lambda: committed(client), "a commit")
    victim = next(pid for pid in at_work(tmp_path / "seen") if pid not in committed(client))
    os.kill(victim, signal.SIGKILL)
    check(events, query.result(60))


@again
def test_the_worker_that_holds_the_partials_is_killed(connected, events, tmp_path, turn):
    session, client = connected
    query = started(session, events, tmp_path)
    until(lambda: committed(client), "a commit")
    os.kill(committed(client)[0], signal.SIGKILL)
    check(events, query.result(60))


@pytest.mark.slow
@again
def test_a_worker_is_stopped_for_a_while(connected, events, tmp_path, turn):
    session, client = connected
    query = started(session, events, tmp_path)
    until(lambda: committed(client), "a commit")
    victim = committed(client)[0]
    os.kill(victim, signal.SIGSTOP)
    time.sleep(2)  # how long the fault lasts
    os.kill(victim, signal.SIGCONT)
    check(events, query.result(60))


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
        check(events, query.result(60))
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
        check(events, query.result(60))


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
        check(events, query.result(60))


@again
def test_the_scheduler_is_killed(connected, processes, events, tmp_path, turn):
    session, _ = connected
    query = started(session, events, tmp_path)
    began = os.times().elapsed
    os.kill(processes.scheduler.pid, signal.SIGKILL)
    with pytest.raises(tm.WorkerError, match=r"scheduler .* start it again"):
        query.result(60)
    assert os.times().elapsed - began < 10


@again
def test_no_worker_is_left(processes, events, tmp_path, turn):
    processes.add(1)
    with tm.connect(processes.address, wait=4) as session:
        session._pool._client.wait_for_workers(1, timeout=60)
        query = started(session, events, tmp_path, workers=1)
        os.kill(at_work(tmp_path / "seen").pop(), signal.SIGKILL)
        with pytest.raises(tm.WorkerError, match="no worker has been there for 4 seconds"):
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


@again
@pytest.mark.parametrize("kind", ["bookings", "selector"])
def test_the_client_is_killed_and_another_one_attaches(processes, events, kind, turn):
    processes.add(2)
    words = [sys.executable, "-c", textwrap.dedent(CLIENT), processes.address, *events.files]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, env=os.environ | {"KIND": kind}, **pipes) as client:
        name = client.stdout.readline().decode().strip()
        assert name
        client.kill()
    with tm.connect(processes.address) as session:
        assert [kept.name for kept in session.queries] == [name]
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
        with pytest.raises(tm.QueryError, match="no query"):
            session.attach(name)
