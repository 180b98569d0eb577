"""Snapshots with variations, and with lists that are larger than baskets (uproot5#1490), as real
ROOT reads them."""

import json

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.facility.generate import write

# test_varied_snapshots has variations beside uproot, and test_snapshots has ROOT read every kind of
# column.
pytestmark = pytest.mark.slow

LENGTHS = [0, 3, 700_000, 1, 0, 262_144, 262_145, 2, 1_500_000, 5]


@pytest.fixture(scope="module")
def read(root_program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("varied")
    source, varied, large = (str(folder / f"{name}.root") for name in ("in", "varied", "large"))
    varied_ntuple = str(folder / "varied_ntuple.root")
    write(source, events=4000, index=0, cluster=1000, codec="zstd")
    events = tm.dataset(source, tree="Events")
    below = events.vary("MET_pt", {"up": "MET_pt * 1.2", "down": "MET_pt * 0.8"}, name="met")
    below = below.vary("Jet_pt", {"up": "Jet_pt * 1.3"}, name="jes").define("ht", "sum(Jet_pt)")
    below = below.define("label", "'soft' if ht < 100 else 'a hard one'")
    columns = ["MET_pt", "ht", "Jet_pt", "nMuon"]
    cut = below.filter("MET_pt > 25 and ht > 60")
    tm.run(cut.snapshot(varied, [*columns, "label"]), progress=False)
    tm.run(cut.snapshot(varied_ntuple, columns, format="rntuple"), progress=False)
    big = ak.unflatten(np.arange(sum(LENGTHS), dtype=np.float32) % 1000, LENGTHS)
    small = ak.Array([[i] * (i % 3) for i in range(len(LENGTHS))])
    tail = ak.unflatten(np.arange(2 * 300_000.0) % 7, [0] * 8 + [300_000, 300_000])
    given = str(folder / "given.root")
    with uproot.recreate(given) as file:
        for i in range(len(LENGTHS)):  # an entry a basket, which uproot writes as it should
            rows = {name: each[i : i + 1] for name, each in {"big": big, "small": small}.items()}
            rows["tail"] = tail[i : i + 1]
            if i == 0:
                file.mktree("Events", {name: ak.type(v).content for name, v in rows.items()})
            file["Events"].extend(rows)
    tm.run(tm.dataset(given).snapshot(large, ["small", "big", "tail"]), progress=False)
    ntuple = str(folder / "ntuple.root")
    tm.run(tm.dataset(given).snapshot(ntuple, ["big"], format="rntuple"), progress=False)
    made = (varied, varied_ntuple, large, ntuple)
    root_program("read_varied.py", *made, folder / "found.json")
    found = json.loads((folder / "found.json").read_text())
    return events, {"big": big, "small": small, "tail": tail}, found, large


def selected(events, define):
    """The events that pass with these columns in place of the stored ones."""
    for each, text in define.items():
        events = events.define(each, text)
    return events.define("ht", "sum(Jet_pt)").filter("MET_pt > 25 and ht > 60")


@pytest.mark.parametrize(
    ("column", "name", "define"),
    [
        ("MET_pt", "MET_pt", {}),
        ("MET_pt", "MET_pt__met_up", {"MET_pt": "MET_pt * 1.2"}),
        ("MET_pt", "MET_pt__met_down", {"MET_pt": "MET_pt * 0.8"}),
        ("ht", "ht__jes_up", {"Jet_pt": "Jet_pt * 1.3"}),
    ],
)
def test_rdataframe_has_the_variations(read, column, name, define):
    values = selected(read[0], define).take(column)
    wanted = np.asarray(values.value if hasattr(values, "value") else values, float)
    count, total = read[2]["varied"][name]
    assert count == len(wanted) > 0
    assert total == pytest.approx(wanted.sum(), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "expression", "define"),
    [
        ("Jet_pt", "sum(Jet_pt)", {}),
        ("Jet_pt__jes_up", "sum(Jet_pt)", {"Jet_pt": "Jet_pt * 1.3"}),
        ("label__jes_up", "4 if ht < 100 else 10", {"Jet_pt": "Jet_pt * 1.3"}),
    ],
)
def test_rdataframe_has_the_lists_and_texts_of_variations(read, name, expression, define):
    cut = selected(read[0], define)
    count, total = read[2]["varied"][name]
    assert count == cut.count().value > 0
    assert total == pytest.approx(cut.sum(expression).value, rel=1e-5)


def test_columns_of_variations_have_the_nominal_types(read):
    types = read[2]["types"]
    assert types["MET_pt__met_up"] == types["MET_pt"] == "Float_t"
    assert types["Jet_pt__jes_up"] == types["Jet_pt"] == "ROOT::VecOps::RVec<float>"
    assert types["ht__jes_up"] == types["ht"] == "Double_t"
    assert types["label__jes_up"] == types["label"] == "string"


def test_columns_without_variations_are_always_there(read):
    counts = {name: count for name, (count, _) in read[2]["varied"].items()}
    assert counts["nMuon"] > max(counts[name] for name in counts if name != "nMuon")


@pytest.mark.parametrize(
    ("bit", "column", "name", "define"),
    [
        (0, "MET_pt", "MET_pt", {}),
        (1, "MET_pt", "MET_pt__met_up", {"MET_pt": "MET_pt * 1.2"}),
        (2, "MET_pt", "MET_pt__met_down", {"MET_pt": "MET_pt * 0.8"}),
        (3, "ht", "ht__jes_up", {"Jet_pt": "Jet_pt * 1.3"}),
        (3, "sum(Jet_pt)", "sums", {"Jet_pt": "Jet_pt * 1.3"}),
        (3, "nMuon", "nMuon", {"Jet_pt": "Jet_pt * 1.3"}),
    ],
)
def test_rdataframe_has_the_variations_of_an_rntuple(read, bit, column, name, define):
    cut = selected(read[0], define)
    wanted = ak.to_numpy(cut.arrays({"x": column})["x"])
    found = read[2]["bits"][bit][name]
    assert len(found) == len(wanted) > 0
    np.testing.assert_allclose(found, wanted, rtol=1e-12 if name == "ht__jes_up" else 1e-6)


@pytest.mark.parametrize("name", ["small", "big", "tail"])
def test_lists_larger_than_a_basket(read, name):
    _, lists, found, large = read
    assert found["lists"][name] == [[len(each), float(sum(each[::1009]))] for each in lists[name]]
    assert uproot.open(large)["Events"][name].array().to_list() == lists[name].to_list()
    assert tm.dataset(large).arrays([name])[name].to_list() == lists[name].to_list()


def test_lists_have_several_baskets(read):
    assert read[2]["baskets"]["big"] > 1
    assert read[2]["total"] == pytest.approx(float(ak.sum(read[1]["big"])))


def test_lists_of_an_rntuple_larger_than_a_page(read):
    counts, total = read[2]["ntuple"]
    assert counts == LENGTHS
    assert total == pytest.approx(float(ak.sum(read[1]["big"])))
