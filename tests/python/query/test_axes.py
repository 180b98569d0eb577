import ctypes
import math

import boost_histogram as bh
import hist
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from treemill.errors import QueryError, UnsupportedError
from treemill.query.axes import AutomaticAxis, FixedAxis, axes_from_bins
from treemill.query.axis_ranges import automatic_axis

from tests.raising import raises

FLOW = {"underflow": True, "overflow": True, "circular": False}
REGULAR = {"kind": "regular", "bins": 10, "start": 0.0, "stop": 5.0, **FLOW}


def one(bins, **more):
    (axis,) = axes_from_bins(bins, 1, **more)
    return axis


@pytest.mark.parametrize(
    "bins",
    [
        (10, 0, 5),
        [(10, 0, 5)],
        (np.int64(10), np.float32(0), 5),
        hist.axis.Regular(10, 0, 5),
        [hist.axis.Regular(10, 0, 5)],
    ],
)
def test_regular(bins):
    assert one(bins).spec == REGULAR


def test_number_of_bins():
    assert one(None) == AutomaticAxis(None)
    assert one(7) == AutomaticAxis(7)
    assert one(10, range=(0, 5)) == FixedAxis(REGULAR)
    assert axes_from_bins(None, 2) == [AutomaticAxis(), AutomaticAxis()]
    assert axes_from_bins([5, (10, 0, 5)], 2) == [AutomaticAxis(5), FixedAxis(REGULAR)]
    assert axes_from_bins(5, 2, range=[(0, 1), None])[1] == AutomaticAxis(5)
    assert one(10, range=np.array([0, 5])) == FixedAxis(REGULAR)
    pairs = [(0, 5), (0.0, 1.0)]
    for limits in (np.array(pairs), [np.array(pair) for pair in pairs]):
        assert axes_from_bins(10, 2, range=limits) == axes_from_bins(10, 2, range=pairs)


def test_edges():
    spec = {"kind": "variable", "edges": [0.0, 1.0, 5.0], **FLOW}
    assert one([0, 1, 5]).spec == spec
    assert one(np.array([0.0, 1, 5])).spec == spec
    assert one(hist.axis.Variable([0, 1, 5])).spec == spec


@pytest.mark.parametrize(
    ("axis", "spec"),
    [
        (
            hist.axis.Integer(-2, 3, underflow=False),
            {"kind": "integer", "start": -2, "stop": 3, **FLOW, "underflow": False},
        ),
        (
            hist.axis.IntCategory([5, 1]),
            {"kind": "int_category", "categories": [5, 1], "overflow": True},
        ),
        (
            hist.axis.StrCategory(["a", "b"], overflow=False),
            {"kind": "str_category", "categories": ["a", "b"], "overflow": False},
        ),
        (hist.axis.Boolean(), {"kind": "boolean"}),
        (
            hist.axis.Regular(10, 0, 5, circular=True),
            REGULAR | {"underflow": False, "circular": True},
        ),
        (
            hist.axis.Regular(10, 0, 5, flow=False),
            REGULAR | {"underflow": False, "overflow": False},
        ),
    ],
)
def test_axis_objects_come_along(axis, spec):
    made = one(axis)
    assert made.spec == spec
    assert made.given is axis


_REAL = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
# A function of the user's own, called as one of the library's.
_SIN = hist.axis.transform.Function(_REAL(math.exp), _REAL(math.log), name="log")


@pytest.mark.parametrize(
    "axis",
    [
        hist.axis.Regular(3, 1, 9, growth=True),
        hist.axis.Regular(3, 1, 9, transform=_SIN),
    ],
    ids=["growth", "transform"],
)
def test_unsupported_axes(axis):
    with pytest.raises(UnsupportedError):
        one(axis)


@pytest.mark.parametrize(
    ("bins", "words"),
    [
        ([100, 0, 200], r"\(100, 0, 200\)"),
        ((0, 1, 2), "1 to"),
        ((10, 5, 5), "lo < hi"),
        ((10, 0, math.inf), "finite"),
        ((10, "a", "b"), "numbers"),
        ("x", "bins="),
        ([1], "edges"),
        ([0, math.nan, 1], "edges"),
        (True, "bins="),
    ],
)
def test_wrong_bins(bins, words):
    with pytest.raises(QueryError, match=words):
        one(bins)


def test_wrong_dimensions():
    with raises(QueryError, said="list of 2"):
        axes_from_bins((10, 0, 5), 2)
    with raises(QueryError, about="range"):
        one((10, 0, 5), range=(0, 1))


def test_automatic_ranges():
    def brief(*args):
        spec = automatic_axis(*args).spec
        return tuple(spec.get(key) for key in ("kind", "bins", "start", "stop"))

    assert brief((0.3, 187.2, 9)) == ("regular", 100, 0.0, 200.0)
    assert brief((0.3, 187.2, 9), 50) == ("regular", 50, 0.0, 200.0)
    assert brief((0.1, 0.7, 9)) == ("regular", 100, 0.0, 0.8)
    assert brief((80.5, 101.2, 9)) == ("regular", 100, 80.0, 105.0)
    assert brief((-3.14, 3.14, 9)) == ("regular", 100, -4.0, 4.0)
    assert brief((-1.0, 99.0, 9)) == ("regular", 100, -12.0, 108.0)
    assert brief((3, 7, 9)) == ("integer", None, 3, 8)
    assert brief((0, 12345, 9)) == ("regular", 62, 0.0, 12400.0)
    assert brief((False, True, 9)) == ("boolean", None, None, None)
    assert brief(None, 7) == ("regular", 7, 0.0, 1.0)


def test_ranges_without_far_tails():
    def ends(extent, most, bins=None):
        spec = automatic_axis((*extent, 10_000), bins, most).spec
        assert spec["kind"] == "integer" or spec["bins"] == (bins or spec["bins"])
        return spec["start"], spec["stop"]

    assert ends((0.1, 1420.0), (0.5, 90.0)) == (0.0, 100.0)
    assert ends((-999.0, 3.9), (-3.0, 3.5)) == (-4.0, 4.0)
    assert ends((-1e30, 1e30), (-3.0, 3.0), 20) == (-4.0, 4.0)
    # Tails that are not far stay.
    assert ends((-4.9, 4.9), (-3.3, 3.3)) == ends((-4.9, 4.9), None)
    # Nothing is known of tails where nearly all values are one.
    assert ends((0.0, 50.0), (0.0, 0.0)) == ends((0.0, 50.0), None)
    # What lies beyond all measure is no quantile.
    assert ends((0.0, 1e200), (0.0, float("inf"))) == ends((0.0, 1e200), None)
    assert ends((-2000022, 2000022), (-211.4, 211.6)) == ends((-212, 212), None)
    assert ends((0, 99), (0.0, 3.0)) == (0, 100)


def test_words_for_ranges():
    assert one(None) == AutomaticAxis(None, most=False)
    assert one(20, range="most") == AutomaticAxis(20, most=True)
    assert one((10, 0, 5), range="most") == one((10, 0, 5))
    assert axes_from_bins(None, 2, ["most", (0, 1)])[0] == AutomaticAxis(None, most=True)
    with raises(QueryError, about="nearly"):
        one(None, range="nearly")


def test_the_axes_of_a_histogram():
    first, second = bh.axis.Regular(3, 0, 1), bh.axis.Integer(0, 4)
    filled = hist.Hist(first, second)
    assert [axis.given for axis in axes_from_bins(filled, 2)] == list(filled.axes)
    assert one(bh.Histogram(first)).given == first
    with raises(QueryError, said="list of 3"):
        axes_from_bins(filled, 3)
    with pytest.raises(QueryError):
        axes_from_bins(filled, 1)


numbers = st.floats(-1e300, 1e300) | st.floats(-1e4, 1e4) | st.integers(-(2**63), 2**64 - 1)


@given(numbers, numbers, st.none() | st.integers(1, 500))
@example(0.0, 0.0, None)
@example(5e-324, 1e-323, 3)
@example(1e15, 1e15 + 1, None)
@example(2**63, 2**63 + 1, 4)
@example(0.1, 0.30000000000000004, 2)
def test_automatic_axes_hold_every_value(a, b, bins):
    if type(a) is not type(b):
        a, b = float(a), float(b)
    low, high = min(a, b), max(a, b)
    axis = automatic_axis((low, high, 2), bins)
    spec = axis.spec
    assert spec["start"] <= low
    assert high < spec["stop"] or float(high) < spec["stop"]
    if spec["kind"] == "regular":
        assert 1 <= spec["bins"] <= (bins or 103)
        assert bins in (None, spec["bins"])
    assert automatic_axis((low, high, 12345), bins) == axis


def test_no_range_for_numbers_at_the_end_of_doubles():
    with raises(QueryError, about="bins"):
        automatic_axis((-1.7e308, 1.7e308, 2))
