"""What workers do, as plain data: who has a packet against time, the tail, the table by worker."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill.monitoring.dashboard_page import MOST_WORKERS, OVERVIEW, activity, table
from treemill.monitoring.worker_histograms import HISTOGRAMS
from treemill.scheduling import Monitored, WorkerCounters


def counted(seconds, nodes, width=1.0, workers=None):
    return Monitored(seconds, workers or {}, width, nodes)


def test_workers_with_a_packet_are_those_of_all_nodes():
    found = activity(counted(2.5, {"a": [1.0, 2.0, 0.5, 0.0], "b": [0.0, 1.0, 0.5, 0.0]}), 10.0)
    assert found.edges == [10.0, 11.0, 12.0, 12.5]
    assert found.values == [1.0, 3.0, 2.0], "the last bin is half a second"
    assert (found.tail, found.now) == (12.0, 2.0)


def test_there_is_no_tail_while_as_many_as_ever_are_at_work():
    assert activity(counted(3.0, {"a": [1.0, 2.0, 1.9, 0.0]})).tail is None
    assert activity(counted(3.0, {"a": [0.0, 0.0, 0.0]})).tail is None, "nothing has begun"
    assert activity(counted(3.0, {})) == ([0.0], [], None)


@given(
    bins=st.lists(st.floats(0, 1), min_size=1, max_size=20),
    last=st.floats(0.01, 1.0),
    width=st.floats(0.01, 10),
    began=st.floats(0, 100),
)
def test_seconds_at_packets_are_kept(bins, last, width, began):
    """The area below the line is the time that workers had packets."""
    seconds = width * (len(bins) - 1 + last)
    amounts = [width * each for each in bins[:-1]] + [width * last * bins[-1]]
    edges, values, tail = activity(counted(seconds, {"a": amounts}, width), began)
    area = sum(v * (e - s) for v, s, e in zip(values, edges, edges[1:], strict=False))
    assert area == pytest.approx(sum(amounts), abs=1e-4 * width + 1e-6)
    assert edges[-1] == pytest.approx(began + seconds, abs=1e-5)
    assert tail is None or began < tail < edges[-1]


def test_the_table_has_a_row_for_each_worker():
    sums = {"packets": 2, "entries": 500, "seconds": 4.0, "cpu": 3.0, "bytes_read": 7_000_000}
    made = table(counted(8.0, {}, workers={3: WorkerCounters(), 1: WorkerCounters(sums=sums)}))
    titles = [column["title"] for column in made["columns"]]
    assert "host" not in titles, "no worker is on another host"
    rows = [dict(zip(titles, row, strict=True)) for row in made["rows"]]
    assert [row["worker"] for row in rows] == [1, 3]
    assert (rows[0]["events/s"], rows[0]["busy"], rows[0]["packets"]) == (125.0, 0.5, 2)
    assert (rows[1]["events/s"], rows[1]["busy"], rows[1]["packets"]) == (0.0, 0.0, 0)
    assert made["more"] == 0
    assert all(column["about"] for column in made["columns"])
    json.dumps(made, allow_nan=False)


def test_of_very_many_workers_the_first_are_listed():
    many = {number: WorkerCounters(f"host{number % 7}") for number in range(MOST_WORKERS + 5)}
    made = table(counted(1.0, {}, workers=many))
    assert len(made["rows"]) == MOST_WORKERS
    assert made["more"] == 5
    assert made["rows"][3][1] == "host3"


def test_the_overview_has_histograms_that_there_are():
    assert set(OVERVIEW) <= set(HISTOGRAMS)
    assert len(set(OVERVIEW)) == 6
