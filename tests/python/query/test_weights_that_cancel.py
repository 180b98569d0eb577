"""Profiles, means and spreads of weights of both signs, beside exact arithmetic. hist has no mean
where a sum of weights is 0 on the way, so that it cannot be asked."""

from fractions import Fraction
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
import treemill as tm
import uproot
from hypothesis import given
from treemill.query.planning import plan
from uproot.models.TArray import Model_TArray

from tests.python.written import write
from tests.random_search import examples

BINS = 4
# Exactly opposite, nearly opposite, large beside small, and far from zero.
WEIGHTS = st.one_of(
    st.sampled_from([1.0, -1.0, 1.0, -1.0, 0.25]),
    st.sampled_from([0.7, -0.7, -0.7 + 2**-40, 1e9, -1e9]),
    st.floats(-3, 3, allow_subnormal=False),
)
SAMPLES = st.one_of(
    st.sampled_from([10.0, 20.0, 60.0, 0.1, -999.0]),
    st.floats(-100, 100, allow_subnormal=False),
    st.integers(0, 9).map(lambda i: 1e9 + i / 8),
)
ENTRIES = st.lists(st.tuples(st.integers(0, BINS - 1), SAMPLES, WEIGHTS), min_size=1, max_size=60)


def exact(entries):
    """The sums of weights and of their squares, the mean, and the squares of the distances to it;
    the last two are None if the weights cancel."""
    pairs = [(Fraction(y), Fraction(w)) for y, w in entries]
    weights = sum(w for _, w in pairs)
    squares = sum(w * w for _, w in pairs)
    if weights == 0:
        return weights, squares, None, None
    mean = sum(w * y for y, w in pairs) / weights
    return weights, squares, mean, sum(w * (y - mean) ** 2 for y, w in pairs)


def check(got, entries):
    """`got`: the four numbers of a cell that has these entries."""
    weights, squares, mean, deltas = exact(entries)
    assert got[0] == pytest.approx(float(weights), 1e-12, 0)
    assert got[1] == pytest.approx(float(squares), 1e-12)
    if squares == 0:
        assert got[2:] == (0.0, 0.0)
    elif mean is None:
        assert np.isnan(got[2:]).all()
    else:
        assert got[2] == pytest.approx(float(mean), 1e-12, 1e-13)
        assert got[3] == pytest.approx(float(deltas), 1e-9, 1e-9)


@pytest.fixture(scope="module")
def session(core):
    with tm.connect(workers=2) as made:
        yield made


@pytest.fixture(scope="module")
def one(core, tmp_path_factory):
    """Three entries of which the first two cancel, in a file each."""
    folder = tmp_path_factory.mktemp("cancelling")
    rows = [(10.0, 1.0), (20.0, -1.0), (60.0, 1.0)]
    for number, (y, w) in enumerate(rows):
        write(folder / f"{number}.root", x=np.zeros(1), y=np.array([y]), w=np.array([w]))
    return [str(folder / f"{number}.root") for number in range(len(rows))]


@examples(150)
@given(ENTRIES, st.data())
def test_any_packets_in_any_order(core, tmp_path_factory, entries, data):
    folder = tmp_path_factory.mktemp("random")
    x, y, w = (np.array(column, float) for column in zip(*entries, strict=True))
    events = tm.dataset(write(folder / "data.root", x=x, y=y, w=w))
    booked = [
        events.profile("x", sample="y", bins=(BINS, 0, BINS), weight="w"),
        events.mean("y", weight="w"),
    ]
    bound = core.Query(plan(booked).specification.text).bind(events.chain.trees[0].core)
    cuts = data.draw(st.lists(st.integers(0, len(entries)), max_size=6))
    ranges = data.draw(st.permutations(list(pairwise([0, *sorted(cuts), len(entries)]))))
    merged = bound.partial()
    for start, stop in ranges:
        part = bound.partial()
        bound.run(start, stop, part, core.Control())
        if data.draw(st.booleans()):
            part, merged = merged, part
        merged.merge(part)
    profile, moments = merged.results()
    fields = [profile[name] for name in ("weights", "weights_squared", "means", "deltas")]
    for cell in range(BINS):
        got = tuple(float(field[cell + 1]) for field in fields)
        check(got, [(b, c) for a, b, c in entries if a == cell])
    n, *got = moments
    assert n == len(entries)
    check(tuple(got), [(b, c) for _, b, c in entries])


def test_all_that_makes_profiles(session, one):
    events = tm.dataset(one)
    bins = (1, -1, 1)
    varied = events.vary("y", {"up": "y * 2"})
    fileset = tm.fileset({"a": one[:2], "b": one[2:]})
    plain, flat, shifted, stacked = session.run(
        events.profile("x", sample="y", bins=bins, weight="w"),
        events.profile("x", "x", sample="y", bins=[bins, bins], weight="w"),
        varied.profile("x", sample="y", bins=bins, weight="w"),
        fileset.profile("x", sample="y", bins=bins, weight="w"),
        progress=False,
    )
    assert plain.values() == [50.0]
    assert plain.counts() == [1 / 3]
    assert flat.values() == [[50.0]]
    assert shifted.nominal.values() == [50.0]
    assert shifted["y:up"].values() == [100.0]
    assert np.isnan(stacked["a"].values()).all()
    assert stacked["b"].values() == [60.0]


def test_drawn_profiles(one, capsys):
    drawn = tm.dataset(one).draw("y:x>>h(1,-1,1)", "w", "prof goff")
    assert drawn.values() == [50.0]


def test_mean_and_spread(session, one):
    events = tm.dataset(one)
    mean, var, std = session.run(
        events.mean("y", weight="w"),
        events.var("y", weight="w"),
        events.std("y", weight="w"),
        progress=False,
    )
    assert (mean, var) == (50.0, 800.0)
    assert std == pytest.approx(800**0.5)


def test_negative_variances(session, core, tmp_path):
    values = {"s": np.array([10.0, 0, 0]), "w": np.array([-1.0, 3, 3])}
    events = tm.dataset(write(tmp_path / "data.root", **values))
    expected = {"var": -24.0, "std": np.nan, "mean": -2.0}
    for kind, value in expected.items():
        for sign in (1, -1):
            book = getattr(events, kind)("s", weight=f"{sign} * w")
            np.testing.assert_array_equal(session.run(book, progress=False), value)


def test_saved_profiles(session, one, tmp_path):
    path = tmp_path / "profiles.root"
    for files, total, mean in ((one, 50.0, 50.0), (one[:2], -10.0, np.nan)):
        book = tm.dataset(files).profile("x", sample="y", bins=(1, -1, 1), weight="w")
        tm.save({"h": session.run(book, progress=False)}, path)
        with uproot.open(path) as file:
            saved = file["h"]
            weights = np.array([1.0, -1.0, 1.0][: len(files)])
            assert saved.member("fBinEntries")[1] == weights.sum()
            assert saved.member("fBinSumw2")[1] == len(files)
            (sums,) = saved.base(Model_TArray)
            np.testing.assert_array_equal(np.asarray(sums)[1], total)
        np.testing.assert_array_equal(tm.load(path)["h"].values(), [mean])
