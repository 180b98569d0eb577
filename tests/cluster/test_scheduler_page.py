"""The dashboard's page on the scheduler's own web server."""

import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

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


def test_a_session_on_a_cluster_has_a_page_of_its_own(session, events):
    session.run(events.count())
    state = Client(session.dashboard().url).state()
    assert state["chosen"]["inResult"] == events.num_entries
    assert state["chosen"]["done"]
