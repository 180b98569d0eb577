"""Columns as NumPy's arrays: of one type where every entry has as many values, else of objects."""

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.data.from_core import numpy_of

from tests.corpus_files import corpus
from tests.python.written import jagged, write

POINT = [("x", "<i8"), ("p", [("y", "<f8")])]
REGULAR = [
    (ak.Array([1, 2]), "<i8", [1, 2]),
    (ak.to_regular(ak.Array([[1.0, 2.0], [3.0, 4.0]])), "<f8", [[1, 2], [3, 4]]),
    (ak.to_regular(ak.Array([[[1]], [[2]]]), axis=None), "<i8", [[[1]], [[2]]]),
    (
        ak.Array([{"x": 1, "p": {"y": 1.5}}, {"x": 2, "p": {"y": 2.5}}]),
        POINT,
        [(1, (1.5,)), (2, (2.5,))],
    ),
    (
        ak.to_regular(ak.Array([[{"x": 1, "p": {"y": 1.5}}] * 2])),
        POINT,
        [[(1, (1.5,)), (1, (1.5,))]],
    ),
]


@pytest.mark.parametrize(
    ("array", "dtype", "values"), REGULAR, ids=[str(a.type) for a, *_ in REGULAR]
)
def test_as_many_values_in_each_entry(array, dtype, values):
    found = numpy_of(array.layout)
    assert (found.dtype, found.tolist()) == (np.dtype(dtype), values)


OBJECTS = [
    (ak.Array([[1, 2], []]), [np.array([1, 2]), np.array([], "i8")]),
    (
        ak.to_regular(ak.Array([[[1, 2, 3]], [[4, 5, 6], [7, 8, 9]]]), axis=2),
        [np.array([[1, 2, 3]]), np.array([[4, 5, 6], [7, 8, 9]])],
    ),
    (ak.Array([[{"x": 1}], []]), [np.array([(1,)], [("x", "i8")]), np.array([], [("x", "i8")])]),
    (ak.Array(["a", ""]), ["a", ""]),
    (ak.to_regular(ak.Array([["a", "b"]])), [["a", "b"]]),
    (ak.Array([["a"], []]), [["a"], []]),
    (ak.Array([[[1], []], []]), [[[1], []], []]),
    (ak.Array([{"x": "a"}]), [{"x": "a"}]),
    (ak.Array([1.5, None]), [1.5, None]),
    (ak.Array([None, [1, 2]]), [None, np.array([1, 2])]),
    (ak.Array([None, None]), [None, None]),
    (ak.Array([1, "a", None]), [1, "a", None]),
    (ak.Array([{"x": 1}, None]), [np.array((1,), [("x", "i8")]), None]),
]


@pytest.mark.parametrize(("array", "expected"), OBJECTS, ids=[str(a.type) for a, _ in OBJECTS])
def test_other_entries(array, expected):
    found = numpy_of(array.layout)
    assert (found.dtype, len(found)) == (np.dtype(object), len(expected))
    for entry, other in zip(found, expected, strict=True):
        if isinstance(other, np.ndarray):
            assert entry.dtype == other.dtype
            np.testing.assert_array_equal(entry, other)
        else:
            assert type(entry) is not np.ndarray
            assert entry == other


def test_missing_values(tmp_path):
    path = write(tmp_path / "t.root", v=jagged([1.0], [], [2.0, 3.0]))
    events = tm.dataset(path, missing={"w": None})
    assert events.to_numpy(["w", "v[0]"])["w"].tolist() == [None] * 3
    assert events.to_numpy("v[0]")["v[0]"].tolist() == [1.0, None, 2.0]


def test_leaf_lists_are_structured_as_uproots():
    path = corpus("uproot-issue-398.root")
    with uproot.open(f"{path}:orange") as tree:
        theirs = tree["orange"].array(library="np")
    found = tm.dataset(path, "orange").to_numpy("orange")["orange"]
    assert found.dtype == theirs.dtype.newbyteorder("=")
    assert found.tobytes() == theirs.astype(found.dtype).tobytes()
