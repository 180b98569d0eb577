"""coffea's processors on files of every server: the same results as on the same files here, with
schemas of which treemill reads the columns and with those of which coffea reads the file."""

import awkward as ak
import pytest
import treemill as tm
from treemill.data import file_tree, open_tree

from . import test_reading

coffea = pytest.importorskip("coffea.processor", reason="coffea is not installed")
from coffea.nanoevents import BaseSchema, NanoAODSchema  # noqa: E402

place = test_reading.place


class Plain(BaseSchema):
    """A schema of which coffea reads the file by itself."""


class Sums(coffea.ProcessorABC):
    """Sums of columns, what the metadata says, and what the file says to uproot."""

    def process(self, events):
        told = events.metadata
        factory = events.attrs["@events_factory"]
        fields = events.fields
        muons = events.Muon.pt if "Muon" in fields else events.Muon_pt
        return {
            told["dataset"]: {
                "entries": len(events),
                "pt": int(ak.sum(muons * 1024, axis=None)),
                "xsec": {told["xsec"]},
                "ids": {told["fileuuid"], str(factory.file_handle.file.uuid)},
                "trees": {factory.file_handle["Events"].num_entries},
                "keys": {factory._partition_key},
            }
        }

    def postprocess(self, accumulator):
        return accumulator


def fileset_of(paths):
    files = [dict.fromkeys(part, "Events") for part in (paths[:2], paths[2:])]
    return {
        "dy": {"files": files[0], "metadata": {"xsec": 6077.0}},
        "tt": {"files": files[1], "metadata": {"xsec": 832.0}},
    }


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("schema", [NanoAODSchema, BaseSchema, Plain])
def test_a_processor_reads_as_it_does_here(place, paths, schema):
    urls = [tree.removesuffix(":Events") for tree in test_reading.trees(place)]
    options = {"schema": schema, "chunksize": 2000}
    with tm.connect(workers=2) as session:
        expected = session.run(Sums(), fileset_of(paths), **options)
        found = session.run(Sums(), fileset_of(urls), **options)
    assert found == expected
    assert expected["dy"]["entries"] == 5001
    assert expected["tt"]["trees"] == {7321}
    assert len(expected["dy"]["ids"]) == 2  # of two files, told alike by treemill and uproot


def test_branches_that_the_core_does_not_read_are_read_by_uproot(place, paths, monkeypatch):
    described, name = open_tree.OpenTree.described, "MET_pt"
    unknown = {"supported": False, "kind": "unsupported", "reason": "it is blind", "dtype": None}

    def blind(self):
        return [each | (unknown if each["name"] == name else {}) for each in described(self)]

    expected = tm.dataset(paths[2], "Events").arrays([name, "nMuon"])
    monkeypatch.setattr(open_tree.OpenTree, "described", blind)
    read = file_tree.FileTree._read_cores

    def without(self, names, *others):
        if name in names:
            raise tm.UnsupportedError("it is blind", branch=name)
        return read(self, names, *others)

    monkeypatch.setattr(file_tree.FileTree, "_read_cores", without)
    found = tm.dataset(test_reading.trees(place)[2], missing={"nowhere": 0})
    assert found.branches[name].how == "uproot"
    assert ak.array_equal(found.arrays([name, "nMuon"]), expected)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("place", ["xrootd", "http", "nfs"], indirect=True)
def test_a_processor_in_processes(place, paths):
    urls = [tree.removesuffix(":Events") for tree in test_reading.trees(place)]
    with tm.connect(workers=2, mode="processes") as session:
        expected = session.run(Sums(), fileset_of(paths), chunksize=2000)
        assert session.run(Sums(), fileset_of(urls), chunksize=2000) == expected
