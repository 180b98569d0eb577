"""Files that coffea's processors write: their names are coffea's, no chunk is processed twice, and
what is written to a FileOutput is there once."""

import awkward as ak
import pytest
import treemill as tm
import uproot

coffea = pytest.importorskip("coffea.processor", reason="coffea is not installed")
from coffea.nanoevents import BaseSchema, NanoAODSchema  # noqa: E402

from tests.raising import raises  # noqa: E402


class Keys(coffea.ProcessorABC):
    """The partition keys of all chunks, with their lengths."""

    def process(self, events):
        key = events.attrs["@events_factory"]._partition_key
        return {"keys": {key}, "n": len(events), "chunks": 1}

    def postprocess(self, accumulator):
        return accumulator


def fileset_of(paths):
    return {"dy": {"files": dict.fromkeys(paths, "Events"), "metadata": {"xsec": 6.0}}}


def by_coffea(fileset, processor, **options):
    run = coffea.Runner(coffea.IterativeExecutor(status=False), **options)
    return run(fileset, processor)


@pytest.mark.parametrize("schema", [NanoAODSchema, BaseSchema])
def test_partition_keys_are_coffeas(paths, schema):
    expected = by_coffea(fileset_of(paths), Keys(), schema=schema, chunksize=999)
    found = tm.run(Keys(), fileset_of(paths), schema=schema, chunksize=999)
    assert found == expected
    assert found["chunks"] == len(found["keys"]) > 10
    alone = tm.run(Keys(), fileset_of(paths), schema=schema)
    assert len(alone["keys"]) == alone["chunks"]


def test_keys_of_trees_in_directories_and_of_chosen_cycles_are_coffeas(tmp_path):
    path = tmp_path / "f.root"
    with uproot.recreate(path) as file:
        for n in (3, 5):
            file["dir/t"] = {"x": ak.Array(range(n))}
    for name in ("dir/t", "dir/t;1", "dir/t;2"):
        fileset = {"dy": {"files": {str(path): name}}}
        expected = by_coffea(fileset, Keys(), schema=BaseSchema)
        assert tm.run(Keys(), fileset, schema=BaseSchema) == expected


def test_the_key_of_a_chunk_of_which_some_entries_are_left_out_is_that_of_the_chunk(paths, truth):
    events = tm.dataset(paths, "Events")
    chosen = tm.run(Keys(), events.filter("nMuon >= 2"), schema=NanoAODSchema, chunksize=999)
    every = tm.run(Keys(), events, schema=NanoAODSchema, chunksize=999)
    assert chosen["keys"] <= every["keys"]  # a chunk of which none are chosen is not processed
    assert chosen["n"] == int(ak.sum(truth.nMuon >= 2))


class Skim(coffea.ProcessorABC):
    """Writes muons of some events to a file that each chunk makes, and returns."""

    def __init__(self, path, returned=True, file=None):
        self.path, self.returned, self.file = path, returned, file

    def process(self, events):
        skim = self.file or tm.FileOutput(self.path)
        some = events[events.nMuon >= 2]
        skim.write({"Muon_pt": some.Muon.pt, "event": some.event})
        files = {"skim": skim} if self.returned else {}
        return {"n": len(some), **files}

    def postprocess(self, accumulator):
        return accumulator


@pytest.mark.parametrize("mode", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["made", "held", "as_dataset"])
def test_a_processors_skim_is_committed_with_its_packet(paths, truth, tmp_path, mode, kind):
    path = tmp_path / "skim.root"
    file = None if kind == "made" else tm.FileOutput(path, as_dataset=kind == "as_dataset")
    with tm.connect(workers=2, mode=mode) as session:
        found = session.run(Skim(str(path), file=file), tm.dataset(paths, "Events"), chunksize=700)
    expected = truth[truth.nMuon >= 2]
    made = tm.dataset(path / "*.root" if kind == "as_dataset" else path, "Events").arrays()
    assert len(made) == found["n"] == len(expected)
    order = ak.argsort(made.event) if kind == "as_dataset" else slice(None)
    wanted = ak.argsort(expected.event) if kind == "as_dataset" else slice(None)
    assert made.event[order].to_list() == expected.event[wanted].to_list()
    assert made.Muon_pt[order].to_list() == expected.Muon_pt[wanted].to_list()
    assert [p.name for p in tmp_path.iterdir()] == ["skim.root"]


def test_a_skim_that_is_not_returned_is_an_error(events, tmp_path):
    with raises(tm.QueryError, said="FileOutput skim root not in its results"):
        tm.run(Skim(str(tmp_path / "skim.root"), returned=False), events)
    assert not list(tmp_path.iterdir())


def test_a_skim_of_a_processor_that_fails_leaves_nothing(events, tmp_path):
    class Fails(Skim):
        def process(self, chunk):
            super().process(chunk)
            raise ValueError("never mind")

    with raises(tm.WorkerError, said="never mind"):
        tm.run(Fails(str(tmp_path / "skim.root")), events)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("options", [{"chunksize": 800, "maxchunks": 3}, {"maxchunks": 1}, {}])
def test_chunks_are_coffeas(paths, options):
    fileset = {"dy": fileset_of(paths)["dy"], "tt": {"files": {paths[2]: "Events"}}}
    expected = by_coffea(fileset, Keys(), schema=BaseSchema, **options)
    options = options or {"chunksize": 100_000}
    assert tm.run(Keys(), fileset, schema=BaseSchema, **options) == expected


def test_the_first_chunks_open_no_further_files(paths, tmp_path):
    fileset = {"dy": {"files": dict.fromkeys([paths[0], str(tmp_path / "text.root")], "Events")}}
    (tmp_path / "text.root").write_text("no ROOT file")
    assert tm.run(Keys(), fileset, chunksize=1000, maxchunks=5)["n"] == 5000
    with pytest.raises(tm.FormatError):
        tm.run(Keys(), fileset, chunksize=1000, maxchunks=6)
    fileset["dy"]["files"][paths[1]] = "Events"
    with tm.connect(workers=1) as session:
        found = session.run(Keys(), fileset, chunksize=1000, maxchunks=6, on_error="skip")
        assert "text.root" in str(session.report)
    assert found["n"] == 5001


def test_chunks_of_a_part_of_the_data(events):
    options = {"chunksize": 1000, "entries": (300, 4500)}
    keys = tm.run(Keys(), events, **options)["keys"]
    spans = sorted(key.rpartition("/")[2] for key in keys)
    assert spans == ["1000-2000", "2000-3000", "300-1000", "3000-4000", "4000-4500"]
    found = tm.run(Keys(), events, maxchunks=2, **options)
    assert found["n"] == 700 + 1000


def test_what_are_no_sizes_of_chunks(events):
    for option in ({"chunksize": 0}, {"maxchunks": True}, {"chunksize": 1e5}, {"maxchunks": "all"}):
        with raises(tm.QueryError, said="number of 1 or more"):
            tm.run(Keys(), events, **option)
    with raises(tm.QueryError, said="for selectors"):
        tm.run(events.count(), chunksize=1000)
    with raises(tm.QueryError, about="cycles"):
        tm.run(lambda cycles: {"n": len(cycles)}, cycles=10, chunksize=2)
