"""Metrics of a cluster for Prometheus, and the board that draws them."""

import json
import re
from pathlib import Path
from urllib.request import urlopen

import dask
import pytest
import treemill as tm
from distributed import LocalCluster
from treemill.backends.base import Heartbeat
from treemill.backends.dask.metrics import GAUGES, SUMS, Totals, text

from tests.waiting import until

BOARD = Path(__file__).parents[2] / "packaging" / "grafana" / "treemill.json"
NOTHING = dict.fromkeys(GAUGES, 0)


def series(page):
    return {line.rsplit(" ", 1)[0] for line in page.splitlines() if not line.startswith("#")}


def test_series_do_not_grow_with_queries():
    def after(queries, users, by_user):
        totals = Totals(by_user)
        for number in range(queries):
            totals.begin(f"query-{number}", f"user-{number % users}")
            totals.follow(f"query-{number}", Heartbeat(entries=number))
            totals.end(f"query-{number}", "done")
        return series(text(totals, NOTHING))

    assert after(10_000, 50, by_user=False) == after(1, 1, by_user=False)
    assert len(after(10_000, 50, by_user=True)) == len(after(50, 50, by_user=True))
    assert not Totals()._passes


def test_sums_go_up_only():
    totals = Totals(by_user=True)
    totals.begin("a", 'ada "the first"')
    for entries in (10, 7, 12):  # a process was lost, and its counters with it
        totals.follow("a", Heartbeat(entries=entries))
    assert 'treemill_entries_total{user="ada \\"the first\\""} 12.0' in text(totals, NOTHING)


def test_prometheus_can_read_it():
    parser = pytest.importorskip("prometheus_client.parser")
    families = list(parser.text_string_to_metric_families(text(Totals(), NOTHING)))
    assert len(families) == len(GAUGES) + len(SUMS) + 3


QUERY = re.compile(
    r"(?:\d+ \* )?(?:sum(?: by \((?P<by>\w+)\))? ?\()?"
    r"(?:(?P<change>rate|increase)\()?(?P<name>treemill_\w+)(?:\[\w+\])?\)*"
)
"""What the board may ask, of PromQL: a metric, how fast a counter grows, a sum of that."""


def test_the_board_draws_what_a_real_scheduler_has(events):
    """Grafana itself is not here: each query is held against what a scheduler says, with users."""
    with (
        dask.config.set({"treemill.metrics-per-user": True}),
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        tm.connect(cluster) as session,
    ):
        session.run(events.count())
        address = f"http://127.0.0.1:{cluster.scheduler.http_server.port}/treemill/metrics"
        with urlopen(address, timeout=20) as answer:
            page = answer.read().decode()
    kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", page, re.MULTILINE))
    labels = {
        name: {*re.findall(r'(\w+)="', said)}
        for name, said in re.findall(r"^(\w+)(?:\{(.*)\})? \S+$", page, re.MULTILINE)
    }
    asked = set()
    panels = json.loads(BOARD.read_text())["panels"]
    for panel in panels:
        legends = [target["legendFormat"] for target in panel["targets"]]
        assert len(set(legends)) == len(legends), panel["title"]
        for target in panel["targets"]:
            query = QUERY.fullmatch(target["expr"])
            assert query is not None, target["expr"]
            name, by = query["name"], query["by"]
            asked.add(name)
            assert name in labels, f"no scheduler has {name}"
            assert (kinds[name] == "counter") == (query["change"] is not None), target["expr"]
            assert by is None or by in labels[name], f"{name} has no label {by}"
            drawn = {*re.findall(r"{{(\w+)}}", target["legendFormat"])}
            assert drawn == ({by} if by else set()), "a legend names what the lines differ by"
    assert labels.keys() - asked <= {
        "treemill_queries_begun_total",
        "treemill_server_requests_total",
    }
    places = [tuple(panel["gridPos"].values()) for panel in panels]
    assert len(set(places)) == len({panel["id"] for panel in panels}) == len(panels)
    assert len({panel["title"] for panel in panels}) == len(panels)


def test_a_cluster_counts_its_queries(nothing_cached, cluster, session, events):
    def looked():
        def look(dask_scheduler):
            return dask_scheduler.plugins["treemill"].metrics()

        page = session._pool._client.run_on_scheduler(look)
        return dict(line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))

    before = looked()
    session.run(events.hist("MET_pt", bins=(20, 0, 100)))
    with pytest.raises(tm.WorkerError):
        session.run(lambda chunk: {"n": 1 // 0}, events)

    def grown(name):
        return float(looked()[name]) - float(before.get(name, 0))

    until(lambda: grown('treemill_queries_ended_total{state="failed"}'), "the failure is counted")

    assert grown("treemill_queries_begun_total") == 2
    assert grown('treemill_queries_ended_total{state="done"}') == 1
    assert grown('treemill_queries_ended_total{state="failed"}') == 1
    assert grown("treemill_entries_total") >= events.num_entries
    assert grown("treemill_read_bytes_total") > 0
    assert (looked()["treemill_workers"], looked()["treemill_worker_threads"]) == ("2", "4")
