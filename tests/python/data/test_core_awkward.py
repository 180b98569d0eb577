"""Layouts that are made of the core's buffers have the values that Arrow sees in them, and columns
that are made of layouts are those again: of a column of each type of each file of the corpus, whole
and in parts."""

import pickle

import awkward as ak
import numpy as np
import pyarrow as pa
import pytest
import treemill as tm
from treemill.data.columns import column_of, kind_of, picked
from treemill.data.from_core import layout

from tests.corpus_files import CORPUS, FILES, with_slow_ones
from tests.python.written import jagged, write
from tools.readers.compare import readable_branches


def same(ours, theirs):
    """Whether two layouts have the same form and the same values, to the bit."""
    form, length, buffers = ak.to_buffers(ak.Array(ours))
    other_form, other_length, others = ak.to_buffers(ak.Array(theirs))
    assert form == other_form
    assert length == other_length
    assert buffers.keys() == others.keys()
    for key, buffer in buffers.items():
        assert buffer.dtype == others[key].dtype
        assert buffer.tobytes() == others[key].tobytes()


def plain(value):
    """As Arrow and awkward both spell it; NaN is equal to itself."""
    if isinstance(value, float) and value != value:
        return "nan"
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, dict):
        named = {name: plain(each) for name, each in value.items()}
        is_tuple = list(named) == [str(i) for i in range(len(named))]
        return list(named.values()) if is_tuple else named
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def compared(tree, branches, start, stop):
    """How many of these branches were compared."""
    found = 0
    for branch in branches:
        try:
            (column,) = tree.read([branch["path"]], start, stop)
        except tm.TreemillError:
            continue
        made = layout(column)
        if "union" not in str(pa.array(column).type):
            assert plain(ak.to_list(made)) == plain(pa.array(column).to_pylist())
            again = column_of(ak.Array(made))
            assert kind_of(again) == kind_of(column)
            same(ak.to_packed(layout(again)), ak.to_packed(made))
        same(layout(pickle.loads(pickle.dumps(column))), made)
        places = np.arange(len(column))[::-2]
        assert plain(ak.to_list(layout(picked(column, places)))) == plain(ak.to_list(made)[::-2])
        found += 1
    return found


@pytest.mark.slow
@pytest.mark.skipif(not FILES, reason=f"no corpus at {CORPUS}")
@pytest.mark.parametrize("name", with_slow_ones(FILES))
def test_of_files(core, name):
    file = core.File(str(CORPUS / name))
    for listed in file.trees():
        tree = file.tree(f"{listed['path']};{listed['cycle']}")
        kinds = {(b["cpp_type"], b["kind"]): b for b in readable_branches(tree)}
        stop = min(tree.num_entries, 20)
        for first in (stop // 3, stop):
            compared(tree, kinds.values(), first, stop)


def test_what_is_nearly_always_read(core, tmp_path):
    path = write(
        tmp_path / "f.root",
        number=np.arange(5, dtype="u2"),
        flag=np.arange(5) % 2 == 0,
        fixed=np.arange(30, dtype="f8").reshape(5, 2, 3),
        lists=jagged([1, 2], [], [3], [4, 5, 6], []),
        flags=jagged([True], [], [False] * 9, [True], [], dtype=np.bool_),
    )
    tree = core.File(str(path)).tree("t")
    branches = tree.branches()
    assert compared(tree, branches, 0, 5) == compared(tree, branches, 1, 4) == len(branches)
    (column,) = tree.read(["lists"], 1, 5)
    assert ak.to_list(layout(column)) == [[], [3], [4, 5, 6], []]
    (flags,) = tree.read(["flag"], 1, 4, flags=True)
    assert flags.flags
    assert ak.to_list(layout(flags)) == [False, True, False]


def test_memory_is_shared_and_outlives_the_column(core, tmp_path):
    path = write(tmp_path / "f.root", number=np.arange(100_000, dtype="i4"))
    tree = core.File(str(path)).tree("t")
    (column,) = tree.read(["number"], 0, 100_000)
    made = layout(column).data
    assert made.ctypes.data == pa.array(column).buffers()[1].address
    assert not made.flags.writeable
    del column
    # Another result does not get the memory while it is held.
    others = [tree.read(["number"], 0, 100_000) for _ in range(3)]
    assert made.tolist() == list(range(100_000))
    del others
