"""Several users on one cluster: whose query it is, who may see, attach to and stop it, and what is
said of one that somebody else has stopped."""

import contextlib

import pytest
import treemill as tm

from tests.raising import raises
from tests.waiting import until

from .processes import Processes, scheduler_state
from .queries import started


@pytest.fixture
def processes(tmp_path, monkeypatch):
    """A cluster of an operator's."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "operator"))
    with Processes(tmp_path) as made:
        made.add(1, 2)
        yield made


@pytest.fixture
def connect(processes, tmp_path, monkeypatch):
    """Makes a session of a user: this process has the user's name and home then."""
    with contextlib.ExitStack() as stack:

        def made(user):
            monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / user))
            monkeypatch.setenv("LOGNAME", user)
            session = stack.enter_context(tm.connect(processes.address))
            session._pool._client.wait_for_workers(1, timeout=60)
            return session

        yield made


def names(session):
    return [each.id for each in session.queries]


def test_users_see_and_open_their_own_queries(connect, events, tmp_path):
    ada = connect("ada")
    query = started(ada, events, tmp_path, workers=1)
    assert [(each.state, each.title) for each in ada.queries] == [("running", query.title)]
    (again,) = connect("ada").queries
    assert (again.id, again.state) == (query.id, "running")
    assert again.owner == ada.queries[0].owner
    assert again.owner.startswith("ada@")
    bob = connect("bob")
    assert names(bob) == []
    with raises(tm.QueryError, said="no query of yours attach takes the key"):
        bob.attach(query.id)
    with raises(tm.QueryError, said="the query is another user's"):
        bob._pool.scheduler_client.ask("stop", work(ada), "mine")
    with raises(tm.QueryError, said="no query of yours attach takes the key"):
        bob.attach(f"{query.id}.guessed")
    assert names(connect("operator")) == [query.id]
    with raises(tm.QueryError, said="attach takes texts"):
        bob.attach(query)
    shared = bob.attach(query.key)
    assert shared.title == query.title
    assert [(each.id, each.owner) for each in bob.queries] == [(query.id, again.owner)]
    (tmp_path / "seen" / "hurry").touch()
    assert query.result(60) == shared.result(60)
    assert query.result(60)["n"] == events.num_entries


def test_a_result_stays_until_all_have_it_and_its_owner_drops_it(connect, events, tmp_path):
    ada, again, bob = connect("ada"), connect("ada"), connect("bob")
    client = ada._pool._client

    def there():
        return scheduler_state(client, lambda state: list(state._passes))

    query = started(ada, events, tmp_path, workers=1)
    beside = again.attach(query.id)
    (tmp_path / "seen" / "hurry").touch()
    whole = query.result(60)
    assert whole["n"] == events.num_entries
    assert beside.result(60) == whole
    assert beside.report.entries == query.report.entries == events.num_entries
    until(lambda: not there(), "both have it, and nobody else may")

    (tmp_path / "shared").mkdir()
    query = started(ada, events, tmp_path / "shared", workers=1)
    key = query.key
    (tmp_path / "shared" / "seen" / "hurry").touch()
    whole = query.result(60)
    ada.close()
    for _ in range(2):  # whoever has the key gets it, as often as they want
        assert bob.attach(key).result(60) == whole
    assert bob.attach(key).report.entries == events.num_entries
    client = bob._pool._client
    again._pool.scheduler_client.ask("drop", *there())
    assert not there()
    with raises(tm.QueryError, said="no query of yours attach takes the key"):
        bob.attach(key)


def work(session):
    return session._pool._listed()[-1].work


@pytest.mark.parametrize("how", ["stop", "abort"])
def test_a_query_that_another_has_stopped_says_so(connect, events, tmp_path, how):
    ada = connect("ada")
    query = started(ada, events, tmp_path, workers=1)
    until(lambda: query.snapshot() or query.done, "something is merged")
    operator = connect("operator")
    operator._pool.scheduler_client.ask(how, work(operator), "maintenance")
    with raises(tm.StoppedError, said="by somebody else") as caught:
        query.result(60)
    assert caught.value.by.startswith("operator@")
    part = query.result(partial=True)
    assert 0 < part["n"] < events.num_entries
    assert caught.value.partial_result == part
    assert caught.value.report.entries == part["n"]
    assert query.account.state == {"stop": "stopped", "abort": "aborted"}[how]


def test_states_of_queries(session, events, tmp_path):
    def failing(chunk):
        raise ValueError("no")

    session.run(events.count())
    with pytest.raises(tm.WorkerError):
        session.run(failing, events)
    for how in ("stop", "abort"):
        (tmp_path / how).mkdir()
        query = started(session, events, tmp_path / how, workers=1)
        getattr(query, how)()
        until(lambda query=query: query.done, "its end")
    states = [each.state for each in session.queries if hasattr(each, "report")]
    assert states == ["done", "failed", "stopped", "aborted"]


def test_dropped_queries_and_drained_clusters(connect, events, tmp_path):
    ada, operator = connect("ada"), connect("operator")
    query = started(ada, events, tmp_path, workers=1)
    with raises(tm.QueryError, said="only the operator"):
        ada._pool.scheduler_client.ask("drain", True)
    assert operator._pool.scheduler_client.ask("drain", True) == 1
    with raises(tm.QueryError, said="takes no new queries"):
        ada.run(events.count())
    assert [each.state for each in ada.queries] == ["running", "failed"]
    operator._pool.scheduler_client.ask("drain", False)
    operator._pool.scheduler_client.ask("drop", work(operator))
    with raises(tm.QueryError, said="dropped by somebody"):
        query.result(60)
    assert ada.run(events.count()) == events.num_entries


def test_orphans_are_stopped_and_their_results_stay(connect, events, tmp_path):
    ada = connect("ada")
    query = started(ada, events, tmp_path, workers=1)
    until(lambda: query.snapshot() or query.done, "something is merged")
    ada._pool.closed = True  # as if its process were killed: nobody looks on
    with raises(tm.WorkerError, said="the session was closed, and the query goes on"):
        query.result(60)
    again = connect("ada")

    def expire(state):
        def age(dask_scheduler):
            ownership = dask_scheduler.plugins["treemill"]._ownership
            for kept in ownership._kept.values():
                kept.asked -= 4000
                kept.watchers.clear()

        return age

    again._pool._client.run_on_scheduler(expire(None))
    until(lambda: again.queries[-1].state == "stopped", "the orphan is stopped")
    found = again.attach(query.id)
    with raises(tm.StoppedError, said="by the cluster"):
        found.result(60)
    assert 0 < found.result(partial=True)["n"] < events.num_entries
    client = again._pool._client
    until(lambda: not scheduler_state(client, lambda state: list(state._passes)), "it is dropped")
