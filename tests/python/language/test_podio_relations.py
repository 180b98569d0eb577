"""podio's relations in expressions. The file is made here: it has the fields of EDM4hep, as podio
writes RNTuples, and random objects. The same relations are followed one by one in Python."""

import random
import re
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot

TEXT = (Path(__file__).parents[3] / "docs" / "objects.md").read_text()
SECTION = TEXT.split("## EDM4hep")[1].split("Before podio 0.17")[0]
BLOCKS = re.findall(r"^```\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)

# The IDs that podio makes of these names.
IDS = {
    "Tracks": 1178900965,
    "RefittedTracks": 103623033,
    "MCParticles": 2714477136,
    "Vertices": 465625728,
    "Elsewhere": 77,  # not in the file
}


class Event:
    """Random objects of one event."""

    def __init__(self, rng):
        self.rng = rng
        self.columns = {}
        for name in ("Tracks", "RefittedTracks"):
            self.make(name, ("chi2", "ndf", "trackStates_begin"))
        self.make("Vertices", ("chi2",), position="x")
        self.make("MCParticles", ("PDG", "generatorStatus", "mass"), momentum="xyz")
        self.make("ReconstructedParticles", ("goodnessOfPID", "energy"))
        self.relate("ReconstructedParticles", "tracks", ["Tracks", "RefittedTracks", "Elsewhere"])
        self.relate("MCParticles", "parents", ["MCParticles"])
        self.relate("MCParticles", "daughters", ["MCParticles"])
        count = len(self.columns["ReconstructedParticles"])
        self.columns["_ReconstructedParticles_startVertex"] = [
            self.link(["Vertices", "Elsewhere"]) for _ in range(count)
        ]

    def make(self, name, members, **inner):
        """A collection; of `inner` members the parts."""
        rng = self.rng
        self.columns[name] = [
            {member: float(rng.randrange(1000)) for member in members}
            | {
                member: {part: rng.uniform(-5, 5) for part in parts}
                for member, parts in inner.items()
            }
            for _ in range(rng.randrange(4))
        ]

    def link(self, targets):
        target = self.rng.choice(targets)
        count = len(self.columns.get(target, ())) or 1
        return {"index": self.rng.randrange(-1, count), "collectionID": np.uint32(IDS[target])}

    def relate(self, name, member, targets):
        links = self.columns[f"_{name}_{member}"] = []
        for each in self.columns[name]:
            each[f"{member}_begin"] = len(links)
            links += [self.link(targets) for _ in range(self.rng.randrange(3))]
            each[f"{member}_end"] = len(links)

    def follow(self, link, *path):
        """What a link leads to; None if that is not there."""
        names = [name for name, key in IDS.items() if key == link["collectionID"]]
        items = self.columns.get(names[0], [])
        if not 0 <= link["index"] < len(items):
            return None
        found = items[link["index"]]
        for name in path:
            found = found[name]
        return found

    def related(self, name, member, *path):
        links = self.columns[f"_{name}_{member}"]
        return [
            [
                self.follow(link, *path)
                for link in links[each[f"{member}_begin"] : each[f"{member}_end"]]
            ]
            for each in self.columns[name]
        ]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The events, and the dataset of their file."""
    rng = random.Random(5)
    events = [Event(rng) for _ in range(200)]
    path = tmp_path_factory.mktemp("podio") / "events.root"
    with uproot.recreate(path) as file:
        names = events[0].columns
        columns = {name: ak.Array([event.columns[name] for event in events]) for name in names}
        file.mkrntuple("events", columns)
    return events, tm.dataset(path, tree="events")


def lists(dataset, text):
    return ak.to_list(dataset.arrays({"x": text})["x"])


def test_one_to_many(made):
    events, dataset = made
    tracks = [event.related("ReconstructedParticles", "tracks", "chi2") for event in events]
    assert lists(dataset, "ReconstructedParticles.tracks.chi2") == tracks
    parents = [event.related("MCParticles", "parents", "PDG") for event in events]
    assert lists(dataset, "MCParticles.parents.PDG") == parents
    assert sum(x is not None for event in tracks for reco in event for x in reco) > 50
    assert sum(x is None for event in tracks for reco in event for x in reco) > 50


def test_of_objects_that_loops_and_cuts_leave(made):
    events, dataset = made
    tracks = [event.related("ReconstructedParticles", "tracks", "chi2") for event in events]
    first = [[chi2[0] if chi2 else None for chi2 in event] for event in tracks]
    assert lists(dataset, "[r.tracks[0].chi2 for r in ReconstructedParticles]") == first
    assert lists(dataset, "ReconstructedParticles[0].tracks.chi2") == [
        event[0] if event else [] for event in tracks
    ]
    kept = [
        [
            len(chi2)
            for chi2, each in zip(found, event.columns["ReconstructedParticles"], strict=True)
            if each["energy"] > 500
        ]
        for found, event in zip(tracks, events, strict=True)
    ]
    assert (
        lists(dataset, "[len(r.tracks) for r in ReconstructedParticles if r.energy > 500]") == kept
    )
    some = [x for x, event in zip(tracks, events, strict=True) if len(event.columns["Tracks"]) > 1]
    cut = dataset.filter("len(Tracks) > 1")
    assert lists(cut, "ReconstructedParticles.tracks.chi2") == some


def test_relations_of_what_relations_lead_to(made):
    events, dataset = made
    expected = []
    for event in events:
        parents = event.related("MCParticles", "parents")
        below = event.related("MCParticles", "daughters", "PDG")
        places = {id(each): i for i, each in enumerate(event.columns["MCParticles"])}
        expected.append(
            [
                [len(below[places[id(each)]]) if each is not None else 0 for each in found]
                for found in parents
            ]
        )
    assert lists(dataset, "MCParticles.parents.momentum.x") == [
        event.related("MCParticles", "parents", "momentum", "x") for event in events
    ]
    assert [sum(map(sum, event)) for event in expected] == lists(
        dataset, "sum(len(p.daughters) for m in MCParticles for p in m.parents)"
    )


def test_one_to_one(made):
    events, dataset = made
    expected = [
        [
            event.follow(link, "position", "x")
            for link in event.columns["_ReconstructedParticles_startVertex"]
        ]
        for event in events
    ]
    assert lists(dataset, "ReconstructedParticles.startVertex.position.x") == expected
    assert sum(x is not None for event in expected for x in event) > 20


def test_four_vectors(made):
    events, dataset = made
    found = lists(dataset, "MCParticles.pt")
    expected = [
        [
            np.hypot(each["momentum"]["x"], each["momentum"]["y"])
            for each in event.columns["MCParticles"]
        ]
        for event in events
    ]
    assert np.allclose(ak.flatten(found), ak.flatten(expected))


def test_expressions_of_the_page(made):
    _, dataset = made
    texts = [text for block in BLOCKS for text in block.strip().splitlines()]
    assert len(texts) > 2
    found = dataset.arrays({text: text for text in texts})
    assert all(len(found[text]) == len(dataset) for text in texts)
