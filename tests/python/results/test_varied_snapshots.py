"""Snapshots below vary: one row for each entry that any variation selects. Each variation's rows
are those of a snapshot by itself, whatever the workers, packets and formats."""

import re

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot

from tests.raising import raises

COLUMNS = {
    "MET_pt": "MET_pt",
    "Jet_pt": "Jet_pt",
    "Jet_eta": "Jet_eta",
    "ht": "sum(Jet_pt)",
    "good": "MET_pt > 40",
    "event": "event",
    "nMuon": "nMuon",
    "first": "Jet_pt[0]",
}
CUT = "MET_pt > 25 and sum(Jet_pt > 30) >= 1"
VARIATIONS = {
    "met:up": {"MET_pt": "MET_pt * 1.2"},
    "met:down": {"MET_pt": "MET_pt * 0.8"},
    "jes:up": {"Jet_pt": "Jet_pt * 1.3"},
}
CHANGED = {
    "met:up": {"MET_pt", "good"},
    "met:down": {"MET_pt", "good"},
    "jes:up": {"Jet_pt", "ht", "first"},
}


def varied(events):
    met = {name[4:]: each["MET_pt"] for name, each in VARIATIONS.items() if name[:3] == "met"}
    below = events.vary("MET_pt", met, name="met")
    return below.vary("Jet_pt", {"up": VARIATIONS["jes:up"]["Jet_pt"]}, name="jes")


def alone(events, variation, cut=CUT):
    """What one variation gives by itself: columns changed by define, the same cut."""
    for name, text in VARIATIONS.get(variation, {}).items():
        events = events.define(name, text)
    return events.filter(cut).arrays(COLUMNS)


def same(found, wanted, name):
    if wanted.ndim == 1:
        wanted = ak.drop_none(wanted) if name != "first" else ak.fill_none(wanted, np.nan)
        np.testing.assert_array_equal(ak.to_numpy(found), ak.to_numpy(wanted), err_msg=name)
    else:
        assert ak.drop_none(found).to_list() == wanted.to_list(), name


def number_type(values):
    return ak.to_numpy(ak.flatten(ak.drop_none(values), axis=None)).dtype


def check(rows, events, tree="Events"):
    """Each variation's rows, picked by its bit, are those of the variation alone."""
    mask = ak.to_numpy(rows[f"R_rdf_mask_{tree}_0"])
    assert (mask != 0).all()
    for bit, variation in enumerate(["nominal", *VARIATIONS]):
        chosen, wanted = rows[(mask >> bit) & 1 == 1], alone(events, variation)
        assert len(chosen) == len(wanted) > 0
        for name in COLUMNS:
            is_own = name in CHANGED.get(variation, ())
            own = f"{name}__{variation.replace(':', '_')}" if is_own else name
            assert number_type(rows[own]) == number_type(rows[name]), "as in ROOT"
            same(chosen[own], ak.values_astype(wanted[name], number_type(rows[name])), name)
    order = rows["event"]
    assert len(np.unique(ak.to_numpy(order))) == len(order)


@pytest.mark.parametrize("form", ["ttree", "rntuple"])
@pytest.mark.parametrize(("mode", "workers"), [("threads", 3), ("processes", 2)])
def test_each_variation_is_as_if_it_were_alone(events, tmp_path, form, mode, workers):
    path = str(tmp_path / "x.root")
    booked = varied(events).filter(CUT).snapshot(path, COLUMNS, format=form)
    with tm.connect(workers=workers, mode=mode) as session:
        made = session.run(booked, progress=False)
    rows = uproot.open(path)["Events"].arrays()
    assert made.entries == len(rows)
    check(rows, events)
    wanted = events.filter(CUT).arrays({"event": "event"})["event"]
    assert set(wanted.to_list()) < set(rows["event"].to_list())
    check(tm.dataset(path).arrays(), events)


def test_parquet_has_missing_values(events, tmp_path):
    pytest.importorskip("pyarrow")
    path = str(tmp_path / "x.parquet")
    tm.run(varied(events).filter(CUT).snapshot(path, COLUMNS))
    rows = ak.from_parquet(path)
    check(rows, events)
    mask = ak.to_numpy(rows["R_rdf_mask_Events_0"])
    is_none = ak.to_numpy(ak.is_none(rows["MET_pt__met_up"]))
    np.testing.assert_array_equal(is_none, (mask >> 1) & 1 == 0)


def test_entries_of_different_files_are_not_joined(events, tmp_path):
    path = str(tmp_path / "x.root")
    tm.run(varied(events).snapshot(path, ["event", "MET_pt", "local_entry_number"]))
    rows = uproot.open(path)["Events"].arrays()
    assert rows["event"].to_list() == events.arrays(["event"])["event"].to_list()
    assert set(rows["R_rdf_mask_Events_0"].to_list()) == {7}, "jes changes nothing that is written"


def test_a_variation_that_selects_nothing_and_one_that_alone_selects(events, tmp_path):
    none = events.vary("MET_pt", {"no": "-1.0", "all": "1e6"}).filter("MET_pt > 1e5")
    tm.run(none.snapshot(str(tmp_path / "x.root"), ["MET_pt", "Jet_pt"]))
    rows = uproot.open(tmp_path / "x.root")["Events"].arrays()
    assert len(rows) == events.num_entries
    assert set(rows["R_rdf_mask_Events_0"].to_list()) == {0b100}
    assert np.isnan(ak.to_numpy(rows["MET_pt"])).all()
    assert rows["Jet_pt"].to_list() == events.arrays(["Jet_pt"])["Jet_pt"].to_list()
    assert set(rows["MET_pt__MET_pt_all"].to_list()) == {1e6}


def test_more_variations_than_bits_of_a_word(events, tmp_path):
    many = {str(i): f"MET_pt + {i}" for i in range(100)}
    path = str(tmp_path / "x.root")
    tm.run(events.vary("MET_pt", many).filter("MET_pt > 100").snapshot(path, ["MET_pt"]))
    rows = uproot.open(path)["Events"].arrays()
    words = [ak.to_numpy(rows[f"R_rdf_mask_Events_{i}"]) for i in range(2)]
    met = ak.to_numpy(events.arrays(["MET_pt"])["MET_pt"]).astype(float)
    for i in (0, 62, 63, 99):
        bit = i + 1
        chosen = (words[bit // 64] >> np.uint64(bit % 64)) & np.uint64(1) == 1
        found = ak.to_numpy(rows[f"MET_pt__MET_pt_{i}"])[chosen]
        np.testing.assert_array_equal(found, (met[met + i > 100] + i).astype("f4"))


def test_without_variations_that_matter_there_is_one_selection(events, tmp_path):
    path = str(tmp_path / "x.root")
    tm.run(events.vary("MET_pt", {"up": "MET_pt * 2"}).snapshot(path, ["nMuon"]))
    rows = uproot.open(path)["Events"].arrays()
    assert rows.fields == ["R_rdf_mask_Events_0", "nMuon"]
    assert set(rows["R_rdf_mask_Events_0"].to_list()) == {1}


def test_names_that_cannot_be(events, tmp_path):
    met = events.vary("MET_pt", {"up": "MET_pt * 2"}, name="met")
    path = str(tmp_path / "x.root")
    with raises(tm.QueryError, said="MET_pt__met_up is what MET_pt in the"):
        tm.run(met.snapshot(path, {"MET_pt": "MET_pt", "MET_pt__met_up": "nMuon"}))
    alike = events.vary("MET_pt", {"c": "MET_pt * 2"}, name="a_b")
    alike = alike.vary("MET_pt", {"b_c": "MET_pt * 3"}, name="a")
    with raises(tm.QueryError, said="a_b:c and MET_pt in the variation a:b_c"):
        tm.run(alike.snapshot(path, ["MET_pt"]))
    hidden = met.define("local_entry_number", "nMuon")
    with raises(tm.QueryError, said="a column has this name"):
        tm.run(hidden.snapshot(path, ["MET_pt"]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("form", "name", "tag", "sign", "instead"),
    [
        ("rntuple", "met", "jes.2018", ".", "give the tag another name"),
        ("rntuple", "jes.2018", "up", ".", "give vary() another name="),
        ("ttree", "met", "a[0]", "[", "give the tag another name"),
    ],
)
def test_names_of_variations_that_a_format_cannot_have(
    events, tmp_path, form, name, tag, sign, instead
):
    varied = events.vary("MET_pt", {tag: "MET_pt * 2"}, name=name)
    said = f"the variation {name}:{tag}, because of {sign!r}: {instead}"
    with pytest.raises(tm.QueryError, match=re.escape(said)):
        tm.run(varied.snapshot(tmp_path / "x.root", ["MET_pt"], format=form))
    assert list(tmp_path.iterdir()) == []
    # Rows without columns that the variation changes have no such names, nor are they refused.
    tm.run(varied.filter("MET_pt > 30").snapshot(tmp_path / "x.root", ["nJet"], format=form))
    tm.run(varied.snapshot(tmp_path / "x.parquet", ["MET_pt"]))


def test_values_that_the_nominal_type_does_not_hold(events, tmp_path):
    """A float32 that is infinite would be a wrong number."""
    path = str(tmp_path / "x.root")
    large = {"up": "MET_pt * 1e300"}
    with raises(tm.QueryError, about="MET_pt"):
        tm.run(events.vary("MET_pt", large).snapshot(path, ["MET_pt"]))
    doubles = events.define("MET_pt", "MET_pt * 1").vary("MET_pt", large)
    tm.run(doubles.snapshot(path, ["MET_pt"]))
    met = ak.to_numpy(events.arrays(["MET_pt"])["MET_pt"]).astype(float)
    found = uproot.open(path)["Events"]["MET_pt__MET_pt_up"].array(library="np")
    np.testing.assert_array_equal(found, met * 1e300)


def test_lists_of_variations_are_vectors(events, tmp_path):
    """RDataFrame finds the bits of lists only if they are vectors; others keep their counters."""
    path = str(tmp_path / "x.root")
    tm.run(varied(events).filter(CUT).snapshot(path, ["Jet_pt", "Jet_eta", "nJet"]))
    kinds = uproot.open(path)["Events"].typenames()
    assert kinds["Jet_pt"] == kinds["Jet_pt__jes_up"] == "std::vector<float>"
    assert kinds["Jet_eta"] == "float[]"
    assert tm.dataset(path).branches["Jet_eta"].counter == "nJet"


def test_a_collection_that_varies_is_written_whole(events, truth, tmp_path):
    path = str(tmp_path / "x.root")
    hard = events.vary("Jet", {"hard": "[j for j in Jet if j.pt > 30]"}, name="jets")
    tm.run(hard.snapshot(path, ["Jet", "MET_pt"]))
    rows = uproot.open(path)["Events"].arrays()
    names = [name for name in truth.fields if name.startswith("Jet_")]
    assert set(rows.fields) == {
        "R_rdf_mask_Events_0",
        "MET_pt",
        *names,
        *(f"{name}__jets_hard" for name in names),
    }
    for name in names:
        assert rows[name].to_list() == truth[name].to_list()
        hard_ones = truth[name][truth.Jet_pt > 30]
        assert rows[f"{name}__jets_hard"].to_list() == hard_ones.to_list()


def test_each_data_set_of_a_fileset_has_its_own_file(paths, tmp_path):
    fs = tm.fileset({"dy": paths[:2], "tt": paths[2:]}, tree="Events")
    pattern = str(tmp_path / "{dataset}.root")
    tm.run(varied(fs).filter(CUT).snapshot(pattern, COLUMNS), progress=False)
    for name, files in (("dy", paths[:2]), ("tt", paths[2:])):
        rows = uproot.open(tmp_path / f"{name}.root")["Events"].arrays()
        check(rows, tm.dataset(files, tree="Events"))
