"""Columns that Python makes: of each kind of array, joined, picked from, sent; nodes that are no
column."""

import pickle

import awkward as ak
import numpy as np
import pyarrow as pa
import pytest
from treemill.data.columns import column_of, empty, joined, kind_of, made, numbers, picked
from treemill.data.from_core import layout

ARRAYS = {
    "int16": np.arange(3, dtype="i2"),
    "uint8": np.arange(3, dtype=">u1"),
    "float32": np.arange(3, dtype=">f4"),
    "bool": np.array([True, False, True]),
    "float64[2][3]": np.arange(18.0).reshape(3, 3, 2),
    "list[int64]": ak.Array([[1, 2], [], [3]])[[2, 1, 0]],
    "list[list[float64]]": ak.Array([[[1.5], []], [], [[2.5, 3.5]]])[1:],
    "list[string]": ak.Array([["a", ""], [], ["bcd"]]),
    "string": ak.Array(["a", None, "ccc"]),
    "list[int64[2]]": ak.Array([[[1, 2]], [], [[3, 4], [5, 6]]]),
    "int64": ak.Array([1, None, 3]),
    "list[bool]": ak.Array([[True, None], None, [False]]),
    "record[x: int64, y: list[float64]]": ak.Array([{"x": 1, "y": [1.5]}, None]),
    "record[0: int64, 1: float64]": ak.Array([(1, 2.5)]),
}
ARRAYS["list[int64[2]]"] = ak.to_regular(ARRAYS["list[int64[2]]"], axis=2)


def values(column):
    return ak.to_list(layout(column))


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_come_back_as_they_were(core, kind):
    array = ARRAYS[kind]
    column = column_of(array)
    truth = array.tolist()
    assert str(kind_of(column)) == kind
    assert values(column) == truth
    assert values(pickle.loads(pickle.dumps(column))) == truth
    assert values(column_of(ak.Array(layout(column)))) == truth
    assert values(joined([column, column.slice(1, len(column) - 1)])) == truth + truth[1:]
    assert values(picked(column, [-1, 0, -1])) == [None, truth[0], None]
    assert values(picked(made(empty(kind_of(column))), [-1])) == [None]
    assert values(column_of(pa.array(column))) == truth


def test_lists_of_one_kind_are_joined_whatever_their_offsets(core):
    short = column_of(pa.array([[1], [2, 3]], pa.list_(pa.field("item", pa.int64(), False))))
    large = column_of(pa.array([[4]], pa.large_list(pa.field("item", pa.int64(), False))))
    text = column_of(pa.array(["a"], pa.large_string()))
    assert kind_of(short) == kind_of(large)
    assert values(joined([short, large])) == [[1], [2, 3], [4]]
    assert values(joined([column_of(ak.Array(["b"])), text])) == ["b", "a"]


@pytest.mark.parametrize(
    "node",
    [
        ("list", np.array([0, 2, 1]), np.arange(2)),
        ("list", np.array([-1, 2]), np.arange(2)),
        ("list", np.zeros(0, np.int64), np.arange(2)),
        ("list", np.array([0, 3]), np.arange(2)),
        ("string", np.array([0, 3]), np.zeros(2, np.uint8)),
        ("string", np.array([0, 1 << 40]), np.zeros(2, np.uint8)),
        ("regular", 3, 2, np.arange(5)),
        ("regular", -1, 2, np.arange(5)),
        ("record", ["a", "b"], [np.arange(2), np.arange(3)], 2),
        ("record", ["a"], [np.arange(2)], 3),
        ("places", np.array([0, 2]), np.arange(2)),
    ],
    ids=str,
)
def test_what_does_not_fit_together_is_no_column(core, node):
    with pytest.raises(ValueError, match=r"fit together|ascend|Invalid|bounds"):
        made(node)


def test_what_no_column_holds(core):
    for array in (
        np.array(["2020-01-01"], "M8[D]"),
        np.array([1j]),
        ak.Array([1, "a"]),
        np.array([object()]),
    ):
        with pytest.raises(TypeError, match="no column"):
            column_of(array)
    with pytest.raises(TypeError, match=r"no numbers but list\[int64\]"):
        numbers(column_of(ak.Array([[1]])))
    with pytest.raises(IndexError):
        column_of(np.arange(3)).slice(2, 2)
