"""`schema=` of datasets, filesets and runs: names and coffea's classes, what expressions follow
under each, and which events coffea's processors get."""

import awkward as ak
import pytest
import treemill as tm
from treemill.data.object_schemas import coffeas, object_schema

from tests.corpus_files import corpus

nanoevents = pytest.importorskip("coffea.nanoevents", reason="coffea is not installed")
from coffea.processor import ProcessorABC  # noqa: E402

from tests.raising import raises  # noqa: E402

NANO, DELPHES = "coffea-nano_dy.root", "uproot-issue513.root"


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("nanoaod", "NanoAODSchema"),
        ("pfnano", "PFNanoAODSchema"),
        ("scouting", "ScoutingNanoAODSchema"),
        ("physlite", "PHYSLITESchema"),
        ("edm4hep", "EDM4HEPSchema"),
        ("delphes", "DelphesSchema"),
        ("treemaker", "TreeMakerSchema"),
        ("base", "BaseSchema"),
        ("fcc", "FCC"),
    ],
)
def test_names_and_classes_mean_the_same(name, theirs):
    known = object_schema(name)
    assert (known.name, known.coffea) == (name, theirs)
    assert object_schema(theirs) == object_schema(name.upper()) == known
    given = object_schema(getattr(nanoevents, theirs))
    assert (given.name, given.formats) == (name, known.formats)
    if name != "fcc":
        assert given.coffea is getattr(nanoevents, theirs)
        own = object_schema(type("OwnFunction", (getattr(nanoevents, theirs),), {}))
        assert (own.name, own.coffea.__name__) == (name, "OwnFunction")


def test_nothing_and_anything_else():
    assert object_schema("auto") is None
    assert object_schema(None) == object_schema("base")
    assert object_schema(nanoevents.PDUNESchema).formats == ()
    assert coffeas(nanoevents.FCC) == "FCC"
    for wrong in ("nanoad", 3, int, print):
        with raises(tm.QueryError, said="schema is one of"):
            object_schema(wrong)
    with pytest.raises(tm.QueryError) as error:
        tm.dataset(corpus(NANO), schema="nanoad")
    assert error.value.suggestions[0] == "nanoaod"
    with raises(tm.QueryError, about="schema"):
        tm.fileset({"dy": corpus(NANO)}, schema="root")


def test_expressions_follow_one_format():
    path = f"{corpus(NANO)}:Events"
    expected = tm.dataset(path).arrays({"x": "Muon.jet.pt"})["x"].to_list()
    for schema in ("nanoaod", nanoevents.NanoAODSchema, nanoevents.PFNanoAODSchema):
        events = tm.dataset(path, schema=schema)
        assert events.arrays({"x": "Muon.jet.pt"})["x"].to_list() == expected
        cut = events.filter("len(Muon) > 0").define("x", "Muon[0].jet.pt")
        assert cut.hist("x", bins=(5, 0, 100)).value.sum() > 0
    for schema in ("delphes", "physlite", None):
        events = tm.dataset(path, schema=schema)
        assert events.arrays({"x": "sum(Muon.pt)"})["x"].to_list()
        with raises(tm.QueryError, said="has no jet the dataset s schema is"):
            events.arrays({"x": "Muon.jet.pt"})
    fs = tm.fileset({"dy": path}, schema=None)
    with raises(tm.QueryError, said="the dataset s schema is base"):
        fs.hist("Muon.jet.pt", bins=(5, 0, 100)).value  # noqa: B018


class Names(ProcessorABC):
    """The fields of the events."""

    def process(self, events):
        return {"fields": {" ".join(sorted(events.fields))}}

    def postprocess(self, accumulator):
        return accumulator


def fields(dataset, **options):
    with tm.connect(workers=1) as session:
        (found,) = session.run(Names(), dataset, progress=False, **options)["fields"]
    return found.split()


def test_events_of_coffeas_processors():
    path = f"{corpus(DELPHES)}:Delphes"
    flat = fields(tm.dataset(path, schema=None))
    assert {"Jet.PT", "Jet_size"} <= set(flat)
    assert fields(tm.dataset(path), schema="base") == flat
    nano = f"{corpus(NANO)}:Events"
    assert "Muon" in fields(tm.dataset(nano, schema="nanoaod"))
    assert "Muon_pt" in fields(tm.dataset(nano, schema="BaseSchema"))
    assert "Muon_pt" in fields(tm.dataset(nano, schema="nanoaod"), schema="base")
    assert "Muon" in fields(tm.dataset(nano, schema=None), schema=nanoevents.NanoAODSchema)
    with raises(tm.QueryError, about="schema"):
        fields(tm.dataset(nano), schema="nano")


def test_selectors_have_their_own_events():
    class Counts(tm.Selector):
        def begin_worker(self, inputs):
            self.output["n"] = 0

        def process(self, events):
            self.output["n"] += int(ak.sum(events.nMuon))

    with tm.connect(workers=1) as session:
        dataset = tm.dataset(f"{corpus(NANO)}:Events", schema="nanoaod")
        found = session.run(Counts(), dataset, progress=False)["n"]
    assert found == sum(dataset.arrays("nMuon")["nMuon"].to_list())
