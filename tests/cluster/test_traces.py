"""Traces of queries on a cluster: as those of this machine, with the hosts of workers."""

import os
import signal

import pytest
import treemill as tm
from treemill.cli.trace import load
from treemill.monitoring.summary import summary
from treemill.scheduling import joined

from tests.waiting import until

from .processes import Processes
from .queries import again, check, committed, hurried, started


def counted(rows):
    """The ranges that the trace says are in the result, by file."""
    found = {}
    for row in rows:
        if row.counted:
            found.setdefault(row.file, []).append((row.start, row.stop))
    return {file: joined(each) for file, each in found.items()}


def test_totals_are_those_of_the_ledger(nothing_cached, nothing_in_vain, session, events, tmp_path):
    session.run(events.hist("Muon_pt", bins=(10, 0, 100)), trace=tmp_path / "trace.root")
    found = load(str(tmp_path / "trace.root"))
    assert counted(found.rows) == session.report.processed
    assert sum(row.entries for row in found.rows if row.counted) == events.num_entries
    read = sum(row.bytes_read for row in found.rows)
    assert 0 < read <= session.report.bytes_read == session.report.io.bytes_read
    packets = [row for row in found.rows if row.event == "packet"]
    assert all(row.host and row.seconds > 0 for row in packets)
    assert {"merger joined", "commit", "merge"} <= {row.event for row in found.rows}
    assert found.rows[-1].event == "end"


def test_bytes_are_those_of_the_sources(nothing_cached, nothing_in_vain, session, events, tmp_path):
    session.run(events.hist("Muon_pt", bins=(10, 0, 100)), trace=tmp_path / "trace.root")
    rows = load(str(tmp_path / "trace.root")).rows
    assert len({row.worker for row in rows if row.event == "packet"}) > 1
    assert sum(row.bytes_read for row in rows) == session.report.bytes_read > 0


@pytest.mark.slow
@again
def test_a_worker_that_was_killed_is_seen(tmp_path, files, turn):
    events = tm.dataset(files, tree="Events")
    path = tmp_path / "trace.root"
    with Processes(tmp_path) as processes:
        processes.add(2)
        with tm.connect(processes.address) as session:
            client = session._pool._client
            client.wait_for_workers(2, timeout=60)
            query = started(session, events, tmp_path, workers=2, trace=path)
            until(lambda: committed(client), "a commit")
            os.kill(committed(client)[0], signal.SIGKILL)
            check(events, hurried(query, tmp_path))
            report = query.report
    found = load(str(path))
    assert counted(found.rows) == report.processed
    assert sum(row.entries for row in found.rows if row.counted) == events.num_entries
    assert [row for row in found.rows if row.event == "merger lost"], "its partial is lost with it"
    lost = [row for row in found.rows if row.event == "worker lost"]
    assert lost
    assert not any(row.ok for row in lost)
    told = summary(found)
    assert [each.worker for each in told.workers if each.lost] == [row.worker for row in lost]
    assert told.in_vain > 0
    assert sum(row.bytes_read for row in found.rows) <= report.bytes_read


def test_steps_of_workers_come_with_their_packets(nothing_cached, session, events, tmp_path):
    booked = events.hist("Muon_pt", bins=(10, 0, 100))
    session.run(booked, trace=tmp_path / "trace.root", trace_steps=True)
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
