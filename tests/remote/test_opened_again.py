"""Files on servers whose metadata are in this process's memory and nowhere else, as where the user
has no home: later passes ask for their states only. What does not fit is opened ahead."""

import os
import threading

import pytest
import treemill as tm
from treemill.workers.query_task import QueryWorkload

from tests.remote.conftest import asked_of, settle, skip_without
from tools.servers.nginx import Nginx
from tools.servers.xrootd import XRootD

PATH = "store/trees/events_0.root"
FILES = 70
"""More than a dataset keeps open."""


@pytest.fixture
def only_memory(core, monkeypatch):
    """No folder for metadata, and nothing of what others have left."""
    kept = tm.cache.limit, tm.cache.metadata_limit
    tm.cache.limit, tm.cache.metadata_limit = 0, 0
    tm.cache.limit = "256 MB"
    yield
    tm.cache.limit, tm.cache.metadata_limit = kept


@pytest.fixture(params=[XRootD, Nginx])
def many(request, files):
    """A server, and the addresses of its files."""
    skip_without(request.param.missing())
    with request.param() as server:
        urls = [server.put(files[PATH], f"store/{number}.root") for number in range(FILES)]
        for number in range(FILES):
            os.utime(server.data / f"store/{number}.root", (1e9, 1e9))
        settle(*urls)
        yield server, urls


@pytest.fixture
def session():
    with tm.connect(workers=2, mode="threads") as made:
        yield made


def total(session, events):
    return session.run(events.sum("MET_pt"), progress=False)


def test_a_later_pass_asks_for_no_byte_of_files_that_are_in_memory(many, session, only_memory):
    server, urls = many
    events = tm.dataset(urls, tree="Events")
    first = total(session, events)
    total(session, events)  # what is read a second time is kept
    seen = len(asked(server))
    assert total(session, events) == pytest.approx(first)
    assert asked_of(session.report.io, urls[0]) == ()
    assert session.report.io.bytes_from_cache > 0
    assert all("range=bytes=0-0 " in line for line in asked(server)[seen:])


def test_the_caller_opens_no_file_but_the_first_one(many, session, only_memory, monkeypatch):
    _, urls = many
    tm.cache.limit = 0
    events = tm.dataset(urls, tree="Events")
    first = total(session, events)
    by_caller = []
    bind = QueryWorkload._bind

    def noted(self, file, binding):
        is_open = self._chain.trees.is_open(file)
        if threading.current_thread() is threading.main_thread() and not is_open:
            by_caller.append(file)
        return bind(self, file, binding)

    monkeypatch.setattr(QueryWorkload, "_bind", noted)
    assert total(session, events) == pytest.approx(first)
    assert by_caller in ([], [0])


def test_a_file_that_has_changed_is_opened_anew(many, files, session, only_memory):
    server, urls = many
    events = tm.dataset(urls, tree="Events")
    for _ in range(3):
        total(session, events)
    other = "store/trees/events_2.root"
    server.put(files[other], "store/beside")
    (server.data / "store/beside").rename(server.data / "store/7.root")
    settle(urls[7])
    session.run(events.count(), progress=False)
    assert session.report.entries == 5000 * (FILES - 1) + 7321


def asked(server):
    """What nginx has noted, which tells a state with a first byte; XRootD notes nothing."""
    return server.requests() if isinstance(server, Nginx) else []
