"""What one worker is late with, another one does again: the first result counts, exactly once."""

import threading
from types import SimpleNamespace

import hist
import pytest
import treemill as tm
from treemill.scheduling import FileSize, Packetizer, coordinator
from treemill.session.api import connect
from treemill.session.computation import useful_workers
from treemill.workers import worker as worker_module


@pytest.fixture
def many(paths):
    """More packets than workers, whatever their sizes: none goes over the border of a file."""
    return tm.dataset(paths * 4, "Events")


@pytest.fixture
def stuck(monkeypatch):
    """The first worker that gets a packet after the first three does nothing until it is let go."""
    go, lock, packets = threading.Event(), threading.Lock(), []
    process = worker_module.Worker._process

    def slow(self, packet):
        with lock:
            packets.append(packet.number)
            waits = len(packets) == 4
        if waits:
            go.wait(60)
        return process(self, packet)

    monkeypatch.setattr(worker_module.Worker, "_process", slow)
    yield go, packets
    go.set()


@pytest.mark.parametrize("kind", ["query", "selector"])
def test_a_thread_that_is_stuck_is_overtaken(many, truth, stuck, kind):
    go, packets = stuck
    session = connect(workers=3)
    if kind == "query":
        query = session.submit(many.count(), many.sum("nJet"))
    else:
        query = session.submit(lambda chunk: {"n": len(chunk), "jets": int(sum(chunk.nJet))}, many)
    found = query.result(timeout=50)
    assert not go.is_set(), "the query has not waited for it"
    assert len(packets) > len(set(packets)), "a packet was run twice"
    assert tuple(found.values() if kind == "selector" else found) == (
        4 * len(truth),
        4 * int(sum(truth.nJet)),
    )
    assert query.report.complete
    assert query.report.entries == query.progress.entries == 4 * len(truth)
    go.set()
    session.close()


class OneIsStuck(tm.Selector):
    """The first worker to find the file stays in its chunk for ever."""

    def begin_worker(self, inputs):
        self.output["met"] = hist.Hist(hist.axis.Regular(10, 0, 100))
        self.output["n"] = 0
        self.chunks = 0

    def process(self, events):
        import time
        from pathlib import Path

        self.chunks += 1
        if self.chunks == 3:
            try:
                Path(self.inputs["flag"]).touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                time.sleep(600)
        self.output["met"].fill(events.MET_pt)
        self.output["n"] += len(events)


def test_a_process_that_is_stuck_is_overtaken(paths, truth, tmp_path):
    events = tm.dataset(paths * 4, "Events")
    with connect(workers=3, mode="processes", silence=300) as session:
        output = session.run(OneIsStuck(), events, inputs={"flag": str(tmp_path / "stuck")})
        assert (tmp_path / "stuck").exists()
        assert output["n"] == 4 * len(truth)
        expected = hist.Hist(hist.axis.Regular(10, 0, 100)).fill(truth.MET_pt)
        assert (output["met"].values(flow=True) == 4 * expected.values(flow=True)).all()
        assert session.report.complete


def test_files_of_a_second_run_are_thrown_away(many, truth, stuck, tmp_path):
    go, packets = stuck

    class Skim(tm.Selector):
        def begin_worker(self, inputs):
            self.output["skim"] = tm.FileOutput(tmp_path / "skim.root")

        def process(self, chunk):
            self.output["skim"].write({"MET_pt": chunk.MET_pt})

    session = connect(workers=3)
    query = session.submit(Skim(), many)
    query.result(timeout=50)
    assert len(packets) > len(set(packets)), "a packet was run twice"
    go.set()
    session.close()
    made = tm.dataset(tmp_path / "skim.root").arrays(["MET_pt"]).MET_pt
    assert sorted(made.to_list()) == sorted(4 * truth.MET_pt.to_list())
    assert [p.name for p in tmp_path.iterdir()] == ["skim.root"]


def policy_of(monkeypatch, what, data, **options):
    """The policy that leads a run of two workers."""
    policies = []

    def noted(files, policy, **others):
        policies.append(policy)
        return Packetizer(files, policy, **others)

    monkeypatch.setattr(coordinator, "Packetizer", noted)
    with connect(workers=2) as session:
        session.run(what, data, **options)
    return policies[-1]


def test_threads_share_processors_only_if_there_is_enough_for_each(events, monkeypatch):
    assert events.num_entries < 50_000  # so that the sizes are known
    for what, options, workers in (
        (Processor(), {}, 1),
        (Processor(), {"chunksize": 1000}, 2),
        (count, {}, 2),
    ):
        assert policy_of(monkeypatch, what, events, **options).expected_workers == workers


@pytest.mark.parametrize(
    ("sizes", "share", "workers"),
    [
        ([FileSize(40_000, (10_000, 20_000, 30_000))], 0, 4),
        ([FileSize(40_000, (10_000, 20_000, 30_000))], 50_000, 1),
        ([FileSize(60_000, tuple(range(1000, 60_000, 1000)))], 50_000, 2),
        ([FileSize(10_000, ())] * 100, 50_000, 8),
        ([FileSize(10_000, ()), None], 50_000, 8),
        ([FileSize(0, ())], 50_000, 1),
        ([FileSize(10_000, (10_000,))], 0, 1),
    ],
)
def test_workers_that_are_of_use(sizes, share, workers):
    assert useful_workers(sizes, SimpleNamespace(size=8, remembers=True), share) == workers
    alone = useful_workers(sizes, SimpleNamespace(size=8, remembers=False), share)
    assert alone == useful_workers(sizes, SimpleNamespace(size=8, remembers=True))


def count(chunk):
    return {"n": len(chunk)}


class Counts(tm.Selector):
    def process(self, chunk):
        return count(chunk)


class Processor:
    """As coffea's ProcessorABC."""

    def process(self, chunk):
        return count(chunk)

    def postprocess(self, accumulator):
        return accumulator


@pytest.mark.parametrize(
    ("what", "options", "twice"),
    [
        (Processor(), {}, False),
        (Processor().process, {}, False),
        (Processor(), {"second_runs": True}, True),
        (count, {}, True),
        (Counts(), {}, True),
        (Counts(), {"second_runs": False}, False),
    ],
)
def test_processors_run_once_and_others_as_they_are_told(
    events, monkeypatch, truth, what, options, twice
):
    assert policy_of(monkeypatch, what, events, chunksize=1000, **options).speculate is twice


def test_who_gets_coffeas_events_runs_once(events, monkeypatch):
    pytest.importorskip("coffea", reason="coffea is not installed")
    policy = policy_of(monkeypatch, count, events, schema="nanoaod", chunksize=1000)
    assert not policy.speculate
