"""Datasets of one file share its tree while one of them has it open, and never one that is gone."""

import os

import numpy as np
import pytest
import treemill as tm
from treemill.data import open_tree as shared
from treemill.data.source import identity

from tests.python.written import write
from tests.raising import raises

N = 40


def values(path):
    return tm.dataset(path).arrays().x.to_list()


@pytest.fixture
def path(core, tmp_path):
    return write(tmp_path / "f.root", x=np.arange(N, dtype="i4"))


@pytest.fixture
def settled(monkeypatch):
    """Files count as left alone as soon as they are written."""
    monkeypatch.setattr(shared, "_SETTLED", -1e9)


def test_two_datasets_open_a_file_once(path, settled):
    first, second = tm.dataset(path), tm.dataset(path, missing={"y": 0})
    assert first.num_entries == second.num_entries == N
    assert first.chain.trees[0].core is second.chain.trees[0].core
    assert first.chain.trees[0].by_name is second.chain.trees[0].by_name
    assert second.chain.trees[0].has("y")
    assert not first.chain.trees[0].has("y"), "defaults are the dataset's own"


def test_the_tree_that_was_named_and_the_only_one_are_different_keys(core, tmp_path, settled):
    two = write(tmp_path / "two.root", "a", more=[("b", {"y": np.zeros(3)})], x=np.zeros(2))
    a, b = tm.dataset(two, tree="a"), tm.dataset(two, tree="b")
    assert (a.num_entries, b.num_entries) == (2, 3)


def test_nothing_is_kept_open_by_that(path, settled):
    events = tm.dataset(path)
    assert events.num_entries == N
    inode = os.stat(path).st_ino
    mine = [key for key in shared._open if inode in key[2].marks]
    assert len(mine) == 1
    del events
    assert mine[0] not in shared._open


def test_a_file_that_was_written_anew_is_opened_anew(path, settled):
    before = tm.dataset(path)
    assert before.num_entries == N
    os.utime(path, ns=(0, 0))
    write(path, x=np.arange(N, dtype="i4")[::-1])  # in place, and as long
    os.utime(path, ns=(0, 0))
    assert values(path) == list(range(N))[::-1]
    assert before.arrays().x.to_list() == list(range(N))[::-1]


@pytest.mark.parametrize(
    ("seconds", "is_shared"), [(-5.0, False), (0.0, False), (1.9, False), (2.1, True)]
)
def test_the_age_of_a_change_is_that_of_its_servers_clock(path, monkeypatch, seconds, is_shared):
    """The clock of the file's server may be another one than this machine's (decision 0005)."""
    now = identity(path)
    monkeypatch.setattr(shared.time, "time_ns", lambda: now.changed + int(seconds * 1e9))
    made = shared.shared(path, "t", now, lambda: shared.OpenTree(None, "t"))
    assert ((path, "t", now) in shared._open) == is_shared
    assert shared.shared(path, "t", now, lambda: None) is (made if is_shared else None)


def test_a_file_that_was_just_written_is_not_shared(path):
    # A second change within a tick of the file system's clock could leave the stamp as it is.
    first, second = tm.dataset(path), tm.dataset(path)
    assert first.num_entries == second.num_entries == N
    assert first.chain.trees[0].core is not second.chain.trees[0].core
    assert first.chain.trees[0].core is first.chain.trees[0].core


def test_one_that_changes_while_it_is_opened_is_not_shared(path, settled):
    now = identity(path)

    def make():
        os.utime(path, ns=(0, 0))
        return shared.OpenTree(None, "t")

    shared.shared(path, "t", now, make)
    assert (path, "t", now) not in shared._open


def test_a_file_that_is_gone_says_so(path):
    os.remove(path)
    with raises(tm.SourceError, said="no such file"):
        identity(path)
