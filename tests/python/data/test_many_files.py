"""What one file costs does not grow with the number of the others."""

import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import treemill as tm
from treemill.data.chain import Chain
from treemill.data.chain_trees import ChainTrees, Sizes
from treemill.workers.file_query import PerFile
from treemill.workers.plain_files import PlainFiles

from tests.python.interpreter import steps
from tests.python.written import settled, write

N = 40


@pytest.fixture
def files(core, tmp_path):
    """Files of which the last one has one branch more."""
    made = [write(tmp_path / f"{n:02}.root", "t", x=np.full(10, n)) for n in range(N - 1)]
    return [*made, write(tmp_path / "last.root", "t", x=np.full(10, N), y=np.ones(10))]


def test_a_file_is_opened_with_as_few_steps_among_many(files):
    trees = {n: tm.dataset([files[0]] * n, "t").chain.pinned().trees for n in (2, 5000)}
    trees[2][0]  # what is loaded once
    few, many = (steps(lambda n=n: trees[n][1]) for n in (2, 5000))
    assert many < 2 * few


def test_a_second_pass_opens_no_more_than_its_first_file_before_it_begins(files, monkeypatch):
    events, bind, here = tm.dataset(files, "t"), PerFile.bind, []

    def bound(self, chain, file, *more):
        if threading.current_thread() is threading.main_thread():
            here.append(file)
        return bind(self, chain, file, *more)

    monkeypatch.setattr(PerFile, "bind", bound)
    with tm.connect(workers=2) as session:
        session.run(events.count())
        here.clear()
        assert session.run(events.sum("x")) == 10 * sum([*range(N - 1), N])
    assert set(here) <= {0}


def counted(monkeypatch, what, name):
    seen, plain = [], getattr(what, name)

    def noted(self, *given, **options):
        seen.append(given)
        return plain(self, *given, **options)

    monkeypatch.setattr(what, name, noted)
    return seen


def test_numbers_of_entries_take_each_files_size_once(files, monkeypatch):
    events = tm.dataset(files, "t")
    looks = counted(monkeypatch, Sizes, "__getitem__")
    with tm.connect(workers=1) as session:
        assert session.run(events.sum("entry_number")) == sum(range(10 * N))
    assert len(looks) < 8 * N


def test_all_sizes_are_asked_of_the_core_in_a_few_calls(files, tmp_path, monkeypatch):
    files.insert(5, write(tmp_path / "ä.root", "t", x=np.zeros(7)))  # Python opens it
    settled(*files)
    chain: Chain = tm.dataset(files, "t").chain
    opened = counted(monkeypatch, ChainTrees, "__getitem__")
    asked = counted(monkeypatch, ChainTrees, "remembered")
    expected = [7 if number == 5 else 10 for number in range(N + 1)]
    for each in (chain, chain.pinned()):
        assert each.entries == expected
    assert {number for (number,) in [*opened, *asked]} == {5}
    write(files[9], "t", x=np.zeros(123))
    assert chain.entries == [*expected[:9], 123, *expected[10:]]


def test_several_threads_open_all_files_but_those_that_are_broken(files, tmp_path):
    broken = tmp_path / "broken.root"
    broken.write_bytes(Path(files[0]).read_bytes()[:300])
    settled(*files)
    chain = tm.dataset([*files * 4, str(broken), *files], "t").chain.pinned()
    chain.trees.look_at_all(threads=2)
    found, unsure = chain.trees.near.tables()
    assert found == [10] * (4 * N) + [None] + [10] * N
    assert unsure == chain.trees.near.unknown() == [4 * N]


def test_a_pass_with_friends_looks_once_into_all_files(files, monkeypatch):
    events = tm.dataset(files, "t")
    for alias in ("f", "g"):
        events = events.add_friend(tm.dataset(files, "t"), alias=alias)
    looks = counted(monkeypatch, ChainTrees, "look_at_all")
    assert events.chain.pinned(threads=2).entries[-1] == 10
    assert looks == [(2,), (2,), (2,), (1,)], "its own, those of each friend, and what was asked"


def test_what_friends_join_takes_no_step_of_python_for_each_file(files):
    query = SimpleNamespace(words=frozenset({"f.x"}))
    events = tm.dataset(files, "t").add_friend(tm.dataset(files, "t"), alias="f")
    plain = PlainFiles(query, events.chain.pinned())
    spans = [(number, 0, None) for number in range(N)]
    assert plain.parts(spans).spans == spans
    few, many = (steps(lambda n=n: plain.parts(spans[:n])) for n in (2, N))
    assert many == few


def test_a_branch_that_most_files_lack_is_looked_for_once(files, monkeypatch):
    events = tm.dataset(files, "t", missing={"y": 3.0})
    opened = counted(monkeypatch, ChainTrees, "__getitem__")
    with tm.connect(workers=1) as session:
        assert session.run(events.sum("y")) == 3 * 10 * (N - 1) + 10
    assert len(opened) < 12 * N


def test_a_chain_for_one_pass_knows_where_files_begin(files):
    chain: Chain = tm.dataset(files, "t").chain
    for each in (chain, chain.pinned()):
        assert [each.first_entry(file) for file in (5, 0, N - 1, 6)] == [50, 0, 10 * (N - 1), 60]
