"""`Variations`: what the values below `vary` can do together."""

import copy
import pickle
from collections.abc import Mapping, MutableMapping

import hist
import numpy as np
import pytest
import treemill as tm

from tests.raising import raises

BINS = (20, 0, 100)


@pytest.fixture
def varied(events):
    return events.vary("MET_pt", {"up": "MET_pt * 1.1", "down": "MET_pt * 0.9"})


@pytest.fixture
def met(varied):
    return varied.hist("MET_pt", bins=BINS).value


def same(one, other):
    assert list(one.axes) == list(other.axes)
    np.testing.assert_array_equal(one.view(flow=True), other.view(flow=True))


def test_weighted_and_unweighted_histograms_can_be_added(events):
    plain = events.hist("MET_pt", bins=BINS, storage="Weight").value
    assert plain.kind == "COUNT"
    assert isinstance(plain.storage_type(), hist.storage.Weight)
    np.testing.assert_array_equal(plain.values(flow=True), plain.variances(flow=True))
    weighted = events.hist("MET_pt", bins=BINS, weight="genWeight").value
    both = plain + weighted
    np.testing.assert_allclose(both.values(), plain.values() + weighted.values())
    np.testing.assert_allclose(both.variances(), plain.variances() + weighted.variances())


def test_storages_as_hist_fills_them(events, truth):
    for storage in (hist.storage.Double(), hist.storage.Weight(), hist.storage.Int64()):
        expected = hist.Hist(hist.axis.Regular(*BINS), storage=storage).fill(truth.MET_pt)
        for given in (storage, type(storage), type(storage).__name__.lower()):
            made = events.hist("MET_pt", bins=BINS, storage=given).value
            assert type(made.storage_type()) is type(storage)
            np.testing.assert_array_equal(made.view(flow=True), expected.view(flow=True))
    sums = events.hist("MET_pt", bins=BINS, weight="genWeight", storage="double").value
    weights = events.hist("MET_pt", bins=BINS, weight="genWeight").value
    np.testing.assert_array_equal(sums.values(flow=True), weights.values(flow=True))
    expected = hist.Hist(hist.axis.Integer(0, 4), storage=hist.storage.WeightedMean())
    expected.fill(truth.nJet, sample=truth.MET_pt)
    axis = hist.axis.Integer(0, 4)
    made = events.profile("nJet", sample="MET_pt", bins=axis, storage="WeightedMean").value
    for name in ("values", "variances", "counts"):
        mine, theirs = getattr(made, name)(), getattr(expected, name)()
        np.testing.assert_allclose(mine, theirs, 1e-9)


def test_storages_that_a_booking_cannot_have(events):
    with raises(tm.QueryError, about="WeightedMean"):
        events.hist("MET_pt", weight="genWeight", storage="WeightedMean")
    with raises(tm.QueryError, about="MultiCell"):
        events.hist("MET_pt", storage=hist.storage.MultiCell(2))
    with raises(tm.QueryError, said="a profile without weights"):
        events.profile("MET_pt", sample="nJet", storage="Double")


def test_names(varied, met):
    assert list(met) == ["nominal", "MET_pt:up", "MET_pt:down"]
    jets = varied.hist("nJet", bins=BINS).value
    assert list(jets) == ["nominal"]
    # What does not change a value gives the nominal one; what there is not is an error.
    assert jets["MET_pt:up"] is jets.nominal
    with pytest.raises(KeyError, match="did you mean 'MET_pt:up'"):
        jets["MET_pt:upp"]
    with pytest.raises(KeyError, match="MET_pt:down"):
        met["JES"]
    again = pickle.loads(pickle.dumps(jets))
    same(again["MET_pt:down"], jets.nominal)


def test_sums_and_factors(events, varied, met):
    both = met + met * 0.5
    for name in met:
        np.testing.assert_allclose(both[name].values(), 1.5 * met[name].values())
    assert isinstance(sum([met, met]), tm.Variations)
    # One that does not vary, of another process.
    plain = events.hist("MET_pt", bins=BINS).value
    total = met + plain
    added = met["MET_pt:up"].values() + plain.values()
    np.testing.assert_allclose(total["MET_pt:up"].values(), added)
    # Other variations: the nominal one counts where there is none.
    other = events.vary("MET_pt", {"shift": "MET_pt + 5"}, name="s").hist("MET_pt", bins=BINS).value
    total = met - other
    assert set(total) == {"nominal", "MET_pt:up", "MET_pt:down", "s:shift"}
    shifted = met.nominal.values() - other["s:shift"].values()
    np.testing.assert_allclose(total["s:shift"].values(), shifted)
    counts = varied.filter("MET_pt > 20").count().value
    assert (counts / counts.nominal)["MET_pt:up"] == counts["MET_pt:up"] / counts.nominal
    assert (2 * counts).nominal == 2 * counts.nominal
    assert met.map(lambda h: h.sum())["MET_pt:up"] == met["MET_pt:up"].sum()
    failed = 1 - counts / 5000
    assert failed["MET_pt:up"] == 1 - counts["MET_pt:up"] / 5000
    assert (5000 / counts)["MET_pt:down"] == 5000 / counts["MET_pt:down"]
    rest = tm.Variations({"nominal": plain}) - met
    np.testing.assert_allclose(
        rest["MET_pt:up"].values(), plain.values() - met["MET_pt:up"].values()
    )


def test_as_one_histogram(met):
    made = met.to_hist()
    assert made.axes[0].name == "variation"
    assert list(made.axes[0]) == list(met)
    for name, each in met.items():
        found = made[name, ...]
        np.testing.assert_array_equal(found.view(flow=True), each.view(flow=True))
    with raises(tm.QueryError, said="is not a histogram"):
        tm.Variations({"nominal": 3}).to_hist()
    with raises(tm.QueryError, about="MET_pt:upp"):
        met.to_hist(names=["nominal", "MET_pt:upp"])


def test_histograms_of_other_bins_are_not_put_side_by_side(tmp_path):
    def made(stop):
        return hist.Hist(hist.axis.Regular(2, 0, stop, name="x")).fill([0.5, 1.5])

    other = tm.Variations({"nominal": made(2), "ps": made(4)})
    for what in (other.to_hist, other.band, other.plot):
        with raises(tm.QueryError, about=["nominal", "ps"]):
            what()


def test_categories_in_another_order_keep_their_contents():
    def made(categories):
        axis = hist.axis.StrCategory(categories, name="x", growth=True)
        return hist.Hist(axis).fill(["a", "a", "b", *categories[2:]])

    whole = tm.Variations({"nominal": made(["a", "b"]), "ps": made(["b", "a", "c"])}).to_hist()
    found = [[float(whole[name, each]) for each in "abc"] for name in ("nominal", "ps")]
    assert found == [[2, 1, 0], [2, 1, 1]]


def test_pictures(met, tmp_path):
    low, high = met.band()
    assert (low <= met.nominal.values()).all()
    assert (high >= met.nominal.values()).all()
    met.plot(tmp_path / "band.png", log=True, ratio=True)
    assert (tmp_path / "band.png").stat().st_size > 1000
    lines = met.plot(kind="lines").axes[0].get_legend().get_texts()
    assert [each.get_text() for each in lines] == list(met)
    band = tm.plot(met).axes[0].get_legend().get_texts()
    assert [each.get_text() for each in band] == ["variations", "nominal"]
    with raises(tm.QueryError, about="kind"):
        met.plot(kind="dots")


def test_in_notebooks(varied, met):
    assert met._repr_html_().startswith("<img ")
    numbers = varied.count().value._repr_html_()
    assert "nominal" in numbers
    assert "<table>" in numbers


# One histogram with an axis of variations.


def test_variations_are_stacked_when_asked(events):
    varied = events.vary("MET_pt", {"up": "MET_pt * 1.1", "down": "MET_pt * 0.9"}, name="met")
    varied = varied.vary("Jet_pt", {"up": "Jet_pt * 1.1"}, name="jes")
    bins = {"bins": (20, 0, 100), "weight": "nMuon + 0.5"}
    apart, one = tm.run(
        varied.hist("MET_pt", **bins), varied.hist("MET_pt", stack="variation", **bins)
    )
    assert list(one.axes[0]) == ["nominal", "met:up", "met:down", "jes:up"]
    assert one.axes.name == ("variation", "MET_pt")
    for name in one.axes[0]:
        assert one[name, :] == apart[name]


def test_only_variations_are_stacked_and_only_below_vary(events):
    with raises(tm.QueryError, said="below vary"):
        events.hist("MET_pt", bins=(20, 0, 100), stack="variation")
    varied = events.vary("MET_pt", {"up": "MET_pt * 1.1"})
    with raises(tm.QueryError, said="stack is for the samples of a fileset"):
        varied.hist("MET_pt", bins=(20, 0, 100), stack=["dataset", "variation"])
    with raises(tm.QueryError, about="stack"):
        varied.hist("MET_pt", bins=(20, 0, 100), stack=["a", "b"])


def test_variations_and_data_sets_in_one_histogram(paths):
    fs = tm.fileset({"dy": paths[:2], "tt": paths[2:]}, tree="Events")
    varied = fs.vary("MET_pt", {"up": "MET_pt * 1.1"})
    bins = {"bins": (20, 0, 100)}
    apart, both = tm.run(
        varied.hist("MET_pt", **bins),
        varied.hist("MET_pt", stack=["dataset", "variation"], **bins),
    )
    assert both.axes.name == ("dataset", "variation", "MET_pt")
    assert both["tt", "MET_pt:up", :] == apart["tt"]["MET_pt:up"]


@pytest.mark.parametrize("number", [1, 25])
def test_variations_read_and_decompress_no_more_than_one(events, nothing_remembered, number):
    """What variations share is done once, however many there are."""
    names = {str(i): f"weight * {1 + i / 100}" for i in range(number)}
    weighted = events.define("weight", "nMuon + 0.5")
    good = "sum(Jet_pt > 30) >= 2"
    done = []
    for node in (weighted, weighted.vary("weight", names)):
        with tm.connect(workers=1) as session:
            booked = node.filter(good).hist("MET_pt", bins=(50, 0, 200), weight="weight")
            session.run(booked, progress=False)
            done.append((session.report.bytes_read, session.report.bytes_decompressed))
    assert done[0] == done[1]


def selected(node):
    """What depends on jets in every way: selection, sorted objects, pairs, weights, cut flow."""
    good = node.define("Good", "[j for j in Jet if j.pt > 30 and abs(j.eta) < 2.4]")
    good = good.define("ht", "sum(Good.pt)").filter("len(Good) >= 2", name="two jets")
    good = good.define("weight", "1 + 0.01 * len(Good)").filter("ht > 80", name="ht")
    return [
        good.hist("ht", bins=(50, 0, 500), weight="weight"),
        good.hist("Good.pt", bins=(40, 0, 200)),
        good.hist("(Good[0] + Good[1]).mass", bins=(40, 0, 400)),
        good.count(),
        good.report(),
        good.take("ht"),
    ]


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_variations_of_objects_are_as_if_each_were_alone(events, mode):
    ways = {"jes:up": "Jet_pt * 1.05", "jes:down": "Jet_pt * 0.95", "jer:up": "Jet_pt + Jet_eta"}
    jes = {name[4:]: text for name, text in ways.items() if name[:3] == "jes"}
    varied = events.vary("Jet_pt", jes, name="jes").vary("Jet_pt", {"up": ways["jer:up"]}, "jer")
    with tm.connect(workers=2, mode=mode) as session:
        together = session.run(*selected(varied), progress=False)
        for name in ("nominal", *ways):
            alone = events.define("Jet_pt", ways[name]) if name in ways else events
            apart = session.run(*selected(alone), progress=False)
            for both, one in zip(together, apart, strict=True):
                if isinstance(one, np.ndarray):
                    np.testing.assert_array_equal(both[name], one)
                elif isinstance(one, hist.Hist) and one.storage_type is hist.storage.Weight:
                    np.testing.assert_allclose(both[name].values(), one.values(), rtol=1e-12)
                else:
                    assert both[name] == one


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("name", ["scale", "sc*"])
def test_a_column_that_only_some_files_have_varies(tmp_path, order, name):
    import uproot

    for file, more in (("has.root", {"scale": np.array([2.0, 3.0])}), ("lacks.root", {})):
        with uproot.recreate(tmp_path / file) as made:
            columns = {"x": np.array([1.0, 2.0]), **more}
            made.mktree("Events", {key: value.dtype for key, value in columns.items()})
            made["Events"].extend(columns)
    paths = [tmp_path / "has.root", tmp_path / "lacks.root"][::order]
    events = tm.dataset(paths, missing={name: 0.5})
    sums = events.vary("scale", {"up": "scale + 1"}).sum("x * scale").value
    assert sums == {"nominal": 9.5, "scale:up": 15.5}
    with raises(tm.QueryError, said="no column shift that vary"):
        events.vary("shift", {"up": "shift + 1"}).sum("x").value  # noqa: B018


def test_a_column_that_only_later_files_have_needs_a_default(tmp_path):
    import uproot

    for file, columns in (("lacks.root", ["x"]), ("has.root", ["x", "scale"])):
        with uproot.recreate(tmp_path / file) as made:
            made["Events"] = {name: np.array([1.0, 2.0]) for name in columns}
    paths = {name: f"{tmp_path / name}.root:Events" for name in ("lacks", "has")}
    said = r"no column scale that vary.*other files have it: missing=\{'scale': …\}.*lacks\.root"
    for data in (tm.dataset(list(paths.values())), tm.fileset(paths)):
        with pytest.raises(tm.QueryError, match=said) as caught:
            tm.run(data.vary("scale", {"up": "scale + 1"}).sum("x"))
        assert caught.value.column == "scale"
        assert caught.value.file == str(tmp_path / "lacks.root")
    with raises(tm.QueryError, said="no column scal that vary lacks root"):
        tm.run(data.vary("scal", {"up": "x"}).sum("x"))


def test_get_gives_what_subscripts_give():
    values = tm.Variations({"nominal": 1, "up": 2}, unchanged=["jes:up"])
    for name in ("nominal", "up", "jes:up"):
        assert values.get(name) == values.get(name, 7) == values[name]
    assert values.get("other") is None
    assert values.get("other", 7) == 7


def test_the_values_are_a_mapping_that_does_not_change():
    given = {"nominal": 1, "up": 2}
    values = tm.Variations(given, unchanged=["jes:up"])
    assert isinstance(values, Mapping)
    assert not isinstance(values, MutableMapping)
    given["up"] = 7
    with pytest.raises(TypeError):
        values["up"] = 7
    assert dict(values) == {**values} == {"nominal": 1, "up": 2} == values
    assert [*values] == [*values.keys()] == ["nominal", "up"]
    assert len(values) == 2
    assert "up" in values
    assert "jes:up" not in values
    for again in (pickle.loads(pickle.dumps(values)), copy.copy(values), copy.deepcopy(values)):
        assert type(again) is tm.Variations
        assert again == values
        assert again["jes:up"] == 1
    assert repr(values) == repr(dict(values))
    assert (values + values)["jes:up"] == 2


def test_values_in_outputs_of_selectors_are_added_by_variation(events):
    def each(chunk):
        return {"n": tm.Variations({"nominal": len(chunk), "half": len(chunk) / 2})}

    found = tm.run(each, events, progress=False)["n"]
    assert type(found) is tm.Variations
    assert found == {"nominal": events.num_entries, "half": events.num_entries / 2}


def test_what_a_variation_costs_does_not_depend_on_how_many_there_are(events):
    formatted = 0

    class Tag(str):
        def __format__(self, spec):
            nonlocal formatted
            formatted += 1
            return str(self)

    number = 300
    tags = {Tag(i): f"MET_pt + {i}" for i in range(number)}
    booked = events.vary("MET_pt", tags, name="v").filter("MET_pt > 5").sum("MET_pt")
    assert len(booked.value) == number + 1
    assert formatted < 10 * number
