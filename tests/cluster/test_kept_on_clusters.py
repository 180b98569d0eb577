"""Runs with checkpoint= on a cluster that are cut, and go on: the result is that of an undisturbed
run, and what was kept is not done again. `STRESS=20` repeats each test so many times.
"""

import functools
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import treemill as tm
from treemill.checkpoint import Folder, Pace, PassRecord
from treemill.session import run_checkpoint

from tests.raising import raises
from tests.waiting import until

from .processes import Processes, scheduler_state

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="stops processes by signals")

again = pytest.mark.parametrize("turn", range(int(os.environ.get("STRESS", "1"))))
OFTEN = Pace(every=0.1, share=1.0)


@pytest.fixture(autouse=True)
def _often(monkeypatch):
    monkeypatch.setattr(run_checkpoint, "Folder", functools.partial(Folder, pace=OFTEN))


def slow(hurry):
    """Says which entries it saw, and in which process; takes a while until the file `hurry` is
    there."""
    hurry = str(hurry)

    def spans(chunk):
        import os
        import time

        if not os.path.exists(hurry):
            time.sleep(len(chunk) * 5e-4)
        data = chunk.metadata
        span = (data["filename"], data["entrystart"], data["entrystop"], os.getpid())
        return {"n": len(chunk), "spans": [span]}

    return spans


def check(events, output):
    assert output["n"] == events.num_entries
    for path, (entries, _) in zip(events.files, events.chain.sizes, strict=True):
        mine = sorted((a, b) for name, a, b, _ in output["spans"] if name == path)
        assert [a for a, _ in mine] == [0, *(b for _, b in mine)][:-1], "no gap, nothing twice"
        assert mine[-1][1] == entries


def kept(folder):
    """The entries on disk."""
    try:
        (path,) = folder.glob("[!.]*.results")
        return PassRecord.loads(path.read_bytes(), str(path)).entries
    except (ValueError, FileNotFoundError):
        return 0


def done_by(output, pids):
    """The entries that these processes have done."""
    return sum(stop - start for _, start, stop, pid in output["spans"] if pid in pids)


@pytest.mark.slow
@again
def test_the_scheduler_is_killed_and_another_cluster_goes_on(events, tmp_path, turn):
    folder, hurry = tmp_path / "kept", tmp_path / "hurry"
    spans = slow(hurry)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    with Processes(tmp_path / "one") as processes:
        first = {each.pid for each in processes.add(2)}
        with tm.connect(processes.address) as session:
            query = session.submit(spans, events, checkpoint=folder)
            until(lambda: kept(folder) or query.done, "something is kept")
            assert not query.done
            os.kill(processes.scheduler.pid, signal.SIGKILL)
            words = r"start it again.*checkpoint= has [\d,]+ of [\d,]+ entries"
            with pytest.raises(tm.WorkerError, match=words):
                query.result(60)
    before = kept(folder)
    assert 0 < before < events.num_entries
    hurry.touch()
    with Processes(tmp_path / "two") as processes:
        second = {each.pid for each in processes.add(2, 2)}
        with tm.connect(processes.address) as session:
            session._pool._client.wait_for_workers(2, timeout=60)
            output = session.run(spans, events, checkpoint=folder)
            report = session.report
            check(events, output)
            assert done_by(output, first) == before == report.entries_before
            assert done_by(output, second) == events.num_entries - before
            assert report.complete
            assert report.entries == events.num_entries
            assert session.run(spans, events, checkpoint=folder) == output, "nothing is done again"


def test_bookings_with_automatic_ranges_go_on(cluster, events, tmp_path):
    good = events.filter("nMuon >= 1")
    with tm.connect(cluster) as session:
        plain = session.run(good.hist("MET_pt", bins=20), good.count())
        for before in (0, events.num_entries):
            found = session.run(good.hist("MET_pt", bins=20), good.count(), checkpoint=tmp_path)
            assert session.report.entries_before == before
            assert session.report.complete
            assert found == plain
    names = sorted(path.name for path in tmp_path.glob("[!.]*.results"))
    assert names == ["0-fill.results", "0-ranges.results"]


def test_a_checkpoint_of_threads_is_gone_on_with_on_a_cluster(session, events, tmp_path):
    def count(chunk):
        return {"n": len(chunk)}

    tm.run(count, events, checkpoint=tmp_path)
    assert session.run(count, events, checkpoint=tmp_path) == {"n": events.num_entries}
    assert session.report.entries_before == events.num_entries


@pytest.mark.slow
@again
def test_another_session_attaches_to_a_run_that_goes_on(cluster, events, tmp_path, turn):
    """It has no checkpoint, and gets what was kept from the scheduler."""
    hurry = tmp_path / "hurry"
    with tm.connect(cluster) as session:
        query = session.submit(slow(hurry), events, checkpoint=tmp_path / "kept")
        until(lambda: kept(tmp_path / "kept") or query.done, "something is kept")
        query.stop()
        part = query.result(60)
        assert 0 < part["n"] == kept(tmp_path / "kept") < events.num_entries
    hurry.touch()
    with tm.connect(cluster) as session:
        name = session.submit(slow(hurry), events, checkpoint=tmp_path / "kept").id
    with tm.connect(cluster) as session:
        query = session.attach(name)
        check(events, query.result(60))
        assert query.report.entries_before == part["n"]


def test_what_cannot_be_kept_is_an_error(session, events, tmp_path):
    class Writes(tm.Selector):
        def begin_worker(self, inputs):
            self.output["skim"] = tm.FileOutput(tmp_path / "out.root")

        def process(self, chunk):
            self.output["skim"].write({"x": chunk.MET_pt})

    with raises(tm.UnsupportedError, said="a FileOutput cannot be kept by checkpoint"):
        session.run(Writes(), events, checkpoint=tmp_path / "kept")
    assert not list(tmp_path.glob("*.root"))
    assert session.run(events.count()) == events.num_entries


CLIENT = """
import dataclasses, functools, json, os, sys
import treemill as tm
from treemill.backends.sites import pool
from treemill.checkpoint import Folder, Pace
from treemill.session import run_checkpoint
run_checkpoint.Folder = functools.partial(Folder, pace=Pace(every=0.1, share=1.0))
pool.LEASING = dataclasses.replace(pool.LEASING, first=1000, longest=0.5, shortest=0.1)

hurry = sys.argv[2] + ".hurry"

def slow(chunk):
    import os, time
    if not os.path.exists(hurry):
        time.sleep(len(chunk) * 5e-4)
    data = chunk.metadata
    span = (data["filename"], data["entrystart"], data["entrystop"], os.getpid())
    return {"n": len(chunk), "spans": [span]}

events = tm.dataset(sys.argv[3:], tree="Events")
first, *others = sys.argv[1].split()
with tm.connect([first, *others] if others else first) as session:
    output = session.run(slow, events, checkpoint=sys.argv[2])
    print(json.dumps([output["n"], output["spans"], session.report.entries_before]))
"""


def client(folder, events, *clusters):
    """Starts a client of these clusters, which are one or several sites."""
    addresses = " ".join(each.address for each in clusters)
    words = [sys.executable, "-c", textwrap.dedent(CLIENT), addresses, str(folder)]
    return subprocess.Popen([*words, *events.files], stdout=subprocess.PIPE)


def killed(folder, events, *clusters):
    """Starts a client, and kills it when something is kept."""
    with client(folder, events, *clusters) as running:
        until(lambda: kept(folder) or running.poll() is not None, "something is kept")
        assert running.poll() is None
        running.kill()
    assert 0 < kept(folder) < events.num_entries
    folder.with_suffix(".hurry").touch()
    return kept(folder)


def result(running):
    import json

    with running:
        text, _ = running.communicate(timeout=60)
    assert running.returncode == 0
    n, spans, before = json.loads(text)
    return {"n": n, "spans": [tuple(each) for each in spans]}, before


@pytest.mark.slow
@again
def test_the_client_is_killed_and_the_same_run_finds_its_work(events, tmp_path, turn):
    with Processes(tmp_path) as processes:
        processes.add(2)
        killed(tmp_path / "kept", events, processes)
        with tm.connect(processes.address) as session:
            session._pool._client.wait_for_workers(2, timeout=60)
            (name,) = scheduler_state(
                session._pool._client, lambda scheduler_state: list(scheduler_state._passes)
            )
            running = client(tmp_path / "kept", events, processes)
            assert name in scheduler_state(
                session._pool._client, lambda scheduler_state: [*scheduler_state._passes, name]
            )
            output, before = result(running)
            check(events, output)
            assert before == 0, "the cluster had all of it"
            assert not scheduler_state(
                session._pool._client, lambda scheduler_state: list(scheduler_state._passes)
            )


@pytest.mark.slow
@again
def test_client_and_scheduler_are_killed(events, tmp_path, turn):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    with Processes(tmp_path / "one") as processes:
        first = {each.pid for each in processes.add(2)}
        killed(tmp_path / "kept", events, processes)
        os.kill(processes.scheduler.pid, signal.SIGKILL)
    before = kept(tmp_path / "kept")
    with Processes(tmp_path / "two") as processes:
        processes.add(1, 2)
        output, told = result(client(tmp_path / "kept", events, processes))
        check(events, output)
        assert done_by(output, first) == before == told


@pytest.mark.slow
@again
def test_of_two_sites_the_client_and_one_scheduler_are_killed(events, tmp_path, turn):
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    with Processes(tmp_path / "one") as one, Processes(tmp_path / "two") as two:
        first = {each.pid for each in [*one.add(1), *two.add(1)]}
        before = killed(tmp_path / "kept", events, one, two)
        os.kill(one.scheduler.pid, signal.SIGKILL)
        with Processes(tmp_path / "three") as three:
            new = {each.pid for each in three.add(1)}
            output, told = result(client(tmp_path / "kept", events, two, three))
    check(events, output)
    assert told == before
    assert done_by(output, first | new) == events.num_entries
    assert done_by(output, new) > 0
