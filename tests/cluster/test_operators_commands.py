"""`treemill cluster queries | stop | drop | drain | dump | top` on a real cluster."""

import os
import signal

import pytest
import treemill as tm
from click.testing import CliRunner
from treemill.cli.main import cli

from tests.raising import raises
from tests.waiting import until

from .processes import Processes
from .queries import hurried, started


@pytest.fixture
def processes(tmp_path):
    with Processes(tmp_path) as made:
        made.add(2, 2)
        yield made


@pytest.fixture
def session(processes):
    with tm.connect(processes.address) as made:
        made._pool._client.wait_for_workers(2, timeout=60)
        yield made


def cluster(command, *words):
    done = CliRunner().invoke(cli, ["cluster", command, *map(str, words)])
    assert done.exit_code == 0, done.output
    return done.output


def test_queries_are_listed_and_stopped(processes, session, events, tmp_path):
    query = started(session, events, tmp_path, workers=2)
    until(lambda: query.snapshot() or query.done, "something is merged")
    head, _, line = cluster("queries", processes.address).splitlines()
    row = dict(zip(head.split(), line.split(), strict=False))
    assert row["query"] == query.id
    assert "@" in row["owner"]
    assert row["state"] == "running"
    assert query.title in line
    assert "kB" in line or " B" in line, "what workers hold of it"
    assert f"stopped {query.id}" in cluster("stop", processes.address, query.id)
    with raises(tm.StoppedError, said="by an operator's command"):
        query.result(60)


def test_a_query_is_dropped(processes, session, events, tmp_path):
    query = started(session, events, tmp_path, workers=2)
    assert f"dropped {query.id}" in cluster("drop", processes.address, query.id)
    with raises(tm.QueryError, said="was dropped"):
        query.result(60)
    assert len(cluster("queries", processes.address).splitlines()) == 2
    done = CliRunner().invoke(cli, ["cluster", "drop", processes.address, query.id])
    assert done.exit_code == 1
    assert isinstance(done.exception, tm.QueryError | SystemExit)


def test_a_worker_is_drained_and_nothing_is_repeated(processes, session, events, tmp_path):
    query = started(session, events, tmp_path, workers=2)
    address = next(iter(session._pool._client.scheduler_info()["workers"]))
    assert address in cluster("drain", processes.address, address)
    assert address not in cluster("top", processes.address, "--looks", 1)
    assert hurried(query, tmp_path)["n"] == events.num_entries


def test_no_new_query_begins_on_a_cluster_that_is_drained(processes, session, events):
    assert "no new query begins" in cluster("drain", processes.address)
    with raises(tm.QueryError, said="takes no new queries: somebody drains it"):
        session.run(events.count())
    assert "begin again" in cluster("drain", processes.address, "--off")
    assert session.run(events.count()) == events.num_entries


def test_what_each_worker_does_now(processes, session, events, tmp_path):
    query = started(session, events, tmp_path, workers=2)
    text = cluster("dump", processes.address)
    assert f"of query {query.id} of " in text
    assert "processes entries " in text
    assert "spans (" in text, "the user's function is in the stack"
    assert hurried(query, tmp_path)["n"] == events.num_entries
    assert "has no part in a query" in cluster("dump", processes.address)


def test_a_frozen_worker_is_named(processes, session, events):
    session.run(events.count())
    frozen = processes.workers[0]
    os.kill(frozen.pid, signal.SIGSTOP)
    try:
        text = cluster("dump", processes.address, "--seconds", "1")
    finally:
        os.kill(frozen.pid, signal.SIGCONT)
    assert "no answer within 1 s" in text
    assert "has no part in a query" in text, "the other one answers"
