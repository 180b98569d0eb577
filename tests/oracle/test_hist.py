"""What users of hist book, beside hist's own fill of the same values: axes, storages and what else
its tests and boost-histogram's fill, and what is taken for a histogram."""

import math

import awkward as ak
import boost_histogram as bh
import hist
import numpy as np
import pytest
import treemill as tm
from hist import axis, storage

from tests.python.written import write
from tests.raising import raises

N = 500
INF = math.inf


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(3)
    edges = [0, 1, -0.0, math.nan, INF, -INF, 0.1, 0.2, 0.3, 0.7, 1 - 1e-16, -1, 2, 1e300, -1e300]
    integers = {
        name: rng.integers(0 if name[0] == "u" else -3, 8, N).astype(kind)
        for name, kind in (("i8", "i1"), ("i", "i4"), ("i64", "i8"), ("u8", "u1"), ("u64", "u8"))
    }
    return {
        "x": np.concatenate([edges, rng.normal(0.5, 1, N - len(edges))]),
        "f": rng.normal(0.5, 1, N).astype(np.float32),
        "b": rng.random(N) < 0.4,
        "w": rng.normal(1, 0.5, N),
        "y": rng.random(N) * 3,
        **integers,
        "s": np.array(["a", "bb", "", "ü", "c d"])[rng.integers(0, 5, N)],
    }


@pytest.fixture(scope="module")
def events(columns, tmp_path_factory):
    stored = {name: ak.Array(c.tolist()) if name == "s" else c for name, c in columns.items()}
    return tm.dataset(write(tmp_path_factory.mktemp("hist") / "h.root", **stored))


REALS = [
    axis.Regular(7, 0, 1, name="r", label="a label", metadata={"m": 1}),
    *(axis.Regular(7, 0, 1, **{flag: False}) for flag in ("flow", "underflow", "overflow")),
    *(axis.Regular(7, 1, 0, flow=flow) for flow in (True, False)),  # falls
    axis.Regular(7, 0, 1, circular=True),
    axis.Regular(1, 0, 1),
    axis.Regular(3, -1e-3, 1e300),
    axis.Regular(7, 0.1, 1, transform=axis.transform.Pow(-0.5)),
    *(axis.Variable([0, 0.2, 0.3, 1], **{f: False}) for f in ("flow", "underflow", "overflow")),
    axis.Variable([0, 0.2, 0.3, 1], circular=True),
    *(axis.Variable([-INF, 0, 1], flow=flow) for flow in (True, False)),
    *(axis.Variable([0, 1, INF], flow=flow) for flow in (True, False)),
    axis.Variable([-INF, 0.0, INF]),
]
INTEGERS = [
    *(axis.Integer(-1, 5, **{flag: False}) for flag in ("flow", "underflow", "overflow")),
    axis.Integer(-1, 5, circular=True),
    axis.Integer(0, 0, growth=True),
    axis.Integer(-1, 5, growth=True, name="n", label="a label"),
    axis.Integer(-9, 15, growth=True),
    axis.IntCategory([1, 3, -2]),
    axis.IntCategory([1, 3, -2], flow=False),
    axis.IntCategory([]),
    axis.Boolean(),
    axis.Regular(5, 0, 5, circular=True),
    axis.Variable([0, 2, 5]),
]
STRINGS = [axis.StrCategory(["a", "ü", ""]), axis.StrCategory("ab", flow=False)]
ONE = [
    *((name, each) for name in ("x", "f") for each in REALS),
    *((name, each) for name in ("i8", "i", "i64", "u8", "u64", "b") for each in INTEGERS),
    *(("s", each) for each in STRINGS),
]
MANY = [
    (("i", "s", "x"), [INTEGERS[-6], STRINGS[1], REALS[1]]),  # none has flow
    (("x", "y", "f", "i", "b", "s"), [*REALS[:3], INTEGERS[0], axis.Boolean(), STRINGS[0]]),
]


def filled(columns, exprs, axes, storage="Double", **more):
    by = {word: columns.get(name, name) for word, name in more.items()}
    return hist.Hist(*axes, storage=storage).fill(*(columns[name] for name in exprs), **by)


def same(made, expected):
    assert list(made.axes) == list(expected.axes)
    assert [vars(each) for each in made.axes] == [vars(each) for each in expected.axes]
    assert made.storage_type is expected.storage_type
    ours, theirs = made.view(flow=True), expected.view(flow=True)
    if theirs.dtype.names is None and made.kind == "COUNT":
        np.testing.assert_array_equal(ours, theirs)
        return
    for name in theirs.dtype.names or [...]:
        np.testing.assert_allclose(ours[name], theirs[name], 1e-9, 1e-9)


def test_axes(events, columns):
    cases = [*(((name,), [each]) for name, each in ONE), *MANY]
    made = tm.run([events.hist(*exprs, bins=axes) for exprs, axes in cases], progress=False)
    for histogram, (exprs, axes) in zip(made, cases, strict=True):
        same(histogram, filled(columns, exprs, axes))


STORAGES = [
    ("Double", {}),
    ("AtomicInt64", {}),
    ("int64", {}),
    ("Unlimited", {}),
    (storage.Unlimited(), {"weight": "w"}),
    (bh.storage.AtomicInt64(), {}),
    ("Weight", {}),
    ("Int64", {"weight": "b"}),
    ("Int64", {"weight": "i8"}),
    ("AtomicInt64", {"weight": -1}),
    ("Weight", {"weight": "w"}),
    ("Weight", {"weight": "b"}),
    ("Weight", {"weight": 2}),
    ("Weight", {"weight": np.float32(0.5)}),
    (storage.Mean(), {"sample": "y"}),
    (storage.Mean(), {"sample": "y", "weight": "w"}),
    (storage.WeightedMean(), {"sample": "y"}),
    (storage.WeightedMean, {"sample": "y", "weight": "w"}),
]


@pytest.mark.parametrize(("kept", "more"), STORAGES, ids=str)
def test_storages(events, columns, kept, more):
    book = events.profile if "sample" in more else events.hist
    theirs = kept() if isinstance(kept, type) else kept
    if isinstance(theirs, str):
        theirs = {"int64": "Int64"}.get(theirs, theirs)
        theirs = getattr(storage, theirs)()
    same(
        book("x", bins=REALS[0], storage=kept, **more).value,
        filled(columns, ["x"], REALS[:1], theirs, **more),
    )


def test_whole_numbers_hold_no_fractions(events):
    """boost-histogram cuts them off."""
    for kept in ("Int64", "AtomicInt64"):
        with raises(tm.QueryError, said="whole numbers"):
            tm.run(events.hist("x", bins=5, weight="w", storage=kept), progress=False)


def test_growing_categories_of_bools(events, columns):
    made = events.hist("b", bins=axis.IntCategory([], growth=True)).value
    assert list(made.axes[0]) == [0, 1]
    assert made.values().tolist() == [N - columns["b"].sum(), columns["b"].sum()]


def test_integers_that_grow(events):
    grows = axis.Integer(0, 0, growth=True)
    assert events.filter("y < -1").hist("i", bins=grows).value.axes[0].size == 0
    assert grows.size == 0
    varied = events.vary("i", {"up": "i + 20"}).hist("i", bins=grows).value
    assert {len(each.axes[0]) for each in varied.values()} == {31}
    with raises(tm.QueryError, said="32 bits"):
        tm.run(events.hist("i64 * 1000000000", bins=grows), progress=False)
    with raises(tm.QueryError, about="bins"):
        tm.run(events.hist("i64 * 100000000", bins=grows), progress=False)


def test_histograms_stand_for_axes_and_storage(events):
    new = hist.Hist.new.Reg(5, 0, 1, name="q")
    for bins, more, wanted in [
        (new, {}, "Double"),  # before its storage is named
        (new.Weight(), {}, "Weight"),
        (new.Int64(), {}, "Int64"),
        (new.Double(), {"weight": "w"}, "Weight"),
        (new.Int64(), {"weight": "w"}, "Weight"),
        (new.Weight(), {"storage": "Double"}, "Double"),
        (new.Mean(), {}, "Double"),
        (bh.Histogram(bh.axis.Regular(5, 0, 1), storage=bh.storage.Weight()), {}, "Weight"),
    ]:
        made = events.hist("x", bins=bins, **more).value
        assert made.storage_type.__name__ == wanted
        assert made.axes[0].edges.tolist() == bins.axes[0].edges.tolist()
    made = events.profile("x", sample="y", bins=new.WeightedMean()).value
    assert made.storage_type is storage.WeightedMean


def test_names_of_axes(events):
    called = axis.Regular(3, 0, 1, name="y")
    made = events.hist("x", "y", bins=[called, (4, 0, 3)]).value
    assert made.axes.name == ("y", "")
    with raises(tm.QueryError, said="two axes of one histogram are called y"):
        events.hist("x", "f", bins=[called, called])
    for wrong in ({"name": 3}, {"label": 3}, {"label": [3]}):
        with raises(tm.QueryError, said="names and labels are strings"):
            events.hist("x", bins=5, **wrong)


def test_edges(events):
    for edges in (range(4), [0, 1, INF], (-INF, 0.5, INF)):
        made = events.hist("x", bins=edges).value.axes[0]
        assert made.edges.tolist() == axis.Variable(edges).edges.tolist()
    for edges in ([0, math.nan], [0, INF, INF]):
        with raises(tm.QueryError, about="ascending"):
            events.hist("x", bins=edges)
    with raises(tm.QueryError, said="its edges are not finite"):
        events.hist("x", bins=axis.Variable([0, 1, INF], circular=True))
    with raises(tm.QueryError, said="not Mean; profile …, sample fills it"):
        events.hist("x", storage="Mean")
    with raises(tm.QueryError, said="a weight is an expression or a number, not"):
        events.hist("x", bins=5, weight=np.ones(N))


def test_what_is_shown_and_drawn(events, capsys):
    plain = bh.Histogram(bh.axis.Regular(5, 0, 1)).fill([0.1])
    tm.show(plain)
    tm.plot(plain)
    assert "sum 1" in capsys.readouterr().out
    made = events.hist("x", bins=(3, 0, 1)).value
    stack = hist.Stack.from_dict({"one": made, "two": made})
    legend = tm.plot(stack).axes[0].get_legend().get_texts()
    assert [each.get_text() for each in legend] == ["one", "two"]
    with raises(tm.QueryError, said="is not a histogram"):
        tm.show(stack)
    with raises(tm.QueryError, about="MultiCell"):
        tm.show(hist.Hist(axis.Regular(5, 0, 1), storage=storage.MultiCell(2)))


def test_a_named_hist_of_three_axes_is_shown_and_drawn(capsys):
    axes = [axis.Regular(4, 0, 1, name=name, label=f"the {name}") for name in "xyz"]
    named = hist.NamedHist(*axes)
    named.fill(x=[0.1, 0.2], y=[0.3, 0.9], z=[0.5, 0.5])
    tm.show(named)
    printed = capsys.readouterr().out
    tm.show(hist.Hist(named))
    assert printed == capsys.readouterr().out
    assert all(f"the {name}" in printed for name in "xyz")
    pytest.importorskip("mplhep")
    assert len(tm.plot(named).axes) == len(tm.plot(hist.Hist(named)).axes) >= 3
