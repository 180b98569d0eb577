"""Bookings, on threads and on processes, against numpy, awkward, boost-histogram."""

import awkward as ak
import boost_histogram as bh
import hist
import numpy as np
import pytest
import treemill as tm
from treemill.errors import QueryError

from tests.python.written import write
from tests.raising import raises


@pytest.fixture(scope="module", params=["threads", "processes"])
def session(request, core):
    with tm.connect(workers=2, mode=request.param) as made:
        yield made


def flat(array):
    return ak.to_numpy(ak.flatten(array, axis=None))


def test_profile_is_boost_histograms(session, events, truth):
    bins = (20, 0, 100)
    good = events.filter("nJet > 0")
    plain, weighted, two = session.run(
        good.profile("Jet_pt", sample="Jet_eta", bins=bins),
        good.profile("Jet_pt", sample="MET_pt", bins=bins, weight="genWeight"),
        events.profile("MET_pt", "nJet", sample="genWeight", bins=[bins, (3, 0, 6)]),
        progress=False,
    )
    some = truth[truth.nJet > 0]
    pt, eta, met, w = (
        flat(x) for x in ak.broadcast_arrays(some.Jet_pt, some.Jet_eta, some.MET_pt, some.genWeight)
    )
    axis = bh.axis.Regular(*bins)
    for got, samples, kwargs, storage in (
        (plain, eta, {}, bh.storage.Mean()),
        (weighted, met, {"weight": w}, bh.storage.WeightedMean()),
    ):
        expected = bh.Histogram(axis, storage=storage).fill(pt, sample=samples, **kwargs)
        for field in expected.view(flow=True).dtype.names:
            np.testing.assert_allclose(
                got.view(flow=True)[field], expected.view(flow=True)[field], 1e-9, 1e-6
            )
    assert isinstance(plain.storage_type(), hist.storage.Mean)
    assert two.axes[0].label == "MET_pt"
    expected = bh.Histogram(axis, bh.axis.Regular(3, 0, 6), storage=bh.storage.Mean())
    expected.fill(truth.MET_pt, truth.nJet, sample=truth.genWeight)
    np.testing.assert_array_equal(two.counts(flow=True), expected.counts(flow=True))
    np.testing.assert_allclose(two.values(flow=True), expected.values(flow=True), 1e-9, 1e-9)


def test_moments_are_numpys(session, events, truth):
    values, weights = (
        flat(truth.Jet_pt),
        flat(ak.broadcast_arrays(truth.Jet_pt, truth.genWeight)[1]),
    )
    std, var, sample, mean, wide, none, one = session.run(
        events.std("Jet_pt"),
        events.var("Jet_pt"),
        events.std("Jet_pt", ddof=1),
        events.mean("Jet_pt", weight="genWeight"),
        events.std("Jet_pt", weight="genWeight"),
        events.filter("MET_pt < 0").std("MET_pt"),
        events.filter("event == 3").std("MET_pt", ddof=3),
        progress=False,
    )
    values = values.astype(np.float64)
    assert std == pytest.approx(values.std(), rel=1e-12)
    assert var == pytest.approx(values.var(), rel=1e-12)
    assert sample == pytest.approx(values.std(ddof=1), rel=1e-12)
    average = np.average(values, weights=weights)
    assert mean == pytest.approx(average, rel=1e-12)
    spread = np.sqrt(np.average((values - average) ** 2, weights=weights))
    assert wide == pytest.approx(spread, rel=1e-9)
    assert none is None
    assert one is None or np.isnan(one)
    with raises(QueryError, about="ddof"):
        events.std("MET_pt", weight="genWeight", ddof=1)


@pytest.mark.parametrize(
    ("kinds", "dtype"),
    [
        ({"i8": [5, 2**53 + 1]}, np.int64),
        ({"f8": [0.5], "i8": [5, 2**53 + 1]}, object),
        ({"f8": [0.5], "u8": [5, 2**63 + 1]}, object),
        ({"f8": [0.5], "i8": [5, 2**53]}, np.float64),
        ({"i8": [-1], "u8": [5, 2**63 + 1]}, object),
        ({"i8": [1], "u8": [5, 2**63 + 1]}, np.uint64),
    ],
)
def test_unique_values_of_several_types_are_exact(tmp_path, kinds, dtype):
    files = [
        write(tmp_path / f"{kind}.root", x=np.array(values, kind)) for kind, values in kinds.items()
    ]
    found = tm.dataset(files).unique("x").value
    assert found.dtype == dtype
    assert found.tolist() == sorted(value for values in kinds.values() for value in values)


def test_unique_and_quantiles(session, events, truth):
    asked = [0, 0.01, 0.25, 0.5, 0.9, 0.999, 1]
    n, charge, q, jets, median, none = session.run(
        events.unique("nMuon"),
        events.unique("Muon_charge > 0"),
        events.approx_quantiles("MET_pt", asked),
        events.approx_quantiles("nJet", asked),
        events.approx_quantiles("Jet_eta", 0.5),
        events.filter("MET_pt < 0").approx_quantiles("MET_pt", asked),
        progress=False,
    )
    np.testing.assert_array_equal(n, np.unique(truth.nMuon))
    np.testing.assert_array_equal(charge, [False, True])
    np.testing.assert_allclose(q, np.quantile(truth.MET_pt, asked), 1 / 2048)
    np.testing.assert_array_equal(jets, np.quantile(ak.to_numpy(truth.nJet), asked))
    assert median == pytest.approx(np.median(flat(truth.Jet_eta)), rel=1 / 2048, abs=1e-9)
    assert none is None
    with raises(QueryError, said="more than 100 different values"):
        session.run(events.unique("event", limit=100), progress=False)


def test_report_counts_what_arrives(session, events, truth):
    flow = events.filter("nMuon >= 1", name="a muon").define("x", "MET_pt * 2").filter("x > 20")
    flow = flow.filter("nJet >= 2", name="two jets")
    plain, weighted, hist_ = session.run(
        flow.report(),
        flow.report(weight="genWeight"),
        flow.hist("x", bins=(10, 0, 100)),
        progress=False,
    )
    muon = truth.nMuon >= 1
    before = muon & (truth.MET_pt.to_numpy().astype(float) * 2 > 20)
    after = before & (truth.nJet >= 2)
    assert [(c.name, c.total, c.passed) for c in plain] == [
        ("a muon", len(truth), ak.sum(muon)),
        ("two jets", ak.sum(before), ak.sum(after)),
    ]
    assert plain["two jets"].efficiency == ak.sum(after) / ak.sum(before)
    assert str(plain).splitlines()[0].startswith("a muon  : pass=")
    w = ak.values_astype(truth.genWeight, np.float64)
    assert weighted["a muon"].passed == pytest.approx(ak.sum(w[muon]), rel=1e-9)
    assert weighted["two jets"].passed_variance == pytest.approx(ak.sum(w[after] ** 2), rel=1e-9)
    assert hist_.sum(flow=True) == ak.sum(after)
    with raises(QueryError, said="no filter down to here has a name"):
        events.filter("nMuon > 1").report()
    with raises(QueryError, said="one number per event"):
        session.run(flow.report(weight="Jet_pt"), progress=False)


def test_reports_of_one_text_have_weights_of_their_own(session, events, truth):
    """A function may be defined anew between them."""
    good = events.filter("nMuon >= 1", name="a muon")
    flows = []
    for body in ("a", "a + 1"):
        tm.function("weighing(a)", body)
        flows.append(good.report(weight="weighing(nJet)"))
    one, more = session.run(*flows, progress=False)
    jets = truth.nJet[truth.nMuon >= 1]
    assert [one[0].passed, more[0].passed] == [ak.sum(jets), ak.sum(jets) + len(jets)]


@pytest.mark.parametrize("vary", [False, True])
def test_a_weight_that_is_known_after_an_entry_list_counts_without_the_list(events, truth, vary):
    selected = np.arange(events.num_entries) % 3 == 1
    chosen = events.select_entries(selected)
    some = chosen.define("w", "genWeight * 2")
    some = some.vary("w", {"up": "w * 3"}) if vary else some
    flow, plain = tm.run(
        some.filter("nJet >= 2", name="jets").report(weight="w"),
        some.filter("nJet >= 2", name="jets").report(),
    )
    w = ak.to_numpy(truth.genWeight)[selected] * 2.0
    passed = ak.to_numpy(truth.nJet)[selected] >= 2
    for scale, cuts in ((1, flow["nominal"]), (3, flow["w:up"])) if vary else ((1, flow),):
        assert [cut.name for cut in cuts] == ["jets"]
        assert cuts["jets"].total == pytest.approx(scale * w.sum())
        assert cuts["jets"].passed == pytest.approx(scale * w[passed].sum())
    cuts = plain["nominal"] if vary else plain
    assert [cut.name for cut in cuts] == ["entry list", "jets"]
    with raises(tm.QueryError, said="no filter down to here has a name"):
        some.report(weight="w")
    with raises(tm.QueryError, said="before the filter", about="jets"):
        chosen.filter("nJet >= 2", name="jets").define("w", "genWeight").report(weight="w")


@pytest.mark.parametrize(
    ("weight", "columns"),
    [
        ("MET_pt * 2", "MET_pt"),
        ("sum(Jet.pt)", "Jet_pt"),
        ("sum(j.eta for j in Jet)", ["Jet_pt", "Jet_eta"]),
    ],
)
def test_a_weight_that_varies_after_the_first_filter_is_an_error(events, weight, columns):
    """Entries would enter a cut with one weight and pass it with another."""
    listed = [columns] if isinstance(columns, str) else columns
    cut = events.filter("nMuon >= 1", name="a muon")
    up = {"up": [f"{name} * 2" for name in listed]}
    with raises(QueryError, said="before the filter"):
        cut.vary(listed, up).report(weight=weight)
    with raises(QueryError, said="before the filter"):
        cut.define(listed[-1], f"{listed[-1]} * 2").report(weight=weight)
    flow = events.vary(listed, up).filter("nMuon >= 1", name="a muon").report(weight=weight).value
    assert flow["_".join(listed) + ":up"][0].total == pytest.approx(2 * flow.nominal[0].total)
    assert cut.vary("MET_phi", {"up": "MET_phi * 2"}).report(weight=weight).value.nominal
    for other in ("Jet_pt_new", "Jet_sum"):
        assert cut.define(other, "Jet_pt * 2").report(weight=weight).value


def test_arrays_and_take_are_in_order(session, events, truth):
    good = events.filter("nMuon >= 1").define("ht", "sum(Jet_pt[Jet_pt > 30])")
    arrays, met, jets, hard, ht = session.run(
        good.take(["event", "Muon_pt", "ht", "Jet_pt[Jet_pt > 30]"]),
        good.take("MET_pt"),
        good.take("Jet_pt"),
        good.take({"hard": "Jet_pt[Jet_pt > 30]", "first": "Muon_pt[0]", "two": "Muon_pt[1]"}),
        good.hist("ht", bins=(10, 0, 500)),
        progress=False,
    )
    some = truth[truth.nMuon >= 1]
    assert arrays.fields == ["event", "Muon_pt", "ht", "Jet_pt[Jet_pt > 30]"]
    assert ak.array_equal(arrays.event, some.event)
    assert ak.array_equal(arrays.Muon_pt, some.Muon_pt, dtype_exact=True)
    assert isinstance(met, np.ndarray)
    assert met.dtype == np.float32
    np.testing.assert_array_equal(met, some.MET_pt)
    assert ak.array_equal(jets, some.Jet_pt)
    cut = some.Jet_pt[some.Jet_pt > 30]
    assert ak.array_equal(hard.hard, cut)
    assert ak.array_equal(arrays["Jet_pt[Jet_pt > 30]"], cut)
    assert hard["first"].to_list() == some.Muon_pt[:, 0].to_list()
    assert hard["two"].to_list() == ak.firsts(some.Muon_pt[:, 1:]).to_list()
    np.testing.assert_allclose(arrays.ht, ak.sum(ak.values_astype(cut, np.float64), axis=1), 1e-12)
    assert ht.sum(flow=True) == len(some)


def test_arrays_of_nothing_have_their_types(session, events, truth):
    none = session.run(events.filter("MET_pt < 0").take(["MET_pt", "Jet_pt"]), progress=False)
    assert len(none) == 0
    assert str(none.type) == str(truth[["MET_pt", "Jet_pt"]][:0].type)


def test_arrays_of_a_part(session, events, truth):
    got = session.run(events.take("event"), entries=(4000, 6000), progress=False)
    np.testing.assert_array_equal(got, truth.event[4000:6000])


def test_too_much_for_memory_is_an_error(session, events):
    with raises(QueryError, said="more than of memory"):
        session.run(events.filter("MET_pt > 1").take(["Jet_pt"], limit=1000), progress=False)


def test_vary_gives_what_each_would_be_alone(session, events):
    bins = (50, 0, 200)
    varied = events.vary("Jet_pt", {"up": "Jet_pt * 1.1", "down": "Jet_pt * 0.9"})
    varied = varied.vary(
        ["MET_pt", "genWeight"],
        {"a": {"MET_pt": "MET_pt + genWeight", "genWeight": "MET_pt"}, "b": ["0.5 * MET_pt", "1"]},
        name="both",
    )
    good = varied.filter("sum(Jet_pt > 40) >= 1", name="jet")
    met, jets, count, muons, flow, std = session.run(
        good.hist("MET_pt", bins=bins, weight="genWeight"),
        good.hist("Jet.pt", bins=bins),
        good.count(),
        varied.hist("Muon_pt", bins=bins),
        good.report(),
        varied.std("MET_pt"),
        progress=False,
    )
    assert list(met) == ["nominal", "Jet_pt:up", "Jet_pt:down", "both:a", "both:b"]
    assert list(jets) == list(count) == list(flow) == ["nominal", "Jet_pt:up", "Jet_pt:down"]
    assert list(muons) == ["nominal"]
    assert list(std) == ["nominal", "both:a", "both:b"]

    def alone(pt="Jet_pt", met="MET_pt", weight="genWeight"):
        node = events.filter(f"sum({pt} > 40) >= 1")
        return node.hist(met, bins=bins, weight=weight), node.hist(pt, bins=bins), node.count()

    expected = {
        "nominal": alone(),
        "Jet_pt:up": alone("(Jet_pt * 1.1)"),
        "Jet_pt:down": alone("(Jet_pt * 0.9)"),
        "both:a": alone(met="MET_pt + genWeight", weight="MET_pt"),
        "both:b": alone(met="0.5 * MET_pt", weight="1"),
    }
    for name, (h, j, n) in expected.items():
        h, j, n = session.run(h, j, n, progress=False)
        np.testing.assert_allclose(met[name].values(flow=True), h.values(flow=True), 1e-9, 1e-9)
        if name in count:
            assert count[name] == n == flow[name]["jet"].passed
            np.testing.assert_array_equal(jets[name].values(flow=True), j.values(flow=True))
    assert met.nominal is met["nominal"]


def test_equal_axes_share_cells_and_agree(session, events, truth):
    """Many weights on one axis: the cells are found once, the sums are each one's own."""
    weights = [f"genWeight * {i} + MET_pt" for i in range(5)]
    bins = [(20, 0, 100), (5, -3, 3)]
    many = [events.hist("Jet_pt", "Jet_eta", bins=bins, weight=w) for w in weights]
    found = session.run(*many, events.hist("Jet_pt", "Jet_eta", bins=bins), progress=False)
    alone = [session.run(events.hist("Jet_pt", "Jet_eta", bins=bins, weight=w)) for w in weights]
    for got, expected in zip(found, alone, strict=False):
        np.testing.assert_allclose(got.values(flow=True), expected.values(flow=True), 1e-9, 1e-9)
    expected = np.histogram2d(
        flat(truth.Jet_pt), flat(truth.Jet_eta), bins=[20, 5], range=[(0, 100), (-3, 3)]
    )[0]
    np.testing.assert_array_equal(found[-1].values(), expected)


@pytest.mark.parametrize("transform", ["log", "sqrt", "pow"])
def test_transformed_axes_are_boost_histograms(session, events, truth, transform):
    made = {
        "log": bh.axis.transform.log,
        "sqrt": bh.axis.transform.sqrt,
        "pow": bh.axis.transform.Pow(1.5),
    }[transform]
    axis = bh.axis.Regular(37, 1.0, 150.0, transform=made)
    got = session.run(events.hist("MET_pt - 2", bins=axis), progress=False)
    expected = bh.Histogram(axis).fill(ak.to_numpy(truth.MET_pt).astype(np.float64) - 2)
    np.testing.assert_array_equal(got.values(flow=True), expected.values(flow=True))


def test_growing_categories_have_all_values(session, events, truth):
    axis = hist.axis.IntCategory([3], growth=True, name="n")
    got = session.run(events.hist("nJet", "MET_pt", bins=[axis, (3, 0, 300)]), progress=False)
    values = np.unique(ak.to_numpy(truth.nJet))
    assert list(got.axes[0]) == [3, *(v for v in values if v != 3)]
    assert got[bh.loc(2), :].sum(flow=True) == ak.sum(truth.nJet == 2)
    assert list(axis) == [3]


@pytest.mark.parametrize(
    "axis", [hist.axis.IntCategory([], growth=True), hist.axis.Integer(0, 1, growth=True)]
)
@pytest.mark.parametrize("expr", ["MET_pt", "nJet / 2", "nJet * 1.0", "1 / (nJet - 2)"])
def test_growing_axes_of_integers_take_no_floats(session, events, axis, expr):
    with raises(QueryError, said="takes integers, and these are floats"):
        session.run(events.hist(expr, bins=axis), progress=False)


def test_interrupted_snapshots_leave_nothing(events, tmp_path):
    path = tmp_path / "skim.parquet"
    query = tm.connect(workers=1).submit(events.snapshot(str(path), ["MET_pt"]))
    query.abort("enough")
    with raises(tm.TreemillError, about="enough"):
        query.result()
    assert not path.exists()
    assert not list(tmp_path.iterdir())


def test_a_column_to_vary_must_be_there(events):
    varied = events.vary("MET_ptt", {"up": "MET_pt * 2"})
    with raises(QueryError, said="no column MET_ptt"):
        tm.run(varied.count(), progress=False)
    defined = events.define("ht", "sum(Jet_pt)").vary("ht", {"up": "ht * 2"})
    assert set(tm.run(defined.sum("ht"), progress=False)) == {"nominal", "ht:up"}


def test_growing_categories_are_those_of_all_variations(events, truth):
    axis = hist.axis.IntCategory([], growth=True)
    varied = events.vary("nJet", {"up": "nJet + 1000"}).hist("nJet", bins=axis)
    for histogram in tm.run(varied, progress=False).values():
        assert histogram.sum() == len(truth)


def test_snapshots_do_not_replace_what_they_read(events):
    with raises(QueryError, said="give another path"):
        events.snapshot(events.files[0], ["nJet"])


@pytest.mark.parametrize("edges", [[0, 1, 2.5, 7], [-5, 1.3, 2.5, 7.7], [-0.1, 0.2, 0.35]])
def test_circular_edges(events, truth, edges):
    """boost-histogram fills by these, but names others."""
    axis = hist.axis.Variable(edges, circular=True)
    made = tm.run(events.hist("MET_pt", bins=axis))
    expected = hist.Hist(axis).fill(truth.MET_pt)
    assert made.values(flow=True).tolist() == expected.values(flow=True).tolist()


def test_circular_integers(events, truth):
    axis = hist.axis.Integer(0, 3, circular=True)
    got = tm.run(events.hist("nJet", bins=axis), progress=False)
    assert got.values().tolist() == hist.Hist(axis).fill(truth.nJet).values().tolist()


def test_what_runs_and_values_compute(paths):
    events = tm.dataset(paths, tree="Events")
    one, two, three = events.count(), events.max("MET_pt"), events.min("MET_pt")
    events.arrays("MET_pt", stop=3)
    events.head("MET_pt")
    assert [each.done for each in (one, two, three)] == [False] * 3
    tm.run(one, progress=False)
    assert one.done
    assert [each.done for each in (two, three)] == [False] * 2
    assert two.value > 0
    assert three.done
