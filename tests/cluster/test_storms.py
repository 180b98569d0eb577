"""What a cluster meets beside deaths: a connection that is cut and comes back, a worker that takes
too much memory, Ctrl-C in the client, workers that die while bytes of far files are on their way.
The counts are those of an undisturbed run, or the report names what is missing.
"""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import treemill as tm
from treemill.backends.dask.pool import DaskPool
from treemill.scheduling import Prefetch

from tests.waiting import until
from tools.link.link import Link, Wire
from tools.link.link import missing as link_missing
from tools.servers.nginx import Nginx
from tools.servers.xrootd import XRootD

from .processes import Processes
from .queries import again, at_work, check, committed, started

TIMEOUT = "12s"  # the shortest of Dask's


def skip_without(reason):
    if reason is not None:
        pytest.skip(reason)


@pytest.fixture
def link():
    """This machine, and a host that is reached by a wire."""
    skip_without(link_missing())
    with Link(["here", "far"], here="here") as made:
        yield made


@pytest.mark.slow
@again
@pytest.mark.parametrize(("seconds", "breaks"), [(10, False), (18, True)], ids=["late", "broken"])
def test_the_connection_to_a_worker_is_cut(link, tmp_path, events, seconds, breaks, turn):
    """`late`: TCP lives through it. `broken`: it does not, and Dask's workers there end."""
    settings = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": TIMEOUT} if breaks else {}
    hosts = link.hosts
    with Processes(tmp_path, host=hosts["here"].address, settings=settings) as processes:
        processes.add(2)
        processes.add(2, enter=hosts["far"].enter)
        with tm.connect(processes.address) as session:
            client = session._pool._client
            client.wait_for_workers(4, timeout=60)
            query = started(session, events, tmp_path, 4, seconds=1e-3)
            until(lambda: committed(client), "a commit")
            before = set(client.scheduler_info()["workers"])
            link.set("far", Wire(loss=100))
            time.sleep(seconds)  # how long the fault lasts
            link.set("far", Wire())
            check(events, query.result(120))
            assert query.report.complete
            left = 2 if breaks else 4
            until(lambda: len(client.scheduler_info()["workers"]) == left, f"{left} workers")
            assert set(client.scheduler_info()["workers"]) <= before
            assert session.run(events.count()) == events.num_entries


def greedy(folder):
    """Takes memory until it is stopped, once; the others wait for that."""
    eater = str(folder / "eater")

    def process(chunk):
        import os
        import time

        mine = str(os.getpid())
        try:
            os.symlink(mine, eater)
        except FileExistsError:
            while os.path.exists(f"/proc/{os.readlink(eater)}"):
                time.sleep(0.01)
        taken = []
        while os.readlink(eater) == mine:
            taken.append(os.urandom(1 << 20) * 16)
            time.sleep(0.01)
        data = chunk.metadata
        span = (data["filename"], data["entrystart"], data["entrystop"])
        return {"n": len(chunk), "spans": [span]}

    return process


@pytest.mark.slow
@again
def test_a_worker_takes_too_much_memory(tmp_path, events, turn):
    with Processes(tmp_path) as processes:
        processes.add(2, 1, "--nanny", "--memory-limit", "1GB")
        with tm.connect(processes.address) as session:
            session._pool._client.wait_for_workers(2, timeout=60)
            check(events, session.run(greedy(tmp_path), events, progress=False))
            assert "memory budget" in processes.text(), "its nanny has stopped it"
            assert session.report.complete


CLIENT = """
import json, sys
import treemill as tm
from tests.cluster.queries import slow

events = tm.dataset(sys.argv[3:], tree="Events")
with tm.connect(sys.argv[1]) as session:
    try:
        session.run(slow(sys.argv[2], 2e-4), events, progress=False)
    except tm.QueryInterrupted as interrupted:
        report = interrupted.report
        missing = [(gap.file, gap.start, gap.stop) for gap in report.missing]
        found = interrupted.partial_result or {"n": 0, "spans": []}
        print(json.dumps([found, report.entries, missing]))
"""


@again
def test_ctrl_c_in_the_client(tmp_path, events, turn):
    with Processes(tmp_path) as processes:
        processes.add(2)
        seen = tmp_path / "seen"
        seen.mkdir()
        words = [sys.executable, "-c", CLIENT, processes.address, str(seen), *events.files]
        root = Path(__file__).parents[2]  # for `tests`
        with subprocess.Popen(words, stdout=subprocess.PIPE, cwd=root) as client:
            until(lambda: len(at_work(seen)) == 2 or client.poll() is not None, "workers at work")
            client.send_signal(signal.SIGINT)
            said = client.communicate(timeout=60)[0]
        found, entries, missing = json.loads(said)
        assert found["n"] == entries < events.num_entries
        spans = [*found["spans"], *missing]
        for path, (size, _) in zip(events.files, events.chain.sizes, strict=True):
            mine = sorted((a, size if b is None else b) for name, a, b in spans if name == path)
            assert [a for a, _ in mine] == [0, *(b for _, b in mine)][:-1], "found or named, once"
            assert mine[-1][1] == size
        with tm.connect(processes.address) as session:
            assert not session.queries, "nothing of it is left"
            assert session.run(events.count()) == events.num_entries


@pytest.mark.slow
@again
@pytest.mark.parametrize("kind", [XRootD, Nginx])
def test_a_worker_dies_while_far_bytes_are_on_their_way(
    link, tmp_path, events, kind, monkeypatch, turn
):
    skip_without(kind.missing())
    several = dataclasses.replace(DaskPool.sizing, first=1000)  # packets a file
    monkeypatch.setattr(DaskPool, "sizing", several)
    with kind(link.hosts["far"]) as server, Processes(tmp_path) as processes:
        names = [f"store/{os.path.basename(path)}" for path in events.files]
        for name, path in zip(names, events.files, strict=True):
            server.put(path, name)
        link.set("far", Wire(delay_ms=20))
        far = tm.dataset([server.url(name) for name in names], tree="Events")
        processes.add(3)
        with tm.connect(processes.address, trace=100_000) as session:
            client = session._pool._client
            client.wait_for_workers(3, timeout=60)
            query = started(session, far, tmp_path, seconds=3e-4, column="nJet")
            until(lambda: committed(client), "a commit")
            victim = next(pid for pid in at_work(tmp_path / "seen") if pid not in committed(client))
            os.kill(victim, signal.SIGKILL)
            check(far, query.result(120))
            assert query.result()["sum"] == tm.run(events.sum("nJet"))
            actions = [a for record in query.report.trace.records for a in record.actions]
            assert any(isinstance(action, Prefetch) for action in actions)
