"""Workers that die, hang or misbehave: the answer stays exact, or says what is missing."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import treemill as tm
from treemill.backends.processes.pool import ProcessPass

from tests.raising import raises

from .conftest import children, wait_for_end

REPOSITORY = Path(__file__).parents[2]


def spans(events):
    """Which entries were seen, and how many."""
    data = events.metadata
    return {"n": len(events), "spans": [(data["filename"], data["entrystart"], data["entrystop"])]}


def covers(events, output):
    """Whether each entry was seen once."""
    for file, path in enumerate(events.files):
        mine = sorted((a, b) for name, a, b in output["spans"] if name == path)
        ends = [0, *(b for _, b in mine)]
        assert [a for a, _ in mine] == ends[:-1], "no gap, nothing twice"
        assert ends[-1] == events.chain.sizes[file][0]
    return True


@pytest.fixture
def session():
    with tm.connect(workers=3, mode="processes") as made:
        yield made


@pytest.fixture
def killer(monkeypatch):
    """Kills a worker, which chance chooses, once so many messages of workers have arrived."""

    class Killer:
        left = None
        kills = 0
        chance = random.Random(20240601)

    heard = ProcessPass.heard

    def shot(self, number, messages):
        if Killer.left is not None:
            Killer.left -= len(messages)
            if Killer.left <= 0:
                Killer.left = None
                pids = children(self._template_client._process.pid)
                if pids:
                    os.kill(Killer.chance.choice(pids), signal.SIGKILL)
                    Killer.kills += 1
        heard(self, number, messages)

    monkeypatch.setattr(ProcessPass, "heard", shot)
    return Killer


@pytest.mark.parametrize("runs", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_kill_9_at_random_moments(session, events, killer, runs):
    whole = sum(events.chain.sizes[file][0] for file in range(3))
    for run in range(runs):
        # A worker says 2 to some 15 things in a run: from before it joins to after its last commit.
        killer.left = killer.chance.randrange(1, 30)
        if run % 3 == 0:
            count, _ = session.submit(events.count(), events.sum("nJet")).result(timeout=60)
            assert count == whole
        else:
            output = session.submit(spans, events).result(timeout=60)
            assert output["n"] == whole
            assert covers(events, output)
        assert session.report.complete
        assert session.report.entries == whole
    assert killer.kills > runs // 8


def test_the_log_names_a_worker_that_was_lost(session, events, killer, caplog):
    caplog.set_level("DEBUG", "treemill")
    for runs in range(1, 20):
        killer.left = 3
        assert session.run(spans, events, progress=False)["n"] == events.num_entries
        assert killer.kills == runs
        told = [each.getMessage() for each in caplog.records]
        assert told.count("pass ended: done") == runs
        # Where the others are done before it is seen, nothing is lost.
        if any(each.startswith("worker") and "lost" in each for each in told):
            return
    pytest.fail("none was named")


@pytest.mark.parametrize("turns", [3, pytest.param(6, marks=pytest.mark.slow)])
def test_a_snapshot_is_whole_whoever_dies(session, events, killer, tmp_path, turns):
    """Workers that die at random moments leave neither a gap, nor an entry that comes twice, nor
    parts of files."""
    columns = ["event", "nMuon", "Muon_pt"]
    node = events.filter("nMuon > 0")
    expected = node.arrays(columns)
    kills = killer.kills
    for run, kind in enumerate(["root", "parquet", "root", "feather"] * turns):
        killer.left = killer.chance.randrange(2, 16)
        path = tmp_path / f"skim{run}.{kind}"
        (made,) = session.submit(node.snapshot(str(path), columns)).result(timeout=60)
        assert session.report.complete
        assert made.entries == len(expected)
        if kind == "root":
            found = tm.dataset(str(path), tree="Events").arrays(columns)
        else:
            found = ak.from_parquet(path) if kind == "parquet" else ak.from_feather(path)
        for name in columns:
            assert ak.all(found[name] == expected[name])
        assert list(tmp_path.iterdir()) == [path]
        path.unlink()
    assert killer.kills - kills >= turns


class Once(tm.Selector):
    """Does something bad in the middle of the work, the first time only."""

    def begin_worker(self, inputs):
        self.output["n"] = 0
        self.output["spans"] = []

    def process(self, events):
        if events.metadata["entrystart"] >= 500 and self.first():
            self.misbehave()
        made = spans(events)
        self.output["n"] += made["n"]
        self.output["spans"] += made["spans"]

    def first(self):
        try:
            os.close(os.open(self.inputs["token"], os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def misbehave(self):
        os.kill(os.getpid(), self.inputs["signal"])


@pytest.mark.parametrize(
    "number",
    [signal.SIGKILL, signal.SIGSEGV, pytest.param(signal.SIGABRT, marks=pytest.mark.slow)],
)
def test_a_worker_that_dies_in_the_middle_of_a_packet(session, events, tmp_path, number):
    inputs = {"token": str(tmp_path / "token"), "signal": number}
    output = session.run(Once(), events, inputs=inputs, progress=False)
    assert (tmp_path / "token").exists()
    assert covers(events, output)


def test_one_worker_only_and_it_dies(events, tmp_path):
    with tm.connect(workers=1, mode="processes") as session:
        inputs = {"token": str(tmp_path / "token"), "signal": signal.SIGKILL}
        assert covers(events, session.run(Once(), events, inputs=inputs))


def test_a_worker_that_stops_is_given_up(events, tmp_path):
    with tm.connect(workers=2, mode="processes") as session:
        session.run(spans, events)  # a busy machine takes its time to import libraries
        session._pool.silence = 4.0
        inputs = {"token": str(tmp_path / "token"), "signal": signal.SIGSTOP}
        assert covers(events, session.run(Once(), events, inputs=inputs))
        template = session._pool._template_client._process.pid
    assert wait_for_end(template)


class Deadly(tm.Selector):
    def process(self, events):
        if events.metadata["filename"] == self.inputs["file"]:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"n": len(events)}


def test_a_packet_that_kills_every_worker_is_named(session, events, paths):
    with raises(tm.WorkerError, about="SIGKILL") as caught:
        session.run(Deadly(), events, inputs={"file": paths[1]})
    assert (caught.value.file, caught.value.entries) == (paths[1], (0, 1))
    output = session.run(Deadly(), events, inputs={"file": paths[1]}, on_error="skip")
    assert output["n"] == len(events) - 1
    (missing,) = session.report.missing
    assert missing.file == paths[1]


class Hungry(tm.Selector):
    def process(self, events):
        if events.metadata["filename"] == self.inputs["file"]:
            kept = []
            while True:
                kept.append(np.ones(1_000_000))
        return {"n": len(events)}


def test_memory_limit_names_the_packet(events, paths):
    with tm.connect(workers=2, mode="processes", memory=200_000_000) as session:
        with raises(tm.WorkerError, about="memory") as caught:
            session.run(Hungry(), events, inputs={"file": paths[1]})
        assert caught.value.entries == (0, 1)
        assert caught.value.file == paths[1]
        output = session.run(Hungry(), events, inputs={"file": paths[1]}, on_error="skip")
        assert output["n"] == len(events) - 1


class Forks(Once):
    def misbehave(self):
        if os.fork() == 0:
            signal.pause()


class ForksAndReturns(Once):
    def misbehave(self):
        os.fork()


@pytest.mark.parametrize("kind", [Forks, ForksAndReturns])
def test_a_selector_that_forks(events, tmp_path, kind):
    with tm.connect(workers=2, mode="processes") as session:
        output = session.run(kind(), events, inputs={"token": str(tmp_path / "token")})
        assert covers(events, output)
        template = session._pool._template_client._process.pid
        group = [p for pid in children(template) for p in [pid, *children(pid)]]
    for pid in [template, *group]:
        assert wait_for_end(pid), "a child's child outlives the session"


class Exits(Once):
    def misbehave(self):
        sys.exit(3)


def test_a_selector_that_exits(session, events, tmp_path):
    with raises(tm.WorkerError, about="SystemExit"):
        session.run(Exits(), events, inputs={"token": str(tmp_path / "token")})


class Closes(Once):
    def misbehave(self):
        os.closerange(3, 100)


def test_a_selector_that_closes_everything(events, tmp_path):
    with tm.connect(workers=2, mode="processes") as session:
        output = session.run(Closes(), events, inputs={"token": str(tmp_path / "token")})
        assert covers(events, output)


class DiskFull(tm.Selector):
    def begin_worker(self, inputs):
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
        self.output["skim"] = tm.FileOutput(inputs["path"])

    def process(self, events):
        self.output["skim"].write({"MET_pt": events.MET_pt, "Jet_pt": events.Jet_pt})


def test_no_room_for_a_file(session, events, tmp_path):
    path = tmp_path / "skim.root"
    path.write_text("an older file")
    with raises(tm.SourceError, about="skim.root"):
        session.run(DiskFull(), events, inputs={"path": str(path)})
    assert path.read_text() == "an older file"


CLIENT = """
import os, signal, sys
import treemill as tm
events = tm.dataset({paths!r}, "Events")
def hold(events):
    os.write(1, b"%d %d\\n" % (os.getppid(), os.getpid()))  # one write, one piece
    signal.pause()
if __name__ == "__main__":
    with tm.connect(workers=2, mode="processes") as session:
        session.run(hold, events, progress=False)
"""


def start_client(paths, **options):
    return subprocess.Popen(
        [sys.executable, "-c", CLIENT.format(paths=paths)], stdout=subprocess.PIPE, text=True
    )


def test_the_client_dies_and_no_process_is_left(paths):
    client = start_client(paths)
    lines = [client.stdout.readline().split() for _ in range(2)]
    pids = {int(pid) for line in lines for pid in line}
    assert len(pids) == 3, "a template and two workers"
    client.kill()
    client.wait()
    for pid in pids:
        assert wait_for_end(pid)


def test_a_pass_may_be_ended_twice(events):
    with tm.connect(workers=2, mode="processes") as session:
        expected = session.run(events.count(), progress=False)
        template_client = session._pool.template_client()
        for _ in range(2):
            template_client.finished(0)
            assert session.run(events.count(), progress=False) == expected
        assert session._pool.template_client() is template_client, "its thread goes on"


def test_ctrl_c_twice_does_not_wait(paths):
    client = start_client(paths)
    pids = {int(pid) for _ in range(2) for pid in client.stdout.readline().split()}
    client.send_signal(signal.SIGINT)
    client.send_signal(signal.SIGINT)
    # One may be swallowed by the other; the third is heard as the second then.
    while client.poll() is None:
        try:
            client.wait(1)
        except subprocess.TimeoutExpired:
            client.send_signal(signal.SIGINT)
    assert client.returncode != 0
    for pid in pids:
        assert wait_for_end(pid)


@pytest.mark.parametrize(
    ("mode", "sessions"),
    [
        pytest.param("threads", 300, marks=pytest.mark.slow),
        ("processes", 20),
        pytest.param("processes", 1000, marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_sessions_in_a_row_leave_nothing(paths, mode, sessions):
    command = [sys.executable, "-m", "tests.faults.many_sessions", mode, str(sessions), *paths]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    before, after = json.loads(done.stdout)
    more = after.pop("kB") - before.pop("kB")
    assert after == before
    # The allocator keeps some; what a session of two threads leaves, their stacks say, would be at
    # least 16 kB.
    assert more < 200 + sessions, f"{more} kB"
