"""Snapshots, on threads and on processes: what is written, under which names, with what for values
that are missing; what is refused. tests/oracle/test_snapshots.py has ROOT read them."""

import os

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot
from treemill.errors import QueryError, UnsupportedError

from tests.python.written import write
from tests.raising import raises


@pytest.fixture(scope="module", params=["threads", "processes"])
def session(request, core):
    with tm.connect(workers=2, mode=request.param) as made:
        yield made


COLUMNS = ["event", "nMuon", "Muon_pt", "Muon_charge", "MET_pt", "Jet_eta"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.root", None), ("b.root", "rntuple"), ("c.parquet", None), ("d.feather", None)],
)
def test_snapshot_reads_back(session, events, truth, tmp_path, name, kind):
    good = events.filter("nMuon >= 1").define("ht", "sum(Jet_pt)")
    columns = {c: c for c in COLUMNS} | {"ht": "ht"}
    path = tmp_path / name
    path.write_text("old")
    booked = good.snapshot(str(path), columns, format=kind)
    made, count = session.run(booked, good.count(), progress=False)
    some = truth[truth.nMuon >= 1]
    assert os.fspath(made) == str(path)
    assert made.entries == count == len(some)
    assert sorted(p.name for p in tmp_path.iterdir()) == [name]
    if name.endswith(".root"):
        again = tm.dataset(str(path), tree="Events").arrays()
    elif name.endswith(".parquet"):
        again = ak.from_parquet(path)
    else:
        again = ak.from_feather(path)
    for column in COLUMNS:
        assert ak.array_equal(ak.drop_none(again[column]), some[column]), column
    np.testing.assert_allclose(again.ht, ak.sum(ak.values_astype(some.Jet_pt, "f8"), axis=1), 1e-9)


def test_a_skimmed_tree_keeps_its_collections(session, events, truth, tmp_path):
    path = str(tmp_path / "skim.root")
    columns = ["nMuon", "Muon_pt", "Muon_eta", "Jet_pt"]
    session.run(events.filter("nMuon > 1").snapshot(path, columns), progress=False)
    skim = tm.dataset(path)
    assert set(skim.branches) == {"nMuon", "Muon_pt", "Muon_eta", "nJet", "Jet_pt"}
    some = truth[truth.nMuon > 1]
    assert skim.sum("Muon.pt[Muon.eta > 0]").value == pytest.approx(
        ak.sum(some.Muon_pt[some.Muon_eta > 0]), rel=1e-6
    )


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    """Strings, bools, 64 bits, arrays of fixed length, lists."""
    import uproot

    n = 1000
    path = str(tmp_path_factory.mktemp("kinds") / "kinds.root")
    types = {"s": "string", "b": "bool", "u": "uint64", "v_x": "var * float32", "i": "int8"}
    with uproot.recreate(path) as file:
        tree = file.mktree("Events", types | {"a_b": np.dtype(("f4", (3,)))})
        tree.extend(
            {
                "s": ak.Array([f"é{i % 7}" for i in range(n)]),
                "b": np.arange(n) % 2 == 0,
                "u": np.arange(n, dtype="u8") + np.uint64(2**63),
                "a_b": np.arange(3 * n, dtype="f4").reshape(n, 3),
                "v_x": ak.Array([[float(j) for j in range(i % 4)] for i in range(n)]),
                "i": np.arange(n).astype("i1"),
            }
        )
    return path


@pytest.mark.parametrize("name", ["a.root", "b.root:rntuple", "c.parquet", "d.feather"])
@pytest.mark.parametrize("where", ["b", "i > 1000"])
def test_every_kind_of_column_is_kept(kinds, tmp_path, name, where):
    import uproot

    name, _, form = name.partition(":")
    columns = ["s", "b", "u", "a_b", "v_x", "i"]
    good = tm.dataset(kinds).filter(where)
    arrays = good.take(columns)
    made = good.snapshot(str(tmp_path / name), columns, format=form or None)
    tm.run(arrays, made, progress=False)
    truth = uproot.open(kinds)["Events"].arrays()
    truth = truth[truth.b] if where == "b" else truth[:0]
    assert str(arrays.value[columns].type) == str(truth[columns].type)
    if name.endswith(".root"):
        again = tm.dataset(str(tmp_path / name)).arrays(columns)
    elif name.endswith(".parquet"):
        again = ak.from_parquet(tmp_path / name)
    else:
        again = ak.from_feather(tmp_path / name)
    for column in columns:
        assert ak.array_equal(arrays.value[column], truth[column]), column
        assert again[column].to_list() == truth[column].to_list(), column


def test_a_failed_snapshot_leaves_nothing(session, events, tmp_path):
    path = tmp_path / "skim.parquet"
    path.write_text("old")
    bad = events.filter("MET_pt > 1").snapshot(str(path), ["MET_pt", "Jet_pt"])
    limited = events.unique("event", limit=10)
    with raises(QueryError, said="different values"):
        session.run(bad, limited, progress=False)
    assert [p.name for p in tmp_path.iterdir()] == ["skim.parquet"]
    assert path.read_text() == "old"


def test_what_cannot_be_written_is_said_before(events, tmp_path):
    with raises(UnsupportedError, said="give it one of"):
        events.snapshot(str(tmp_path / "skim.csv"), ["MET_pt"])
    with raises(QueryError, said="not a file of kind"):
        events.snapshot(str(tmp_path / "skim.parquet"), ["MET_pt"], format="rntuple")


def test_missing_bools_need_a_value_in_root_files(session, events, tmp_path):
    path = str(tmp_path / "skim.root")
    with raises(UnsupportedError, said="first may be missing fill"):
        session.run(events.snapshot(path, {"first": "Muon_pt[0] > 20"}), progress=False)
    assert not list(tmp_path.iterdir())


def test_a_collection_by_its_name(session, events, truth, tmp_path):
    path = str(tmp_path / "skim.root")
    session.run(events.filter("nJet > 1").snapshot(path, ["Jet", "MET_pt"]), progress=False)
    skim, some = tm.dataset(path), truth[truth.nJet > 1]
    names = {name for name in truth.fields if name.startswith("Jet_")}
    assert set(skim.branches) == names | {"nJet", "MET_pt"}
    assert skim.branches["nJet"].dtype == events.branches["nJet"].dtype
    for name in names:
        assert ak.array_equal(skim.arrays([name])[name], some[name])
    anew = events.define("Jet", "[j for j in Jet if j.pt > 30]")
    session.run(anew.snapshot(path, "Jet"), progress=False)
    skim = tm.dataset(path)
    assert set(skim.branches) == names | {"nJet"}
    for name in names:
        assert skim.arrays([name])[name].to_list() == truth[name][truth.Jet_pt > 30].to_list()


def test_a_collection_whose_members_have_dots(tmp_path):
    import uproot

    source, path = str(tmp_path / "in.root"), str(tmp_path / "out.root")
    pt = ak.Array([[40.0, 20.0], [], [35.0]])
    columns = {"Jet.pt": pt, "Jet.eta": pt / 10, "Jet_size": ak.num(pt), "JetX": np.arange(3)}
    with uproot.recreate(source) as file:
        add_tree(file, "Events", columns)
    events = tm.dataset(source)
    tm.run(events.snapshot(path, ["Jet"]))
    assert set(tm.dataset(path).branches) >= {"Jet.pt", "Jet.eta", "Jet_size"}
    assert "JetX" not in tm.dataset(path).branches
    assert tm.dataset(path).arrays(["Jet.pt"])["Jet.pt"].to_list() == pt.to_list()
    hard = "[j for j in Jet if j.pt > 30]"
    tm.run(events.define("Jet", hard).snapshot(path, ["Jet"]))
    made = tm.dataset(path).arrays()
    assert made["Jet.eta"].to_list() == (pt[pt > 30] / 10).to_list()
    assert "Jet_size" not in made.fields, "it counts the items of the older list"


def test_brackets_in_names(events, tmp_path):
    """ROOT and uproot read them as dimensions, which a branch and its counter would not have."""
    import uproot

    source, path = str(tmp_path / "in.root"), str(tmp_path / "a.root")
    fives = ak.unflatten(ak.from_numpy(np.arange(15.0).reshape(3, 5), regulararray=True), [2, 0, 1])
    columns = {"X.y[5]": fives, "X_z": ak.Array([[1.0], [], [2.0]])}
    with uproot.recreate(source) as file:
        whole = ak.zip(columns, depth_limit=1)
        for name in ("Events", "Other"):
            file.mkrntuple(name, whole.layout.form).extend(whole)
    wide = tm.dataset(source, tree="Events").define("X_w", "X_z * 2")
    tm.run(wide.snapshot(path, ["`X.y[5]`", "X_z", "X_w"], copy_trees="Other"))
    assert uproot.open(path)["Other"].arrays()["X.y"].to_list() == fives.to_list()
    made = uproot.open(path)["Events"]
    assert set(made.keys()) == {"nX.y", "X.y", "nX", "X_z", "X_w"}
    assert made.arrays()["X.y"].to_list() == fives.to_list()
    for columns in ({"x[3]": "MET_pt"}, ["Muon_pt[0]"]):
        with raises(QueryError, said="a branch cannot be called another name"):
            events.snapshot(path, columns)
    with uproot.recreate(source) as file:
        file["Events"] = {"[x]": np.arange(3.0)}
    for columns in (["`[x]`"], "*"):
        with raises(QueryError, said="a branch cannot be called another name"):
            tm.dataset(source, tree="Events").snapshot(path, columns)
    with raises(QueryError, said="two columns would be called X y: give one"):
        wide.define("X.y", "X_z").snapshot(path, ["X.y", "`X.y[5]`"])
    tm.run(events.snapshot(str(tmp_path / "b.root"), {"x[3]": "MET_pt"}, format="rntuple"))


def test_two_snapshots_to_one_path(session, events, paths, tmp_path):
    path = tmp_path / "a.root"
    first, second = events.snapshot(path, ["nJet"]), events.snapshot(path, ["nMuon"])
    other = tm.dataset(paths[0], tree="Events").snapshot(path, ["nJet"])
    for pair in ((first, second), (first, other)):
        with raises(QueryError, said="two snapshots would write a root another path"):
            session.run(*pair, progress=False)
    assert not list(tmp_path.iterdir())
    session.run(first, first, progress=False)
    assert events.count().value == events.num_entries, "other values are computed nevertheless"
    datasets = tm.fileset({"a": paths[:1], "b": paths[1:]}, tree="Events")
    several = [datasets.snapshot(str(tmp_path / "{dataset}.root"), [name]) for name in COLUMNS[:2]]
    with raises(QueryError, said="two snapshots would write"):
        session.run(*several, progress=False)


def test_texts_are_strings_of_cpp(kinds, tmp_path):
    """RDataFrame takes what a leaf list makes for arrays of letters."""
    import uproot

    tm.run(tm.dataset(kinds).snapshot(str(tmp_path / "a.root"), ["s"]))
    assert uproot.open(tmp_path / "a.root")["Events"].typenames() == {"s": "std::string"}


def test_missing_values_are_filled_in_root_files(session, events, truth, tmp_path):
    columns = {"mass": "(Muon[0] + Muon[1]).mass", "charge": "Muon_charge[0]", "n": "nMuon"}
    behind = events.filter("nMuon >= 2")
    made = [
        behind.snapshot(str(tmp_path / "a.root"), columns),
        events.snapshot(str(tmp_path / "b.root"), columns),
        events.snapshot(str(tmp_path / "c.root"), columns, fill={"mass": -1, "charge": 0}),
        events.snapshot(str(tmp_path / "d.parquet"), columns),
        events.snapshot(str(tmp_path / "e.parquet"), columns, fill=-7),
    ]
    session.run(*made, progress=False)
    found = {p.stem: tm.dataset(str(p)).arrays() for p in tmp_path.glob("*.root")}
    assert not np.isnan(found["a"].mass).to_numpy().any()
    none = found["b"].n < 2
    assert np.isnan(found["b"].mass).to_list() == none.to_list()
    lowest = np.iinfo(truth.Muon_charge.layout.content.dtype).min
    assert set(found["b"].charge[found["b"].n == 0].to_list()) == {lowest}
    assert set(found["c"].mass[none].to_list()) == {-1.0}
    assert set(found["c"].charge[found["c"].n == 0].to_list()) == {0}
    assert ak.from_parquet(tmp_path / "d.parquet").mass[none].to_list() == [None] * sum(none)
    assert set(ak.from_parquet(tmp_path / "e.parquet").mass[none].to_list()) == {-7.0}


def test_fill_and_compression_that_do_not_fit(session, events, tmp_path):
    path = str(tmp_path / "skim.root")
    with raises(QueryError, said="zstd has levels from 1 to 19"):
        events.snapshot(path, ["MET_pt"], compression="zstd:20")
    with raises(QueryError, said="cannot be compressed by brotli"):
        events.snapshot(path, ["MET_pt"], compression="brotli")
    bad = events.snapshot(path, {"q": "Muon_charge[0]"}, fill=0.5)
    with raises(QueryError, said="q is of type int mapping"):
        session.run(bad, progress=False)
    bad = events.snapshot(path, {"q": "Muon_charge[0]"}, fill={"p": 1})
    with raises(QueryError, said="fill names p, which is not written"):
        session.run(bad, progress=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sign", [".", "/", " ", "\\", "\t"])
def test_names_that_no_rntuple_has(sign, events, tmp_path):
    """ROOT opens no RNTuple with such a field; a TTree has it."""
    path, name = tmp_path / "a.root", f"MET{sign}pt"
    with raises(UnsupportedError, said="RNTuple s field cannot be called MET"):
        events.snapshot(path, {name: "MET_pt"}, format="rntuple").value  # noqa: B018
    with raises(QueryError, said="RNTuple s name"):
        events.snapshot(path, ["MET_pt"], format="rntuple", tree=name)
    events.snapshot(path, {name: "MET_pt"}).value  # noqa: B018
    assert tm.dataset(path).arrays(name)[name].to_list() == events.arrays("MET_pt").MET_pt.to_list()


def test_columns_with_dots_become_fields_with_underscores(session, tmp_path):
    """Delphes's and podio's names: no RNTuple has them. ROOT's RNTupleImporter calls them so."""
    import uproot

    source, path = str(tmp_path / "in.root"), str(tmp_path / "out.root")
    with uproot.recreate(source) as file:
        add_tree(
            file, "t", {"Jet.PT": np.arange(5.0), "Jet.Eta": -np.arange(5.0), "n": np.arange(5)}
        )
        add_tree(file, "Runs", {"Sum.W": np.array([1.0, 3.0])})
        add_tree(file, "two", {"a.b": np.arange(3), "a_b": np.arange(3)})
    events = tm.dataset(source, tree="t")
    for columns in (None, "*", ["Jet", "n"], ["Jet.PT", "Jet.Eta", "n"]):
        booked = events.filter("Jet.PT > 2").snapshot(
            path, columns, format="rntuple", copy_trees="Runs"
        )
        session.run(booked, progress=False)
        found = tm.dataset(path, tree="t").arrays()
        assert found.to_list() == [
            {"Jet_PT": 3.0, "Jet_Eta": -3.0, "n": 3},
            {"Jet_PT": 4.0, "Jet_Eta": -4.0, "n": 4},
        ]
        assert tm.dataset(path, tree="Runs").arrays().to_list() == [{"Sum_W": 1.0}, {"Sum_W": 3.0}]
    booked = events.snapshot(path, {"pt": "Jet.PT"}, format="rntuple")
    assert session.run(booked, progress=False).columns == ("pt",)
    two = tm.dataset(source, tree="two")
    with raises(QueryError, said="two columns would be called a_b"):
        two.snapshot(path, format="rntuple")


def test_other_trees_go_along(session, tmp_path):
    import uproot

    paths = [str(tmp_path / f"{i}.root") for i in range(2)]
    for number, path in enumerate(paths):
        with uproot.recreate(path) as file:
            add_tree(file, "Events", {"x": np.arange(10) + number})
            weights = ak.zip({"sum": ak.Array([[1.0, number], []])})
            add_tree(file, "Runs", {"run": np.array([number, 7], "u4"), "W": weights})
    out = tmp_path / "out"
    out.mkdir()
    for form in ("ttree", "rntuple"):
        path = str(out / f"{form}.root")
        few = tm.dataset(paths, tree="Events").filter("x > 5")
        booked = few.snapshot(path, ["x"], copy_trees="Runs", format=form)
        with raises(QueryError, said="copied whole"):
            session.run(booked, progress=False, max_files=1)
        session.run(booked, progress=False)
        runs = tm.dataset(path, tree="Runs").arrays()
        assert runs.run.to_list() == [0, 7, 1, 7]
        assert runs.W_sum.to_list() == [[1.0, 0.0], [], [1.0, 1.0], []]
        assert str(runs.run.type).endswith("uint32")
    with raises(QueryError, said="one table"):
        few.snapshot(str(out / "a.parquet"), ["x"], copy_trees=["Runs"])
    with raises(QueryError, about="Other"):
        session.run(few.snapshot(path, ["x"], copy_trees=["Other"]), progress=False)
    assert sorted(p.name for p in out.iterdir()) == ["rntuple.root", "ttree.root"]


@pytest.mark.parametrize("form", ["ttree", "rntuple"])
@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        ([1, -2], [2**40], ["i4", "i8", "i8"]),
        ([2**40], [1, -2], ["i8", "i4", "i8"]),
        ([1, -2], [0.5], ["i4", "f4", "f8"]),
        ([0.5], [2**32 - 1], ["f4", "u4", "f8"]),
        ([-1], [2**32 - 1], ["i4", "u4", "i8"]),
        ([3], [0.25], ["i8", "f8", "f8"]),
    ],
)
def test_copied_trees_have_types_that_hold_what_all_files_have(tmp_path, form, one, other, common):
    paths = []
    for values, dtype in zip((one, other, []), (*common[:2], "u1"), strict=True):
        of = np.array(values, dtype)
        runs = {"sum": of, "sums": ak.unflatten(of, np.ones(len(of), int))}
        more = [("Runs", runs)]
        paths.append(write(tmp_path / f"{len(paths)}.root", x=np.arange(2.0), more=more))
    path = str(tmp_path / "copy.root")
    tm.run(tm.dataset(paths, "t").snapshot(path, ["x"], copy_trees="Runs", format=form))
    found = tm.dataset(path, "Runs").arrays()
    assert found["sum"].to_list() == [*one, *other]
    assert ak.flatten(found.sums).to_list() == [*one, *other]
    assert ak.to_numpy(found["sum"]).dtype == ak.to_numpy(ak.flatten(found.sums)).dtype == common[2]


@pytest.mark.parametrize("values", [np.array([True]), np.array([2**53 + 1])])
def test_trees_that_no_type_holds_are_not_copied(tmp_path, values):
    paths = [
        write(tmp_path / f"{number}.root", x=np.arange(2.0), more=[("Runs", {"sum": each})])
        for number, each in enumerate((np.array([0.5]), values))
    ]
    path = tmp_path / "copy.root"
    with raises(tm.UnsupportedError, about="sum"):
        tm.run(tm.dataset(paths, "t").snapshot(str(path), ["x"], copy_trees="Runs"))
    assert not path.exists()


def add_tree(file, name, columns):
    kinds = {
        key: ak.type(value).content if isinstance(value, ak.Array) else value.dtype
        for key, value in columns.items()
    }
    file.mktree(name, kinds).extend(columns)


def test_the_first_lists_of_a_name_have_its_counter(session, events, tmp_path):
    """A collection's own columns stand before those of others that are called alike."""
    columns = {"A_x": "Muon_pt", "A_y": "Muon_eta"}
    columns |= {"A_b_x": "Jet_pt", "A_b_y": "2 * Jet_pt", "A_b_z": "3 * Jet_pt"}
    session.run(events.snapshot(tmp_path / "a.root", columns), progress=False)
    made = tm.dataset(tmp_path / "a.root")
    assert made.branches["A_x"].counter == made.branches["A_y"].counter == "nA"
    assert {made.branches[f"A_b_{name}"].counter for name in "xyz"} == {"nA_b_x"}
    assert made.arrays({"x": "len(A)"})["x"].to_list() == events.arrays("nMuon")["nMuon"].to_list()


@pytest.mark.parametrize("names", [("Jet", "Jet_eta"), ("Jet_eta", "Jet"), ("nA", "nA_x")])
def test_a_list_that_is_called_as_the_prefix_of_others(session, events, truth, tmp_path, names):
    """Lists of other lengths have other counters, whichever comes first."""
    columns = dict(zip(names, ("Jet_pt[Jet_pt > 30]", "Jet_eta"), strict=True))
    session.run(events.snapshot(tmp_path / "a.root", columns), progress=False)
    made = tm.dataset(tmp_path / "a.root")
    wanted = (truth.Jet_pt[truth.Jet_pt > 30], truth.Jet_eta)
    for name, values in zip(names, wanted, strict=True):
        assert made.arrays(name)[name].to_list() == values.to_list()
    assert made.branches[names[0]].counter != made.branches[names[1]].counter


def test_counters_are_those_of_their_lists(session, tmp_path):
    import uproot

    source = str(tmp_path / "in.root")
    with uproot.recreate(source) as file:
        jets = ak.Array([[40.0, 20.0], [], [35.0]])
        columns = {"Jet": ak.zip({"pt": jets, "eta": jets}), "x": np.arange(3)}
        add_tree(file, "Events", columns)
    events = tm.dataset(source)
    columns = {name: name for name in ("nJet", "Jet_pt", "Jet_eta")}
    columns |= {"Jet_good": "Jet_pt[Jet_pt > 30]", "a": "Jet_pt", "b": "Jet_eta * 2"}
    out = str(tmp_path / "out.root")
    session.run(events.snapshot(out, columns), progress=False)
    made = tm.dataset(out)
    counters = {name: made.branches[name].counter for name in columns if name != "nJet"}
    assert counters == {
        **dict.fromkeys(("Jet_pt", "Jet_eta"), "nJet"),
        "Jet_good": "nJet_good",
        "a": "na",
        "b": "na",
    }
    # A column that is only called so keeps its values.
    other = {"nJet": "nJet + 1", "Jet_pt": "Jet_pt"}
    session.run(events.snapshot(out, other), progress=False)
    assert tm.dataset(out).arrays().nJet.to_list() == [3, 1, 2]
    assert tm.dataset(out).branches["Jet_pt"].counter == "nJet_pt"
    assert tm.dataset(out).arrays().Jet_pt.to_list() == jets.to_list()


def test_titles_of_branches_are_kept(tmp_path):
    from treemill.query.rows import titles_of

    class Branch:
        def __init__(self, title):
            self.title = title

    branches = {"a": Branch("transverse energy"), "b": Branch("b[nb]/F"), "c": Branch("")}
    assert titles_of(branches, {"x": "a", "b": "b", "c": "c"}) == {"x": "transverse energy"}


def test_without_columns_all_are_written(events, tmp_path):
    node = events.filter("nMuon >= 2").define("ht", "sum(Jet_pt)")
    written = tm.run(node.snapshot(tmp_path / "all.root"), progress=False)
    with uproot.open(f"{written.path}:Events") as tree:
        assert set(tree.keys()) >= {*events.branches, "ht"}
    columns = ["MET_pt", "ht", "Jet_pt"]
    again = tm.dataset(tmp_path / "all.root", tree="Events").arrays(columns)
    assert again.to_list() == node.arrays(columns).to_list()


@pytest.fixture(scope="module")
def nested(tmp_path_factory):
    """A dataset with columns that no TTree can hold."""
    import uproot

    path = tmp_path_factory.mktemp("nested") / "nested.root"
    with uproot.recreate(path) as file:
        file["Events"] = {"x": np.arange(5), "Jet_pt": ak.Array([[1.0, 2.0], [], [3.0], [4.0], []])}
    tags = ak.Array([[["a"], []], [], [["b", "c"]], [[]], []])
    return tm.dataset(path).define("Jet_tags", tags)


@pytest.mark.parametrize("columns", ["*", ["Jet"], ["x", "Jet_*"]])
def test_what_a_tree_cannot_hold_is_left_out_by_name(session, nested, tmp_path, columns):
    good = nested.filter("x != 1")
    made = good.snapshot(tmp_path / "a.root", columns)
    with pytest.warns(UserWarning, match=r"leaves out .* Jet_tags \(a list of lists of strings\)$"):
        session.run(made, good.count(), progress=False)
    kept = {name for name in made.value.columns if name[0] in "xJ"}
    assert kept == ({"Jet_pt"} if columns == ["Jet"] else {"x", "Jet_pt"})
    assert tm.dataset(made.value).arrays("Jet_pt").Jet_pt.to_list() == [
        [1.0, 2.0],
        [3.0],
        [4.0],
        [],
    ]
    whole = good.snapshot(tmp_path / "b.root", columns, format="rntuple")
    session.run(whole, progress=False)
    assert [*whole.value.columns] == [*made.value.columns, "Jet_tags"]


def test_what_a_tree_cannot_hold_is_an_error_by_its_own_name(nested, tmp_path):
    for columns in (["x", "Jet_tags"], ["*", "Jet_tags"], {"t": "Jet_tags"}, "Jet_tag*"):
        booked = nested.snapshot(tmp_path / "a.root", columns)
        with raises(UnsupportedError, said="a list of lists of strings: write .parquet"):
            tm.run(booked, progress=False)
    assert not any(tmp_path.iterdir())


def test_what_is_left_out_of_varied_rows_and_of_filesets(session, nested, tmp_path):
    varied = nested.vary("Jet_pt", {"up": "Jet_pt * 2"}).snapshot(tmp_path / "a.root", "*")
    with pytest.warns(UserWarning, match="leaves out"):
        session.run(varied, progress=False)
    assert "Jet_tags" not in varied.value.columns
    again = tm.dataset(varied.value)
    ups = next(name for name in again.branches if "up" in name and "mask" not in name)
    assert again.sum(f"sum({ups})").value == 2 * again.sum("sum(Jet_pt)").value == 20
    files = [location.path for location in nested.node.origin.chain.locations]
    fs = tm.fileset({"a": files, "b": files}).define(
        "Jet_tags", "[[x for _ in Jet_pt] for _ in Jet_pt]"
    )
    booked = fs.snapshot(tmp_path / "{dataset}.root", "*")
    with pytest.warns(UserWarning, match="leaves out"):
        session.run(booked, progress=False)
    assert all("Jet_tags" not in booked.value[name].columns for name in "ab")
