"""Traces of queries on a cluster: as those of this machine, with the hosts of workers."""

import treemill as tm
from treemill.cli.trace import load
from treemill.packetizer import joined


def test_totals_are_those_of_the_ledger(session, events, tmp_path):
    tm.cache.limit, before = 0, tm.cache.limit
    try:
        session.run(events.hist("Muon_pt", bins=(10, 0, 100)), trace=tmp_path / "trace.root")
    finally:
        tm.cache.limit = before
    found = load(str(tmp_path / "trace.root"))
    counted = {}
    for row in found.rows:
        if row.counted:
            counted.setdefault(row.file, []).append((row.start, row.stop))
    ranges = {file: joined(each) for file, each in counted.items()}
    assert ranges == session.report.processed
    assert sum(row.entries for row in found.rows if row.counted) == events.num_entries
    assert sum(row.bytes_read for row in found.rows) > 0
    packets = [row for row in found.rows if row.event == "packet"]
    assert all(row.host and row.seconds > 0 for row in packets)
    assert {"merger joined", "commit", "merge"} <= {row.event for row in found.rows}
    assert found.rows[-1].event == "end"


def test_steps_of_workers_come_with_their_packets(session, events, tmp_path):
    tm.cache.limit, before = 0, tm.cache.limit
    try:
        booked = events.hist("Muon_pt", bins=(10, 0, 100))
        session.run(booked, trace=tmp_path / "trace.root", trace_steps=True)
    finally:
        tm.cache.limit = before
    rows = load(str(tmp_path / "trace.root")).rows
    packets = {(r.packet, r.attempt, r.worker): r for r in rows if r.event == "packet"}
    reads = [row for row in rows if row.event == "read"]
    assert sum(row.bytes for row in reads) == sum(row.bytes_read for row in packets.values()) > 0
    done = [row for row in rows if row.event == "evaluate"]
    counted = [row for row in done if packets[row.packet, row.attempt, row.worker].counted]
    assert sum(row.entries for row in counted) == events.num_entries
    assert all(row.host for row in done)


def test_what_workers_do_is_counted(session, events):
    output = session.run(lambda chunk: {"n": len(chunk)}, events, monitor=True)
    assert output["n"] == events.num_entries
    made = session.report.measured.histograms
    assert made["entries_per_worker"].sum() >= events.num_entries
    assert {name.split("/")[0] for name in made["packets_per_worker"].axes[0]} != {""}
    assert made["latency_per_worker"].sum(flow=True) == made["packets_per_worker"].sum()
    assert set(output["monitor"]) == set(made)
    session.run(events.count(), monitor=False)
    assert session.report.measured is None
