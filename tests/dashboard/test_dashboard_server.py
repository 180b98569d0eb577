"""The dashboard's server, asked without a browser, beside real queries."""

import http.client
import json
import sys
import threading
from urllib.parse import urlencode, urlsplit

import hist
import pytest
import treemill as tm
from treemill.monitoring.dashboard_page import OVERVIEW

from tests.dashboard.held import held
from tests.raising import raises
from tests.waiting import until


class Client:
    def __init__(self, url):
        self.parts = urlsplit(url)
        self.token = self.parts.query.partition("=")[2]

    def ask(self, path, method="GET", headers=None, **options):
        connection = http.client.HTTPConnection(self.parts.netloc, timeout=20)
        words = urlencode({"token": self.token, **options})
        connection.request(method, f"{path}?{words}", headers=headers or {})
        answer = connection.getresponse()
        return answer, answer.read().decode()

    def state(self, **options):
        answer, text = self.ask("/state", **options)
        assert answer.status == 200
        return json.loads(text)


@pytest.fixture
def client(session):
    return Client(session.dashboard().url)


def test_a_session_without_queries(client):
    assert client.state() == {"session": "2 threads", "queries": [], "chosen": None}


def test_the_page_has_all_it_needs_inside(client):
    answer, text = client.ask("/")
    assert answer.status == 200
    assert "src=" not in text
    assert "uPlot" in text
    policy = answer.headers["Content-Security-Policy"]
    nonce = policy.partition("'nonce-")[2].partition("'")[0]
    assert text.count(f'nonce="{nonce}"') == 4
    assert "@" not in text.partition("<body>")[2].partition("<script")[0]
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    again, _ = client.ask("/")
    assert again.headers["Content-Security-Policy"] != policy


def test_a_query_grows_and_is_stopped(session, client, events):
    with held() as (selector, gate):
        query = session.submit(selector, events)
        gate.done(1)
        state = client.state()
        assert [each["id"] for each in state["queries"]] == [query.id]
        assert not state["chosen"]["done"]
        assert state["chosen"]["canEnd"]
        answer, _ = client.ask("/stop", "POST", query=query.id)
        assert answer.status == 200
        gate.open()
        query.result(timeout=60)
    state = client.state(histogram="met")
    assert state["chosen"]["done"]
    assert state["chosen"]["state"] == state["queries"][0]["state"] == "stopped"
    assert 0 < state["chosen"]["inResult"] < events.num_entries
    assert "stopped on the dashboard" in state["chosen"]["missing"][0]
    assert sum(state["chosen"]["figure"]["values"]) <= state["chosen"]["inResult"]
    assert state["chosen"]["histograms"][:2] == ["met", "x.y"]
    assert client.state(histogram="x.y")["chosen"]["figure"]["title"] == "x.y"


def test_what_workers_do_is_shown_and_can_be_scraped(session, client, events):
    query = session.submit(events.count())
    query.result(timeout=60)
    chosen = client.state(histogram="entries_per_worker")["chosen"]
    assert {"packets_per_worker", "latency_per_worker", "workers_per_node"} <= {
        *chosen["histograms"]
    }
    assert sum(chosen["figure"]["values"]) >= events.num_entries
    assert chosen["figure"]["axes"][0]["names"]
    answer, text = client.ask("/metrics")
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert f'treemill_entries_total{{query="{query.id}",worker="' in text
    client.token = "wrong"
    assert client.ask("/metrics")[0].status == 403


def test_workers_are_listed_and_their_activity_is_there(session, client, events):
    with held() as (selector, gate):
        session.submit(selector, events)
        gate.done(1)
        work = client.state()["chosen"]["work"]
        assert work["now"] > 0
        gate.open()
    session.run(events.count())
    work = client.state()["chosen"]["work"]
    titles = [column["title"] for column in work["table"]["columns"]]
    done = sum(row[titles.index("events")] for row in work["table"]["rows"])
    assert done >= events.num_entries
    assert len(work["edges"]) == len(work["active"]) + 1
    assert 0 < max(work["active"]) <= 2 + 1e-6
    assert [figure["title"] for figure in work["overview"]] == list(OVERVIEW)
    assert work["now"] == 0


def test_what_is_not_counted_is_not_shown(session, client, events):
    session.run(events.count(), monitor=False)
    chosen = client.state()["chosen"]
    assert chosen["work"] is None
    assert chosen["figure"] is None


def test_the_histogram_of_feedback_is_preferred(session, client, events):
    def fill(chunk):
        return {"met": met(chunk), "x": {"y": met(chunk)}}

    query = session.submit(fill, events, feedback="y")
    query.result(timeout=60)
    assert client.state()["chosen"]["figure"]["title"] == "x.y"
    assert client.state(histogram="met")["chosen"]["figure"]["title"] == "met"
    session.run(events.count(), feedback="cpu_per_worker")
    assert client.state()["chosen"]["figure"]["title"] == "cpu_per_worker"
    query = session.submit(events.hist("MET_pt", bins=(5, 0, 100)), feedback="no histogram")
    query.result(timeout=60)
    assert "MET_pt" in client.state()["chosen"]["figure"]["title"]


def met(chunk):
    return hist.Hist.new.Reg(5, 0, 100, name="met").Double().fill(chunk.MET_pt)


def test_the_trace_of_an_ended_query_is_a_page(session, client, events, tmp_path):
    session.run(events.count())
    (untraced,) = client.state()["queries"]
    assert not untraced["traced"]
    assert client.ask("/trace", query=untraced["id"])[0].status == 404
    session.run(events.count(), trace=tmp_path / "trace.json")
    assert (tmp_path / "trace.json").exists()
    traced = client.state()["queries"][-1]
    assert traced["traced"]
    answer, text = client.ask("/trace", query=traced["id"])
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "script-src" not in answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert f"{events.num_entries:,} entries in" in text
    assert "events_11.root" in text
    client.token = "wrong"
    assert client.ask("/trace", query=traced["id"])[0].status == 403


def test_a_session_that_keeps_records_has_traces(events):
    with tm.connect(workers=2, mode="processes", trace=10_000) as session:
        client = Client(session.dashboard().url)
        session.run(events.hist("MET_pt", bins=20))  # finds its range in a first pass
        traced = client.state()["queries"][-1]
        text = client.ask("/trace", query=traced["id"])[1]
        assert f"{events.num_entries:,} entries in" in text
        assert "on 2 processes" in text


def test_the_trace_of_a_query_that_runs_is_not_there_yet(events):
    with (
        tm.connect(workers=1, mode="threads", trace=10_000) as session,
        held() as (selector, gate),
    ):
        client = Client(session.dashboard().url)
        query = session.submit(selector, events)
        gate.done(1)
        assert not client.state()["queries"][-1]["traced"]
        assert client.ask("/trace", query=query.id)[0].status == 404
        query.stop()
        gate.open()
        query.result(timeout=60)
        assert client.state()["queries"][-1]["traced"]
        assert f"{query.report.entries:,} entries in" in client.ask("/trace", query=query.id)[1]


def test_without_matplotlib_the_trace_has_its_tables(
    session, client, events, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    session.run(events.count(), trace=tmp_path / "trace.json")
    answer, text = client.ask("/trace", query=client.state()["chosen"]["id"])
    assert answer.status == 200
    assert "Figures need matplotlib" in text
    assert "Where the workers" in text


def test_a_query_is_aborted(session, client, events):
    with held() as (selector, gate):
        query = session.submit(selector, events)
        gate.done(1)
        answer, _ = client.ask("/abort", "POST", query=query.id)
        assert answer.status == 200
        gate.open()
        with raises(tm.TreemillError, said="aborted on the dashboard"):
            query.result(timeout=60)


def test_a_query_that_has_failed_says_so(session, client, events):
    def wrong(chunk):
        raise ValueError("no")

    with raises(tm.WorkerError):
        session.run(wrong, events)
    session.run(events.count())
    assert [each["state"] for each in client.state()["queries"]] == ["failed", "done"]


def test_ended_queries_stay(session, client, events):
    session.run(events.count())
    state = client.state()
    assert state["chosen"]["inResult"] == events.num_entries
    answer, _ = client.ask("/stop", "POST", query="of another time")
    assert answer.status == 404


def test_the_rest_is_refused(session, client):
    assert client.ask("/state", headers={"Origin": "http://evil.org"})[0].status == 403
    assert client.ask("/state", headers={"Host": "evil.org"})[0].status == 403
    assert client.ask("/stop")[0].status == 404
    assert client.ask("/../secret")[0].status == 404
    client.token = "another"
    for path in ("/", "/state"):
        answer, text = client.ask(path)
        assert answer.status == 403
        assert "<" not in text


def test_a_session_has_one_page_and_ends_it():
    before = set(threading.enumerate())
    with tm.connect(workers=1, mode="threads") as session:
        page = session.dashboard()
        assert session.dashboard() is page
        client = Client(page.url)
        assert client.ask("/")[0].status == 200
    with pytest.raises(ConnectionRefusedError):
        client.ask("/")
    assert "closed" in repr(page)
    page.close()
    # The thread of an answer ends after the answer was read.
    until(lambda: len(set(threading.enumerate()) - before) <= 1, "the page's threads end")
