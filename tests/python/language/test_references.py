"""References of NanoAOD in expressions, beside coffea's: each of real files, event by event."""

import re
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import treemill as tm

from tests.corpus_files import corpus

coffea = pytest.importorskip("coffea", reason="coffea is not installed")

from coffea.nanoevents import NanoAODSchema, NanoEventsFactory  # noqa: E402

from tests.raising import raises  # noqa: E402

TEXT = (Path(__file__).parents[3] / "docs" / "objects.md").read_text()
_FENCED = re.findall(
    r"^```(\w*)\n(.*?)^```", TEXT.split("## PHYSLITE")[0], re.MULTILINE | re.DOTALL
)
BLOCKS = [block for language, block in _FENCED if not language]  # programs name theirs
FILES = ["coffea-nano_dy.root", "nanoAOD_2015_CMS_Open_Data_ttbar.root"]

REFERENCES = {
    "Muon.matched_jet.pt": lambda e: e.Muon.matched_jet.pt,
    "Muon.jet.pt": lambda e: e.Muon.matched_jet.pt,
    "[m.jet.pt for m in Muon if m.pt > 10]": lambda e: e.Muon[e.Muon.pt > 10].matched_jet.pt,
    "[m for m in Muon if m.pt > 10].jet.pt": lambda e: e.Muon[e.Muon.pt > 10].matched_jet.pt,
    "Muon[0].jet.pt": lambda e: ak.firsts(e.Muon).matched_jet.pt,
    "max(Muon, key=lambda m: m.pt).jet.pt": lambda e: (
        ak.firsts(e.Muon[ak.argmax(e.Muon.pt, axis=1, keepdims=True)]).matched_jet.pt
    ),
    "Muon.matched_gen.pdgId": lambda e: e.Muon.matched_gen.pdgId,
    "Muon.genPart.status": lambda e: e.Muon.matched_gen.status,
    "Muon.fsrPhoton.pt": lambda e: e.Muon.matched_fsrPhoton.pt,
    "FsrPhoton.muon.pt": lambda e: e.FsrPhoton.matched_muon.pt,
    "Electron.matched_gen.pt": lambda e: e.Electron.matched_gen.pt,
    "Electron.matched_jet.matched_gen.pt": lambda e: e.Electron.matched_jet.matched_gen.pt,
    "Electron.matched_photon.pt": lambda e: e.Electron.matched_photon.pt,
    "Photon.matched_electron.pt": lambda e: e.Photon.matched_electron.pt,
    "Tau.matched_gen.pt": lambda e: e.Tau.matched_gen.pt,
    "Tau.jet.pt": lambda e: e.Tau.matched_jet.pt,
    "GenVisTau.parent.pt": lambda e: e.GenVisTau.parent.pt,
    "Jet.matched_gen.pt": lambda e: e.Jet.matched_gen.pt,
    "Jet.matched_muons.pt": lambda e: e.Jet.matched_muons.pt,
    "Jet.electrons.pt": lambda e: e.Jet.matched_electrons.pt,
    "[j.muons[0].pt for j in Jet]": lambda e: e.Jet.matched_muons.pt[..., 0],
    "[sum(m.pt for m in j.muons) for j in Jet]": lambda e: ak.sum(
        ak.values_astype(e.Jet.matched_muons.pt, float), axis=-1
    ),
    "GenPart.parent.pdgId": lambda e: e.GenPart.parent.pdgId,
    "GenPart.parent.parent.pdgId": lambda e: e.GenPart.parent.parent.pdgId,
    "GenPart.distinctParent.pdgId": lambda e: e.GenPart.distinctParent.pdgId,
    "Muon.matched_gen.distinctParent.pdgId": lambda e: e.Muon.matched_gen.distinctParent.pdgId,
    "GenPart.distinctParent.distinctParent.pt": lambda e: (
        e.GenPart.distinctParent.distinctParent.pt
    ),
    "GenPart.distinctChildren.pdgId": lambda e: e.GenPart.distinctChildren.pdgId,
    "[len(p.children) for p in GenPart if abs(p.pdgId) == 23]": lambda e: ak.num(
        e.GenPart[abs(e.GenPart.pdgId) == 23].children.pdgId, axis=2
    ),
    "[l.jet.pt for l in concat(Electron, Muon)]": lambda e: ak.concatenate(
        [e.Electron.matched_jet.pt, e.Muon.matched_jet.pt], axis=1
    ),
}


@pytest.fixture(scope="module", params=FILES)
def both(request):
    """A file's dataset and coffea's events of it."""

    class Quiet(NanoAODSchema):
        event_ids = ()
        warn_missing_crossrefs = False

    path = corpus(request.param)
    factory = NanoEventsFactory.from_root({path: "Events"}, schemaclass=Quiet, mode="eager")
    return tm.dataset(path, tree="Events"), factory.events()


def as_lists(values):
    return ak.to_list(ak.values_astype(values, np.float64))


@pytest.mark.slow
def test_each_reference_is_coffeas(both):
    events, theirs = both
    found = events.arrays({text: text for text in REFERENCES})
    for text, reference in REFERENCES.items():
        assert as_lists(found[text]) == as_lists(reference(theirs)), text
    assert ak.count(found["Muon.jet.pt"]) > 10
    assert ak.count(found["GenPart.distinctParent.pdgId"]) > 500


def test_expressions_of_the_page(both):
    events, _ = both
    texts = [text for block in BLOCKS for text in block.strip().splitlines()]
    assert len(texts) > 8
    found = events.arrays({text: text for text in texts})
    assert all(len(found[text]) == len(events) for text in texts)


def test_of_entries_that_a_filter_leaves(both):
    events, theirs = both
    kept = theirs[ak.num(theirs.Muon) == 1]
    found = events.filter("nMuon == 1").arrays({text: text for text in REFERENCES})
    for text, reference in REFERENCES.items():
        assert as_lists(found[text]) == as_lists(reference(kept)), text


def test_children_that_stand_before_their_mother_are_children(both):
    """coffea looks for them behind it only: two particles of the real file stand before."""
    events, theirs = both
    mother = theirs.GenPart.genPartIdxMother
    places = ak.local_index(mother)
    is_child = mother[:, np.newaxis, :] == places[:, :, np.newaxis]
    kinds = ak.broadcast_arrays(theirs.GenPart.pdgId[:, np.newaxis, :], is_child)[0]
    found = events.arrays({"x": "GenPart.children.pdgId"})["x"]
    assert as_lists(found) == as_lists(kinds[is_child])


def test_four_vectors(both):
    events, theirs = both
    found = events.arrays({"dr": "Muon.jet.deltaR(Muon)", "pt": "(Muon[0].jet + Muon[0]).pt"})
    first = ak.firsts(theirs.Muon)
    for name, reference in {
        "dr": theirs.Muon.matched_jet.delta_r(theirs.Muon),
        "pt": (first.matched_jet + first).pt,
    }.items():
        ours, coffeas = (
            ak.to_numpy(ak.fill_none(ak.flatten(x, axis=None), -1))
            for x in (found[name], reference)
        )
        assert np.allclose(ours, coffeas, rtol=1e-5, atol=1e-6)


def test_only_what_is_touched_is_read(both):
    events, _ = both
    text = str(events.hist("Muon.jet.pt", bins=(10, 0, 100)).explain())
    assert "Jet_pt" in text
    assert "Muon_jetIdx" in text
    assert "Jet_eta" not in text
    assert "Muon_pt" not in text


@pytest.fixture
def made(tmp_path):
    import uproot

    with uproot.recreate(tmp_path / "made.root") as file:
        jets = ak.zip({"pt": [[50.0, 40.0], [], [30.0]]})
        muons = ak.zip({"pt": [[5.0, 6.0, 7.0], [8.0], []], "jetIdx": [[1, -1, 7], [0], []]})
        taus = ak.zip({"pt": [[1.0], [], []], "photonIdx": [[0], [], []]})
        types = {"Jet": ak.type(jets).content, "Muon": ak.type(muons).content}
        file.mktree("Events", types | {"Tau": ak.type(taus).content})
        file["Events"].extend({"Jet": jets, "Muon": muons, "Tau": taus})
    return tm.dataset(tmp_path / "made.root")


def lists(events, text):
    return ak.to_list(events.arrays({"x": text})["x"])


def test_an_index_outside_of_the_list_is_missing(made):
    assert lists(made, "Muon.jet.pt") == [[40.0, None, None], [None], []]
    assert made.count().value == 3
    assert made.sum("count(Muon.jet.pt)").value == 1


def test_indices_that_a_file_lacks_have_their_defaults(made, tmp_path):
    import uproot

    with uproot.recreate(tmp_path / "other.root") as file:
        jets = ak.zip({"pt": [[20.0, 10.0], []], "muonIdx1": [[0, 1], []]})
        muons = ak.zip({"pt": [[5.0, 6.0], [7.0]]})
        file.mktree("Events", {"Jet": ak.type(jets).content, "Muon": ak.type(muons).content})
        file["Events"].extend({"Jet": jets, "Muon": muons})
    paths = [tmp_path / "made.root", tmp_path / "other.root"]
    none = {"Muon_jetIdx": -1, "Jet_muonIdx1": -1, "Jet_muonIdx2": -1}
    both = tm.dataset(paths, missing=none)
    found = lists(made, "Muon.jet.pt")
    assert lists(both, "Muon.jet.pt") == [*found, [None, None], [None]]
    first = tm.dataset(paths, missing=none | {"Muon_jetIdx": 0})
    assert lists(first, "Muon.matched_jet.pt") == [*found, [20.0, 20.0], [None]]
    for each in (paths, paths[::-1]):
        varied = tm.dataset(each, missing=none).vary("Jet_pt", {"up": "2 * Jet_pt"})
        assert varied.sum("sum(Muon.jet.pt)").value == {"nominal": 40.0, "Jet_pt:up": 80.0}
    other = tm.dataset(paths[1], missing=none | {"Jet_muonIdx2": [1, 0]})
    assert lists(other.select_entries([0]), "[[m.pt for m in j.muons] for j in Jet]") == [
        [[5.0, 6.0], [6.0, 5.0]]
    ]


def test_members_that_were_defined_anew_are_seen_through_references(made):
    scaled = made.define("Jet_pt", "2 * Jet_pt")
    assert lists(scaled, "Muon.jet.pt") == [[80.0, None, None], [None], []]
    before = made.define("of", "[m.jet.pt for m in Muon]").define("Jet_pt", "2 * Jet_pt")
    assert lists(before, "of") == [[40.0, None, None], [None], []]


def test_variations_are_seen_through_references(made):
    varied = made.vary("Jet_pt", {"up": "2 * Jet_pt"}).define("of", "sum(m.jet.pt for m in Muon)")
    other = made.vary("Tau_pt", {"up": "2 * Tau_pt"})
    for sums in (varied.sum("of"), varied.sum("sum(Muon.jet.pt)")):
        assert sums.value == {"nominal": 40.0, "Jet_pt:up": 80.0}
    assert other.sum("sum(Muon.jet.pt)").value == {"nominal": 40.0}
    filtered = made.vary("Jet_pt", {"up": "2 * Jet_pt"}).filter("any(Muon.jet.pt > 50)")
    assert filtered.count().value == {"nominal": 0, "Jet_pt:up": 1}


def test_a_reference_to_a_list_that_was_defined_anew_is_refused(made):
    """Indices count the stored jets; the new list may have others at their places."""
    defined = made.define("Jet", "[j for j in Jet if j.pt < 45]")
    message = "counts the items of Jet as they are stored, and Jet was defined anew: give the new"
    with pytest.raises(tm.QueryError, match=f"Muon.jet {message} list another name"):
        lists(defined, "Muon.jet.pt")
    varied = made.vary("Jet", {"up": "[j for j in Jet if j.pt < 45]"})
    with pytest.raises(tm.QueryError, match=message):
        tm.run(varied.sum("sum(Muon.jet.pt)"))
    assert lists(defined, "Jet.pt[Muon.jetIdx]") == [[None, None, None], [None], []]
    before = made.define("of", "Muon.jet.pt").define("Jet", "[j for j in Jet if j.pt < 45]")
    assert lists(before, "of") == [[40.0, None, None], [None], []]


def test_a_definition_takes_precedence(made):
    defined = made.define("Muon_jet", "Muon.pt + 1")
    assert lists(defined, "Muon.jet") == [[6.0, 7.0, 8.0], [9.0], []]


def test_a_reference_to_nothing_names_both(made):
    with raises(tm.QueryError, said="Tau.photon refers to Photon, and there is no"):
        made.arrays({"x": "Tau.photon.pt"})
    with raises(tm.QueryError, said="Muon has no jets"):
        made.arrays({"x": "Muon.jets.pt"})


@pytest.fixture(params=["tree", "ntuple"])
def pairs(request, tmp_path):
    """Muons and jets that refer to each other, in columns or in an RNTuple's records."""
    import uproot

    jets = ak.zip(
        {
            "pt": [[50.0, 40.0], [], [30.0]],
            "muonIdx1": [[0, 1], [], [-1]],
            "muonIdx2": [[-1, 0], [], [5]],
        }
    )
    muons = ak.zip({"pt": [[5.0, 6.0, 7.0], [8.0], []], "jetIdx": [[1, -1, 7], [0], []]})
    particles = ak.zip(
        {"pdgId": [[23, 13, 13], [11], []], "genPartIdxMother": [[-1, 0, 1], [-1], []]}
    )
    columns = {"Jet": jets, "Muon": muons, "GenPart": particles}
    with uproot.recreate(tmp_path / "pairs.root") as file:
        if request.param == "tree":
            file.mktree("Events", {name: ak.type(x).content for name, x in columns.items()})
            file["Events"].extend(columns)
        else:
            file["Events"] = columns
    return tm.dataset(tmp_path / "pairs.root", tree="Events")


def test_records_have_references_as_columns_do(pairs):
    assert lists(pairs, "Muon.jet.pt") == [[40.0, None, None], [None], []]
    assert lists(pairs, "Muon.matched_jet.pt") == lists(pairs, "Muon.jet.pt")
    assert lists(pairs, "Jet.muons.pt") == [[[5.0, None], [6.0, 5.0]], [], [[None, None]]]
    assert lists(pairs, "GenPart.distinctParent.pdgId") == [[None, 23, 23], [None], []]
    assert lists(pairs, "GenPart.children.pdgId") == [[[13], [13], []], [[]], []]


def test_a_list_of_a_missing_object_has_no_items(pairs):
    assert lists(pairs, "[len(m.jet.muons) for m in Muon]") == [[2, 0, 0], [0], []]
    assert lists(pairs, "Muon.jet.muons.pt") == [[[6.0, 5.0], [], []], [[]], []]
    assert lists(pairs, "len(Muon[0].jet.muons)") == [2, 0, 0]
    assert lists(pairs, "[len(j.muons) for j in Jet]") == [[2, 2], [], [2]]
    assert lists(pairs, "len(Jet[0].muons)") == [2, 0, 2]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Muons.pt", "Muon"),
        ("muon.pt", "Muon"),
        ("Jets.pt", "Jet"),
        ("Muon.jt.pt", "jet"),
        ("Jet.muon.pt", "muons"),
        ("Jet.matched_muon.pt", "matched_muons"),
        ("GenPart.parents.pdgId", "parent"),
    ],
)
def test_errors_suggest_collections_and_references(pairs, text, meant):
    with pytest.raises(tm.QueryError) as error:
        pairs.arrays({"x": text})
    assert error.value.suggestions[0] == meant
    assert meant in str(error.value).split("did you mean")[1]


def test_errors_list_references(pairs):
    with raises(tm.QueryError, said="Muon has no vertex; it has pt, jetIdx, and"):
        pairs.arrays({"x": "Muon.vertex.x"})


def test_names_of_delphes_make_four_vectors(tmp_path):
    """Of a file made here: it has the names of Delphes's columns, not its TClonesArrays."""
    import uproot

    columns = {"PT": 30.0, "Eta": 0.1, "Phi": 0.2, "Mass": 5.0}
    with uproot.recreate(tmp_path / "delphes.root") as file:
        file["Delphes"] = {
            f"Jet.{name}": ak.Array([[value, value + 1], []]) for name, value in columns.items()
        }
    events = tm.dataset(tmp_path / "delphes.root")
    assert lists(events, "Jet.pt") == [[30, 31], []]
    mass = lists(events, "(Jet[0] + Jet[1]).mass")
    assert mass[0] == pytest.approx(44.6, abs=0.1)
    assert mass[1] is None
