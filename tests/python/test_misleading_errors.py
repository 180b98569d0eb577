"""What users write by habit or mistake at bookings, nodes and in expressions: the error says what
to write, and that works."""

import numpy as np
import pytest
import treemill as tm
import uproot

from tests.raising import raises


@pytest.fixture
def booking(events):
    return events.filter("nMuon > 1000").count()


def test_a_booking_is_no_result(events, booking):
    from operator import add, floordiv, ge, gt, le, lt, mod, mul, sub, truediv

    with pytest.raises(TypeError, match=r"\.value"):
        bool(booking)
    for operator in (add, sub, mul, truediv, lt, le, gt, ge):
        with pytest.raises(TypeError, match=r"\.value"):
            operator(booking, 1)
    for number in (0, 0.0, False, np.int64(0), np.float32(0)):
        with pytest.raises(TypeError, match=r"\.value"):
            booking == number  # noqa: B015
    with pytest.raises(TypeError, match=r"\.value"):
        booking[0]
    for function in (
        float,
        int,
        complex,
        len,
        round,
        abs,
        iter,
        list,
        sum,
        np.asarray,
        np.sqrt,
        "{:.1f}".format,
    ):
        with pytest.raises(TypeError, match=r"\.value"):
            function(booking)
    with pytest.raises(TypeError, match=r"\.value"):
        _ = 1 in booking
    for operator in (pow, floordiv, mod):
        with pytest.raises(TypeError, match=r"\.value"):
            operator(booking, 2)
    assert f"{booking}" == repr(booking)
    with raises(tm.QueryError, about="string"):
        events.filter("nMuon > 1").define("n", booking)
    met = events.hist("MET_pt", bins=(5, 0, 100))
    for name in ("plot", "values", "sum", "axes", "to_numpy"):
        with pytest.raises(AttributeError, match=rf"\.value\.{name}"):
            getattr(met, name)
        assert not hasattr(met, name)
        assert hasattr(met.value, name)


def test_bookings_are_told_apart(booking, events):
    other = events.count()
    assert booking == booking
    assert booking != other
    assert booking != "count"
    assert {booking, other} == {other, booking}


@pytest.mark.parametrize(
    "name",
    ["define_per_file", "add_friend", "select_entries", "branches", "num_entries", "files", "show"],
)
def test_methods_of_datasets_below_them(events, name):
    fileset = tm.fileset({"a": list(events.files)}, "Events")
    for node in (events.with_params({"a": 1}), fileset.filter("nMuon > 1")):
        with pytest.raises(AttributeError, match=r"dataset|count\(\)"):
            getattr(node, name)


def test_the_weight_of_a_report_is_known_at_its_first_filter(events):
    cut = events.filter("nMuon > 0", name="a muon")
    with raises(tm.QueryError, said="a muon before the filter"):
        cut.define("w", "MET_pt * 2").report(weight="w")
    # Else the first filter counts by one weight, and later ones by another.
    with raises(tm.QueryError, said="before the filter"):
        cut.define("MET_pt", "MET_pt * 2").report(weight="MET_pt + 1")
    early = events.define("w", "2.0").filter("nMuon > 0", name="a muon")
    flow = early.report(weight="w").value
    assert flow[0].passed == 2 * early.count().value
    # A filter without a name counts nothing.
    late = events.filter("nMuon > 0").define("w", "2.0").filter("nMuon > 1", name="two")
    assert late.report(weight="w").value[0].total == flow[0].passed


@pytest.mark.parametrize("value", [3, 2.5, True])
def test_a_number_is_a_column(events, value):
    for at in (events, events.filter("nMuon > 0")):
        assert at.define("z", value).max("z").value == value
    with pytest.raises(tm.QueryError, match=f'write "{value}"'):
        events.hist(value, bins=(5, 0, 5))
    # A condition of Python's is none on entries.
    with raises(tm.QueryError, said="an expression is a string"):
        events.filter(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("MET_pt > {cut}", "params="),
        ("MET_pt > $cut", "params="),
        ("MET_pt > @cut", "params="),
        ("MET_pt:nMuon", r'hist\("x", "y"\)'),
        ("lambda MET_pt: MET_pt > 1", "without it"),
    ],
)
def test_words_of_programs_in_expressions(events, text, said):
    with pytest.raises(tm.QueryError, match=said):
        _ = events.hist(text, bins=(5, 0, 5)).value


def test_variables_of_programs_in_expressions(events):
    cutoff = 20
    with raises(tm.QueryError, about="cutoff"):
        _ = events.filter("MET_pt > cutoff").count().value
    with raises(tm.QueryError, about="cutoff"):
        events.arrays(["MET_pt > cutoff"])
    with (
        tm.connect(mode="processes", workers=1) as session,
        raises(tm.QueryError, about="cutoff"),
    ):
        session.run(events.filter("MET_pt > cutoff").count())
    assert events.filter("MET_pt > cutoff", params={"cutoff": cutoff}).count().value > 0


def test_a_file_that_lacks_a_branch_is_not_about_variables(events, tmp_path):
    path = tmp_path / "less.root"
    with uproot.recreate(path) as file:
        file.mktree("Events", {"nMuon": "int32"}).extend({"nMuon": np.arange(3, dtype="i4")})
    for files in ([str(path)], [str(path), *events.files], [*events.files, str(path)]):
        with raises(tm.QueryError, about="MET_pt") as caught:
            _ = tm.dataset(files, tree="Events").sum("MET_pt").value
        assert "params" not in str(caught.value)


def test_functions_of_events(events):
    with raises(tm.QueryError, said="not with events"):
        _ = events.filter(lambda e: e.MET_pt > 20).count().value
    with raises(tm.QueryError, said="columns that its parameters name"):
        _ = events.filter(lambda event_: event_.MET_pt > 20).count().value
    right = events.filter(lambda MET_pt: MET_pt > 20).count().value  # noqa: N803
    assert right == events.filter("MET_pt > 20").count().value
    with raises(tm.QueryError, about="define"):
        events.hist(np.sqrt, bins=(5, 0, 5))
    with raises(tm.QueryError, about="define"):
        events.hist(np.ones(3), bins=(5, 0, 5))


@pytest.mark.parametrize(
    ("text", "meant"), [("Muon.ptt", ("pt",)), ("Muon[0].et_", ("eta",)), ("Muon.etaa", ("eta",))]
)
def test_own_members_are_meant_before_those_of_all_vectors(events, text, meant):
    with pytest.raises(tm.QueryError) as caught:
        _ = events.sum(text).value
    assert caught.value.suggestions == meant
    assert f"did you mean {meant[0]}?" in str(caught.value)


def test_short_names_that_have_nothing_in_common_are_not_meant(events):
    for text in ("cut", "Muon.q", "xyzw(MET_pt)"):
        with pytest.raises(tm.QueryError) as caught:
            _ = events.sum(text).value
        assert not caught.value.suggestions


def test_entries_are_numbered_in_arrays(events, truth):
    for name in ("entry_number", "local_entry_number"):
        found = events.arrays(["MET_pt", name], 3, 9)
        assert found[name].to_list() == [3, 4, 5, 6, 7, 8]
    assert events.to_numpy("entry_number")["entry_number"][-1] == len(truth) - 1


def test_members_of_defined_collections_vary(events):
    hard = events.define("J", "[j for j in Jet if j.pt > 30]")
    varied = hard.vary("J.pt", {"up": "J.pt * 2"}).sum("sum(J.pt)").value
    assert varied["J.pt:up"] == pytest.approx(2 * varied.nominal)
    with raises(tm.QueryError, about="J.pt"):
        _ = hard.vary("J_pt", {"up": "J.pt * 2"}).sum("sum(J.pt)").value
    with raises(tm.QueryError, said="no ptt"):
        _ = hard.vary("J.ptt", {"up": "J.pt * 2"}).sum("sum(J.pt)").value


@pytest.mark.parametrize("key", [slice(30), 0, ["MET_pt"]])
def test_branches_have_no_places(events, key):
    with raises(tm.QueryError, said="list events branches :30"):
        events.branches[key]


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        (["region"], "region, process"),
        (["region", "region"], "once"),
        ("region", "a list of fields"),
    ],
)
def test_levels_of_templates_are_all_fields(events, tmp_path, levels, said):
    results = {"signal": {"tt": events.hist("MET_pt", bins=(3, 0, 90))}}
    with pytest.raises(tm.QueryError, match=said):
        tm.templates(results, tmp_path / "shapes.root", levels=levels)


def test_cut_flows_of_data_sets_and_variations_are_printed_whole(events):
    fileset = tm.fileset({"dy": list(events.files), "tt": list(events.files)}, "Events")
    flows = fileset.filter("nMuon > 0", name="a muon").report().value
    lines = str(flows).splitlines()
    assert [line for line in lines if not line.startswith(" ")] == ["dy:", "tt:"]
    assert "a muon: pass=" in lines[1]
    varied = fileset.vary("MET_pt", {"up": "MET_pt * 2"}).filter("MET_pt > 20", name="MET")
    both = varied.report().value
    assert "{" not in str(both["tt"])
    assert "MET_pt:up:" in str(both["tt"])
    assert both._repr_html_().count("<table") == 2
    assert str(fileset.count().value) == repr(dict(fileset.count().value))


def test_a_plan_is_shown_as_it_is_printed(events):
    for plan in (events.explain(), events.hist("MET_pt", bins=(5, 0, 100)).explain()):
        assert repr(plan) == str(plan)
        assert "\n" in repr(plan)


def test_names_of_trees_may_have_colons():
    from treemill.data.location import split_tree

    for text, parts in {
        "f.root:RNT:CollectionTree": ("f.root", "RNT:CollectionTree"),
        "root://h:1094//a/f.root:RNT:Events": ("root://h:1094//a/f.root", "RNT:Events"),
        "f.root:Events": ("f.root", "Events"),
        "data:f.root": ("data:f.root", None),
        "f.dat:Events": ("f.dat", "Events"),
        "a.root:b.root:Events": ("a.root:b.root", "Events"),
    }.items():
        assert split_tree(text) == parts


def test_items_of_maps_are_pairs(tmp_path):
    import awkward as ak
    import uproot

    pairs = ak.Array([[{"0": 3, "1": 1.5}, {"0": 4, "1": 2.5}], [], [{"0": 7, "1": 0.5}]])
    with uproot.recreate(tmp_path / "map.root") as file:
        file.mkrntuple("Events", {"m": pairs})
    events = tm.dataset(tmp_path / "map.root")
    assert events.sum("m.first").value == 14
    assert events.sum("sum(pair.second for pair in m)").value == 4.5
    assert events.sum("sum(value for key, value in m if key > 3)").value == 3.0
    with raises(tm.QueryError, said="first, second"):
        _ = events.sum("m.third").value
