"""Partials over any ranges, merged in any order, after any journey, give the same results; and what
no entry needs is not read."""

import math
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
import treemill as tm
from hypothesis import given, settings
from treemill.query.planning import plan

from tests.raising import raises


def booked(events):
    good = events.filter("nJet > 0", name="jets")
    return [
        events.hist("MET_pt", bins=(20, 0, 100)),
        good.hist("Jet_pt", bins=(20, 0, 100), weight="genWeight"),
        good.profile("Jet_pt", sample="Jet_eta", bins=(5, 0, 100)),
        good.profile("Jet_pt", sample="Jet_eta", bins=(5, 0, 100), weight="genWeight"),
        good.std("Jet_pt"),
        good.std("Jet_pt", weight="genWeight"),
        good.unique("nJet"),
        events.approx_quantiles("MET_pt", [0, 0.1, 0.5, 1]),
        good.report(weight="genWeight"),
        good.count(),
    ]


@pytest.fixture(scope="module")
def bound(core, paths):
    events = tm.dataset(paths[0], tree="Events")
    return core.Query(plan(booked(events)).specification.text).bind(events.chain.trees[0].core)


def run(core, bound, start, stop):
    partial = bound.partial()
    assert bound.run(start, stop, partial, core.Control()) == stop
    return partial


def same(got, expected):
    """Integers exactly, floats up to what the order of sums changes."""
    if hasattr(expected, "keys"):
        return all(same(got[key], expected[key]) for key in expected.keys())  # noqa: SIM118
    if isinstance(expected, (list, tuple)):
        return len(got) == len(expected) and all(map(same, got, expected))
    if isinstance(expected, np.ndarray):
        return np.allclose(got, expected, 1e-9, 1e-7)
    if isinstance(expected, float):
        return math.isclose(got, expected, rel_tol=1e-9, abs_tol=1e-9)
    return got == expected


@settings(max_examples=40)
@given(st.data())
def test_any_ranges_in_any_order(core, bound, data):
    entries = 5000
    cuts = data.draw(st.lists(st.integers(0, entries), max_size=5))
    edges = [0, *sorted(cuts), entries]
    ranges = data.draw(st.permutations(list(pairwise(edges))))
    merged = bound.partial()
    for start, stop in ranges:
        part = run(core, bound, start, stop)
        if data.draw(st.booleans()):
            part = core.Partial.loads(part.dumps())
        merged.merge(part)
    whole = run(core, bound, 0, entries)
    assert same(merged.results(), whole.results())
    # Counts, unique values and quantiles do not even round.
    for exact in (0, 6, 7, 10):
        got, expected = merged.results()[exact], whole.results()[exact]
        if hasattr(expected, "keys"):
            assert (got["values"] == expected["values"]).all()
        else:
            assert got == expected


def test_damaged_and_foreign_bytes_are_refused(core, bound):
    good = bound.partial().dumps()
    with raises(tm.QueryError, about="version"):
        core.Partial.loads(b"\x7f" + good[1:])
    with pytest.raises(tm.QueryError):
        core.Partial.loads(good[:-5])


BASKET = 20_000  # entries: larger than a batch


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Ten baskets in each of 20 columns; `run` is 1 in the third of them."""
    import uproot

    path = tmp_path_factory.mktemp("wide") / "wide.root"
    names = [f"x{i}" for i in range(20)]
    chance = np.random.default_rng(3)
    with uproot.recreate(path, compression=uproot.ZSTD(1)) as file:
        tree = file.mktree("Events", dict.fromkeys(["run", *names], "float32"))
        for number in range(10):
            values = {name: chance.integers(0, 10, BASKET).astype("f4") for name in names}
            tree.extend(values | {"run": np.full(BASKET, number == 2, "f4")})
    return str(path)


def counters(path, where=None):
    """Bytes read and decompressed by sums of all columns."""
    events = tm.dataset(path)
    node = events if where is None else events.filter(where)
    with tm.connect(workers=1) as session:
        sums = session.run(*(node.sum(f"x{i}") for i in range(20)), progress=False)
        report = session.report
    return sums, report.bytes_read, report.bytes_decompressed


def test_baskets_that_no_entry_needs_are_not_read(wide, nothing_remembered):
    _, all_read, all_bytes = counters(wide)
    sums, read, decompressed = counters(wide, "run > 0")
    none, none_read, none_bytes = counters(wide, "run > 1")
    basket = BASKET * 4
    assert all_bytes == 20 * 10 * basket
    # The filter's own column, and of 20 columns the one basket where entries survive; a batch of
    # entries may begin in the one before and end in the one after.
    assert 20 * basket <= decompressed - 10 * basket <= 3 * 20 * basket
    assert none_bytes == 10 * basket
    assert none_read < read < 0.4 * all_read
    assert none == (0.0,) * 20
    assert all(each > 0 for each in sums)
