"""What queries want ahead, of files on servers and of others; files that several threads bind."""

import threading
from types import SimpleNamespace

import pytest
from treemill.workers.query_task import QueryWorkload
from treemill.workers.worker import FILES_AT_ONCE
from treemill.workers.workload import SpanWorkload

FAR, NEAR = "root://host//data/{}.root", "/data/{}.root"


class Bound:
    wanted, entry_bytes, is_kept = 6000, 3, False

    def __init__(self, path=FAR):
        self.is_near, self.is_done = path == NEAR, False

    def is_spent(self):
        return self.is_done

    def ahead(self, *, opens=False):
        return 0 if self.is_near or (self.is_kept and not opens) else self.wanted

    def bytes_of(self, start, stop):
        return self.entry_bytes * (stop - start)


class Query:
    """Counts how often each file is bound; `fails` raises instead."""

    def __init__(self, path=FAR):
        self.path = path
        self.bound = []
        self.fails = False
        self.wait = lambda: None

    words = frozenset()

    def bind(self, chain, file):
        self.bound.append(chain.trees[file])
        self.wait()
        if self.fails:
            raise OSError("chance")
        return Bound(self.path)


class Trees(list):
    """The files' numbers. `far`: those of files on servers."""

    def __init__(self, path, files):
        super().__init__(range(files))
        self.far = frozenset(self if path == FAR else ())

    def asks_servers(self):
        return bool(self.far)


def workload_of(path, files=FILES_AT_ONCE + 10, workers=1):
    chain = SimpleNamespace(
        locations=[SimpleNamespace(path=path.format(i)) for i in range(files)],
        trees=Trees(path, files),
        sizes=[(1000, ())] * files,
        foreign=lambda file: None,
        schema="nanoaod",  # so that the core runs no file by itself
    )
    query = Query(path)
    return QueryWorkload(query, chain, workers), query


def test_files_that_are_paths_are_not_even_asked():
    workload, query = workload_of(NEAR)
    assert workload.ahead(0) == 0
    assert query.bound == []


def test_a_path_that_leads_to_a_server_is_known_once_it_is_open(monkeypatch):
    workload, query = workload_of(NEAR)
    monkeypatch.setattr(query, "path", FAR)  # what the core says of the file
    workload.bound(3)
    assert workload.ahead(3) == pytest.approx(2000, abs=1)
    assert workload.ahead(4) == 0
    assert query.bound == [3]


@pytest.mark.parametrize("spans", [False, True])
def test_entries_are_as_many_as_the_bytes_that_the_core_wants(spans):
    workload, query = workload_of(FAR)
    if spans:
        workload = SpanWorkload(workload, [(2, 500, None)])
    assert workload.ahead(0) == pytest.approx(2000, abs=1)
    assert workload.ahead(0) > 0
    assert query.bound == [2 if spans else 0], "it is bound once"


def test_nothing_is_wanted_of_a_server_next_door(monkeypatch):
    workload, _ = workload_of(FAR)
    monkeypatch.setattr(Bound, "wanted", 0)
    assert workload.ahead(0) == 0


def test_where_data_are_kept_files_are_opened_ahead_if_that_asks_servers(monkeypatch):
    monkeypatch.setattr(Bound, "is_kept", True)
    workload, _ = workload_of(FAR)
    assert workload.ahead(0) == pytest.approx(2000, abs=1)
    workload, query = workload_of(FAR)
    monkeypatch.setattr(Trees, "asks_servers", lambda trees: False)
    assert workload.ahead(0) == 0
    assert query.bound == [0]


def test_queries_that_read_nothing_still_want_their_files_opened(monkeypatch):
    workload, _ = workload_of(FAR)
    monkeypatch.setattr(Bound, "entry_bytes", 0)
    assert workload.ahead(0) > 1000


def test_an_error_is_met_by_the_packet_and_not_before():
    workload, query = workload_of(FAR)
    query.fails = True
    assert workload.ahead(0) == 0
    with pytest.raises(OSError, match="chance"):
        workload.bound(0)
    query.fails = False
    assert workload.bound(0) is workload.bound(0)


def test_two_threads_bind_a_file_once_and_another_file_meanwhile():
    workload, query = workload_of(FAR, workers=2)
    begun, go = threading.Event(), threading.Event()

    def wait():
        if query.bound == [0]:
            begun.set()
            assert go.wait(30)

    query.wait = wait
    found = []
    threads = [threading.Thread(target=lambda: found.append(workload.bound(0))) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(30)
    assert workload.bound(1) is not None, "nobody waits for another file"
    go.set()
    for thread in threads:
        thread.join(30)
    assert query.bound == [0, 1]
    assert len(found) == 3
    assert len(set(map(id, found))) == 1


def test_a_promise_does_not_close_the_file_that_is_read():
    workload, query = workload_of(FAR, workers=1)
    first = workload.bound(0)
    for file in range(1, FILES_AT_ONCE):
        workload.bound(file)
    assert workload.bound(0) is first
    for file in range(1, FILES_AT_ONCE + 4):
        workload.bound(file)
    assert workload.bound(0) is not first, "memory does not grow with files"
    near, query = workload_of(NEAR, workers=1)
    near.bound(0), near.bound(1), near.bound(0)
    assert query.bound == [0, 1, 0]


def test_files_that_are_done_leave_before_those_whose_bytes_are_on_their_way():
    workload, query = workload_of(FAR, workers=1)
    some = range(FILES_AT_ONCE - 1)
    asked = [workload.bound(file) for file in some]
    for file in range(len(some), len(some) + 10):
        workload.bound(file).is_done = True
        workload.ahead(file)  # it is the one that was used last
    assert [workload.bound(file) for file in some] == asked
    assert query.bound == list(range(len(some) + 10)), "each is bound once"
