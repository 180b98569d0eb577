"""A pass's status, one frozen value for each kind of workers; a pass that cannot start."""

import pytest
import treemill as tm
from treemill.backends.base import Heartbeat, PassStatus
from treemill.errors import QueryError

from tests.raising import raises


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    import numpy as np
    import uproot

    path = tmp_path_factory.mktemp("status") / "events.root"
    with uproot.recreate(path) as file:
        file["Events"] = {"x": np.arange(5000.0)}
    return tm.dataset([str(path)], "Events")


@pytest.fixture(params=["threads", "processes", "sites"])
def session(request):
    if request.param != "sites":
        with tm.connect(workers=2, mode=request.param) as session:
            yield session
        return
    from treemill.backends.sites.pool import FederatedPool
    from treemill.backends.threads import ThreadPool
    from treemill.session.session import Session

    with Session(FederatedPool({"a": ThreadPool(1), "b": ThreadPool(1)})) as session:
        yield session


def test_the_status_is_one_value_that_agrees_with_the_report(session, events):
    query = session.submit(events.filter("x >= 10").count())
    running = query._pass
    early = running.status()
    copied = PassStatus(*(getattr(early, name) for name in PassStatus.__match_args__))
    assert query.result(timeout=60) == (4990,)
    assert early == copied, "a status does not change"
    status, progress = running.status(), query.progress
    assert status.committed == status.entries == query.report.entries == 5000
    assert (status.before, status.error) == (0, None)
    assert (progress.entries, progress.expected) == (status.entries, status.expected)
    assert status.heartbeat.bytes_read == query.report.bytes_read > 0
    assert query.report.workers == status.workers >= 1


def test_entries_of_a_running_pass_do_not_exceed_those_expected():
    status = PassStatus(0.0, Heartbeat(entries=90), expected=100, before=20)
    assert status.entries == 100


def test_a_pass_that_cannot_start_lets_others_have_its_checkpoint(events, tmp_path, monkeypatch):
    from treemill.backends.processes.template_client import TemplateWorkers

    def refused(*about):
        raise QueryError("cannot be sent")

    booking = events.sum("x")
    with tm.connect(workers=1, mode="processes") as session:
        with monkeypatch.context() as patch:
            patch.setattr(TemplateWorkers, "submit", refused)
            with raises(QueryError, said="cannot be sent"):
                session.run(booking, checkpoint=tmp_path)
        assert session.run(booking, checkpoint=tmp_path) == sum(range(5000))
