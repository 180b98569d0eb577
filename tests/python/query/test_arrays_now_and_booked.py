"""`events.arrays` reads, `node.arrays` computes, `take` books: names, globs and expressions mean
the same in all."""

import awkward as ak
import numpy as np
import pytest
import treemill as tm

from tests.python.written import jagged, write
from tests.raising import raises


def booked(events, columns):
    listed = [columns] if isinstance(columns, str) else columns
    return events.filter("true").take(listed).value


def same(first, second):
    assert first.fields == second.fields
    assert ak.to_list(first) == ak.to_list(second)


@pytest.mark.parametrize(
    "columns",
    [
        "MET_pt",
        "MET_pt*2",
        "MET_pt*1.5",
        ".5*nJet*1e3",
        ["Muon_pt", "MET_pt"],
        ["Muon_pt", "sum(Jet_pt[Jet_pt > 30])", "nMuon >= 2"],
        "Jet_*",
        "M*_pt",
        ["Jet_p*", "nJet*nMuon"],
        ["nJet*nMuon", "nJet*2", "nJet**2"],
        ["Muon.pt*2", "Muon_pt*Muon.eta", "MET_pt*pi", "nJet*entry_number"],
        ["[MET_pt]", "[nJet*2]"],
        {"ht": "sum(Jet_pt)", "met": "MET_pt"},
        {"leading": "Jet_pt[0]"},
        ["Muon.pt", "len(Muon)"],
        "(Muon[0] + Muon[1]).mass",
    ],
    ids=str,
)
def test_they_mean_the_same(events, columns):
    same(events.arrays(columns), booked(events, columns))
    same(events.arrays(columns, 5, 50), events.filter("true").arrays(columns, 5, 50))


def test_a_list_is_no_glob_for_names_of_one_letter(tmp_path):
    path = write(tmp_path / "letters.root", y=jagged([1.0, 2.0], [3.0]), v=np.array([7, 8]))
    events = tm.dataset(path)
    for text in ("[w + 1 for w in y]", "[v + 1 for v in y]", "[x*2 for x in y]"):
        found = events.arrays([text])
        assert found.fields == [text]
        same(found, booked(events, [text]))
    assert events.arrays("[v + 1 for v in y]")["[v + 1 for v in y]"].to_list() == [[2, 3], [4]]
    for text in ("[v]", "[!v]", "[v,v]"):
        same(events.arrays([text]), booked(events, [text]))
    # A sign out of several is one.
    assert events.arrays("[vxy]").fields == ["y", "v"]


@pytest.mark.parametrize("text", ["MET_pt*unknown", "Muon.pt*Muon.unknown"])
def test_a_product_of_what_is_not_there_names_it(events, text):
    for read in (events.arrays, events.filter("true").arrays):
        with raises(tm.QueryError, about="unknown"):
            read([text])


@pytest.mark.parametrize("text", ["Tau_*", "Tau_*_pt", "Tau.*", "*Tau"])
def test_a_glob_that_fits_nothing_is_no_product(events, text):
    with pytest.raises(tm.QueryError, match="no readable branch matches"):
        events.arrays([text])
    with pytest.raises(tm.QueryError, match="name fits"):
        events.filter("true").arrays([text])


def test_of_a_part(events, truth):
    found = events.arrays(["MET_pt", "MET_pt*2"], start=4990, stop=5010)
    assert found["MET_pt"].to_list() == truth.MET_pt[4990:5010].to_list()
    assert found["MET_pt*2"].to_list() == (2.0 * truth.MET_pt[4990:5010]).to_list()
    assert events.arrays("MET_pt*2", start=-3)["MET_pt*2"].to_list() == [
        2 * x for x in truth.MET_pt[-3:]
    ]
    assert len(events.arrays("MET_pt*2", stop=0)) == 0
    assert len(events.arrays(["MET_pt", "MET_pt*2"], 7, 7)) == 0


def test_in_other_forms(events, truth):
    columns = {"ht": "sum(Jet_pt)", "n": "nJet", "jets": "Jet_pt*2"}
    arrays = events.to_numpy(columns, stop=50)
    assert arrays["n"].tolist() == truth.nJet[:50].to_list()
    assert arrays["jets"][3].tolist() == (2.0 * truth.Jet_pt[3]).to_list()
    table = events.to_arrow(columns, stop=50)
    assert table.column_names == ["ht", "n", "jets"]
    assert table["ht"].to_pylist() == arrays["ht"].tolist()
    assert table["jets"].to_pylist() == ak.to_list(events.arrays(columns, stop=50).jets)


def test_of_selected_entries(events, truth):
    some = events.select_entries([3, 4999, 5005, 12000])
    found = some.arrays(["MET_pt", "MET_pt+1"], start=1)
    assert found["MET_pt"].to_list() == truth.MET_pt[[4999, 5005, 12000]].to_list()
    assert found["MET_pt+1"].to_list() == (found["MET_pt"] + 1.0).to_list()


def test_a_branch_that_is_called_so_is_the_branch(tmp_path):
    path = write(
        tmp_path / "f.root",
        x=np.arange(3.0),
        y=np.arange(3.0) + 1,
        **{"x-y": np.arange(3.0) + 100, "x_and_y": np.arange(3.0)},
        lists=jagged([1], [2, 3], []),
    )
    events = tm.dataset(path)
    assert events.arrays("x-y")["x-y"].to_list() == [100, 101, 102]
    assert events.arrays(["x-y", "x - y"])["x - y"].to_list() == [-1, -1, -1]
    assert events.arrays("x*y")["x*y"].to_list() == [0, 2, 6]
    assert events.arrays("x*")["x-y"].to_list() == [100, 101, 102]
    assert events.arrays("lists[0]")["lists[0]"].to_list() == [1, 2, None]


def test_missing_columns_and_defaults(tmp_path):
    write(tmp_path / "a.root", x=np.arange(3.0))
    write(tmp_path / "b.root", x=np.arange(2.0), z=np.arange(2.0))
    events = tm.dataset([tmp_path / "a.root", tmp_path / "b.root"], missing={"z": -1.0})
    assert events.arrays(["z", "z+x"])["z+x"].to_list() == [-1, 0, 1, 0, 2]
    same(events.arrays(["z", "z+x"]), booked(events, ["z", "z+x"]))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("Jet_ptt", "no branch 'Jet_ptt'"),
        ("Nothing_*", "no readable branch"),
        ("Jet_ptt*2", "Jet_ptt"),
        ("Jet_pt +", "invalid syntax"),
        ("(int)MET_pt", "C's casts"),
        ({"n": "nMuon > 1 & nJet > 1"}, "& binds more tightly"),
        ("Jet#ptt", "no branch 'Jet#ptt'"),
        ({"all": "Jet_*"}, "more than one column"),
    ],
    ids=str,
)
def test_wrong_ones(events, columns, message):
    with pytest.raises(tm.QueryError, match=message.replace("*", r"\*")):
        events.arrays(columns)
    with pytest.raises(tm.QueryError):
        booked(events, columns)


def test_nothing_else_that_is_booked_is_run(events):
    count = events.count()
    _ = events.arrays("MET_pt*2", stop=3)
    assert not count.done


@pytest.mark.parametrize("columns", [3, [None], ["MET_pt", 1], {1: "MET_pt"}, {"a": None}], ids=str)
def test_columns_of_wrong_types(events, columns):
    with raises(tm.QueryError, said="names, globs or expressions"):
        events.arrays(columns)


@pytest.mark.parametrize("entry", [1.5, "1", [1]], ids=str)
def test_entries_of_wrong_types(events, entry):
    for part in ({"start": entry}, {"stop": entry}):
        with raises(tm.QueryError, said="numbers of entries"):
            events.arrays("MET_pt", **part)


@pytest.mark.parametrize("columns", ["MET_pt", "MET_pt*1"])
def test_parts_are_slices(events, truth, columns):
    """As in uproot: negative ones, ones beyond the end, and none in between."""
    n = len(truth)
    bounds = (None, 0, 1, -1, -3, -n - 5, 4999, 5001, n - 1, n, n + 5)
    for start in bounds:
        found = [events.arrays(columns, start, stop)[columns].to_list() for stop in bounds[::3]]
        assert found == [truth.MET_pt[start:stop].to_list() for stop in bounds[::3]]
