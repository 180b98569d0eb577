import json

import awkward as ak
import numpy as np
import pytest
import uproot
from treemill.errors import QueryError
from treemill.facility.generate import SCHEMAS, Recipe, chunk, paths, write, write_dataset

from tests.raising import raises

_LEAVES = {"float": "F", "int32_t": "I", "uint32_t": "i", "uint64_t": "l", "bool": "O"}
"""The letters that TTree::Branch has for types."""
_RUN2012B_SINGLEMU = {
    "": "run/I luminosityBlock/i event/l",
    "HLT": "IsoMu24_eta2p1/O IsoMu24/O IsoMu17_eta2p1_LooseIsoPFTau20/O",
    "PV": "npvs/I x/F y/F z/F",
    "Muon": "nMuon/I pt/F eta/F phi/F mass/F charge/I pfRelIso03_all/F pfRelIso04_all/F tightId/O "
    "softId/O dxy/F dxyErr/F dz/F dzErr/F jetIdx/I genPartIdx/I",
    "Electron": "nElectron/I pt/F eta/F phi/F mass/F charge/I pfRelIso03_all/F dxy/F dxyErr/F dz/F "
    "dzErr/F cutBasedId/O pfId/O jetIdx/I genPartIdx/I",
    "Tau": "nTau/I pt/F eta/F phi/F mass/F charge/I decayMode/I relIso_all/F jetIdx/I genPartIdx/I "
    "idDecayMode/O idIsoRaw/F idIsoVLoose/O idIsoLoose/O idIsoMedium/O idIsoTight/O "
    "idAntiEleLoose/O idAntiEleMedium/O idAntiEleTight/O idAntiMuLoose/O idAntiMuMedium/O "
    "idAntiMuTight/O",
    "Photon": "nPhoton/I pt/F eta/F phi/F mass/F charge/I pfRelIso03_all/F jetIdx/I genPartIdx/I",
    "MET": "pt/F phi/F sumet/F significance/F CovXX/F CovXY/F CovYY/F",
    "Jet": "nJet/I pt/F eta/F phi/F mass/F puId/O btag/F",
}
"""Branches and types as CMS's AOD2NanoAOD declares them, but for the counters, which are of type
`i` there: uproot writes none of that type."""


def test_same_seed_same_events():
    a, b, c = chunk(1, 0, 0, 500), chunk(1, 0, 0, 500), chunk(2, 0, 0, 500)
    assert ak.array_equal(a["Jet"], b["Jet"])
    assert not np.array_equal(a["MET_pt"], c["MET_pt"])


def test_schema_and_shapes():
    columns = chunk(1, 3, 1000, 50_000)
    assert columns["event"].dtype == np.uint64
    assert len(set(columns["event"].tolist())) == 50_000
    muons = columns["Muon"]
    assert ak.all(abs(muons.eta) < 2.4)
    assert ak.all(muons.pt[:, :-1] >= muons.pt[:, 1:])
    pairs = muons[ak.num(muons) >= 2]
    a, b = pairs[:, 0], pairs[:, 1]
    mass = np.sqrt(2 * a.pt * b.pt * (np.cosh(a.eta - b.eta) - np.cos(a.phi - b.phi)))
    counts, edges = np.histogram(ak.to_numpy(mass), bins=60, range=(60, 120))
    assert abs(edges[counts.argmax()] - 91) < 2, "the Z is where it should be"
    assert abs(ak.mean(ak.num(columns["Jet"])) - 3.2) < 0.1


def test_open_data_schema(tmp_path):
    write(tmp_path / "f.root", events=3000, cluster=1000, schema="opendata")
    with uproot.open(tmp_path / "f.root") as file:
        events = file["Events"].arrays()
    for name, fields in {
        "Muon": ("pt", "eta", "phi", "mass", "charge", "tightId", "pfRelIso03_all"),
        "Electron": ("pt", "eta", "phi", "mass", "charge", "dxy", "dzErr"),
        "Jet": ("pt", "eta", "phi", "mass", "btag", "puId"),
    }.items():
        for field in fields:
            assert ak.all(ak.num(events[f"{name}_{field}"]) == events[f"n{name}"])
        assert ak.all(events[f"{name}_pt"][:, :-1] >= events[f"{name}_pt"][:, 1:])
    assert {"MET_pt", "MET_phi", "MET_sumet", "HLT_IsoMu24", "PV_npvs"} < set(events.fields)
    assert ak.mean(events.nMuon > 0) > 0.9, "a muon was the trigger"
    again = SCHEMAS["opendata"](1, 0, 0, 3000)
    assert ak.array_equal(again["Jet"].btag, events.Jet_btag)
    with raises(QueryError, about="opendata"):
        write(tmp_path / "g.root", schema="nanoaod")
    # The files that were made before there were schemas are still those of the recipe.
    list(write_dataset(tmp_path / "d", Recipe(1, 10)))
    assert "schema" not in json.loads((tmp_path / "d" / "manifest.json").read_text())["recipe"]


def test_open_data_has_the_branches_of_the_real_file(tmp_path):
    write(tmp_path / "f.root", events=300, schema="opendata")
    with uproot.open(tmp_path / "f.root") as file:
        kinds = {branch.name: _LEAVES[branch.typename.split("[")[0]] for branch in file["Events"]}
    named = {
        (f"{prefix}_{name}" if prefix and name != f"n{prefix}" else name): kind
        for prefix, names in _RUN2012B_SINGLEMU.items()
        for name, kind in (each.split("/") for each in names.split())
    }
    assert len(named) == 86
    assert kinds == named


def test_what_no_task_asks_for_changes_nothing_of_what_tasks_ask_for(monkeypatch):
    first = SCHEMAS["opendata"](1, 2, 0, 400)
    monkeypatch.setattr("treemill.facility.recipe._MARK", 17)
    other = SCHEMAS["opendata"](1, 2, 0, 400)
    assert not ak.array_equal(first["Photon"].pt, other["Photon"].pt)
    for name in ("Muon", "Electron", "Jet"):
        for field in {*first[name].fields} - {"pfRelIso04_all", "cutBasedId"}:
            assert ak.array_equal(first[name][field], other[name][field]), (name, field)
    for name in ("MET_pt", "MET_sumet", "PV_z", "HLT_IsoMu24"):
        assert np.array_equal(first[name], other[name])


def test_taus_and_photons():
    events = SCHEMAS["opendata"](1, 0, 0, 5_000)
    tau, jet = events["Tau"], events["Jet"]
    assert ak.all(tau.pt > 15)
    assert ak.all(tau.pt[:, :-1] >= tau.pt[:, 1:])
    assert ak.all(jet.eta[tau.jetIdx] == tau.eta), "each is made of the jet that it names"
    for tight, loose in (("idIsoTight", "idIsoVLoose"), ("idAntiMuTight", "idAntiMuLoose")):
        assert ak.all(tau[loose] >= tau[tight])
        assert 0 < ak.sum(tau[tight]) < ak.sum(tau[loose])
    photon = events["Photon"]
    assert ak.all(photon.jetIdx < ak.num(jet))
    determinant = events["MET_CovXX"] * events["MET_CovYY"] - events["MET_CovXY"] ** 2
    assert np.all(determinant > 0)
    muon = events["Muon"]
    assert ak.all((muon.pfRelIso03_all == -999) == (muon.pfRelIso04_all == -999))
    assert ak.all(muon.pfRelIso04_all >= muon.pfRelIso03_all)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "kind"), [*((schema, "ttree") for schema in SCHEMAS), ("demo", "rntuple")]
)
def test_events_do_not_depend_on_what_is_compressed_together(tmp_path, monkeypatch, schema, kind):
    monkeypatch.setattr("treemill.facility.recipe.BLOCK", 40)
    monkeypatch.setattr("treemill.facility.recipe.BLOCKS", {})
    made = []
    for cluster in (27, 40, 100):
        path = tmp_path / f"{cluster}.root"
        write(path, events=130, cluster=cluster, schema=schema, kind=kind)
        with uproot.open(path) as file:
            made.append(file["Events"].arrays())
    assert len(made[0]) == 130
    first = SCHEMAS[schema](1, 0, 0, 40)
    assert np.array_equal(made[0]["event"][:40], first["event"])
    for other in made[1:]:
        for name in made[0].fields:
            assert ak.array_equal(made[0][name], other[name]), name


def test_files_of_older_recipes_are_known_to_have_the_same_events_or_others():
    assert "block" not in Recipe(events_per_cluster=100_000).made_from()
    assert "block" not in Recipe(events_per_cluster=1_000, schema="event").made_from()
    assert Recipe(events_per_cluster=1_000).made_from()["block"] == 100_000


@pytest.mark.parametrize("codec", ["zstd", "lz4", "zlib", "lzma", "none"])
@pytest.mark.slow
def test_codecs(tmp_path, codec):
    write(tmp_path / "f.root", events=3000, cluster=1000, codec=codec)
    with uproot.open(tmp_path / "f.root") as file:
        tree = file["Events"]
        assert file.classname_of("Events") == "TTree"
        assert tree.num_entries == 3000
        assert tree["Jet_pt"].num_baskets == 3
        assert tree["Jet_pt"].count_branch.name == "nJet"
        # uproot notes the compression in the file's header, not in its branches.
        name = "none" if file.file.compression is None else type(file.file.compression).__name__
        assert name.lower() == codec
        counter = tree["nJet"]
        assert (counter.compressed_bytes < 0.7 * counter.uncompressed_bytes) == (codec != "none")
    with raises(QueryError, about="zstd"):
        write(tmp_path / "g.root", codec="gzip")


def test_dataset_is_written_once(tmp_path):
    recipe = Recipe(files=2, events_per_file=300, events_per_cluster=100)
    lines = list(write_dataset(tmp_path, recipe))
    assert len(lines) == 3
    files = paths(tmp_path, recipe)
    stamps = [path.stat().st_mtime_ns for path in files]
    assert "there already" in next(write_dataset(tmp_path, recipe))
    assert [path.stat().st_mtime_ns for path in files] == stamps
    # A file that was cut short is written again, and only that.
    files[1].write_bytes(files[1].read_bytes()[:100])
    assert len(list(write_dataset(tmp_path, recipe))) == 2
    assert files[0].stat().st_mtime_ns == stamps[0]
    # One more file of the same recipe is added to those that are there.
    more = Recipe(files=3, events_per_file=300, events_per_cluster=100)
    assert len(list(write_dataset(tmp_path, more))) == 2
    # Another recipe writes all anew.
    other = Recipe(files=2, events_per_file=300, events_per_cluster=100, seed=5)
    assert len(list(write_dataset(tmp_path, other))) == 3
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"events_000.root", "events_001.root", "events_002.root", "manifest.json"}
    assert json.loads((tmp_path / "manifest.json").read_text())["recipe"]["seed"] == 5


def test_nothing_half_written_stays(tmp_path, monkeypatch):
    import treemill.facility.generate as generate

    def fails(path, **options):
        path.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(generate, "write", fails)
    with pytest.raises(OSError, match="disk full"):
        list(write_dataset(tmp_path, Recipe(1, 10)))
    assert list(tmp_path.iterdir()) == []
