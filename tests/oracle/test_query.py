"""The same queries in treemill, in awkward + boost-histogram, and in RDataFrame: equal bins."""

import json

import awkward as ak
import boost_histogram as bh
import numpy as np
import pytest
import treemill as tm
import uproot

from .cases import CASES, write

IDS = [case.name for case in CASES]
IN_ROOT = [case for case in CASES if case.in_root]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("query") / "data.root"
    write(path)
    return path


@pytest.fixture(scope="module")
def theirs(path):
    with uproot.open(path) as file:
        return file["Events"].arrays()


def booked(events, case):
    node = events
    for name, text in case.define.items():
        node = node.define(name, text)
    for text in case.where:
        node = node.filter(text)
    bins = list(case.bins) if len(case.bins) > 1 else case.bins[0]
    return node.hist(*case.fill, bins=bins, weight=case.weight)


@pytest.fixture(scope="module")
def ours(path):
    """All cases, booked together and run in one pass."""
    events = tm.dataset(path, tree="Events")
    values = tm.run(*(booked(events, case) for case in CASES))
    return dict(zip(IDS, values, strict=True))


def axis(bins):
    if isinstance(bins, tuple):
        return bh.axis.Regular(*bins)
    return bh.axis.Variable(bins) if isinstance(bins, list) else bins


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_equals_boost_histogram(case, ours, theirs):
    values = [ak.to_numpy(v, allow_missing=False) for v in case.theirs(theirs)]
    weight = None if case.weight is None else values.pop()
    storage = bh.storage.Double() if weight is None else bh.storage.Weight()
    expected = bh.Histogram(*map(axis, case.bins), storage=storage)
    expected.fill(*values, weight=weight)
    got = ours[case.name]
    assert got.values(flow=True).shape == expected.values(flow=True).shape
    if weight is None:
        np.testing.assert_array_equal(got.values(flow=True), expected.values(flow=True))
        return
    # Sums of weights are rounded in the order of the packets.
    np.testing.assert_allclose(got.values(flow=True), expected.values(flow=True), 1e-9, 1e-9)
    np.testing.assert_allclose(got.variances(flow=True), expected.variances(flow=True), 1e-9, 1e-9)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_alone_is_as_together(case, ours, path):
    alone = booked(tm.dataset(path, tree="Events"), case).value
    np.testing.assert_allclose(
        alone.values(flow=True),
        ours[case.name].values(flow=True),
        1e-12 if case.weight else 0,
        1e-9,
    )


def root_bins(bins):
    if isinstance(bins, bh.axis.Integer):
        low, high = bins.edges[0], bins.edges[-1]
        return [len(bins), low - 0.5, high - 0.5]
    return list(bins)


@pytest.fixture(scope="module")
def root(root_program, path):
    queries = [
        {
            "name": case.name,
            "where": [case.root.get(text, text) for text in case.where],
            "define": case.define,
            "fill": [case.root.get(text, text) for text in case.fill],
            "weight": case.weight,
            "bins": [root_bins(bins) for bins in case.bins],
        }
        for case in IN_ROOT
    ]
    asked, output = path.with_name("queries.json"), path.with_name("root.npz")
    asked.write_text(json.dumps(queries))
    root_program("queries.py", path, asked, output)
    return np.load(output)


@pytest.mark.slow
@pytest.mark.parametrize("case", IN_ROOT, ids=[case.name for case in IN_ROOT])
def test_equals_rdataframe(case, ours, root):
    got = ours[case.name].values(flow=True)
    if case.weight is None:
        np.testing.assert_array_equal(got, root[case.name])
    else:
        np.testing.assert_allclose(got, root[case.name], 1e-9, 1e-9)


NUMBERS = [
    ("count", None, lambda e: len(e)),
    ("sum", "y", lambda e: ak.sum(e.y)),
    ("sum", "i", lambda e: ak.sum(e.i)),
    ("sum", "big", lambda e: ak.sum(e.big)),
    ("mean", "y", lambda e: ak.mean(e.y)),
    ("min", "y", lambda e: ak.min(e.y)),
    ("max", "y", lambda e: ak.max(e.y)),
    ("min", "i", lambda e: ak.min(e.i)),
    ("max", "u", lambda e: ak.max(e.u)),
    ("sum", "Jet_pt", lambda e: ak.sum(e.Jet_pt)),
    ("mean", "Jet_pt[Jet_pt > 30]", lambda e: ak.mean(e.Jet_pt[e.Jet_pt > 30])),
    ("max", "Jet_id", lambda e: ak.max(e.Jet_id)),
    ("sum", "flag", lambda e: ak.sum(e.flag)),
    ("max", "x", lambda e: np.nanmax(e.x)),
]


@pytest.mark.parametrize("where", [None, "flag", "y < -1"])
@pytest.mark.parametrize(
    ("kind", "text", "expected"), NUMBERS, ids=[f"{k} {t}" for k, t, _ in NUMBERS]
)
def test_numbers(kind, text, expected, where, path, theirs):
    events = tm.dataset(path, tree="Events")
    chosen = {None: theirs, "flag": theirs[theirs.flag], "y < -1": theirs[:0]}[where]
    node = events if where is None else events.filter(where)
    got = getattr(node, kind)(*([] if text is None else [text])).value
    if len(chosen) == 0 and kind in ("mean", "min", "max"):
        assert got is None
        return
    want = expected(chosen)
    if isinstance(want, (int, np.integer)) or text in ("i", "big", "u", "Jet_id"):
        assert got == want
    else:
        assert got == pytest.approx(want, rel=1e-12)


def test_arrays_are_uproots(path, theirs):
    ours = tm.dataset(path, tree="Events").arrays()
    assert str(ours.type) == str(theirs.type)
    for name in theirs.fields:
        assert ak.array_equal(ours[name], theirs[name], equal_nan=True), name
