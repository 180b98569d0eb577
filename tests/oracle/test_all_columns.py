"""What "all" means for files that ROOT has written: all columns, or a warning that names those that
are left out."""

import warnings

import pytest
import treemill as tm
import uproot


@pytest.fixture(scope="module")
def folder(made_by_root):
    return made_by_root("all")


def saved(events, folder):
    return events.snapshot(folder / "x.parquet", "*").value.columns


def taken(events, _):
    return events.take(["*"]).value.fields


def computed(events, _):
    return events.filter("true").arrays().fields


@pytest.mark.parametrize("all_of", [saved, taken, computed])
def test_all_columns_are_there_or_named(folder, tmp_path, all_of):
    events = tm.dataset(folder / "whole.root")
    with pytest.warns(UserWarning, match="leaves out") as caught:
        columns = set(all_of(events, tmp_path))
    assert columns > {"x", "word", "words", "jets.fCoordinates.fPt", "seen.fName", "seen.fNcells"}
    (warning,) = caught
    assert "seen.fFunctions (a member of TH1F)" in str(warning.message)
    assert warning.filename == __file__
    assert all(name.startswith(("x", "word", "jets.", "seen.")) for name in columns)


def test_values_of_objects_that_are_stored_whole(folder, tmp_path):
    events = tm.dataset(folder / "whole.root")
    rows = events.take(["jets.*", "seen.fN*", "wo*"]).value
    assert rows["jets.fCoordinates.fPt"].tolist() == [[], [[11, 21]], [[12, 22], [12, 22]]]
    assert rows["seen.fName"].tolist() == ["h0", "h1", "h2"]
    assert rows["words"].tolist() == [[], ["b"], ["b", "b"]]
    made = events.snapshot(tmp_path / "x.root", ["seen.fN*", "word"]).value
    with uproot.open(made.path) as file:
        assert file["t"]["seen.fName"].array().tolist() == ["h0", "h1", "h2"]
        assert file["t"]["word"].array().tolist() == ["", "a", "aa"]


def test_all_columns_of_a_collection(folder, tmp_path):
    events = tm.dataset(folder / "whole.root")
    with pytest.warns(UserWarning, match="'seen' leaves out .*: seen.fXaxis.fModLabs"):
        columns = events.snapshot(tmp_path / "x.parquet", "seen").value.columns
    assert "seen.fNcells" in columns
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        events.snapshot(tmp_path / "x.parquet", ["x", "jets", "wor*"])


def test_values_that_may_be_missing(folder, tmp_path):
    """std::optional of numbers and strings, and a variant, which no expression can use."""
    events = tm.dataset(folder / "optional.root")
    with pytest.warns(UserWarning, match=r"leaves out .*: either \(variant\)$"):
        booking = events.snapshot(tmp_path / "x.parquet", "*")
    assert booking.value.columns == ("x", "word")
    rows = events.arrays(["x", "word"])
    assert rows["x"].tolist() == [None, 1, None, 3]
    assert rows["word"].tolist() == [None, None, "w", "w"]


@pytest.mark.parametrize("source", ["frame.root", "tree.root"])
def test_vectors_of_equal_lengths_share_a_counter(folder, tmp_path, source):
    events = tm.dataset(folder / source)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = events.snapshot(tmp_path / "x.root", "*").value
    assert made.tree == "mini"
    again = tm.dataset(made)
    counters = {name: again.branches[name].counter for name in ("lep_pt", "lep_eta", "lep_good")}
    assert counters == {"lep_pt": "nlep", "lep_eta": "nlep", "lep_good": "nlep_good"}
    assert again.arrays("lep_pt")["lep_pt"].tolist() == [[], [2], [3, 3], [], [5]]
    assert again.sum("sum(l.pt * l.eta for l in lep)").value == 2 * 0.5 + 2 * 3 + 5 * 2
