"""Cycles of a tree, and files that change while a dataset is held."""

import numpy as np
import treemill as tm
import uproot

from tests.python.written import write
from tests.raising import raises

MODES = ("threads", "processes")


def test_cycles_newest_first(core, tmp_path):
    path = write(
        tmp_path / "f.root",
        x=np.array([1], "i4"),
        more=[("t", {"x": np.array([2, 3], "i4")}), ("d/t", {"x": np.array([9], "i4")})],
    )
    assert tm.dataset(path, "t").sum("x").value == 5
    assert tm.dataset(path, "t;2").sum("x").value == 5
    assert tm.dataset(f"{path}:t;1").sum("x").value == 1
    assert tm.dataset(path, "d/t").arrays("x").x.to_list() == [9]
    with raises(tm.TreemillError, said="t;3"):
        _ = tm.dataset(path, "t;3").num_entries
    with raises(tm.QueryError, about="d/t"):
        _ = tm.dataset(path).num_entries


def test_a_dataset_sees_what_its_files_became(core, tmp_path):
    path = write(tmp_path / "f.root", x=np.arange(3, dtype="i4"))
    events = tm.dataset(path)
    assert events.sum("x").value == 3
    with uproot.update(path) as file:
        file.mktree("t", {"x": "i4"}).extend({"x": np.arange(5, dtype="i4")})
    assert events.num_entries == 5
    assert events.arrays("x").x.to_list() == [0, 1, 2, 3, 4]
    assert events.sum("x").value == 10
    # Replaced by another file, as `mv` does it.
    write(tmp_path / "g.root", x=np.array([7], "i8"), y=np.array([1], "i4"))
    (tmp_path / "g.root").replace(path)
    assert list(events.branches) == ["x", "y"]
    assert events.sum("x").value == 7
