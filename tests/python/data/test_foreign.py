"""Columns of a Python provider, beside the tree's own: in arrays, queries and selectors."""

import awkward as ak
import numpy as np
import pyarrow
import pytest
import treemill as tm
from treemill.data.chain import Chain, ChainParts
from treemill.data.defaults import column
from treemill.data.foreign import Field, JoinedForeign
from treemill.data.location import expand
from treemill.dataset import Dataset
from treemill.errors import QueryError, SourceError

from tests.raising import raises

SIZES = (5000, 1, 7321)


KINDS = {
    "number": pyarrow.int64(),
    "third": pyarrow.float32(),
    "n_up": pyarrow.int32(),
    "up_x": pyarrow.large_list(pyarrow.float64()),
    "up_y": pyarrow.list_(pyarrow.int16()),
    "holes": pyarrow.list_(pyarrow.float64()),
    "deep": pyarrow.large_list(pyarrow.list_(pyarrow.int16())),
    "pair": pyarrow.list_(pyarrow.float64(), 2),
    "word": pyarrow.string(),
    "nothing": pyarrow.null(),
    "MET_phi": pyarrow.float64(),
    "odd": pyarrow.struct([("a", pyarrow.int32())]),
}
OPTIONAL = {"third", "holes", "pair", "word", "nothing"}
COUNTERS = {"up_x": "n_up", "up_y": "n_up"}


class Numbered:
    """Columns made from the entries' numbers; notes what it was asked for."""

    def __init__(self):
        self.asked = []

    def schema(self):
        return [
            Field(name, pyarrow.array([], kind), name in OPTIONAL, COUNTERS.get(name))
            for name, kind in KINDS.items()
        ]

    def read(self, name, start, stop):
        self.asked.append((name, start, stop))
        numbers = range(start, stop)
        made = {
            "number": lambda i: i,
            "third": lambda i: None if i % 3 else float(i),
            "n_up": lambda i: i % 4,
            "up_x": lambda i: [0.5 * k for k in range(i % 4)],
            "up_y": lambda i: [k + 1 for k in range(i % 4)],
            "holes": lambda i: None if i % 5 == 0 else [None if i % 2 else 1.0] * (i % 3),
            "deep": lambda i: [list(range(k)) for k in range(i % 4)],
            "pair": lambda i: None if i % 2 else [float(i), 1.0],
            "word": lambda i: None if i % 7 == 0 else "ab"[i % 2],
            "nothing": lambda i: None,
            "MET_phi": lambda i: -1.0 * i,
            "odd": lambda i: {"a": i},
        }[name]
        dtype = KINDS[name]
        # A slice of more, as providers give them: offsets do not start at 0.
        values = [made(i) for i in (start, *numbers)]
        return pyarrow.array(values, dtype)[1:]


class Extended(Chain):
    """A chain with foreign columns, as others build them in."""

    def __init__(self, parts, foreign, trees=None):
        super().__init__(parts, trees)
        self.provider = foreign

    def friend_columns(self, file, tree):
        return self.provider

    def pinned(self, soon=(), *, assume=False, threads=1):
        return self


def extended(paths, foreign):
    return Dataset(Extended(ChainParts(expand(paths, "Events")), foreign))


@pytest.fixture
def events(paths):
    return extended(paths, Numbered())


NUMBERS = [i for size in SIZES for i in range(size)]


@pytest.mark.parametrize(
    ("expr", "each"),
    [
        ("number", lambda i: i),
        ("third", lambda i: 0 if i % 3 else i),
        ("is_missing(third)", lambda i: i % 3 != 0),
        ("sum(up_x * up_y)", lambda i: sum(0.5 * k * (k + 1) for k in range(i % 4))),
        ("len(up_x[up_y > 1])", lambda i: max(i % 4 - 1, 0)),
        ("up.x[0]", lambda i: 0.0),
        ("len(holes)", lambda i: 0 if i % 5 == 0 else i % 3),
        ("sum(holes)", lambda i: 0 if i % 5 == 0 or i % 2 else i % 3),
        ("sum(sum(v) for v in deep)", lambda i: sum(sum(range(k)) for k in range(i % 4))),
        ("sum(len(v) for n in up_y for v in deep)", lambda i: (i % 4) * sum(range(i % 4))),
        ("pair[0]", lambda i: 0 if i % 2 else i),
        ("word == 'a'", lambda i: i % 7 != 0 and i % 2 == 0),
        ("fill_missing(nothing, 2.0)", lambda i: 2.0),
        ("MET_phi", lambda i: -i),
    ],
)
def test_queries_use_them_like_branches(events, expr, each):
    assert tm.run(events.sum(expr)) == pytest.approx(sum(each(i) for i in NUMBERS))


def test_how_they_read_is_said(events):
    found = {name: events.branches[name].reads_as for name in ("up_x", "deep", "number", "word")}
    assert found == {
        "up_x": "list[float64]",
        "deep": "list[list[int16]]",
        "number": "int64",
        "word": "optional",
    }


def test_own_and_foreign_columns_meet_in_one_expression(events, truth):
    ours = tm.run(events.filter("number % 2 == 0 and nMuon >= 1").sum("MET_pt * n_up"))
    number = np.array(NUMBERS)
    kept = truth[(number % 2 == 0) & (truth.nMuon >= 1)]
    up = number[(number % 2 == 0) & (ak.to_numpy(truth.nMuon) >= 1)] % 4
    assert ours == pytest.approx(ak.sum(ak.values_astype(kept.MET_pt, np.float64) * up))


def test_they_are_read_only_where_an_event_passes_and_not_for_every_batch(paths):
    events = extended(paths[:1], Numbered())
    with tm.connect(workers=1) as session:
        session.run(events.filter("nMuon < 0").sum("number"))
        assert events.chain.provider.asked == []
        session.run(events.filter("nMuon >= 0").sum("number"))
    asked = events.chain.provider.asked
    assert {name for name, _, _ in asked} == {"number"}
    assert sum(stop - start for _, start, stop in asked) == SIZES[0]


def test_arrays_have_them(events):
    got = events.arrays(["number", "third", "up_x", "MET_phi"])
    assert got.number.to_list() == NUMBERS
    assert got.third.to_list() == [None if i % 3 else i for i in NUMBERS]
    assert got.up_x.to_list() == [[0.5 * k for k in range(i % 4)] for i in NUMBERS]
    assert events.branches["third"].kind == "optional"
    assert "number" in events.arrays().fields


def test_selectors_have_them(events):
    def process(chunk):
        third = ak.fill_none(chunk.third, 0)
        return {"sum": int(ak.sum(chunk.number + third)), "up": float(ak.sum(chunk.up_x))}

    output = tm.run(process, events)
    assert output["sum"] == sum(i + (0 if i % 3 else i) for i in NUMBERS)
    assert output["up"] == sum(0.5 * k for i in NUMBERS for k in range(i % 4))


def test_errors_of_a_provider_arrive_as_they_are(paths):
    class PartialLost(Numbered):
        def read(self, name, start, stop):
            raise SourceError("the friend is gone", file="friend.root")

    with raises(SourceError, said="the friend is gone") as caught:
        tm.run(extended(paths, PartialLost()).sum("number"))
    assert caught.value.file == "friend.root"


def test_too_few_values_are_an_error(paths):
    class Short(Numbered):
        def read(self, name, start, stop):
            return super().read(name, start, stop)[1:]

    with pytest.raises(ValueError, match=r"number: .* values came"):
        tm.run(extended(paths, Short()).sum("number"))


def test_nulls_where_the_schema_has_none_are_an_error(paths):
    class Surprise(Numbered):
        def read(self, name, start, stop):
            return pyarrow.nulls(stop - start, pyarrow.int64())

    with raises(QueryError, said="number: it has missing values"):
        tm.run(extended(paths, Surprise()).sum("number"))


def test_what_expressions_cannot_use_says_so(events):
    with raises(QueryError, about="odd"):
        tm.run(events.sum("odd"))


class Constants:
    """Columns of one value each; None: missing."""

    def __init__(self, **values):
        self.values = values

    def schema(self):
        return [Field(n, self.read(n, 0, 0), v is None) for n, v in self.values.items()]

    def read(self, name, start, stop):
        return column(name, self.values[name], None, stop - start)


def test_the_first_of_several_counts(paths):
    first, second = Constants(w=2.0, u=None), Constants(w=3.0, v=5)
    events = extended(paths, JoinedForeign([first, second]))
    found = tm.run(events.sum("w"), events.sum("v"), events.filter("u > 0").count())
    assert found == (2.0 * len(NUMBERS), 5 * len(NUMBERS), 0)
