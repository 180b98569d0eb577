"""ATLAS's element links in expressions: of a real PHYSLITE file (an RNTuple), beside the same links
followed one by one in Python."""

import re
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import treemill as tm

from tests.corpus_files import corpus
from tests.raising import raises

TEXT = (Path(__file__).parents[3] / "docs" / "objects.md").read_text()
FILES = Path(__file__).parents[2] / "files"
SECTION = TEXT.split("## PHYSLITE")[1].split("## EDM4hep")[0]
BLOCKS = re.findall(r"^```\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)

# Keys of containers, as ATLAS's own tests list them or as real files hold them.
KEYS = {
    "InDetTrackParticles": 0x1D3890DB,
    "GSFTrackParticles": 0x2E42DB0B,
    "CombinedMuonTrackParticles": 0x340D9196,
    "ExtrapolatedMuonTrackParticles": 0x14E35E9F,
    "egammaClusters": 0x15788D1F,
    "AnalysisJets": 0x1AFD1919,
    "BTagging_AntiKt4EMPFlow": 0x22B52F7B,
    "PrimaryVertices": 0x37D14597,
    "TruthElectrons": 394100163,
    "TruthMuons": 342174277,
    "TruthPhotons": 13267281,
    "TruthTaus": 375408000,
    "TruthNeutrinos": 368360608,
    "TruthBottom": 779635413,
    "TruthBoson": 614719239,
    "TruthTop": 660928181,
}
TRACKS = [name for name in KEYS if "Track" in name]
TRUTH = [name for name in KEYS if "Truth" in name]

# The expression; the container and its link; what it may lead to; the member.
LINKS = [
    ("Electrons.trackParticles.phi", "AnalysisElectrons", "trackParticleLinks", TRACKS, "phi"),
    (
        "AnalysisElectrons.trackParticles.z0",
        "AnalysisElectrons",
        "trackParticleLinks",
        TRACKS,
        "z0",
    ),
    (
        "Electrons.caloClusters.calE",
        "AnalysisElectrons",
        "caloClusterLinks",
        ["egammaClusters"],
        "calE",
    ),
    (
        "Photons.caloClusters.calE",
        "AnalysisPhotons",
        "caloClusterLinks",
        ["egammaClusters"],
        "calE",
    ),
    ("Muons.inDetTrackParticle.d0", "AnalysisMuons", "inDetTrackParticleLink", TRACKS, "d0"),
    ("Muons.trackParticle.phi", "AnalysisMuons", "combinedTrackParticleLink", TRACKS, "phi"),
    (
        "Jets.btagging.DL1dv01_pb",
        "AnalysisJets",
        "btaggingLink",
        ["BTagging_AntiKt4EMPFlow"],
        "DL1dv01_pb",
    ),
    (
        "EventInfo.hardScatterVertex.z",
        "EventInfo",
        "hardScatterVertexLink",
        ["PrimaryVertices"],
        "z",
    ),
    ("Electrons.Truth.pdgId", "AnalysisElectrons", "TruthLink", TRUTH, "pdgId"),
    ("TauJets.truthParticle.px", "AnalysisTauJets", "truthParticleLink", TRUTH, "px"),
    ("TruthBottom.children.pdgId", "TruthBottom", "childLinks", TRUTH, "pdgId"),
    ("TruthElectrons.parents.pdgId", "TruthElectrons", "parentLinks", TRUTH, "pdgId"),
]


@pytest.fixture(scope="module")
def events():
    return tm.dataset(corpus("uproot-physlite-rntuple_v1-0-0-0.root"), tree="EventData")


def column(events, container, member):
    name = f"{container}AuxDyn:{member}"
    return ak.to_list(events.arrays([name])[name])


def followed(events, container, link, targets, member):
    known = {KEYS[name]: column(events, name, member) for name in targets}

    def walk(index, key, entry):
        if isinstance(index, list):
            return [walk(*pair, entry) for pair in zip(index, key, strict=True)]
        items = known.get(key)
        return None if items is None else items[entry][index]

    indices = column(events, container, f"{link}.m_persIndex")
    keys = column(events, container, f"{link}.m_persKey")
    return [walk(*pair, entry) for entry, pair in enumerate(zip(indices, keys, strict=True))]


@pytest.mark.parametrize("row", LINKS, ids=[row[0] for row in LINKS])
def test_links(events, row):
    text, container, link, targets, member = row
    expected = followed(events, container, link, targets, member)
    assert ak.to_list(events.arrays({"x": text})["x"]) == expected
    assert ak.count(ak.Array(expected)) > 0


def test_of_objects_that_loops_and_cuts_leave(events):
    whole = followed(events, "AnalysisElectrons", "trackParticleLinks", TRACKS, "phi")
    pt = column(events, "AnalysisElectrons", "pt")
    found = events.arrays(
        {
            "first": "[e.trackParticles[0].phi for e in Electrons]",
            "hard": "[len(e.trackParticles) for e in Electrons if e.pt > 20000]",
            "one": "Electrons[0].trackParticles[0].phi",
        }
    )
    first = [[tracks[0] if tracks else None for tracks in event] for event in whole]
    assert ak.to_list(found["first"]) == first
    assert ak.to_list(found["one"]) == [event[0] if event else None for event in first]
    assert ak.to_list(found["hard"]) == [
        [len(tracks) for tracks, value in zip(event, values, strict=True) if value > 20000]
        for event, values in zip(whole, pt, strict=True)
    ]


def test_a_track_has_a_momentum(events):
    raw = {name: column(events, "InDetTrackParticles", name) for name in ("qOverP", "theta")}
    curvature, theta = (ak.flatten(raw[name]) for name in ("qOverP", "theta"))
    names = {name: f"InDetTrackParticles.{name}" for name in ("pt", "pz", "eta", "p")}
    whole = events.arrays(names)
    found = {name: ak.to_numpy(ak.flatten(whole[name])) for name in names}
    momentum = 1 / np.abs(ak.to_numpy(curvature))
    assert np.allclose(found["p"], momentum)
    assert np.allclose(found["pt"], momentum * np.sin(theta))
    assert np.allclose(found["pz"], momentum * np.cos(theta))
    assert np.allclose(found["eta"], -np.log(np.tan(ak.to_numpy(theta) / 2)))


def test_names_without_the_format_s_own_words(events):
    found = events.arrays({"a": "Electrons.pt", "b": "EventInfo.eventNumber"})
    assert ak.to_list(found["a"]) == column(events, "AnalysisElectrons", "pt")
    assert ak.to_list(found["b"]) == column(events, "EventInfo", "eventNumber")
    mass = events.arrays({"x": "(Jets[0] + Jets[1]).mass"})["x"]
    assert ak.count(mass) > 50


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Electrons.ambiguity.pt",
            "Electrons.ambiguity is not followed: the ElementLink AnalysisElectronsAuxDyn:ambiguity"
            "Link leads to the containers Electrons and Photons",
        ),
        (
            "PrimaryVertices.neutralParticles.pt",
            "the ElementLink PrimaryVerticesAuxDyn:neutralParticleLinks leads to a container that "
            "treemill's table of links lacks; its indices are "
            "PrimaryVertices.neutralParticleLinks.m_persIndex",
        ),
        (
            "Muons.muonSegments.x",
            "Muons.muonSegments refers to MuonSegments, and there is no collection MuonSegments; "
            "its indices are Muons.muonSegmentLinks.m_persIndex",
        ),
        (
            "LargeRJets.constituents.pt",
            "refers to one of TruthParticles, UFOCSSK, and there is none of them",
        ),
    ],
)
def test_links_that_are_not_followed_are_no_typing_errors(events, text, said):
    with pytest.raises(tm.QueryError, match=re.escape(said)) as error:
        events.arrays({"x": text})
    assert error.value.suggestions == ()
    if "its indices are " in error.value.message:
        indices = error.value.message.split("its indices are ")[1]
        assert len(events.arrays({"x": indices})["x"]) == len(events)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Electron.pt", "Electrons"),
        ("jets.pt", "Jets"),
        ("Electrons.trackParticle.pt", "trackParticles"),
        ("Muons.inDetTrack.pt", None),
    ],
)
def test_errors_suggest_collections_and_references(events, text, meant):
    with pytest.raises(tm.QueryError) as error:
        events.arrays({"x": text})
    if meant is None:
        assert "and refers to" in str(error.value)
        assert "inDetTrackParticle" in str(error.value)
    else:
        assert error.value.suggestions[0] == meant


def test_an_index_after_a_list_of_lists_takes_one_object_s_list(events):
    whole = followed(events, "AnalysisElectrons", "trackParticleLinks", TRACKS, "phi")
    found = events.arrays({"x": "Electrons.trackParticles[0].phi"})["x"]
    assert ak.to_list(found) == [event[0] if event else [] for event in whole]


def test_expressions_of_the_page(events):
    texts = [text for block in BLOCKS for text in block.strip().splitlines()]
    assert len(texts) > 2
    found = events.arrays({text: text for text in texts})
    assert all(len(found[text]) == len(events) for text in texts)


@pytest.mark.parametrize("split", [True, False], ids=["RNTuple", "TTree"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("AnalysisElectronsAuxDyn.pt", "sum(Electrons.pt)"),
        ("AnalysisElectronsAuxDyn.pt", "sum(AnalysisElectrons.pt)"),
        ("AnalysisElectronsAuxDyn.pt", "sum(e.px for e in Electrons if e.pt > 20000)"),
        ("GSFTrackParticlesAuxDyn.qOverP", "sum(e.trackParticles[0].pt for e in Electrons)"),
        ("CombinedMuonTrackParticlesAuxDyn.d0", "sum(Muons.trackParticle.d0)"),
    ],
)
def test_variations_are_seen_by_shorter_names_and_through_links(events, split, name, text):
    if split:
        name = name.replace(".", ":")
    else:
        events = tm.dataset(FILES / "physlite.root", tree="CollectionTree")
    twice = f"2 * `{name}`"
    found = events.vary(f"`{name}`", {"up": twice}, name="v").sum(text).value
    alone = events.define(f"`{name}`", twice).sum(text).value
    assert found == {"nominal": events.sum(text).value, "v:up": alone}
    assert found["v:up"] != found["nominal"]


def test_collections_and_members_vary_by_their_shorter_names(events):
    total, both = "sum(e.pt for e in Electrons)", ("Electrons.pt", "2 * Electrons.pt")
    for name, text in (("Electrons", "[e for e in Electrons if e.pt > 20000]"), both):
        found = events.vary(name, {"up": text}, name="v").sum(total).value
        alone = events.define(name, text).sum(total).value
        assert found == {"nominal": events.sum(total).value, "v:up": alone}
        assert found["v:up"] != found["nominal"]
    with raises(tm.QueryError, said="no column Electrons.ptt that vary"):
        events.vary("Electrons.ptt", {"up": "Electrons.pt"}).sum(total).value  # noqa: B018
