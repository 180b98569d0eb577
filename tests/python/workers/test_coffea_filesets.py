"""coffea's filesets, schemas and options of its Runner, beside coffea's own runner."""

import gzip
import json
import uuid

import awkward as ak
import hist
import numpy as np
import pytest
import treemill as tm
import uproot
from hypothesis import given, settings
from hypothesis import strategies as st
from treemill.session.api import connect

coffea = pytest.importorskip("coffea.processor", reason="coffea is not installed")

from coffea.nanoevents import (  # noqa: E402
    BaseSchema,
    NanoAODSchema,
    NanoEventsFactory,
    PFNanoAODSchema,
    PHYSLITESchema,
    ScoutingNanoAODSchema,
    TreeMakerSchema,
)

from tests.raising import raises  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


class PerDataset(coffea.ProcessorABC):
    """What a chunk is told of where it is from, by dataset."""

    def process(self, events):
        told = events.metadata
        met = hist.Hist.new.StrCat([], growth=True, name="dataset").Reg(20, 0, 100).Double()
        dataset = told["dataset"]
        return {
            dataset: {
                "n": len(events),
                "pt": float(np.sum(np.asarray(ak.flatten(events.Muon.pt), float))),
                "xsec": {told.get("xsec")},
                "files": {(told["filename"], told["treename"], told["fileuuid"])},
            },
            "met": met.fill(dataset, np.asarray(events.MET.pt)),
        }

    def postprocess(self, accumulator):
        accumulator["datasets"] = sorted(set(accumulator) - {"met"})
        return accumulator


def of(paths):
    """Filesets, and which of their forms coffea's Runner takes as well."""
    tree = {"object_path": "Events"}
    cut = {**tree, "steps": [[0, 100], [4000, 4100]], "num_entries": 5000, "uuid": "x"}
    whole = {**tree, "steps": [[0, 4000], [4000, 5000]], "num_entries": 5000, "uuid": "x"}
    dy, tt = paths[:2], paths[2:]
    return {
        "trees": ({"dy": {"files": dict.fromkeys(dy, "Events"), "metadata": {"xsec": 6.0}},
                   "tt": {"files": dict.fromkeys(tt, "Events")}}, True),
        "lists": ({"dy": {"treename": "Events", "files": dy}, "tt": {"treename": "Events",
                   "files": tt, "metadata": {"xsec": 2}}}, True),
        "bare": ({"dy": dy, "tt": tt}, False),
        "whole": ({"dy": {"files": {paths[0]: whole, paths[1]: tree}}, "tt": {"files": tt}}, False),
        "steps": ({"dy": {"files": {paths[0]: cut, paths[1]: tree}}, "tt": {"files": tt}}, False),
    }  # fmt: skip


FORMS = ["trees", "lists", "bare", "whole", "steps"]


@pytest.mark.parametrize("form", FORMS)
def test_filesets(paths, form):
    given, runs = of(paths)[form]
    with connect(workers=2) as session:
        found = session.run(PerDataset(), given)
    assert found["datasets"] == ["dy", "tt"]
    assert found["dy"]["n"] == (201 if form == "steps" else 5001)
    assert found["tt"]["n"] == found["met"]["tt", ::sum] == 7321
    if runs:
        run = coffea.Runner(
            coffea.IterativeExecutor(status=False),
            schema=NanoAODSchema,
            metadata_cache={},  # else coffea's, where a file has the metadata of an earlier run
        )
        expected = run(given, processor_instance=PerDataset())
        for name in ("dy", "tt"):
            assert found[name]["pt"] == pytest.approx(expected[name].pop("pt"), rel=1e-9)
            assert {**expected[name], "pt": found[name]["pt"]} == found[name]


def test_filesets_as_datasets(paths, tmp_path):
    given, _ = of(paths)["lists"]
    packed = tmp_path / "fileset.json.gz"
    packed.write_bytes(gzip.compress(json.dumps(given).encode()))
    for each in (given, packed, str(packed), given["dy"] | {"files": paths}):
        assert tm.dataset(each).count().value == 12322
    cut, _ = of(paths)["steps"]
    assert tm.dataset(cut["dy"]).count().value == 201
    assert tm.dataset(cut["dy"]["files"]).count().value == 201
    run = np.asarray(tm.dataset(cut["dy"]).arrays(["event"]).event)
    all_of_it = np.asarray(tm.dataset(paths[:2], "Events").arrays(["event"]).event)
    assert run.tolist() == [*all_of_it[:100], *all_of_it[4000:4100], *all_of_it[5000:]]


def test_filesets_of_coffeas_own_classes(paths):
    specs = pytest.importorskip("coffea.dataset_tools.filespec")
    spec = specs.DataGroupSpec({"dy": {"files": dict.fromkeys(paths, "Events")}})
    assert tm.run(PerDataset(), spec)["dy"]["n"] == 12322


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"dy": {"treename": "Events"}, "tt": {"files": []}}, "'dy' of a fileset .*files"),
        ({"dy": {"files": ["{0}"], "metadata": {"filename": "x"}}}, "metadata 'filename'"),
        ({"dy": {"files": ["{0}"], "format": "parquet"}}, "parquet"),
        ({"dy": {"files": {"{0}": 3}}}, "a name, not 3"),
        ({"dy": {"files": {"{0}": {"object_path": "Events", "steps": [3]}}}}, "pairs"),
        ({"dy": {"files": {"{0}": {"object_path": "Events", "steps": [[5, 9], [0, 6]]}}}}, "over"),
        ({"dy": {"files": {"{0}": {"object_path": "Events", "steps": [[0, 9999]]}}}}, "has 5000"),
        ({"dy": {"files": {"/no/such.root": "Events"}}}, "no such file"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_filesets_that_cannot_be_understood(paths, given, message):
    written = json.loads(json.dumps(given).replace("{0}", paths[0]))
    with pytest.raises(tm.TreemillError, match=message):
        tm.dataset(written)


class Handle(coffea.ProcessorABC):
    """Looks into the file, as for trees and histograms beside the events."""

    def process(self, events):
        file = events.attrs["@events_factory"].file_handle
        same = str(file.file.uuid) == events.metadata["fileuuid"]
        return {"same": same, "entries": {file["Events"].num_entries}}

    def postprocess(self, accumulator):
        return None


@pytest.mark.parametrize("schema", [None, BaseSchema, PHYSLITESchema])
def test_the_file_behind_the_events(paths, schema):
    found = tm.run(Handle(), {"dy": {"files": dict.fromkeys(paths, "Events")}}, schema=schema)
    assert found == {"same": True, "entries": {5000, 1, 7321}}
    told = str(uuid.UUID(bytes=uproot.open(paths[0]).file.fUUID))
    with connect(workers=1) as session:
        events = tm.dataset(paths[0], "Events")
        seen = session.run(
            lambda chunk: {"id": {chunk.metadata["fileuuid"]}}, events, schema=BaseSchema
        )
    assert seen == {"id": {told}}


@pytest.fixture(scope="module")
def flat(tmp_path_factory):
    """A tree in a directory that several schemas make something of."""
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 4, 3000)

    def jets():
        return ak.unflatten(rng.random(int(counts.sum())), counts)

    columns = {"Jets_pt": jets(), "Jets_eta": jets(), "MET": rng.random(3000)}
    path = tmp_path_factory.mktemp("schemas") / "flat.root"
    with uproot.recreate(path) as file:
        types = {"Jets_pt": "var * float64", "Jets_eta": "var * float64", "MET": "float64"}
        file.mktree("deep/PreSelection", types).extend(columns)
    return str(path)


class Columns(coffea.ProcessorABC):
    """All that there is."""

    def process(self, events):
        found = {}
        for name in events.fields:
            members = ak.fields(events[name])
            for member in members or [None]:
                array = events[name] if member is None else events[name, member]
                if not ak.fields(array):
                    found[f"{name}/{member}"] = ak.without_parameters(array)
        return {"columns": found, "names": set(events.fields)}

    def postprocess(self, accumulator):
        return None


OTHERS = [TreeMakerSchema, PHYSLITESchema, BaseSchema]


@pytest.mark.parametrize("schema", OTHERS, ids=lambda schema: schema.__name__)
@pytest.mark.parametrize("mode", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_schemas_whatever_they_are_made_for(flat, schema, mode):
    place = {flat: "deep/PreSelection"}
    expected = Columns().process(NanoEventsFactory.from_root(place, schemaclass=schema).events())
    with connect(workers=1, mode=mode) as session:
        found = session.run(Columns(), tm.dataset(place), schema=schema)
        some = session.run(Columns(), tm.dataset(place).filter("MET > 0.5"), schema=schema)
    assert found["names"] == expected["names"]
    assert found["columns"].keys() == expected["columns"].keys()
    kept = expected["columns"]["MET/None"] > 0.5
    for name, column in expected["columns"].items():
        if not name.endswith("_eventindex"):  # counts within a chunk
            assert ak.array_equal(found["columns"][name], column), name
            assert ak.array_equal(some["columns"][name], column[kept]), name


@pytest.mark.parametrize("schema", [PFNanoAODSchema, ScoutingNanoAODSchema, NanoAODSchema])
def test_schemas_of_nanoaod_are_read_by_treemill(events, truth, schema):
    def count(chunk):
        return {"pt": float(ak.sum(ak.values_astype(chunk.Muon.pt, float)))}

    found = tm.run(count, events.define("x", "MET_pt"), schema=schema)
    assert found["pt"] == pytest.approx(float(np.sum(np.asarray(ak.flatten(truth.Muon_pt), float))))


def test_schemas_of_coffeas_own_reading_do_not_see_other_columns(events):
    with raises(tm.UnsupportedError, said="PHYSLITESchema coffea reads the file by"):
        tm.run(Columns(), events.define("w", np.ones(len(events))), schema=PHYSLITESchema)


def test_schemas_of_coffeas_own_reading_do_not_see_what_is_defined_anew(events):
    with raises(tm.UnsupportedError, said="MET_pt as it is there"):
        tm.run(Columns(), events.define("MET_pt", "2 * MET_pt"), schema=PHYSLITESchema)


def test_what_is_no_schema(events):
    for schema, message in ((3, "not 3"), (dict, "BaseSchema")):
        with pytest.raises(tm.QueryError, match=message):
            tm.run(Columns(), events, schema=schema)


def test_an_attribute_schema_is_the_processors_only(events, truth):
    class Mine(tm.Selector):
        schema = "my own"

        def process(self, chunk):
            return {"n": len(chunk.MET_pt)}

    class Theirs(Columns):
        schema = "no schema"

    assert tm.run(Mine(), events) == {"n": len(truth)}
    with raises(tm.QueryError, said="not no schema"):
        tm.run(Theirs(), events)


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ({"align_clusters": True}, "leave it out"),
        ({"skipbadfiles": True}, 'on_error="skip"'),
        ({"savemetrics": True}, "session.report"),
        ({"executor": None}, "connect"),
        ({"treename": "Events"}, "treemill.dataset"),
        ({"entry": 3}, "no option entry.*entries"),
    ],
    ids=str,
)
def test_options_of_coffeas_runner(events, option, hint):
    for start in (tm.run, tm.connect(workers=1).submit):
        with pytest.raises(tm.QueryError, match=hint):
            start(PerDataset(), events, **option)


def test_coffeas_keywords_instead_of_places(paths):
    with raises(tm.QueryError, said="by their places"):
        tm.run({"dy": paths}, processor_instance=PerDataset())


@pytest.mark.parametrize("mode", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
@pytest.mark.parametrize("place", [0, 1])
def test_files_that_there_are_not_are_left_out(paths, tmp_path, mode, place):
    """As with coffea's skipbadfiles; coffea's Runner is asked for the rest."""
    gone, glob = str(tmp_path / "gone.root"), str(tmp_path / "none_*.root")
    files = dict.fromkeys(paths[:1] + paths[2:], "Events")
    names = [*list(files)[:place], gone, glob, *list(files)[place:]]
    fileset = {"dy": {"files": dict.fromkeys(names, "Events"), "metadata": {"xsec": 6.0}}}
    with connect(workers=2, mode=mode) as session:
        found = session.run(PerDataset(), fileset, on_error="skip")
        report = str(session.report)
        with raises(tm.SourceError, said="no such file"):
            session.run(PerDataset(), fileset)
    run = coffea.Runner(coffea.IterativeExecutor(status=False), schema=NanoAODSchema)
    expected = run({"dy": {"files": files, "metadata": {"xsec": 6.0}}}, PerDataset())
    assert found["dy"]["n"] == expected["dy"]["n"]
    assert found["dy"]["pt"] == pytest.approx(expected["dy"]["pt"])
    assert gone in report
    assert glob in report


class FewerFields(TreeMakerSchema):
    """Leaves out fields of the form, as `iteritems_options={"filter_name": …}` does in coffea."""

    def __init__(self, form, *args, **kwargs):
        kept = [i for i, name in enumerate(form["fields"]) if "MET" not in name]
        chosen = {key: [form[key][i] for i in kept] for key in ("fields", "contents")}
        super().__init__({**form, **chosen}, *args, **kwargs)


class Fields(coffea.ProcessorABC):
    def process(self, events):
        return {"fields": set(events.fields)}

    def postprocess(self, accumulator):
        return None


def test_a_derived_schema_leaves_out_fields(paths):
    fileset = {"dy": {"files": dict.fromkeys(paths, "Events")}}
    every = tm.run(Fields(), fileset, schema=TreeMakerSchema)["fields"]
    fewer = tm.run(Fields(), fileset, schema=FewerFields)["fields"]
    assert fewer == {name for name in every if "MET" not in name} != every


@pytest.fixture(scope="module")
def sections(tmp_path_factory):
    """A file of random runs and luminosity sections, and these."""
    path = tmp_path_factory.mktemp("luminosity") / "runs.root"
    rng = np.random.default_rng(8)
    runs = rng.choice([1, 2, 3, 273158, 2**31 - 1], 4000).astype(np.uint32)
    lumis = rng.integers(0, 61, 4000).astype(np.uint32)
    with uproot.recreate(path) as file:
        file["Events"] = {"run": runs, "luminosityBlock": lumis, "x": np.arange(4000.0)}
    return str(path), runs, lumis


RUNS = st.sampled_from(["1", "2", "3", "273158", str(2**31 - 1)])


@pytest.mark.slow
@settings(max_examples=10)
@given(st.dictionaries(RUNS, st.lists(st.integers(1, 60), min_size=2, max_size=8, unique=True)))
def test_masks_of_luminosity_sections(sections, tmp_path_factory, ends):
    """Of ranges in order that do not overlap, and of sections from 1 on: coffea takes others for
    something else."""
    from coffea.lumi_tools import LumiList, LumiMask  # compiles functions for some seconds

    pairs = {
        run: list(zip(sorted(each)[::2], sorted(each)[1::2], strict=False))
        for run, each in ends.items()
    }
    path, runs, lumis = sections
    written = tmp_path_factory.mktemp("certified") / "Cert.json"
    written.write_text(json.dumps(pairs))
    theirs = LumiMask(str(written))(runs, lumis)
    events = tm.dataset(path, "Events").filter(tm.lumi_mask(written))
    found, done = tm.run(events.take("x"), events.lumi_sections())
    assert found.tolist() == np.flatnonzero(theirs).tolist()
    their_list = LumiList(runs[theirs], lumis[theirs])
    assert set(done) == {tuple(each) for each in their_list.array.tolist()}
    assert len(LumiList(*done.to_numpy().T).array) == len(done)
