"""What coffea's processors do with NanoAOD's events, on treemill's chunks beside coffea's own
events: each collection of each file, and some sixty idioms."""

import warnings

import awkward as ak
import hist
import numpy as np
import pytest
import treemill as tm

from tests.corpus_files import CORPUS, with_slow_ones

coffea = pytest.importorskip("coffea", reason="coffea is not installed")

from coffea.analysis_tools import PackedSelection, Weights  # noqa: E402
from coffea.nanoevents import BaseSchema, NanoAODSchema, NanoEventsFactory  # noqa: E402
from coffea.nanoevents.methods import candidate, nanoaod, vector  # noqa: E402
from treemill.facility.generate import write  # noqa: E402
from treemill.workers.coffea import coffea_reader  # noqa: E402

FILES = with_slow_ones(
    ["demo", "opendata", "coffea-nano_dy.root", "nanoAOD_2015_CMS_Open_Data_ttbar.root"]
)
METADATA = {"dataset": "dy", "treename": "Events", "entrystart": 0}


class Lenient(NanoAODSchema):
    """Of files without event numbers, too, as treemill's."""

    event_ids = ()
    warn_missing_crossrefs = False


def fill(values, weight=None):
    axis = hist.axis.Regular(50, 0, 200, name="x")
    flat = ak.flatten(values, axis=None)
    if weight is not None:
        weight = ak.flatten(ak.broadcast_arrays(weight, values)[0], axis=None)
    return hist.Hist(axis).fill(flat, weight=weight).values(flow=True)


def packed(events):
    selection = PackedSelection()
    selection.add("muons", ak.num(events.Muon, axis=1) >= 1)
    selection.add("met", ak.values_astype(events.MET.pt > 20, bool))
    selection.add_multiple({"jets": ak.num(events.Jet, axis=1) >= 1})
    cutflow = selection.nminusone("muons", "met").result()
    return [
        selection.all("muons", "met"),
        selection.any("muons", "jets"),
        selection.require(muons=True, met=False),
        list(cutflow.nev),
    ]


def weighted(events):
    weights = Weights(len(events), storeIndividual=True)
    weights.add("met", np.asarray(events.MET.pt) / 100, np.asarray(events.MET.pt) / 90)
    return [weights.weight(), weights.weight("metUp"), weights.partial_weight(include=["met"])]


def dimuons(events):
    muons = events.Muon[ak.argsort(events.Muon.pt, axis=1, ascending=False)]
    two = muons[ak.num(muons, axis=1) >= 2]
    return (two[:, 0] + two[:, 1]).mass


def named(events):
    jets = ak.zip({"pt": events.Jet.pt, "eta": events.Jet.eta, "phi": events.Jet.phi})
    jets["mass"] = events.Jet.mass
    lorentz = ak.with_name(jets, "PtEtaPhiMLorentzVector", behavior=vector.behavior)
    return (lorentz * 1.1).energy


def candidates(events):
    muon = events.Muon
    keys = ["pt", "eta", "phi", "mass", "charge"]
    made = ak.zip({key: muon[key] for key in keys}, with_name="PtEtaPhiMCandidate",
                  behavior=candidate.behavior)  # fmt: skip
    return [made.charge, made.pz, made.nearest(events.Jet).pt]


def leptons(events):
    both = ak.concatenate([events.Muon, events.Electron], axis=1)
    return [both.pt, both.eta, ak.num(both, axis=1)]


def corrected(events):
    jets = events.Jet
    jets = ak.with_field(jets, jets.pt * 1.02, "pt")
    jets["pt_raw"] = jets.pt * (1 - 0.1)
    return [jets.pt, jets.pt_raw, jets.energy]


def replaced(events):
    new = ak.with_field(events, events.Jet[events.Jet.pt > 30], "GoodJet")
    return [new.GoodJet.pt, new.GoodJet.energy, new[new.MET.pt > 20].GoodJet.eta]


def trijets(events):
    fours = ak.zip({key: events.Jet[key] for key in ("pt", "eta", "phi", "mass")},
                   with_name="PtEtaPhiMLorentzVector", behavior=nanoaod.behavior)  # fmt: skip
    three = ak.combinations(fours[:, :5], 3, fields=["a", "b", "c"])
    summed = three.a + three.b + three.c
    return summed[ak.argmin(abs(summed.mass - 172.5), axis=1, keepdims=True)].pt


def cleaned(events):
    distance = events.Jet.metric_table(events.Muon)
    return events.Jet[~ak.any(distance < 0.4, axis=2)].pt


def near(events):
    found, distance = events.Jet.nearest(events.Muon, return_metric=True, threshold=1.0)
    return [found.pt, distance]


def crossed(events):
    a, b = ak.unzip(ak.cartesian([events.Muon, events.Jet], nested=True))
    return [a.delta_r(b), a.delta_phi(b), (a + b).mass]


def masked(events):
    one = ak.firsts(events.Muon)
    none = ak.is_none(one)
    return [one.pt, ak.fill_none(one.pt, -1), none, ak.mask(events.MET.pt, ~none)]


IDIOMS = {
    "length": len,
    "num of events": lambda e: int(ak.num(e, axis=0)),
    "metadata": lambda e: e.metadata["dataset"],
    "flat": lambda e: e.MET.pt,
    "mask of events": lambda e: e[e.MET.pt > 20].MET.phi,
    "slice": lambda e: e[3:7].Muon.pt,
    "one event": lambda e: e[3].Muon.pt,
    "list of indices": lambda e: e[[1, 3, 2]].Jet.eta,
    "getitem": lambda e: e["Muon"]["pt"],
    "two names": lambda e: e["Muon", "pt"],
    "several fields": lambda e: e.Muon[["pt", "eta"]].eta,
    "several collections": lambda e: e[["Muon", "Jet"]].Jet.pt,
    "fields": lambda e: sorted(e.Muon.fields),
    "num": lambda e: ak.num(e.Jet, axis=1),
    "count": lambda e: ak.count(e.Jet.pt, axis=1),
    "mask of items": lambda e: e.Jet[(e.Jet.pt > 30) & (abs(e.Jet.eta) < 2.4)].phi,
    "mask of items and events": lambda e: e.Jet[e.Jet.pt > 20][ak.num(e.Jet, axis=1) > 1].pt,
    "sum": lambda e: ak.sum(ak.values_astype(e.Jet.pt, float), axis=1),
    "sum of all": lambda e: ak.sum(ak.values_astype(e.Jet.pt, float)),
    "max": lambda e: ak.max(e.Jet.pt, axis=1),
    "any": lambda e: ak.any(e.Muon.pt > 20, axis=1),
    "argmax": lambda e: e.Jet[ak.argmax(e.Jet.pt, axis=1, keepdims=True)].pt,
    "sort": lambda e: ak.sort(e.Jet.eta, axis=1),
    "argsort": lambda e: e.Jet[ak.argsort(abs(e.Jet.eta), axis=1)].pt,
    "local index": lambda e: ak.local_index(e.Jet, axis=1),
    "flatten": lambda e: ak.flatten(e.Jet.pt),
    "pad": lambda e: ak.pad_none(e.Jet, 2, axis=1)[:, 1].pt,
    "fill none": lambda e: ak.fill_none(ak.pad_none(e.Jet.pt, 3, clip=True), 0.0),
    "firsts": masked,
    "drop none": lambda e: ak.drop_none(ak.firsts(e.Muon.pt)),
    "where": lambda e: ak.where(e.MET.pt > 20, e.MET.pt, -1),
    "numpy": lambda e: np.sqrt(e.Jet.pt**2 + e.Jet.mass**2),
    "to numpy": lambda e: ak.to_numpy(e.MET.pt),
    "broadcast": lambda e: ak.broadcast_arrays(e.MET.pt, e.Jet.pt)[0],
    "ones like": lambda e: ak.ones_like(e.Jet.pt),
    "zip": lambda e: ak.zip({"a": e.Jet.pt, "b": e.Jet.eta}).a,
    "energy": lambda e: [e.Jet.energy, e.Muon.energy, e.Electron.energy, e.Photon.energy],
    "components": lambda e: [e.Jet.px, e.Jet.py, e.Jet.pz, e.Jet.p, e.Jet.rapidity],
    "fat jets": lambda e: [e.FatJet.energy, e.FatJet.charge, e.FatJet.px],
    "charge": lambda e: [e.Jet.charge, e.Photon.charge, e.Muon.charge],
    "sum of vectors": lambda e: [e.Jet.sum(axis=1).mass, e.Muon.sum(axis=1).pt],
    "sum of two": dimuons,
    "difference": lambda e: (e.Muon[:, :1] - e.Muon[:, :1]).energy,
    "scaled": lambda e: (e.Jet * 1.05).pt,
    "negative": lambda e: (-e.Jet).px,
    "delta r": lambda e: e.Jet[:, :1].delta_r(e.Jet[:, :1]),
    "delta phi of met": lambda e: e.Jet.delta_phi(e.MET),
    "met as a vector": lambda e: [e.MET.px, e.MET.py, (e.MET + e.MET).pt],
    "transverse mass": lambda e: np.sqrt(
        2 * e.Muon.pt * e.MET.pt * (1 - np.cos(e.Muon.delta_phi(e.MET)))
    ),
    "nearest": near,
    "metric table": lambda e: e.Jet.metric_table(e.Muon),
    "cleaning": cleaned,
    "cartesian": crossed,
    "combinations": lambda e: [
        (pair["0"] + pair["1"]).mass for pair in [ak.combinations(e.Jet, 2)]
    ],
    "named combinations": lambda e: (lambda pair: pair.i.charge != pair.j.charge)(
        ak.combinations(e.Muon, 2, fields=["i", "j"])
    ),
    "three jets": trijets,
    "with name": named,
    "candidates": candidates,
    "leptons": leptons,
    "with field": corrected,
    "events with a field": replaced,
    "identification": lambda e: [e.Electron.isTight, e.Jet.isTight],
    "matched gen": lambda e: [e.Muon.matched_gen.pt, e.Electron.matched_gen.pdgId],
    "matched jet": lambda e: [e.Muon.matched_jet.pt, e.Photon.matched_electron.pt],
    "matched of some": lambda e: e[e.MET.pt > 20].Muon[:, :1].matched_jet.eta,
    "nested references": lambda e: [e.Jet.matched_muons.pt, e.FatJet.subjets.mass],
    "gen parents": lambda e: [e.GenPart.parent.pdgId, e.GenPart.distinctParent.pdgId],
    "gen children": lambda e: [e.GenPart.children.pt, e.GenPart.distinctChildren.pdgId],
    "gen flags": lambda e: e.GenPart[e.GenPart.hasFlags(["isHardProcess", "isLastCopy"])].pdgId,
    "triggers": lambda e: [e.HLT[name] for name in e.HLT.fields[:5]],
    "vertex": lambda e: [e.PV.z, e.SV.pt],
    "hist": lambda e: fill(e.Jet.pt),
    "weighted hist": lambda e: fill(e.Jet.pt, e.MET.pt),
    "packed selection": packed,
    "weights": weighted,
    "another type": lambda e: ak.values_astype(e.MET.pt, "f8"),
    "materialised": lambda e: ak.materialize(e.Muon).pt,
    "systematics": lambda e: e.Jet.systematics.fields,
    "type": lambda e: [type(e.Jet).__name__, type(e.Muon).__name__, type(e.MET).__name__],
}


def plain(value):
    if isinstance(value, (ak.Array, ak.Record)):
        return ak.to_list(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


def outcome(idiom, events):
    """What it gives, or the kind of error."""
    try:
        return plain(idiom(events))
    except Exception as error:
        return f"raises {type(error).__name__}"


@pytest.fixture(scope="module", params=FILES)
def both(request, tmp_path_factory):
    """treemill's chunk of a file, coffea's events, and what idioms have given of the former."""
    name = request.param
    if name.endswith(".root"):
        path = CORPUS / name
        if not path.exists():
            pytest.skip(f"no {path}: the corpus of test files is not there")
    else:
        path = tmp_path_factory.mktemp("nano") / f"{name}.root"
        write(path, events=300, index=0, cluster=100, schema=name)
    data = tm.dataset(f"{path}:Events")
    metadata = METADATA | {"filename": str(path)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = coffea_reader(data.chain.table(0), set()).chunk(0, len(data), metadata)
        factory = NanoEventsFactory.from_root(
            {str(path): "Events"}, mode="virtual", schemaclass=Lenient, metadata=metadata
        )
        yield ours, factory.events(), {}


def test_every_collection(both):
    ours, theirs, _ = both
    assert sorted(ours.fields) == sorted(theirs.fields)
    for name in theirs.fields:
        assert sorted(ak.fields(ours[name])) == sorted(ak.fields(theirs[name]))
        for member in ak.fields(theirs[name]) or [()]:
            expected = theirs[name][member]
            np.testing.assert_equal(plain(ours[name][member]), plain(expected), f"{name} {member}")
        if ak.fields(theirs[name]):
            assert type(ours[name]) is type(theirs[name])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("idiom", IDIOMS)
def test_idiom(both, idiom):
    ours, theirs, given = both
    given[idiom] = outcome(IDIOMS[idiom], ours)
    np.testing.assert_equal(given[idiom], outcome(IDIOMS[idiom], theirs))


@pytest.mark.filterwarnings("ignore")
def test_idioms_work_at_all(both):
    """Else the comparison would compare errors."""
    ours, _, given = both
    failed = {
        name
        for name, idiom in IDIOMS.items()
        if str(given[name] if name in given else outcome(idiom, ours))[:6] == "raises"
    }
    if "FatJet" in ours.fields:
        assert failed <= {"nested references"}
    else:  # generated files have no such collections
        lacking = ("energy", "charge", "fat jets", "vertex", "triggers", "identification")
        references = ("gen", "matched", "nested")
        assert all(name in lacking or name.startswith(references) for name in failed)


def test_columns_can_be_named_as_in_the_tree(both):
    """As with BaseSchema."""
    ours, _, _ = both
    assert ak.all(ours.Muon_pt == ours.Muon.pt)
    assert ak.all(ours["MET_pt"] == ours.MET.pt)
    assert ak.all(ours.nMuon == ak.num(ours.Muon, axis=1))
    with pytest.raises(AttributeError, match="Muon_nothing"):
        _ = ours.Muon_nothing


def test_a_processor_may_choose_its_schema(tmp_path):
    class Counts(coffea.processor.ProcessorABC):
        schema = BaseSchema

        def process(self, events):
            return {"muons": int(ak.sum(events.nMuon)), "fields": set(events.fields)}

        def postprocess(self, accumulator):
            pass

    path = tmp_path / "demo.root"
    write(path, events=300, index=0, cluster=100)
    data = tm.dataset(f"{path}:Events")
    with tm.connect(workers=1) as session:
        found = session.run(Counts(), data)
    assert found["muons"] == ak.sum(data.arrays(["nMuon"]).nMuon)
    assert found["fields"] == set(data.branches)


def test_records_of_ntuples_are_one_field_each():
    """coffea's BaseSchema shows the record, and its members in it only."""
    path = CORPUS / "test_nested_structs_rntuple_v1-0-0-0.root"
    if not path.exists():
        pytest.skip("no corpus")
    table = tm.dataset(path).chain.table(0)
    ours = coffea_reader(table, set(), BaseSchema).chunk(
        0, table.num_entries, {**METADATA, "filename": str(path)}
    )
    theirs = NanoEventsFactory.from_root(
        {str(path): table.path_in_file}, schemaclass=BaseSchema, mode="eager"
    ).events()
    assert ours.fields == theirs.fields == ["my_struct"]
    assert ours.to_list() == theirs.to_list()
