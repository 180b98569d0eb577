"""What a cluster meets beside deaths, while some of its workers lead the others: processes that are
stopped for half a minute, a connection that is cut and comes back, a worker that takes too much
memory, a client that is killed, all that lead gone at once. The counts are those of an undisturbed
run, or an error says what happened. `STRESS=20` repeats each test so many times.
"""

import os
import signal
import threading
import time

import pytest
import treemill as tm

from tests.waiting import until
from tools.link.link import Link, Wire
from tools.link.link import missing as link_missing

from .processes import Processes
from .queries import again, at_work, check, committed, started
from .test_faults import attached_after_the_client_was_killed, processes, pytestmark  # noqa: F401
from .test_storms import TIMEOUT, skip_without
from .test_submasters_on_dask import leaders

pytestmark = [pytestmark, pytest.mark.slow]
ROLES = pytest.mark.parametrize("role", ["leads", "is led"])


def victim_of(role, client, folder):
    """A process that leads, or one that does not."""
    leading = leaders(client)
    if role == "leads":
        return next(pid for pid in committed(client) if pid in leading)
    return next(pid for pid in at_work(folder / "seen") if pid not in leading)


@again
@ROLES
@pytest.mark.parametrize("silence", [60, 20], ids=["heard of again", "given up meanwhile"])
def test_a_process_is_stopped_for_half_a_minute(
    processes,  # noqa: F811
    events,
    tmp_path,
    role,
    silence,
    turn,
):
    processes.add(4)
    with tm.connect(processes.address, submasters=2, silence=silence) as session:
        client = session._pool._client
        client.wait_for_workers(4, timeout=60)
        query = started(session, events, tmp_path, workers=4)
        until(lambda: committed(client), "a commit")
        victim = victim_of(role, client, tmp_path)
        os.kill(victim, signal.SIGSTOP)
        time.sleep(30)  # how long the fault lasts
        os.kill(victim, signal.SIGCONT)
        check(events, query.result(60))
        assert query.report.complete
        assert session.run(events.count()) == events.num_entries


@again
@pytest.mark.parametrize("size", [2, 4], ids=["groups of hosts", "a group of both hosts"])
@pytest.mark.parametrize(("seconds", "breaks"), [(10, False), (18, True)], ids=["late", "broken"])
def test_the_connection_to_a_host_is_cut(tmp_path, events, seconds, breaks, size, turn):
    """`late`: TCP lives through it. `broken`: it does not, and Dask's workers there end."""
    skip_without(link_missing())
    settings = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": TIMEOUT} if breaks else {}
    with (
        Link(["here", "far"], here="here") as link,
        Processes(tmp_path, host=link.hosts["here"].address, settings=settings) as processes,  # noqa: F811
    ):
        far, here = link.hosts["far"].enter, ()
        for enter in (far, here) if turn % 2 else (here, far):  # the first ones lead
            processes.add(2, enter=enter)
        with tm.connect(processes.address, submasters=size) as session:
            client = session._pool._client
            client.wait_for_workers(4, timeout=60)
            query = started(session, events, tmp_path, 4, seconds=1e-3)
            until(lambda: committed(client), "a commit")
            link.set("far", Wire(loss=100))
            time.sleep(seconds)  # how long the fault lasts
            link.set("far", Wire())
            check(events, query.result(120))
            assert query.report.complete
            left = 2 if breaks else 4
            until(lambda: len(client.scheduler_info()["workers"]) == left, f"{left} workers")
            assert session.run(events.count()) == events.num_entries


def greedy(folder):
    """One process, named by a file, takes memory until it is stopped; the others wait for it."""
    folder = str(folder)

    def process(chunk):
        import glob
        import os
        import time

        mine = str(os.getpid())
        open(os.path.join(folder, f"at-work-{mine}"), "w").close()
        time.sleep(len(chunk) * 4e-4)
        for name in glob.glob(os.path.join(folder, "eat-*")):
            eater, taken = name.rsplit("-", 1)[1], []
            while os.path.exists(f"/proc/{eater}"):
                if eater == mine and len(taken) < 200:  # its nanny looks ten times a second
                    taken.append(b"x" * 20_000_000)
                time.sleep(0.01)
        data = chunk.metadata
        span = (data["filename"], data["entrystart"], data["entrystop"])
        return {"n": len(chunk), "spans": [span]}

    return process


@again
@ROLES
def test_a_worker_takes_too_much_memory(tmp_path, events, role, turn):
    with Processes(tmp_path) as processes:  # noqa: F811
        processes.add(4, 1, "--nanny", "--memory-limit", "1GB")
        with tm.connect(processes.address, submasters=2) as session:
            client = session._pool._client
            client.wait_for_workers(4, timeout=60)
            seen = tmp_path / "seen"
            seen.mkdir()
            query = session.submit(greedy(seen), events)
            until(lambda: len(at_work(seen)) == 4 or query.done, "workers at work")
            until(lambda: committed(client) or query.done, "a commit")
            (seen / f"eat-{victim_of(role, client, tmp_path)}").touch()
            check(events, query.result(60))
            assert "memory budget" in processes.text(), "its nanny has stopped it"
            assert query.report.complete


@again
@pytest.mark.parametrize("kind", ["bookings", "selector"])
def test_the_client_is_killed_and_another_one_attaches(processes, events, kind, turn):  # noqa: F811
    processes.add(4)
    attached_after_the_client_was_killed(processes, events, kind, submasters=2)


@again
def test_the_scheduler_is_killed(processes, events, tmp_path, turn):  # noqa: F811
    processes.add(4)
    with tm.connect(processes.address, submasters=2) as session:
        session._pool._client.wait_for_workers(4, timeout=60)
        query = started(session, events, tmp_path, workers=4)
        began = os.times().elapsed
        os.kill(processes.scheduler.pid, signal.SIGKILL)
        with pytest.raises(tm.WorkerError, match=r"scheduler .* start it again"):
            query.result(60)
        assert os.times().elapsed - began < 10


@again
@pytest.mark.parametrize("whole", [False, True], ids=["those that lead", "all"])
@pytest.mark.parametrize("how", ["killed", "retired", "SIGTERM"])
def test_all_that_lead_go_at_once(processes, events, tmp_path, how, whole, turn):  # noqa: F811
    """Nobody leads who could take what they have. `all`: nor is anybody left who could lead, until
    others come."""
    processes.add(4, 1, "--nanny")
    with tm.connect(processes.address, submasters=2, silence=20, patience=5) as session:
        client = session._pool._client
        client.wait_for_workers(4, timeout=60)
        query = started(session, events, tmp_path, workers=4, seconds=2e-4)
        until(lambda: committed(client), "a commit")
        pids = client.run(os.getpid)
        nannies = client.run(os.getppid)
        chosen = [each for each in pids if whole or pids[each] in leaders(client)]
        assert len(chosen) == (4 if whole else 2)
        retiring = threading.Thread(target=client.retire_workers, args=(chosen,), daemon=True)
        if how == "retired":
            retiring.start()
        else:
            for each in chosen:
                if how == "killed":
                    os.kill(pids[each], signal.SIGKILL)  # its nanny starts another one
                else:
                    os.kill(nannies[each], signal.SIGTERM)
        if how != "killed" and whole:
            processes.add(2)
        check(events, query.result(120))
        assert query.report.complete
        if how == "retired":
            retiring.join(30)
            assert not retiring.is_alive()
        assert session.run(events.count()) == events.num_entries
