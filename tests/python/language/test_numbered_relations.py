"""Relations of podio before 0.17 in expressions: numbered, with a table of collections. The file
is made here, with random objects; relations are followed one by one in Python. FCC's own files
have trees of the same names."""

import random
import re
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot

from tests.raising import raises

TEXT = (Path(__file__).parents[3] / "docs" / "objects.md").read_text()
SECTION = TEXT.split("relations have numbers")[1].split("## Delphes")[0]
EXPRESSIONS = re.search(r"^```\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)[1].splitlines()
IDS = {"Particle": 5, "ReconstructedParticles": 7, "EFlowTrack": 13, "Elsewhere": 4}
NOTHING = {"index": -1, "collectionID": -2}


def one_event(rng):
    """Columns of random objects."""
    columns = {
        "Particle": [
            {"PDG": float(rng.randrange(100)), "generatorStatus": 1.0}
            for _ in range(rng.randrange(4))
        ],
        "EFlowTrack": [
            {"ndf": float(i), "trackStates_begin": 0} for i in range(1, rng.randrange(1, 4))
        ],
        "ReconstructedParticles": [
            {"goodnessOfPID": 1.0, "energy": rng.random()} for _ in range(rng.randrange(4))
        ],
    }

    def link(*targets):
        target = rng.choice(targets)
        if not columns.get(target):
            return {"index": 0, "collectionID": IDS["Elsewhere"]}
        return {"index": rng.randrange(len(columns[target])), "collectionID": IDS[target]}

    for number, (owner, member, targets) in enumerate(
        [
            ("Particle", "parents", ["Particle"]),
            ("Particle", "daughters", ["Particle"]),
            ("ReconstructedParticles", "clusters", ["Elsewhere"]),
            ("ReconstructedParticles", "tracks", ["EFlowTrack", "Elsewhere"]),
        ]
    ):
        links = columns[f"{owner}#{number % 2}"] = []
        for each in columns[owner]:
            each[f"{member}_begin"] = len(links)
            links += [link(*targets) for _ in range(rng.randrange(3))]
            each[f"{member}_end"] = len(links)
    columns["MCRecoAssociations"] = [{"weight": 1.0} for _ in range(rng.randrange(3))]
    for number, target in enumerate(("ReconstructedParticles", "Particle")):
        columns[f"MCRecoAssociations#{number}"] = [
            link(target) for _ in columns["MCRecoAssociations"]
        ]
    return columns


def follow(event, link, member):
    names = [name for name, key in IDS.items() if key == link["collectionID"]]
    items = event.get(names[0], []) if names else []
    return items[link["index"]][member] if 0 <= link["index"] < len(items) else None


def related(event, owner, number, relation, member):
    links = event[f"{owner}#{number}"]
    return [
        [
            follow(event, link, member)
            for link in links[each[f"{relation}_begin"] : each[f"{relation}_end"]]
        ]
        for each in event[owner]
    ]


def write(path, events, with_table):
    with uproot.recreate(path) as file:
        columns = {name: ak.Array([event[name] for event in events]) for name in events[0]}
        file.mkrntuple("events", columns)
        if with_table:
            ids = np.array([[*IDS.values()]], np.int32)
            file.mkrntuple("metadata", {"m_names": ak.Array([[*IDS]]), "m_collectionIDs": ids})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    rng = random.Random(7)
    events = [one_event(rng) for _ in range(200)]
    folder = tmp_path_factory.mktemp("fcc")
    write(folder / "events.root", events, True)
    write(folder / "bare.root", events, False)
    return events, folder


def lists(dataset, text):
    return ak.to_list(dataset.arrays({"x": text})["x"])


def test_relations(made):
    events, folder = made
    dataset = tm.dataset(folder / "events.root", tree="events")
    for text, *what in (
        ("Particle.parents.PDG", "Particle", 0, "parents", "PDG"),
        ("Particle.daughters.PDG", "Particle", 1, "daughters", "PDG"),
        ("ReconstructedParticles.tracks.ndf", "ReconstructedParticles", 1, "tracks", "ndf"),
    ):
        assert lists(dataset, text) == [related(event, *what) for event in events]
    for number, (member, of) in enumerate((("rec", "energy"), ("sim", "PDG"))):
        assert lists(dataset, f"MCRecoAssociations.{member}.{of}") == [
            [follow(event, link, of) for link in event[f"MCRecoAssociations#{number}"]]
            for event in events
        ]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_what_the_docs_say(made, text):
    for schema in ("auto", "fcc", "edm4hep"):
        dataset = tm.dataset(made[1] / "events.root", tree="events", schema=schema)
        assert len(lists(dataset, text)) == 200


def test_without_the_table_they_are_refused(made):
    dataset = tm.dataset(made[1] / "bare.root", tree="events")
    with raises(tm.QueryError, said="table of collections IDs"):
        lists(dataset, "Particle.parents.PDG")


def test_another_schema_knows_none(made):
    dataset = tm.dataset(made[1] / "events.root", tree="events", schema="delphes")
    with raises(tm.QueryError, said="the dataset s schema is delphes"):
        lists(dataset, "Particle.parents.PDG")
