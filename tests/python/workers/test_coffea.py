"""coffea's own processors, unmodified, beside coffea's own runner; numba on chunks."""

from importlib.metadata import PackageNotFoundError

import awkward as ak
import hist
import numpy as np
import pytest
import treemill as tm
from treemill.session.api import connect
from treemill.workers import chain_chunks

from tests.raising import raises


@pytest.fixture(scope="module")
def processor():
    coffea = pytest.importorskip("coffea.processor", reason="coffea is not installed")
    from coffea.nanoevents.methods import vector

    class Dimuons(coffea.ProcessorABC):
        """As in coffea's documentation: behaviours, metadata, accumulators of accumulators."""

        def __init__(self, cut):
            self.cut = cut

        def process(self, events):
            dataset = events.metadata["dataset"]
            muons = events.Muon[events.Muon.pt > self.cut]
            pairs = muons[(ak.num(muons) == 2) & (ak.sum(muons.charge, axis=1) == 0)]
            both = pairs[:, 0] + pairs[:, 1]
            made = ak.zip(
                {"pt": muons.pt, "eta": muons.eta, "phi": muons.phi, "mass": muons.mass},
                with_name="PtEtaPhiMLorentzVector",
                behavior=vector.behavior,
            )
            mass = (
                hist.Hist.new.StrCat([], growth=True, name="dataset")
                .Reg(60, 0, 120, name="mass")
                .Double()
                .fill(dataset=dataset, mass=both.mass)
            )
            return {
                dataset: {
                    "entries": len(events),
                    "mass": mass,
                    "dr": coffea.column_accumulator(np.asarray(pairs[:, 0].delta_r(pairs[:, 1]))),
                    "met": float(np.sum(np.asarray(events.MET.pt, float))),
                    "wrong": int(ak.sum(abs(made.energy - muons.energy) > 1e-3)),
                    "sums": coffea.defaultdict_accumulator(int, {"pairs": len(pairs)}),
                }
            }

        def postprocess(self, accumulator):
            for each in accumulator.values():
                each["scaled"] = each["mass"] / each["entries"]
            return accumulator

    return Dimuons


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_a_processor_does_what_it_does_in_coffea(processor, paths, mode, shared_session):
    from coffea import processor as coffea
    from coffea.nanoevents import NanoAODSchema

    run = coffea.Runner(coffea.IterativeExecutor(status=False), schema=NanoAODSchema, chunksize=999)
    files = {"dy": {"files": dict.fromkeys(paths, "Events")}}
    expected = run(files, processor_instance=processor(3.0))["dy"]
    session = shared_session(2, mode)
    found = session.run(processor(3.0), tm.dataset(paths, "Events", name="dy"))["dy"]
    assert found["entries"] == expected["entries"] == 12322
    assert found["mass"].sum() == expected["mass"].sum() > 10
    # In double precision coffea's sums may differ in the last place from chunk to chunk.
    np.testing.assert_array_equal(found["mass"].values(), expected["mass"].values())
    np.testing.assert_allclose(found["scaled"].values(), expected["scaled"].values())
    np.testing.assert_allclose(sorted(found["dr"].value), sorted(expected["dr"].value), rtol=1e-6)
    assert found["met"] == pytest.approx(expected["met"], rel=1e-9)
    assert found["sums"] == expected["sums"]
    assert found["wrong"] == expected["wrong"] == 0


@pytest.fixture(scope="module")
def results():
    coffea = pytest.importorskip("coffea.processor", reason="coffea is not installed")

    class Results(coffea.ProcessorABC):
        """Gives what it is told to."""

        def __init__(self, make):
            self.make = make

        def process(self, events):
            return self.make(events)

        def postprocess(self, accumulator):
            return None

    return Results


def several(events):
    return {
        "name": events.metadata["dataset"],
        "year": {events.metadata["year"]: {"scaled": [len(events) * events.metadata["xsec"]]}},
        "is_mc": hasattr(events, "genWeight"),
        "numpy": np.bool_(True),
        "none": None,
        "max": ak.max(events.Jet.pt, axis=None),
        "n": ak.num(events, axis=0),
        "n0": np.asarray(len(events)),
        "pairs": (("dy", 1),),
        "nested": {"sets": {"a": {1}}, "lists": [[1, [2]], {"x": "y"}]},
        "hist": hist.Hist.new.Reg(10, 0, 100, name="x").Double().fill(events.MET_pt),
        "arrays": {"numpy": np.ones((2, 3)), "awkward": events.Muon.pt[:1]},
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_all_that_processors_return(results, paths, truth, mode, shared_session):
    events = tm.dataset(paths, "Events", name="dy", metadata={"year": "2018", "xsec": 2.0})
    session = shared_session(2, mode)
    found = session.run(results(several), events)
    wholes = [
        session.run(
            results(lambda events: np.bincount(np.asarray(events.nMuon), minlength=9)), events
        ),
        session.run(results(lambda events: len(events)), events),
        session.run(results(lambda events: [len(events)]), events),
    ]
    constants = [found[name] for name in ("name", "is_mc", "numpy", "none")]
    assert constants == ["dy", True, True, None]
    assert sum(found["year"]["2018"]["scaled"]) == 2 * len(truth)
    assert found["n"] == found["n0"] == len(truth)
    assert found["hist"].sum(flow=True) == len(truth)
    chunks = len(found["pairs"])
    assert found["pairs"] == (("dy", 1),) * chunks
    assert found["nested"] == {"sets": {"a": {1}}, "lists": [[1, [2]], {"x": "y"}] * chunks}
    assert found["arrays"]["numpy"].tolist() == np.full((2, 3), chunks).tolist()
    assert len(found["arrays"]["awkward"]) == chunks
    assert wholes[0].tolist() == np.bincount(truth.nMuon, minlength=9).tolist()
    assert wholes[1] == sum(wholes[2]) == len(truth)


@pytest.mark.filterwarnings("ignore")
def test_text_that_differs_is_refused_by_name(results, events):
    def process(chunk):
        return {"start": str(chunk.metadata["entrystart"])}

    with connect(workers=1) as session, raises(tm.QueryError, said="start set"):
        session.run(results(process), events)


@pytest.mark.filterwarnings("ignore")
def test_a_processor_on_some_of_the_entries(results, events, truth):
    """References go from one collection to another all the same."""

    def process(chunk):
        pairs = chunk.Muon[:, :1].nearest(chunk.Jet)
        return {"n": len(chunk), "ht": float(ak.sum(chunk.ht)), "pt": float(ak.sum(pairs.pt))}

    some = events.filter("nMuon >= 2").define("ht", "sum(Jet_pt)")
    with connect(workers=2) as session:
        found = session.run(results(process), some)
        every = session.run(
            results(lambda chunk: process(with_ht(chunk[ak.num(chunk.Muon, axis=1) >= 2]))), events
        )
    assert found["n"] == every["n"] == int(ak.sum(truth.nMuon >= 2))
    assert found["ht"] == pytest.approx(every["ht"], rel=1e-6)
    assert found["pt"] == pytest.approx(every["pt"], rel=1e-6)


def with_ht(chunk):
    return ak.with_field(chunk, ak.sum(ak.values_astype(chunk.Jet.pt, float), axis=1), "ht")


def hard_jets(numba):
    @numba.njit
    def count(events, cut):
        number = 0
        for event in events:
            if event.nMuon >= 1:
                for pt in event.Jet_pt:
                    number += pt > cut
        return number

    return count


@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_numba_on_the_records_of_a_chunk(events, truth, mode, shared_session):
    numba = pytest.importorskip("numba", reason="numba is not installed")
    count = hard_jets(numba)

    def selector(chunk):
        return {"n": int(count(chunk[["nMuon", "Jet_pt"]], 30.0)), "chunks": 1}

    session = shared_session(2, mode)
    found = session.run(selector, events)
    assert found["n"] == int(ak.sum(truth.Jet_pt[truth.nMuon >= 1] > 30))
    assert found["chunks"] > 2


class Jets(tm.Selector):
    collections = True

    def process(self, events):
        return {"n": int(count_in_collection(events[["Jet"]]))}


def count_in_collection(events):
    import numba

    @numba.njit
    def count(events):
        number = 0
        for event in events:
            for jet in event.Jet:
                number += jet.pt > 30 and abs(jet.eta) < 2
        return number

    return count(events)


@pytest.mark.slow
def test_numba_on_collections(events, truth):
    pytest.importorskip("numba", reason="numba is not installed")
    with connect(workers=1) as session:
        found = session.run(Jets(), events)
    assert found["n"] == int(ak.sum((truth.Jet_pt > 30) & (abs(truth.Jet_eta) < 2)))


@pytest.mark.filterwarnings("ignore:Missing cross-reference")
def test_counts_have_a_description_as_older_versions_of_coffea_want(events):
    nanoevents = pytest.importorskip("coffea.nanoevents", reason="coffea is not installed")

    class Strict(nanoevents.NanoAODSchema):
        event_ids = ()

        def __init__(self, base_form, *args, **options):
            forms = dict(zip(base_form["fields"], base_form["contents"], strict=True))
            assert forms["nMuon"]["parameters"]["__doc__"]
            super().__init__(base_form, *args, **options)

    with connect(workers=1) as session:
        found = session.run(lambda chunk: {"n": int(ak.sum(chunk.nMuon))}, events, schema=Strict)
    assert found["n"] == events.sum("nMuon").value


def test_a_coffea_that_is_too_old_or_absent_is_an_error_that_says_so(events, monkeypatch):
    def count(chunk):
        return {"n": len(chunk)}

    monkeypatch.setattr(chain_chunks, "version", lambda name: "2025.3.0")
    with (
        connect(workers=1) as session,
        raises(tm.UnsupportedError, said="2025 7 0 or newer this is 2025 3 0: pip"),
    ):
        session.run(count, events, schema="nanoaod")

    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(chain_chunks, "version", absent)
    monkeypatch.setattr(chain_chunks, "find_spec", lambda name: None)
    with (
        connect(workers=1) as session,
        raises(tm.UnsupportedError, said="need coffea: pip install coffea"),
    ):
        session.run(count, events, schema="nanoaod")
