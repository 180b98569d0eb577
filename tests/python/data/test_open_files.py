"""Files close when the datasets that have them open go, without Python's collector of cycles, and a
process has only so many open however many files, datasets and friends there are.
"""

import gc
import sys
import threading
from collections import OrderedDict

import numpy as np
import pytest
import treemill as tm
from treemill.backends import threads
from treemill.data import open_tree
from treemill.data.uproot_fallback import Fallback

from tests.python.open_files import counted, open_below
from tests.python.written import settled, write
from tests.waiting import until

N = 24
FEW = 5

pytestmark = counted


@pytest.fixture
def files(core, tmp_path):
    made = [write(tmp_path / f"{n:02}.root", "t", x=np.arange(10) + n) for n in range(N)]
    settled(*made)
    return made


@pytest.fixture
def opened(files, tmp_path):
    """Counts the files of the test that are open."""
    return lambda: open_below(tmp_path)


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def few(monkeypatch):
    """The trees that stay open in the process."""
    monkeypatch.setattr(open_tree, "_most_kept", lambda: FEW)


@pytest.fixture
def session():
    with tm.connect(workers=2) as session:
        yield session


USES = {
    "branches": lambda events, session: events.branches["x"].how,
    "entries": lambda events, session: events.num_entries,
    "first tree": lambda events, session: events.chain.trees[0].by_name,
    "arrays": lambda events, session: events.arrays(),
    "run": lambda events, session: session.run(events.filter("x > 3").sum("x"), progress=False),
    "automatic range": lambda events, session: session.run(events.hist("x"), progress=False),
    "rows": lambda events, session: session.run(events.take("x"), progress=False),
    "selector": lambda events, session: session.run(lambda chunk: {"n": len(chunk.x)}, events),
    "head": lambda events, session: events.head("x"),
}


@pytest.mark.parametrize("use", USES)
def test_files_close_with_their_datasets(files, opened, no_collector, use):
    with tm.connect(workers=2) as session:
        for file in files:
            USES[use](tm.dataset(file, "t"), session)
    assert opened() == 0


def test_files_close_with_datasets_that_have_defaults_and_friends(files, opened, no_collector):
    with tm.connect(workers=2) as session:
        for first, second, third in zip(files, files[1:], files[2:], strict=False):
            events = tm.dataset([first, second], "t", missing={"y": 1.0, "z*": 0})
            joined = events.add_friend(tm.dataset([second, third], "t"), alias="o")
            assert session.run(joined.sum("y + 0*o.x"), progress=False) == 20
            assert "o.x" in joined.branches
    del events, joined
    assert opened() == 0


def test_a_worker_that_joins_when_all_is_done_keeps_no_file_open(
    files, opened, no_collector, monkeypatch
):
    is_over = threading.Event()

    class Late(threads.Worker):
        def __init__(self, number, *given):
            if number == 1:
                is_over.wait(60)
            super().__init__(number, *given)

    monkeypatch.setattr(threads, "Worker", Late)
    with tm.connect(workers=2) as session:
        assert session.run(tm.dataset(files[:2], "t").sum("x"), progress=False) == 100
        is_over.set()
        until(lambda: session._pool._outstanding == 0, "the late worker has left")
        assert opened() == 0
        assert session.queries, "which still knows of the query"


def test_a_chain_keeps_few_files_open(files, opened, few, session):
    events = tm.dataset(files, "t")
    assert [events.chain.trees[n].num_entries for n in range(N)] == [10] * N
    assert opened() == FEW
    assert session.run(events.sum("x + 0*entry_number"), progress=False) == sum(
        10 * n + 45 for n in range(N)
    )
    assert events.arrays("x").x.to_list() == [n + i for n in range(N) for i in range(10)]
    assert opened() <= FEW


def test_many_datasets_keep_few_files_open(files, opened, few):
    several = [tm.dataset(file, "t") for file in files]
    branches = [events.branches for events in several]
    assert opened() == FEW
    assert [each["x"].how for each in branches] == ["core"] * N
    assert [each.arrays("x").x[0] for each in several] == [*range(N)]
    assert opened() <= FEW
    del several[1:]
    assert several[0].num_entries == 10
    assert opened() <= FEW


def test_a_chain_may_go_while_another_thread_closes_its_files(core, monkeypatch):
    class Meanwhile(OrderedDict):
        def pop(self, mark, default=None):
            if len(kept) > 1:
                kept.popitem()
            return super().pop(mark, default)

    monkeypatch.setattr(open_tree, "_recent", Meanwhile())
    failed = []
    monkeypatch.setattr(sys, "unraisablehook", failed.append)
    trees = open_tree.KeptTrees()
    kept = trees._kept
    for number in range(3):
        trees.keep(number, None, object())
    del trees
    assert failed == []
    assert len(open_tree._recent) == 0


def test_a_branch_says_what_reads_it_when_its_dataset_is_gone(files, opened, monkeypatch):
    described = open_tree.OpenTree.described
    unknown = {"supported": False, "kind": "unsupported", "reason": "it is blind", "dtype": None}
    monkeypatch.setattr(
        open_tree.OpenTree, "described", lambda self: [b | unknown for b in described(self)]
    )
    branch = tm.dataset(files[0], "t").branches["x"]
    assert opened() == 0
    assert branch.how == "uproot"
    monkeypatch.setattr(Fallback, "can", lambda self, *_: False)
    assert tm.dataset(files[1], "t").branches["x"].how == "no"
