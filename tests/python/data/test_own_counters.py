"""Lists that belong together and are counted by counters of their own: as uproot's mktree writes
them, as friends bring them, as skims have them."""

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot

from tests.python.written import jagged, write
from tests.raising import raises
from tests.reference import evaluate
from tests.reference.values import MISSING, Event

PT = [[40.0, 20.0], [], [70.0], [10.0, 60.0, 35.0]]
ETA = [[0.5, -1.0], [], [2.0], [-0.5, 1.5, 0.0]]
SCORE = [[0.9, 0.1], [], [0.4], [0.8, 0.6, 0.2]]
COLUMNS = {"Jet_pt": PT, "Jet_eta": ETA, "Jet_score": SCORE}


@pytest.fixture(scope="module")
def folder(core, tmp_path_factory):
    return tmp_path_factory.mktemp("own_counters")


@pytest.fixture(scope="module")
def own(folder):
    """One file, in which each list has a counter of its own."""
    columns = {name: jagged(*lists) for name, lists in COLUMNS.items()}
    other = jagged([1], [], [1], [2, 3, 4])
    return write(folder / "own.root", number=np.arange(4.0), **columns, Jet_other=other)


def shared(path, tree="t", more=None, prefix="Jet", **columns):
    """One counter for all columns."""
    members = ak.zip({name: jagged(*lists) for name, lists in columns.items()})
    with uproot.recreate(path) as file:
        data = {prefix: members, **(more or {})}
        types = {name: each.type.content for name, each in data.items()}
        file.mktree(tree, types, counter_name=lambda name: f"n{name}").extend(data)
    return path


TEXTS = (
    "sum(Jet_pt[Jet_eta > 0])",
    "sum(Jet_pt * Jet_score)",
    "sum(j.pt for j in Jet if j.score > 0.5)",
    "max(Jet, key=lambda j: j.eta).pt",
    "len([j for j in Jet if j.pt > 30 and j.eta > 0])",
    "sum(a.pt * b.score for a, b in combinations(Jet, 2))",
    "sum(Jet.pt[Jet_score > 0.3])",
    "Jet[0].score",
)


def agrees(events, texts):
    columns = {f"v{i}": text for i, text in enumerate(texts)}
    found = tm.run(events.define("ever", "1").take(columns))
    wanted = [
        Event(dict(zip(COLUMNS, row, strict=True)), ("Jet",))
        for row in zip(*COLUMNS.values(), strict=True)
    ]
    for i, text in enumerate(texts):
        values = [evaluate(text.replace("f.", ""), event) for event in wanted]
        for got, value in zip(found[f"v{i}"].to_list(), values, strict=True):
            assert got is None or got == pytest.approx(value, rel=1e-6), text
            assert (got is None) == (value is MISSING), text


def test_lists_of_mktree_go_together(own):
    agrees(tm.dataset(own), [*TEXTS, "len(Jet)"])


def test_a_friends_list_goes_with_the_items_of_the_tree(folder):
    main = shared(folder / "main.root", pt=PT, eta=ETA)
    one = write(folder / "one.root", Jet_score=jagged(*SCORE))
    events = tm.dataset(main, tree="t").add_friend(one, alias="f")
    agrees(events, [*TEXTS, "sum(Jet_pt[f.Jet_score > 0.5])", "len(f.Jet)"])
    assert tm.run(events.take("len(f.Jet)")).tolist() == [2, 0, 1, 3]


def test_a_friends_collection_goes_with_the_trees_of_the_same_name(folder):
    main = shared(folder / "plain.root", pt=PT, eta=ETA)
    several = shared(folder / "several.root", score=SCORE, rank=PT)
    events = tm.dataset(main, tree="t").add_friend(several, alias="f")
    agrees(events, TEXTS)
    assert tm.run(events.sum("sum(f.Jet.rank[f.Jet.score > 0.5])")) == pytest.approx(110)


@pytest.mark.parametrize("kind", ["ttree", "rntuple"])
def test_what_is_asked_of_a_file_is_asked_of_its_skim(own, folder, kind):
    skim = folder / f"skim_{kind}.root"
    columns = {"pt": "Jet_pt", "eta": "Jet_eta", **{name: name for name in COLUMNS}}
    tm.run(
        tm.dataset(own).snapshot(skim, {**columns, "Jet_good": "Jet_pt[Jet_eta > 0]"}, format=kind)
    )
    events = tm.dataset(skim)
    agrees(events, [text for text in TEXTS if "Jet" in text])
    assert tm.run(events.sum("pt[eta > 0]")) == tm.run(tm.dataset(own).sum("Jet_pt[Jet_eta > 0]"))


def test_the_first_entry_with_other_lengths_is_named(own):
    events = tm.dataset(own)
    for text in ("Jet_pt[Jet_other > 1]", "Jet_pt + Jet_other", "[j.pt * j.other for j in Jet]"):
        with raises(tm.QueryError, said="in entry 0 Jet_ are Jet_ are"):
            tm.run(events.sum(f"sum({text})"))
        with raises(tm.QueryError, said="in entry 0 are 12 are 12"):
            tm.run(events.filter("number < 3").sum(f"sum({text})"))
    # Of entries alone that pass the filter.
    assert tm.run(events.filter("number > 0").sum("Jet_pt + Jet_other")) == pytest.approx(185)
    assert tm.run(events.sum("sum(p * o for p, o in zip(Jet_pt, Jet_other))")) == pytest.approx(450)


def test_lists_of_two_collections_do_not_go_together(folder):
    a = ak.zip({"x": jagged(*PT), "y": jagged(*ETA)})
    main = shared(folder / "two.root", pt=PT, eta=ETA, more={"Muon": a})
    with raises(tm.QueryError, said="different lists do not go together nJet nMuon"):
        tm.run(tm.dataset(main).sum("sum(Jet_pt * Muon_x)"))
