"""Names that stand for something else: constants of one call, globs, numbers of entries."""

from collections.abc import Mapping

import awkward as ak
import hist
import numpy as np
import pytest
import treemill as tm
from treemill.errors import QueryError

from tests.raising import raises


@pytest.fixture(scope="module")
def session(core):
    with tm.connect(workers=2, mode="threads") as made:
        yield made


def test_every_booking_takes_constants_of_its_own(session, events, tmp_path):
    bins = (20, 0, 100)
    varied = {"up": "Jet_pt * shift"}

    def book(node, cut, two, params):
        """The same with names and with numbers."""
        below = node.vary("Jet_pt", {"up": varied["up"].replace("shift", two)}, **params)
        return [
            node.hist(f"MET_pt * {two}", bins=bins, weight=f"genWeight * {two}", **params),
            node.profile("MET_pt", sample=f"nJet * {two}", bins=bins, **params),
            node.filter(f"MET_pt > {cut}", **params).count(),
            node.define("far", f"MET_pt > {cut}", **params).sum("far"),
            node.sum(f"MET_pt * {two}", **params),
            node.mean(f"MET_pt * {two}", **params),
            node.mean("MET_pt", weight=f"genWeight * {two}", **params),
            node.std(f"MET_pt * {two}", **params),
            node.var(f"MET_pt * {two}", **params),
            node.min(f"MET_pt * {two}", **params),
            node.max(f"MET_pt * {two}", **params),
            node.unique(f"nJet * {two}", **params),
            node.approx_quantiles(f"MET_pt * {two}", [0.5], **params),
            below.sum("sum(Jet_pt)"),
        ]

    named = session.run(
        *book(events, "cut", "two", {"params": {"cut": 30, "two": 2.5, "shift": 2.5}}),
        progress=False,
    )
    plain = session.run(*book(events, "30", "2.5", {}), progress=False)
    for got, expected in zip(named, plain, strict=True):
        if isinstance(got, hist.Hist):
            pairs = [(got.values(flow=True), expected.values(flow=True))]
            pairs += [(got.counts(flow=True), expected.counts(flow=True))]
        elif isinstance(got, Mapping):
            pairs = [(list(got.values()), list(expected.values()))]
        else:
            pairs = [(got, expected)]
        # Sums of floats depend on who had which packet, in the last bits.
        for mine, theirs in pairs:
            np.testing.assert_allclose(mine, theirs, 1e-9)
    assert list(named[-1]) == ["nominal", "Jet_pt:up"]
    x, y, rows = session.run(
        events.take("MET_pt * two", params={"two": 2}),
        events.with_params({}).take({"twice": "MET_pt * two"}, params={"two": 2}),
        events.snapshot(str(tmp_path / "s.parquet"), {"twice": "MET_pt * two"}, params={"two": 2}),
        progress=False,
    )
    np.testing.assert_array_equal(x, y.twice)
    np.testing.assert_array_equal(x, ak.from_parquet(rows.path).twice)
    # It is the constant of that call, and of no other.
    with raises(QueryError, about="two"):
        session.run(events.sum("MET_pt * two"), progress=False)


def test_draw_takes_constants(events, capsys):
    drawn = events.draw("MET_pt", where="MET_pt > cut", bins=(10, 0, 100), params={"cut": 30})
    expected = events.filter("MET_pt > 30").hist("MET_pt", bins=(10, 0, 100)).value
    np.testing.assert_array_equal(drawn.view(flow=True), expected.view(flow=True))


def test_functions_and_constants_in_variations_and_cut_flows(session, events):
    tm.function("scaled(x)", "x * 1.5")
    node = events.with_params({"least": 20})
    below = node.vary("MET_pt", {"up": "scaled(MET_pt)"}).filter("MET_pt > least", name="far")
    count, flow = session.run(below.count(), below.report(), progress=False)
    for name, factor in (("nominal", ""), ("MET_pt:up", " * 1.5")):
        alone = events.filter(f"MET_pt{factor} > 20").count().value
        assert count[name] == alone
        assert flow[name][0].passed == alone


def test_globs_are_the_columns_that_they_fit(session, events, truth, tmp_path):
    node = events.define("Muon_twice", "Muon_pt * 2").with_params({"Muon_cut": 3})
    wanted = [name for name in truth.fields if name.startswith("Muon_")]
    found, skim = session.run(
        node.take(["nMuon", "Muon_*"]),
        node.filter("nMuon > 0").snapshot(str(tmp_path / "m.root"), ["nMuon", "Muon_?t", "Muon_*"]),
        progress=False,
    )
    assert found.fields == ["nMuon", *wanted, "Muon_twice"]
    for name in wanted:
        assert ak.all(found[name] == truth[name])
    again = tm.dataset(skim.path, tree="Events")
    # Each once, though two globs fit it.
    assert {"nMuon", "Muon_pt", "Muon_twice"} <= set(again.branches)
    assert again.num_entries == ak.sum(truth.nMuon > 0)
    everything = events.with_params({}).take(["*"])
    assert {name for name, _ in everything.wanted.columns} == set(truth.fields)


def test_a_product_is_no_glob(session, events, truth):
    node = events.with_params({})
    found = session.run(node.take(["nMuon*nJet", "MET_pt*2"]), progress=False)
    assert found.fields == ["nMuon*nJet", "MET_pt*2"]
    assert ak.all(found["nMuon*nJet"] == truth.nMuon * truth.nJet)
    with raises(QueryError, said="no column s name fits"):
        node.take(["Tau_*"])


def test_entries_have_numbers(session, events, truth):
    total, first, local, some = session.run(
        events.sum("entry_number"),
        events.filter("entry_number < 5000 and MET_pt > 30").count(),
        events.max("local_entry_number"),
        events.filter("entry_number % 100 == 7").take("entry_number"),
        progress=False,
    )
    n = len(truth)
    assert total == n * (n - 1) // 2
    assert first == np.sum(truth.MET_pt[:5000] > 30)
    assert local == 7320
    np.testing.assert_array_equal(some, np.arange(7, n, 100))
    # As the numbers of an entry list, and those of a part of the data.
    chosen = session.run(
        events.select_entries([3, 5000, 5001, 9000]).take("entry_number"), progress=False
    )
    assert chosen.tolist() == [3, 5000, 5001, 9000]
    assert "entry_number" in events.filter("entry_number > 3").explain()


def test_a_column_of_that_name_is_meant(core, tmp_path):
    from tests.python.written import write

    path = write(tmp_path / "a.root", "t", entry_number=np.array([7, 8], "i4"))
    assert tm.dataset(path, tree="t").sum("entry_number").value == 15
