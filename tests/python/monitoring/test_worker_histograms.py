"""What workers do, as histograms: of real runs against the report, of made-up ones by hand; as
feedback, in outputs, as Prometheus text."""

import threading

import numpy as np
import pytest
import treemill as tm
from treemill.backends.merged_partial import MergedPartial
from treemill.monitoring import watch
from treemill.monitoring.progress_bar import ProgressBar
from treemill.monitoring.worker_histograms import HISTOGRAMS, WorkerHistograms
from treemill.scheduling import (
    MEASURES,
    Monitoring,
    Packet,
    PacketDone,
    Process,
    Spent,
    WorkerJoined,
    WorkerLost,
)
from treemill.workers.selector_workload import SelectorTask

from tests.raising import raises

SIX = {
    "packets_per_worker",
    "entries_per_worker",
    "workers_per_node",
    "latency_per_worker",
    "seconds_per_worker",
    "cpu_per_worker",
}


class Counting(tm.Selector):
    def begin_worker(self, inputs):
        self.output["n"] = 0

    def process(self, events):
        self.output["n"] += len(events.MET_pt)


def one_packet(monitoring, worker, now, seconds, spent=None, file=0, entries=10):
    packet = Packet(0, file, 0, entries)
    monitoring.follow(now, WorkerJoined(worker), [Process(worker, packet)])
    done = PacketDone(worker, 0, entries, seconds, spent=spent)
    monitoring.follow(now + seconds, done, [])


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_histograms_of_a_real_run(events, mode, nothing_remembered):
    with tm.connect(workers=1, mode=mode) as session:
        session.run(events.hist("Muon_pt", bins=(10, 0, 100)))
        report = session.report
    made = report.measured.histograms
    assert set(made) == set(HISTOGRAMS)
    assert set(made) >= SIX
    assert made["entries_per_worker"].sum() == report.entries == 12322
    assert made["bytes_read_per_worker"].sum() == report.bytes_read > 0
    packets = made["packets_per_worker"].sum()
    for name in ("latency_per_worker", "seconds_per_worker", "cpu_per_worker"):
        assert made[name].sum(flow=True) == packets > 0
    nodes = made["workers_per_node"]
    assert len(nodes.axes["node"]) == 1
    assert nodes.axes["node"].value(0).startswith("file:///")
    assert 0 < nodes.values().max() <= 1 + 1e-9


def test_what_is_switched_off_is_not_counted(events):
    with tm.connect(workers=1) as session:
        session.run(events.count(), monitor=False)
        assert session.report.measured is None
    with raises(tm.QueryError, about="monitor"):
        tm.run(events.count(), monitor="yes")


def test_outputs_of_selectors_have_them_if_asked(events):
    with tm.connect(workers=2) as session:
        output = session.run(Counting(), events, monitor=True)
        assert output["n"] == 12322
        assert set(output["monitor"]) == set(HISTOGRAMS)
        assert output["monitor"]["entries_per_worker"].sum() >= 12322
        assert set(session.run(Counting(), events)) == {"n"}


def test_feedback_takes_their_names(events):
    with tm.connect(workers=1) as session:
        query = session.submit(events.count())
        query.result(timeout=60)
        assert query.measured("packets_per_worker").sum() > 0
        assert query.measured("another") is None


def test_feedback_draws_them_while_a_query_runs(events, monkeypatch, capsys):
    """Held after the first commit until something was drawn."""
    monkeypatch.setattr(watch, "_FEEDBACK_EVERY", 0.05)
    drawn, told = [], threading.Event()
    draw, commit = ProgressBar.draw, MergedPartial.merge

    def note(bar, name, histogram):
        draw(bar, name, histogram)
        drawn.append((name, histogram))
        told.set()

    def held(merged, partial, packets):
        commit(merged, partial, packets)
        told.wait(60)

    monkeypatch.setattr(MergedPartial, "merge", held)
    monkeypatch.setattr(ProgressBar, "draw", note)
    monkeypatch.setattr(SelectorTask, "commit_seconds", EACH_PACKET, raising=False)
    with tm.connect(workers=1, mode="threads") as session:
        output = session.run(
            lambda chunk: {"n": len(chunk)},
            events,
            feedback="packets_per_worker",
            progress=True,
        )
    assert output == {"n": 12322}
    assert {name for name, _ in drawn} == {"packets_per_worker"}
    packets = [histogram.sum() for _, histogram in drawn]
    assert packets == sorted(packets)
    assert 0 < packets[0] < packets[-1], "it has grown while the query ran"
    assert "packets_per_worker" in capsys.readouterr().err


EACH_PACKET = property(lambda task: 0.0, lambda task, seconds: None)
"""Workers commit after each packet."""


def test_times_are_spread_over_their_bins_and_bins_are_joined():
    monitoring = Monitoring(lambda file: f"node{file}")
    one_packet(monitoring, 0, 1.0, 2.0, file=0)
    one_packet(monitoring, 1, 0.0, 1000.0, file=1)
    monitoring.follow(1000.0, WorkerJoined(2), [Process(2, Packet(1, 0, 0, 5))])
    counts = monitoring.now(1001.0)
    assert sum(counts.nodes["node0"]) == pytest.approx(3.0)
    assert sum(counts.nodes["node1"]) == pytest.approx(1000.0)
    assert counts.width * 120 > 1001.0
    assert all(len(bins) == 120 for bins in counts.nodes.values())
    made = WorkerHistograms(counts).histogram("workers_per_node")
    assert made["node1", :].values()[:-2] == pytest.approx(np.ones(len(made.axes[1]) - 2), abs=0.1)
    again = monitoring.now(1001.0)
    assert again == counts


def test_measures_are_summed_and_binned_by_worker():
    monitoring = Monitoring(lambda file: "node")
    spent = Spent(0.01, 0.0, 0.5, bytes_read=100, reads=2)
    one_packet(monitoring, 3, 0.0, 1.5, spent)
    one_packet(monitoring, 4, 0.0, 1e9, Spent(0.0, 0.0, 1e-9))
    monitoring.follow(2.0, WorkerLost(3), [])
    made = WorkerHistograms(monitoring.now(1e9)).histograms
    assert made["bytes_read_per_worker"]["3"] == 100
    latency = made["latency_per_worker"]
    at = latency.axes[1].index(0.01 * 1.0001)
    assert latency.view(flow=True)[0, at + 1] == 1
    assert latency.view(flow=True)[1, 0] == 1
    assert made["seconds_per_worker"].view(flow=True)[1, -1] == 1
    assert made["cpu_per_worker"].view(flow=True)[1, 0] == 1


def test_prometheus_text():
    monitoring = Monitoring(lambda file: "node")
    monitoring.follow(0.0, WorkerJoined(0, 'a"b\\c'), [Process(0, Packet(0, 0, 0, 7))])
    monitoring.follow(1.0, PacketDone(0, 0, 7, 1.0), [])
    text = WorkerHistograms(monitoring.now(1.0)).prometheus('my "query"\n')
    label = r'query="my \"query\"\n",worker="0",host="a\"b\\c"'
    assert f"treemill_entries_total{{{label}}} 7\n" in text
    for name, measure in MEASURES.items():
        assert (f" treemill_{name}" in text) == measure.of_packets
    for line in text.splitlines():
        assert line.startswith(("# HELP ", "# TYPE ", "treemill_"))
