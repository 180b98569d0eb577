"""What outputs may hold, and how two become one."""

import collections

import awkward as ak
import boost_histogram as bh
import hist
import numpy as np
import pytest
import treemill as tm
from treemill.merge import check, check_neutral, merge


class Most:
    """An object with a merge of its own, which changes it in place."""

    def __init__(self, value):
        self.value = value

    def merge(self, other):
        self.value = max(self.value, other.value)


class Kept:
    """Like coffea's accumulators."""

    def __init__(self, value):
        self.value = value

    def identity(self):
        return Kept(0)

    def add(self, other):
        self.value += other.value


def filled(*values):
    return hist.Hist(hist.axis.Regular(4, 0, 4, name="x"), storage=hist.storage.Weight()).fill(
        np.array(values), weight=0.5
    )


def grown(*values):
    return hist.Hist(hist.axis.StrCategory([], growth=True), storage=hist.storage.Int64()).fill(
        list(values)
    )


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (1, 2, 3),
        (1, 2.5, 3.5),
        (np.float64(1), 2, 3),
        (1 + 2j, 1j, 1 + 3j),
        ([1], [2, 3], [1, 2, 3]),
        ({1, 2}, {2, 3}, {1, 2, 3}),
        ({"a": 1}, {"a": 2, "b": [3]}, {"a": 3, "b": [3]}),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}, {"a": {"b": {"c": 3}}}),
        (collections.Counter("aab"), collections.Counter("bc"), {"a": 2, "b": 2, "c": 1}),
        (filled(1, 2), filled(2, 7), filled(1, 2, 2, 7)),
        (grown("a"), grown("b", "a"), grown("a", "b", "a")),
    ],
    ids=str,
)
def test_values(first, second, both):
    made = merge(first, second)
    assert made == both
    assert type(made) is type(first) or isinstance(first, (int, np.number))


def test_arrays():
    assert merge(np.array([1, 2]), np.array([3, 4])).tolist() == [4, 6]
    made = merge(ak.Array([[1], []]), ak.Array([[2, 3]]))
    assert made.to_list() == [[1], [], [2, 3]]


def test_objects():
    assert merge(Most(3), Most(2)).value == 3
    assert merge({"k": Kept(3)}, {"k": Kept(2)})["k"].value == 5


def test_plain_boost_histogram():
    first = bh.Histogram(bh.axis.Integer(0, 3)).fill([0, 1])
    assert merge(first, bh.Histogram(bh.axis.Integer(0, 3)).fill([1])).values().tolist() == [
        1,
        2,
        0,
    ]


def test_the_second_stays_as_it_is():
    first, second = {"a": [1], "n": {"x": 1}}, {"a": [2], "n": {"x": 2, "y": 3}}
    merge(first, second)
    assert second == {"a": [2], "n": {"x": 2, "y": 3}}


@pytest.mark.parametrize(
    "value", [object(), np.array(["a"]), np.array(True), np.array([True]), len, int]
)
def test_refused_by_name(value):
    with pytest.raises(tm.QueryError, match=r"output\['deep'\]\['x'\]"):
        check({"fine": 1, "deep": {"x": value}})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, [1]),
        ({"a": 1}, {"a": {1}}),
        (np.zeros(2), np.zeros(3)),
        (np.zeros((2, 1)), np.zeros((1, 2))),
        (filled(1), hist.Hist(hist.axis.Regular(5, 0, 4, name="x"), storage="weight")),
        (np.zeros(2, "i4,i4"), np.zeros(2, "i4,i4")),
    ],
    ids=str,
)
def test_what_does_not_fit(first, second):
    with pytest.raises(tm.QueryError, match="output"):
        merge(first, second)


@pytest.mark.parametrize("value", ["text", b"bytes", True, np.bool_(False), None])
def test_constants_stay_as_they_are(value):
    assert merge({"x": value}, {"x": value}) == {"x": value}


@pytest.mark.parametrize("pair", [("dy", "tt"), (True, False), ("1", True)])
def test_constants_that_differ_are_refused(pair):
    with pytest.raises(tm.QueryError, match=r"output\['x'\].*in another"):
        merge({"x": pair[0]}, {"x": pair[1]})


@pytest.mark.parametrize("value", [3, [1], filled(1), "text"])
def test_none_gives_way(value):
    assert merge(None, value) == merge(value, None) == value


def test_numbers_that_numpy_calls_arrays():
    assert merge(np.asarray(3), merge(np.asarray(1), 2.5)) == 6.5
    assert merge(merge(np.asarray(3), np.asarray(1)), np.asarray(1)) == 5


def test_starts_empty():
    empty = hist.Hist(hist.axis.Regular(4, 0, 4), storage=hist.storage.Weight())
    check_neutral({"a": 0, "h": empty, "l": [], "d": {"s": set()}, "n": np.zeros(3)})
    for full in (1, filled(1), [0], {0}, np.ones(2), ak.Array([1])):
        with pytest.raises(tm.QueryError, match=r"output\['d'\]\['x'\] does not start empty"):
            check_neutral({"d": {"x": full}})
