"""Kernels and callables beside NumPy's formulas, of any numbers and lists: nan, infinities, empty
lists, entries that filters leave, what is missing."""

import math

import awkward as ak
import numpy as np
import pytest
import treemill as tm
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.python.written import write

pytest.importorskip("numba")

NUMBERS = st.floats(width=32) | st.integers(-3, 3).map(float)
ENTRIES = st.lists(st.tuples(st.lists(NUMBERS, max_size=4), NUMBERS), min_size=1, max_size=30)


@tm.kernel
def item(x, y):
    return math.hypot(x, y) + 1 / y


@tm.kernel("float64(float64[:], float64)")
def above(x, least):
    found = 0.0
    for each in x:
        if each > least:
            found += each
    return found


def item_of_columns(x, y):
    with np.errstate(all="ignore"):
        return np.hypot(x, y) + 1 / y


def above_of_columns(x, least):
    return ak.sum(ak.mask(x, x > least), axis=1)


@pytest.mark.slow
@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(entries=ENTRIES, cut=NUMBERS)
def test_they_are_numpys_formulas(tmp_path, entries, cut):
    lists = ak.values_astype(ak.Array([each for each, _ in entries] + [[0.5]])[:-1], np.float32)
    numbers = np.array([each for _, each in entries], np.float32)
    events = tm.dataset(write(tmp_path / "t.root", y=numbers, x=lists))
    passing = events.filter("not y < cut", params={"cut": cut if math.isfinite(cut) else 0.0})
    kept = ~(numbers < (cut if math.isfinite(cut) else 0.0))
    y = numbers[kept].astype(float)
    x = ak.values_astype(lists[kept], np.float64)
    beside = ak.broadcast_arrays(y, x)[0]
    defined = (
        passing.define("item", "f(x, y)", {"f": item})
        .define("same", item_of_columns, columns=["x * 1.0", "y"])
        .define("first", "f(x[0], y)", {"f": item})
        .define("above", "g(x, y)", {"g": above})
        .define("above2", above_of_columns, columns=["x", "y"])
    )
    found = defined.arrays(["item", "same", "first", "above", "above2"])
    expected = item_of_columns(ak.flatten(x).to_numpy(), ak.flatten(beside).to_numpy())
    assert ak.num(found.item).to_list() == ak.num(found.same).to_list() == ak.num(x).to_list()
    np.testing.assert_allclose(ak.flatten(found.item), expected, rtol=1e-14)
    np.testing.assert_array_equal(ak.flatten(found.same), expected)
    there = ~ak.is_none(found.first)
    assert there.to_list() == (ak.num(x) > 0).to_list()
    firsts = ak.firsts(x)[there]
    np.testing.assert_allclose(
        found.first[there], item_of_columns(firsts.to_numpy(), y[there.to_numpy()]), rtol=1e-14
    )
    sums = above_of_columns(x, y).to_numpy()
    np.testing.assert_allclose(found.above, sums, rtol=1e-12)
    np.testing.assert_array_equal(found.above2, sums)
