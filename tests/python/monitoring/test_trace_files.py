"""The trace of real runs as files: its totals are the ledger's and the sources', in each form, on
threads and processes; what it says of workers that die; what it costs."""

import json
import os
import signal
import time
from pathlib import Path
from statistics import median

import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.backends.base import Heartbeat, KnownCounters
from treemill.cli.trace import load
from treemill.facility.exerciser import COUNTERS
from treemill.facility.generate import write
from treemill.facility.replay import replay
from treemill.io_report import IOReport
from treemill.monitoring.recorded import EVENTS, STEPS, About, Recorded, Row
from treemill.monitoring.rows import rows
from treemill.monitoring.summary import STAGES, summary
from treemill.monitoring.text import lines
from treemill.scheduling import (
    MEASURES,
    Collect,
    Collected,
    Commit,
    Committed,
    Discarded,
    Finish,
    Packet,
    PacketDone,
    PacketFailed,
    Process,
    Spent,
    Trace,
    WorkerJoined,
    joined,
)

from tests.python.packet_history import History
from tests.raising import raises


class Counting(tm.Selector):
    def begin_worker(self, inputs):
        self.output["n"] = 0

    def process(self, events):
        self.output["n"] += len(events.MET_pt)


class Busy(Counting):
    """Takes the CPU for a while with each chunk."""

    def process(self, events):
        super().process(events)
        values = np.linspace(0.0, 1.0, len(events.MET_pt))
        for _ in range(300):
            values = np.cos(values)


class Dying(Counting):
    """The first worker that gets entries dies. The other one takes none before that is over: it
    could have the result before the death is noticed."""

    def process(self, events):
        super().process(events)
        flag, own = self.inputs["flag"], f"{self.inputs['flag']}-{os.getpid()}"
        Path(own).write_text(str(os.getpid()))
        try:
            os.link(own, flag)
        except FileExistsError:
            ended(int(Path(flag).read_text()))
        else:
            os.kill(os.getpid(), signal.SIGKILL)


def ended(pid):
    """Waits until a process has ended, and its parent knows."""
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.001)


def counted(found):
    """The entries that the trace says are in the result: ranges by file, and their sum."""
    ranges = {}
    number = 0
    for row in found.last_phase.rows:
        if row.counted:
            assert row.event == "packet"
            ranges.setdefault(row.file, []).append((row.start, row.stop))
            number += row.entries
    return {file: joined(each) for file, each in ranges.items()}, number


@pytest.mark.parametrize("mode", ["threads", "processes"])
@pytest.mark.parametrize(("workers", "form"), [(1, "root"), (1, "parquet"), (2, "json")])
def test_totals_are_those_of_the_ledger_and_of_the_sources(
    events, tmp_path, mode, workers, form, nothing_remembered, nothing_in_vain
):
    path = tmp_path / f"trace.{form}"
    with tm.connect(workers=workers, mode=mode) as session:
        session.run(events.hist("Muon_pt", bins=(10, 0, 100)), trace=path)
        report = session.report
    found = load(str(path))
    ranges, number = counted(found)
    assert ranges == report.processed
    assert number == report.entries == 12322
    assert sum(row.bytes_read for row in found.rows) == report.bytes_read > 0
    assert found.about.bytes_read == report.io.bytes_read == report.bytes_read
    assert found.about.entries == report.entries
    assert found.rows[0].event == "start"
    assert found.rows[-1].event == "end"
    assert found.rows[-1].ok
    assert {row.event for row in found.rows} <= set(EVENTS)
    assert [row.time for row in found.rows] == sorted(row.time for row in found.rows)
    assert not [name for name in os.listdir(tmp_path) if name != path.name]
    for row in found.rows:
        if row.event == "packet":
            inside = row.opening + row.reading + row.decompressing + row.decoding + row.waited
            assert 0 <= inside <= row.seconds
            assert row.cpu >= 0


def test_the_report_has_all_that_packets_have_read():
    counted = KnownCounters()
    spent = Spent(0, 0, 0, bytes_read=10)
    counted.update(Heartbeat(entries=3, bytes_read=4))
    counted.follow(PacketDone(0, 0, 5, 1.0, spent=spent))
    assert (counted.heartbeat.bytes_read, counted.heartbeat.entries) == (10, 3), (
        "the pulse is older"
    )
    counted.update(Heartbeat(entries=5, bytes_read=14))
    counted.follow(PacketFailed(0, 1, ValueError(), spent=Spent(0, 0, 0, bytes_read=3)))
    counted.follow(Discarded(0))
    assert counted.heartbeat == Heartbeat(5, 14), "it has begun with more"
    counted.follow(PacketDone(0, 2, 9, 1.0, spent=spent))
    assert counted.heartbeat.bytes_read == counted.heartbeat.io.bytes_read == 23


def test_uproot_reads_the_tree(events, tmp_path):
    path = tmp_path / "trace.root"
    tm.run(events.count(), trace=path)
    with uproot.open(path) as file:
        tree = file["PerfStats"].arrays(library="np")
        about = file["PerfAbout"].arrays(library="np")
    assert tree["entries"][tree["counted"]].sum() == 12322
    assert tree["event"][0] == "start"
    told = dict(zip(about["name"], map(json.loads, about["value"]), strict=True))
    assert told["kind"] == "threads"
    assert About.of_json(told).entries == 12322


def test_perfetto_gets_events_with_times(events, tmp_path):
    path = tmp_path / "trace.json"
    tm.run(events.count(), trace=path)
    told = json.loads(path.read_text())["traceEvents"]
    packets = [each for each in told if each.get("args", {}).get("event") == "packet"]
    assert packets
    assert all(each["ph"] == "X" and each["dur"] > 0 and each["ts"] >= 0 for each in packets)
    named = {each["args"]["name"] for each in told if each["name"] == "thread_name"}
    assert {"master", "worker 0"} <= named


def test_queries_with_automatic_ranges_have_two_passes(events, tmp_path):
    path = tmp_path / "trace.json"
    tm.run(events.hist("Muon_pt", bins=10), trace=path)
    found = load(str(path))
    assert found.about.phases == ("finding ranges", "filling")
    assert [row.event for row in found.rows].count("end") == 2
    assert counted(found)[1] == 12322


def test_a_worker_that_was_killed_is_seen(events, tmp_path):
    path = tmp_path / "trace.root"
    with tm.connect(workers=2, mode="processes") as session:
        inputs = {"flag": str(tmp_path / "flag")}
        output = session.run(Dying(), events, inputs=inputs, trace=path)
        report = session.report
    assert output["n"] == 12322
    found = load(str(path))
    assert counted(found) == (report.processed, 12322)
    lost = [row for row in found.rows if row.event == "worker lost"]
    assert len(lost) == 1
    assert "SIGKILL" in lost[0].reason
    told = summary(found)
    assert [each.worker for each in told.workers if each.lost] == [lost[0].worker]
    assert any("SIGKILL" in line for line in lines(told))


@pytest.mark.slow
def test_a_replay_takes_what_the_run_has_taken(tmp_path):
    path = tmp_path / "trace.root"
    write(tmp_path / "events.root", events=400_000, cluster=20_000, schema="demo")
    events = tm.dataset(tmp_path / "events.root", tree="Events")
    ratios = []
    with tm.connect(workers=2, mode="processes") as session:
        for _ in range(7):
            session.run(Busy(), events, trace=path)
            found = load(str(path))
            ratios.append(replay(found, None).seconds / summary(found).seconds)
    assert median(ratios) == pytest.approx(1.0, abs=0.1), ratios


def test_a_query_that_fails_has_a_trace_that_says_so(events, tmp_path):
    path = tmp_path / "trace.json"

    def wrong(chunk):
        raise ValueError("of the user's")

    with pytest.raises(tm.WorkerError):
        tm.run(wrong, events, trace=path)
    found = load(str(path))
    assert not found.rows[-1].ok
    assert "of the user's" in found.rows[-1].reason
    assert any("of the user's" in line for line in lines(summary(found)))


@pytest.mark.parametrize("mergers", [False, True])
def test_whatever_dies_each_entry_counts_once(mergers):
    for seed in range(100):
        history = History(seed, mergers=mergers)
        world = history.world
        history.live()
        made = rows(world.trace.records, lambda file: (f"{file}.root", 0))
        done = [row for row in made if row.counted]
        assert sum(row.entries for row in done) == len(world.result)
        entries = {(row.file, at) for row in done for at in range(row.start, row.stop)}
        assert len(entries) == len(world.result)
        released = [row for row in made if row.event == "file released"]
        assert len(released) == sum(row.event == "file assigned" for row in made)
        told = summary(Recorded(made, About()))
        assert told.entries == len(world.result)
        assert set(told.stages) == set(STAGES)
        assert list(lines(told))


def test_merging_is_no_commit_and_no_waiting():
    trace = Trace()
    packet, late = Packet(0, 0, 0, 10), Packet(1, 0, 10, 30)
    for worker in (0, 1):
        trace.record(0.0, WorkerJoined(worker, "host"), [Process(worker, (packet, late)[worker])])
    trace.record(1.0, PacketDone(0, 0, 10, 1.0), [Commit(0)])
    trace.record(1.5, Committed(0, merging=0.2), [])
    trace.record(2.0, PacketDone(1, 1, 30, 2.0), [Commit(1, merger=7)])
    trace.record(2.25, Committed(1, merger=7, merging=0.05), [Collect(7)])
    trace.record(3.25, Collected(7), [Finish()])
    made = rows(trace.records, lambda file: (f"{file}.root", 0))
    merges = [(row.worker, row.entries, row.seconds) for row in made if row.event == "merge"]
    assert merges == [(0, 10, 0.2), (1, 20, 0.05), (-1, 20, 1.0)]
    told = summary(Recorded(made, About()))
    assert told.collecting == 1.0
    assert told.stages["commit"] == pytest.approx(0.3 + 0.2)
    assert told.stages["merge"] == pytest.approx(0.2 + 0.05 + 2 * 1.0)
    assert told.stages["wait"] == pytest.approx(0.75), "worker 0, until the other one is done"
    assert sum(told.stages.values()) == pytest.approx(2 * 3.25)
    assert any("merge" in line and "2.250" in line for line in lines(told))


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_merging_is_measured(events, tmp_path, mode):
    path = tmp_path / "trace.root"
    with tm.connect(workers=2, mode=mode) as session:
        session.run(events.hist("Muon_pt", bins=(10, 0, 100)), trace=path)
    made = load(str(path)).rows
    commits = {row.time: row for row in made if row.event == "commit"}
    merges = [row for row in made if row.event == "merge"]
    assert merges
    for row in merges:
        assert 0 < row.seconds <= commits[row.time].seconds
        assert row.entries == commits[row.time].entries
    assert summary(load(str(path))).stages["merge"] >= sum(row.seconds for row in merges)


def test_what_is_no_trace_is_an_error(events, tmp_path, paths):
    for name in ("trace.txt", "trace"):
        with raises(tm.QueryError, said="ends in"):
            tm.run(events.count(), trace=tmp_path / name)
    with raises(tm.QueryError, said="name of a file"):
        tm.run(events.count(), trace=True)
    with raises(tm.QueryError, said="ends in"):
        load("trace.txt")
    with pytest.raises(tm.TreemillError):
        load(str(tmp_path / "none.json"))
    (tmp_path / "other.json").write_text("[1, 2]")
    with raises(tm.FormatError, said="no trace"):
        load(str(tmp_path / "other.json"))
    with pytest.raises(tm.TreemillError):
        load(paths[0])


def test_several_datasets_have_no_trace_together(paths, tmp_path):
    counts = [tm.dataset(path, tree="Events").count() for path in paths[:2]]
    with raises(tm.QueryError, said="for one dataset"):
        tm.run(*counts, trace=tmp_path / "trace.root")
    assert not os.listdir(tmp_path)


def test_a_trace_that_cannot_be_written_costs_no_result(events, tmp_path):
    with pytest.warns(RuntimeWarning, match="was not written"):
        assert tm.run(events.count(), trace=tmp_path / "none" / "trace.root") == 12322


def test_measures_have_one_table():
    of_packets = {name for name, measure in MEASURES.items() if measure.of_packets}
    assert set(Spent._fields) <= of_packets
    assert of_packets - set(Spent._fields) == {"packets", "entries", "seconds"}
    assert set(IOReport._fields) - {"sources"} <= set(MEASURES)
    assert all(hasattr(IOReport(), name) for name in set(MEASURES) - of_packets)
    assert set(COUNTERS) == set(IOReport._fields) - {"sources"} | {"bytes_over_read"}
    assert set(COUNTERS) <= set(MEASURES)
    assert set(Spent._fields) <= set(Row._fields)


def test_the_docs_have_all_names():
    text = (Path(__file__).parents[3] / "docs/monitoring.md").read_text()
    for name in Row._fields:
        assert f"`{name}`" in text
    for name, words in (EVENTS | STEPS).items():
        assert f"| {name} | {words} |" in text
