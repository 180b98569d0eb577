"""The dashboard's page on the scheduler's own web server."""

import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import dask
import pytest
import treemill as tm
from distributed import LocalCluster
from treemill.monitoring.dashboard_page import OVERVIEW

from tests.dashboard.test_dashboard_server import Client


def test_the_scheduler_shows_the_queries_of_all_sessions(cluster, session, events):
    query = session.submit(events.count())
    address = f"http://127.0.0.1:{cluster.scheduler.http_server.port}/treemill"
    with urlopen(address, timeout=20) as answer:
        assert answer.url == f"{address}/"
        assert "uPlot" in answer.read().decode()
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert query.result(timeout=60) == (events.num_entries,)
    with urlopen(f"{address}/state?token=null", timeout=20) as answer:
        state = json.load(answer)
    assert state["session"].startswith("4 worker threads")
    assert state["chosen"]["title"] == "count"
    assert state["chosen"]["entries"] == events.num_entries
    assert not state["chosen"]["canEnd"]
    with pytest.raises(HTTPError, match="404"):
        urlopen(Request(f"{address}/stop", method="POST"), timeout=20)


def test_it_has_what_workers_do_also_for_prometheus(cluster, session, events):
    query = session.submit(events.count())
    assert query.result(timeout=60) == (events.num_entries,)
    address = f"http://127.0.0.1:{cluster.scheduler.http_server.port}/treemill"
    with urlopen(f"{address}/state", timeout=20) as answer:
        state = json.load(answer)
    work = state["chosen"]["work"]
    assert [figure["title"] for figure in work["overview"]] == list(OVERVIEW)
    assert set(OVERVIEW) <= set(state["chosen"]["histograms"])
    by_worker = dict(zip(OVERVIEW, work["overview"], strict=True))["entries_per_worker"]
    assert sum(by_worker["values"]) >= events.num_entries
    titles = [column["title"] for column in work["table"]["columns"]]
    assert sum(row[titles.index("events")] for row in work["table"]["rows"]) >= events.num_entries
    assert max(work["active"]) > 0
    with urlopen(f"{address}/metrics", timeout=20) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain")
        text = answer.read().decode()
    counts = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
    assert float(counts["treemill_entries_total"]) >= events.num_entries
    assert float(counts['treemill_queries_ended_total{state="done"}']) >= 1
    assert query.id not in text, "no series for each query"
    session.run(events.count(), monitor=False)
    with urlopen(f"{address}/state", timeout=20) as answer:
        assert json.load(answer)["chosen"]["work"] is None


def test_with_the_hook_of_dask_it_is_there_before_any_session(events):
    routes = [
        *dask.config.get("distributed.scheduler.http.routes"),
        "treemill.backends.dask.http_routes",
    ]
    with (
        dask.config.set({"distributed.scheduler.http.routes": routes}),
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            dashboard_address=":0",
            scheduler_kwargs={"http_prefix": "/behind"},
        ) as cluster,
    ):
        address = f"http://127.0.0.1:{cluster.scheduler.http_server.port}/behind/treemill"
        with urlopen(address, timeout=20) as answer:
            assert answer.url == f"{address}/"
            assert "uPlot" in answer.read().decode()
        with urlopen(f"{address}/state", timeout=20) as answer:
            state = json.load(answer)
        assert (state["queries"], state["chosen"]) == ([], None)
        with tm.connect(cluster.scheduler_address) as session:
            session.run(events.count())
        with urlopen(f"{address}/state", timeout=20) as answer:
            state = json.load(answer)
        assert state["chosen"]["entries"] == events.num_entries
        with urlopen(f"{address}/metrics", timeout=20) as answer:
            assert "treemill_queries_begun_total 1\n" in answer.read().decode()


def test_a_session_on_a_cluster_has_a_page_of_its_own(session, events):
    session.run(events.count())
    state = Client(session.dashboard().url).state()
    assert state["chosen"]["inResult"] == events.num_entries
    assert state["chosen"]["done"]
