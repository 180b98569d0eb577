"""Delphes's TRef and TRefArray in expressions: of a real file, beside the same numbers looked up in
Python, as uproot reads them."""

import re
from pathlib import Path

import awkward as ak
import pytest
import treemill as tm
import uproot

from tests.corpus_files import corpus
from tests.raising import raises

TEXT = (Path(__file__).parents[3] / "docs" / "objects.md").read_text()
BLOCKS = re.findall(r"^```\n(.*?)^```", TEXT.split("## Delphes")[1], re.MULTILINE | re.DOTALL)
EXPRESSIONS = "".join(BLOCKS).splitlines()
FLOW = ["EFlowTrack", "EFlowPhoton", "EFlowNeutralHadron"]


@pytest.fixture(scope="module")
def path():
    return corpus("uproot-issue513.root")


@pytest.fixture(scope="module")
def events(path):
    return tm.dataset(path, tree="Delphes")


@pytest.fixture(scope="module")
def tree(path):
    with uproot.open(path) as file:
        yield file["Delphes"]


def lists(events, text):
    return events.arrays({"x": text})["x"].to_list()


def numbered(tree, collections, member):
    """The member's values by the objects' numbers, for each event."""
    found = [{} for _ in range(tree.num_entries)]
    for name in collections:
        numbers = tree[f"{name}.fUniqueID"].array().to_list()
        values = tree[f"{name}.{member}"].array().to_list()
        for known, ids, those in zip(found, numbers, values, strict=True):
            known.update((i, x) for i, x in zip(ids, those, strict=True) if i)
    return found


def test_one_each(events, tree):
    known = numbered(tree, ["Particle"], "PID")
    refs = tree["Track.Particle"].array().to_list()
    expected = [
        [by.get(ref["ref"]) for ref in event] for by, event in zip(known, refs, strict=True)
    ]
    assert lists(events, "Track.Particle.PID") == expected
    assert lists(events, "[t.Particle.PID for t in Track]") == expected
    assert lists(events, "Track[0].Particle.PID") == [event[0] for event in expected]
    some = [
        [x for x, pt in zip(event, pts, strict=True) if pt > 2]
        for event, pts in zip(expected, tree["Track.PT"].array().to_list(), strict=True)
    ]
    assert lists(events, "[t.Particle.PID for t in Track if t.PT > 2]") == some
    found = [x for event in expected for x in event]
    assert len(found) > 100
    assert any(x is not None for x in found)


@pytest.mark.parametrize(
    ("text", "of", "collections", "member"),
    [
        ("Jet.Constituents.Eta", "Jet.Constituents", FLOW, "Eta"),
        ("Jet.Particles.Status", "Jet.Particles", ["Particle"], "Status"),
        ("GenJet.Constituents.Phi", "GenJet.Constituents", ["Particle"], "Phi"),
        ("EFlowPhoton.Particles.PID", "EFlowPhoton.Particles", ["Particle"], "PID"),
    ],
)
def test_many_each(events, tree, text, of, collections, member):
    known = numbered(tree, collections, member)
    refs = tree[of].array().to_list()
    expected = [
        [[by.get(number) for number in each["refs"]] for each in event]
        for by, event in zip(known, refs, strict=True)
    ]
    assert lists(events, text) == expected
    assert lists(events.filter("len(Jet) > 5"), text) == [
        each
        for each, jets in zip(expected, tree["Jet.PT"].array().to_list(), strict=True)
        if len(jets) > 5
    ]


def test_the_numbers_themselves(events, tree):
    assert lists(events, "Jet.Constituents.refs") == [
        [each["refs"] for each in event] for event in tree["Jet.Constituents"].array().to_list()
    ]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_what_the_docs_say(events, text):
    assert len(lists(events, text)) == events.num_entries


def test_what_not_all_of_them_have(events):
    with raises(tm.QueryError, said="has no PT"):
        lists(events, "Jet.Constituents.PT")


def test_a_second_branch_of_a_name_is_another_collection(events, tree):
    """The file has two branches `Particle`: generated particles, and jets of them with other
    members. uproot takes the first for the names that both have."""
    pids = tree["Particle.PID"].array()
    sizes = ak.num(pids).to_list()
    assert tree["Particle_size"].array().to_list() == sizes
    assert lists(events, "len(Particle)") == sizes == lists(events, "Particle")
    assert lists(events, "[p.PID for p in Particle if p.PID == 24]") == pids[pids == 24].to_list()
    assert lists(events, "Particle[0].PID") == pids[:, 0].to_list()
    etas = tree["Particle.Eta"].array()
    assert lists(events, "[p.Eta for p in Particle]") == etas.to_list()
    others = tree["Particle.DeltaEta"].array()
    assert lists(events, "Particle.DeltaEta") == others.to_list()
    assert ak.num(others).to_list() != sizes
    message = r"Particle.DeltaEta is no list beside .* Particle;2"
    for text in ("[p.DeltaEta for p in Particle]", "Particle[0].DeltaEta"):
        with pytest.raises(tm.QueryError, match=message):
            lists(events, text)
    with raises(tm.QueryError, said="different lists do not go together"):
        lists(events, "Particle.PID[Particle.DeltaEta > 0]")


def test_snapshots_keep_collections_of_one_name_apart(events, tree, tmp_path):
    made = events.snapshot(tmp_path / "all.root", "Particle.*")
    message = r"leaves out what a TTree .* Particle.Constituents.fName \(a list of strings\)"
    with pytest.warns(UserWarning, match=message):  # members of members
        assert "Particle.PID" in made.value.columns
    again = tm.dataset(tmp_path / "all.root")
    pids = tree["Particle.PID"].array()
    assert lists(again, "len(Particle)") == ak.num(pids).to_list()
    assert lists(again, "[p.PID for p in Particle]") == pids.to_list()
    with raises(tm.QueryError, said="Particle DeltaEta is no list beside the rest"):
        lists(again, "[p.DeltaEta for p in Particle]")


def test_errors_suggest_references(events):
    with raises(tm.QueryError, said="Jet has no Constituent") as error:
        lists(events, "Jet.Constituent.Eta")
    assert error.value.suggestions[0] == "Constituents"
    with raises(tm.QueryError, said="and refers to Particle"):
        lists(events, "Track.mother.PID")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Particle.PT", "sum(Track.Particle.PT)"),
        ("Particle.PT", "sum(sum(p.PT for p in j.Particles) for j in GenJet)"),
        ("EFlowTrack.Eta", "sum(sum(c.Eta for c in j.Constituents) for j in Jet)"),
        ("Particle.Eta", "sum(sum(c.Eta for c in j.Constituents) for j in GenJet)"),
    ],
)
def test_variations_are_seen_through_references(events, name, text):
    found = events.vary(name, {"up": f"2 * {name}"}, name="v").sum(text).value
    alone = events.define(name, f"2 * {name}").sum(text).value
    assert found == {"nominal": events.sum(text).value, "v:up": alone}
    assert found["v:up"] != found["nominal"]


def values(array):
    """The names of all columns with numbers in them, records taken apart."""
    found = set()
    for name in array.fields:
        inner = array[name]
        found |= {f"{name}.{each}" for each in values(inner)} if inner.fields else {name}
    return found


def test_take_has_all_that_arrays_has(events):
    """Reads give records, and queries their members. Beside these, they lack what a warning names,
    and the numbers of objects, which Delphes's `_size` branches have, too."""
    read = events.arrays(stop=5)
    with pytest.warns(UserWarning, match="leaves out what expressions cannot use") as warned:
        taken = events.take(["*"]).value
    said = str(warned[0].message)
    missing = {
        name for name in values(read) - values(taken) if name.partition("]")[0] + "]" not in said
    }
    sizes = {"Event", "Particle", "Track", "Jet", "GenJet", *FLOW, "Particle;2"}
    assert values(taken) - values(read) == set()
    assert missing <= sizes
