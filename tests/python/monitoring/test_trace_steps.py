"""Traces with the steps of workers: their reads are what the sources counted, their evaluations
have every entry once, in each form, on threads and processes; memory is bounded."""

import json

import pytest
import treemill as tm
import uproot
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from treemill.cli.main import cli
from treemill.cli.trace import load
from treemill.monitoring.offline_page import figures
from treemill.monitoring.recorded import EVENTS, STEPS, Row
from treemill.monitoring.rows import StepRows
from treemill.monitoring.summary import summary
from treemill.monitoring.text import lines
from treemill.scheduling import PacketDone, Step, Trace, joined
from treemill.session import recording

from tests.raising import raises


def of(found, event):
    return [row for row in found.rows if row.event == event]


@pytest.mark.parametrize(
    ("mode", "form"), [("threads", "root"), ("threads", "json"), ("processes", "parquet")]
)
def test_steps_add_up_to_what_was_counted(events, tmp_path, mode, form, nothing_remembered):
    path = tmp_path / f"trace.{form}"
    with tm.connect(workers=2, mode=mode) as session:
        booked = events.filter("nMuon >= 1").hist("Muon_pt", bins=(10, 0, 100))
        session.run(booked, trace=path, trace_steps=True)
        report = session.report
    found = load(str(path))
    packets = {(row.packet, row.attempt, row.worker): row for row in of(found, "packet")}
    reads = of(found, "read")
    assert sum(row.bytes for row in reads) == sum(row.bytes_read for row in packets.values()) > 0
    assert len(reads) == sum(row.reads for row in packets.values())
    assert {row.source for row in reads} == {"this machine"}
    for row in reads:
        ranges = [tuple(map(int, each.split("-"))) for each in row.ranges.split()]
        assert sum(stop - start for start, stop in ranges) == row.bytes
    ranges = {}
    for row in of(found, "evaluate"):
        if packets[row.packet, row.attempt, row.worker].counted:
            ranges.setdefault(row.file, []).append((row.start, row.stop))
            assert row.entries == row.stop - row.start
    assert {file: joined(each) for file, each in ranges.items()} == report.processed
    assert sum(stop - start for each in ranges.values() for start, stop in each) == 12322
    opened = [(row.worker, row.file) for row in of(found, "bound")]
    assert sorted(opened) == sorted({(row.worker, row.file) for row in packets.values()})
    assert {row.event for row in found.rows} <= {*EVENTS, *STEPS}
    times = [row.time for row in found.rows]
    assert times == sorted(times)
    for row in found.rows:
        if row.event in STEPS:
            packet = packets[row.packet, row.attempt, row.worker]
            assert row.ok
            assert packet.time - packet.seconds - 1e-6 <= row.time - row.seconds
            assert row.time <= packet.time
    decompressed = sum(row.bytes_decompressed for row in packets.values())
    assert 0 < sum(row.bytes for row in of(found, "decompress")) <= decompressed


def test_selectors_have_steps(events, tmp_path):
    path = tmp_path / "trace.json"
    with tm.connect(workers=1) as session:
        session.run(lambda chunk: {"n": len(chunk.MET_pt)}, events, trace=path, trace_steps=True)
    found = load(str(path))
    done = of(found, "evaluate")
    assert sum(row.stop - row.start for row in done) == 12322
    assert sum(row.bytes for row in of(found, "read")) == sum(r.bytes_read for r in found.rows)


def test_without_being_asked_for_there_are_none(events, tmp_path):
    path = tmp_path / "trace.json"
    tm.run(events.count(), trace=path)
    assert not {row.event for row in load(str(path)).rows} & set(STEPS)
    with raises(tm.QueryError, about="trace"):
        tm.run(events.count(), trace_steps=True)


def test_memory_is_bounded(events, tmp_path, monkeypatch, nothing_remembered):
    monkeypatch.setattr(recording, "RECORDS", 20)
    path = tmp_path / "trace.json"
    with tm.connect(workers=1) as session:
        session.run(events.hist("MET_pt", bins=(10, 0, 100)), trace=path, trace_steps=True)
    found = load(str(path))
    assert found.about.dropped > 0
    assert any("were dropped" in line for line in lines(summary(found)))
    trace = Trace(limit=10)
    for number in range(100):
        step = Step("wait", 0, 0.0, 0.0, 0, [], "", "", True)
        trace.record(number, PacketDone(0, number, 1, 0.1, steps=[step] * (number % 4)), [])
        assert sum(1 + len(each.event.steps) for each in trace.records) <= 10
    assert trace.dropped + len(trace.records) == 100


def test_uproot_and_perfetto_have_the_ranges(events, tmp_path, nothing_remembered):
    paths = [tmp_path / "trace.root", tmp_path / "trace.json"]
    for path in paths:
        tm.run(events.hist("MET_pt", bins=(10, 0, 100)), trace=path, trace_steps=True)
    with uproot.open(paths[0]) as file:
        tree = file["PerfStats"].arrays(library="np")
    is_read = tree["event"] == "read"
    assert is_read.any()
    assert tree["bytes"][is_read].sum() == tree["bytes_read"].sum()
    first, last = map(int, tree["ranges"][is_read][0].split()[0].split("-"))
    assert 0 < first < last
    told = json.loads(paths[1].read_text())["traceEvents"]
    reads = [each for each in told if each["name"].startswith("read ")]
    assert reads
    assert all(each["ph"] == "X" and each["args"]["ranges"] for each in reads)


def test_the_report_has_reads(events, tmp_path, nothing_remembered):
    path = str(tmp_path / "trace.parquet")
    tm.run(events.hist("MET_pt", bins=(10, 0, 100)), trace=path, trace_steps=True)
    told = CliRunner().invoke(cli, ["trace", "report", path, "--most", "2"])
    assert told.exit_code == 0, told.output
    reads = len(of(load(path), "read"))
    assert f"The longest reads (2 of {reads})" in told.output
    for words in ("Reads by server", "this machine"):
        assert words in told.output
    (*_, of_reads) = figures(summary(load(path)))
    assert [len(panel.series[0].y) for panel in of_reads] == [reads, reads]


PACKET = Row(10.0, "packet", worker=3, file="root://a//f", packet=7, seconds=5.0)
READ = Step("read", 1, 4.0, -1.0, 30, [(0, 10), (20, 40)], "root://a//g?authz=x", "root://a", True)


def test_a_read_that_ends_during_a_later_packet_has_its_duration():
    rows = [PACKET]
    follower = StepRows(rows)
    follower.follow([READ])
    assert (rows[1].seconds, rows[1].time, rows[1].bytes) == (0.0, 6.0, 30)
    assert (rows[1].file, rows[1].ranges, rows[1].source) == (
        "root://a//g",
        "0-10 20-40",
        "root://a",
    )
    rows.append(PACKET._replace(time=12.0, packet=8))
    follower.follow([Step("came", 1, 6.0, 5.5, 0, [], "", "", False)])
    assert len(rows) == 3
    assert (rows[1].seconds, rows[1].time, rows[1].ok) == (5.5, 11.5, False)


@settings(max_examples=50)
@given(st.lists(st.lists(st.sampled_from(["read", "came", "wait", "bound", "left out"]))))
def test_whatever_comes_in_which_order_bytes_add_up(packets):
    rows, sent, came = [], 0, 0
    follower = StepRows(rows)
    for number, kinds in enumerate(packets):
        rows.append(PACKET._replace(time=10.0 * number, packet=number))
        steps = []
        for kind in kinds:
            if kind == "read":
                sent += 1
                steps.append(READ._replace(number=sent))
            elif kind == "came":
                came += 1
                steps.append(Step("came", came, 1.0, 0.5, 0, [], "", "", True))
            else:
                steps.append(Step(kind, 0, 1.0, 0.5, 0, [], "", "", True))
        follower.follow(steps)
    reads = [row for row in rows if row.event == "read"]
    assert len(reads) == sent
    assert sum(row.bytes for row in reads) == 30 * sent
    assert sum(row.event == "bound" for row in rows) == any("bound" in each for each in packets)
    assert not any(row.event == "came" for row in rows)
    assert all(row.time <= 10.0 * row.packet or row.seconds for row in reads)
