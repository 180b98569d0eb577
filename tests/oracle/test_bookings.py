"""Bookings and variations beside RDataFrame's: Vary, Report, Profile1D, StdDev, Take, Snapshot."""

import json

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot

from .cases import write

# ROOT compiles for half a minute. tests/python/query/test_bookings.py has each booking beside numpy
# and boost-histogram, and test_snapshots has ROOT read what was written.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def both(root_program, tmp_path_factory):
    """treemill's values by name, and RDataFrame's."""
    folder = tmp_path_factory.mktemp("bookings")
    path, skim = folder / "data.root", folder / "root.root"
    write(path)
    root_program("bookings.py", path, folder / "root.json", skim)
    events = tm.dataset(str(path), tree="Events")
    good = events.filter("y > 5", name="y above 5").filter("i > 0", name="i positive")
    varied = events.vary("y", {"up": "y * 1.1", "down": "y * 0.9"}).filter("y > 20")
    varied = varied.vary("w", {"plus": "w + 1"})
    bins = (40, -50.0, 150.0)
    booked = {
        "sums": varied.hist("y", bins=bins, weight="w"),
        "flat": varied.hist("y", bins=bins),
        "counts": varied.count(),
        "profile": good.profile("y", sample="w", bins=(20, 0.0, 100.0)),
        "std": good.std("y", ddof=1),
        "mean": good.mean("y"),
        "take": good.take("y"),
        "report": good.report(),
        "skim": good.snapshot(str(folder / "ours.root"), ["y", "i", "Jet_pt"]),
    }
    values = dict(zip(booked, tm.run(*booked.values(), progress=False), strict=True))
    return values, json.loads((folder / "root.json").read_text()) | {"skim": skim}


def test_variations(both):
    ours, roots = both
    for name in ("sums", "flat", "counts"):
        assert set(ours[name]) == set(roots[name]), name
    for name, expected in roots["sums"].items():
        np.testing.assert_allclose(ours["sums"][name].values(flow=True), expected, 1e-9, 1e-9)
    for name, expected in roots["flat"].items():
        np.testing.assert_array_equal(ours["flat"][name].values(flow=True), expected)
    assert dict(ours["counts"]) == roots["counts"]


def test_cut_flow(both):
    ours, roots = both
    got = [[c.name, c.total, c.passed, 100 * c.efficiency] for c in ours["report"]]
    for cut, expected in zip(got, roots["report"], strict=True):
        assert cut[:3] == expected[:3]
        assert cut[3] == pytest.approx(expected[3], rel=1e-5)


def test_profile(both):
    ours, roots = both
    filled = np.array(roots["entries"]) > 0
    np.testing.assert_array_equal(ours["profile"].counts(flow=True), roots["entries"])
    means = np.where(filled, ours["profile"].values(flow=True), 0)
    np.testing.assert_allclose(means, roots["profile"], 1e-9, 1e-9)


def test_numbers_and_values(both):
    ours, roots = both
    assert ours["std"] == pytest.approx(roots["std"], rel=1e-9)
    assert ours["mean"] == pytest.approx(roots["mean"], rel=1e-12)
    np.testing.assert_array_equal(ours["take"], roots["take"])


def test_snapshot(both):
    ours, roots = both
    got, expected = (
        uproot.open({path: "Events"}).arrays(["y", "i", "Jet_pt"])
        for path in (str(ours["skim"].path), str(roots["skim"]))
    )
    for name in got.fields:
        assert ak.array_equal(got[name], expected[name]), name
