"""What outputs may hold, and how two become one."""

import collections

import awkward as ak
import boost_histogram as bh
import hist
import numpy as np
import pytest
import treemill as tm
from treemill.workers.merge import check, check_neutral, merge

from tests.raising import raises


class Most:
    """An object with a merge of its own, which changes it in place."""

    def __init__(self, value):
        self.value = value

    def merge(self, other):
        self.value = max(self.value, other.value)


class CheckpointName:
    """Like coffea's accumulators."""

    def __init__(self, value):
        self.value = value

    def identity(self):
        return CheckpointName(0)

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
    assert merge({"k": CheckpointName(3)}, {"k": CheckpointName(2)})["k"].value == 5


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
    with raises(tm.QueryError, about="deep"):
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
    with raises(tm.QueryError, about="output"):
        merge(first, second)


@pytest.mark.parametrize("value", ["text", b"bytes", True, np.bool_(False), None])
def test_constants_stay_as_they_are(value):
    assert merge({"x": value}, {"x": value}) == {"x": value}


@pytest.mark.parametrize("pair", [("dy", "tt"), (True, False), ("1", True)])
def test_constants_that_differ_are_refused(pair):
    with raises(tm.QueryError, said="output x in another"):
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
        with raises(tm.QueryError, said="output d x does not start empty"):
            check_neutral({"d": {"x": full}})


class Plus:
    """Says itself what + means."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Plus(self.value + other.value)


class Own(collections.abc.MutableSet):
    """A set that is none of Python's."""

    def __init__(self, values):
        self.values = set(values)

    def __contains__(self, value):
        return value in self.values

    def __iter__(self):
        return iter(self.values)

    def __len__(self):
        return len(self.values)

    def add(self, value):
        self.values.add(value)

    def discard(self, value):
        self.values.discard(value)


def test_what_coffea_adds_is_added():
    """What coffea's accumulate() takes; accumulators keep their types."""
    assert merge(Plus(1), Plus(2)).value == 3
    assert set(merge(Own([1]), Own([2]))) == {1, 2}
    assert merge(frozenset([1]), frozenset([2])) == {1, 2}
    assert merge(collections.deque([1]), collections.deque([2])) == collections.deque([1, 2])
    coffea = pytest.importorskip("coffea.processor")
    united = merge(coffea.set_accumulator([1]), coffea.set_accumulator([2]))
    assert type(united) is coffea.set_accumulator
    assert united == {1, 2}
    value = coffea.value_accumulator
    assert merge(value(int, 1), value(int, 2)).value == 3
    assert merge(value(int, 1), 2).value == 3
    assert merge(2, value(int, 1)).value == 3
    counted = merge(
        coffea.defaultdict_accumulator(int, {"a": 1}),
        coffea.defaultdict_accumulator(int, {"a": 2, "b": 3}),
    )
    assert (type(counted), dict(counted)) == (coffea.defaultdict_accumulator, {"a": 3, "b": 3})
    column = coffea.column_accumulator
    assert merge(column(np.ones((2, 3))), column(np.zeros((1, 3)))).value.shape == (3, 3)
    lists = merge(column(ak.Array([[1], [2, 3]])), column(ak.Array([[4]]))).value
    assert lists.tolist() == [[1], [2, 3], [4]]
    with raises(tm.QueryError, said="cannot be merged"):
        merge(value(int, 1), "text")


@pytest.mark.parametrize("value", [np.array([True]), np.array(["a"]), np.array([None])])
def test_arrays_that_plus_would_not_add(value):
    with raises(tm.QueryError, said="which cannot be merged"):
        check(value)


def test_integers_of_few_bits_do_not_wrap_around():
    assert merge(np.int32(2**31 - 1), np.int32(1)) == 2**31
    assert merge(np.uint8(200), np.uint8(100)) == 300
    assert merge(np.uint64(2**63), np.int64(1)) == 2**63 + 1
    assert merge(np.int64(2**62), np.int64(2**62)) == 2**63
    assert type(merge(np.int64(1), np.int64(2))) is np.int64
    assert merge(np.array(1), np.array(2)) == 3
    assert merge(np.array([2**31 - 1, 5], "i4"), np.array([1, 1], "i4")).tolist() == [2**31, 6]
    assert merge(np.array([255], "u1"), np.array([255], "u1")).tolist() == [510]
    assert merge(np.array([1], "i4"), np.array([1], "i4")).dtype == np.int32
    for kind in (np.int64, np.uint64):
        large = np.array([np.iinfo(kind).max])
        with raises(tm.QueryError, said="larger than 64 bits"):
            merge(large, large)


def test_growing_categories_of_different_workers():
    def grown(*names):
        axis = hist.axis.StrCategory([], growth=True, name="dataset")
        return hist.Hist(axis).fill(list(names))

    made = merge(merge(grown("a", "b"), grown("c", "b")), grown("d"))
    assert {name: made[name] for name in made.axes[0]} == {"a": 1, "b": 2, "c": 1, "d": 1}
