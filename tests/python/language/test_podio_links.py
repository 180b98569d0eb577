"""podio's links in expressions. The files are made here as podio writes them, with random objects;
links are followed one by one in Python."""

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
SECTION = TEXT.split("**Links** have two ends")[1].split("## Delphes")[0]
EXPRESSIONS = re.search(r"^```\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)[1].splitlines()

# The IDs that podio makes of these names.
IDS = {"Recos": 135576290, "OtherRecos": 1896577265, "MCParticles": 2714477136, "Elsewhere": 77}
LINKS = ("RecoMCLinks", "HitLinks")
TYPES = {
    "RecoMCLinks": "podio::LinkCollection<edm4hep::ReconstructedParticle,edm4hep::MCParticle>",
    "HitLinks": "podio::LinkCollection<mine::Hit,edm4hep::MCParticle>",
    "MCParticles": "edm4hep::MCParticleCollection",
}


def one_event(rng):
    columns = {
        name: [
            {"goodnessOfPID": 1.0, "tracks_begin": 0, "energy": rng.uniform(1, 9)}
            for _ in range(rng.randrange(4))
        ]
        for name in ("Recos", "OtherRecos")
    }
    columns["MCParticles"] = [
        {"PDG": rng.randrange(100), "generatorStatus": 1, "energy": rng.uniform(1, 9)}
        for _ in range(rng.randrange(4))
    ]

    def link(*targets):
        target = rng.choice(targets)
        count = len(columns.get(target, ())) or 1
        return {"index": rng.randrange(-1, count), "collectionID": np.uint32(IDS[target])}

    for name in LINKS:
        columns[name] = [{"weight": rng.random()} for _ in range(rng.randrange(5))]
        columns[f"_{name}_from"] = [link("Recos", "OtherRecos", "Elsewhere") for _ in columns[name]]
        columns[f"_{name}_to"] = [link("MCParticles") for _ in columns[name]]
    return columns


def followed(event, column, member):
    found = []
    for link in event[column]:
        name = next(name for name, key in IDS.items() if key == link["collectionID"])
        items, index = event.get(name, []), link["index"]
        found.append(items[index][member] if 0 <= index < len(items) else None)
    return found


def write(path, events, **tables):
    with uproot.recreate(path) as file:
        columns = {name: ak.Array([event[name] for event in events]) for name in events[0]}
        file.mkrntuple("events", columns)
        for name, columns in tables.items():
            file.mkrntuple(name, {each: ak.Array([rows]) for each, rows in columns.items()})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    rng = random.Random(11)
    events = [one_event(rng) for _ in range(200)]
    folder = tmp_path_factory.mktemp("links")
    info = [{"name": name, "dataType": told, "collectionID": 1} for name, told in TYPES.items()]
    write(folder / "new.root", events, podio_metadata={"events___CollectionTypeInfo": info})
    write(folder / "bare.root", events)
    return events, folder


def lists(dataset, text):
    return ak.to_list(dataset.arrays({"x": text})["x"])


def test_ends(made):
    events, folder = made
    dataset = tm.dataset(folder / "new.root", tree="events")
    for end, member in (("from", "energy"), ("to", "PDG")):
        expected = [followed(event, f"_RecoMCLinks_{end}", member) for event in events]
        assert lists(dataset, f"RecoMCLinks.{end}.{member}") == expected
        assert sum(x is not None for event in expected for x in event) > 50


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_what_the_docs_say(made, text):
    assert len(lists(tm.dataset(made[1] / "new.root", tree="events"), text)) == 200


def test_varied_members(made):
    events, folder = made
    dataset = tm.dataset(folder / "new.root", tree="events")
    varied = dataset.vary("MCParticles.energy", {"up": "MCParticles.energy * 2"}, name="scale")
    total = varied.sum("sum(RecoMCLinks.to.energy)").value
    found = [x for event in events for x in followed(event, "_RecoMCLinks_to", "energy") if x]
    assert total.nominal == pytest.approx(sum(found))
    assert total["scale:up"] == pytest.approx(2 * sum(found))


@pytest.mark.parametrize(
    ("file", "text"), [("bare.root", "RecoMCLinks.to.PDG"), ("new.root", "HitLinks.from.energy")]
)
def test_ends_of_classes_that_are_not_known_are_refused(made, file, text):
    with raises(tm.QueryError, said="collections IDs and classes"):
        lists(tm.dataset(made[1] / file, tree="events"), text)
