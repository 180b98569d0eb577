"""CMS' challenge in coffea: `python examples/challenges/cms/coffea_analysis.py FOLDER` fills and
writes what analysis.py does.

It is written for speed: what no variation changes is selected once, before jets are looked at, and
one selection serves all variations of weights. Momenta are in double precision, so that bins can be
compared one by one. Skims are in pieces, one for each chunk.
"""

import argparse
import json
import warnings
from pathlib import Path

import awkward as ak
import correctionlib
import hist
import numpy as np
import uproot
from coffea import processor
from coffea.lumi_tools import LumiMask
from coffea.nanoevents import NanoAODSchema
from coffea.nanoevents.methods import vector

KEPT = ("run", "luminosityBlock", "event", "HLT_Mu50", "PuppiMET_pt", "PuppiMET_phi")
KEPT_OF_SIMULATION = ("genWeight", "Pileup_nTrueInt")
MUONS = ("muon_id", "muon_iso", "muon_trigger")
BTAG = ("hf", "lf", "hfstats1", "hfstats2", "lfstats1", "lfstats2", "cferr1", "cferr2")


def momenta(objects, *others):
    """Four-vectors in double precision, with other fields."""
    fields = {name: ak.values_astype(objects[name], float) for name in ("pt", "eta", "phi", "mass")}
    fields |= {name: objects[name] for name in others}
    return ak.zip(fields, with_name="PtEtaPhiMLorentzVector", behavior=vector.behavior)


def of_lists(correction, lists, *arguments):
    """A correction's values for lists of numbers."""
    flat = (ak.to_numpy(ak.flatten(each)) for each in lists)
    return ak.unflatten(correction.evaluate(*arguments, *flat), ak.num(lists[0]))


class HeavyResonance(processor.ProcessorABC):
    """The histograms, and the skims beside the files."""

    def __init__(self, folder):
        self.folder = folder
        self.corrections = Path(folder, "corrections.json").read_text()
        self.certified = str(Path(folder, "golden.json"))

    def process(self, events):
        """The histograms of a chunk of events."""
        known = events.metadata
        events = events[events.HLT.Mu50 & (events.PuppiMET.pt > 50)]
        if not known["is_mc"]:
            certified = LumiMask(self.certified)
            events = events[certified(events.run, events.luminosityBlock)]
        self.skim(events, known)

        muons, tops = events.Muon, events.FatJet
        good = (muons.pt > 55) & (abs(muons.eta) < 2.4) & muons.tightId & (muons.miniIsoId > 1)
        muons = muons[good]
        tops = tops[(tops.pt > 500) & (tops.particleNet_TvsQCD > 0.5)]
        met = ak.values_astype(events.PuppiMET.pt, float)
        muon_pt = ak.fill_none(ak.firsts(ak.values_astype(muons.pt, float)), 0)
        chosen = (ak.num(muons) == 1) & (muon_pt + met > 150) & (ak.num(tops) == 1)
        events, muons, tops, met = (
            events[chosen],
            muons[chosen][:, 0],
            tops[chosen][:, 0],
            met[chosen],
        )
        jets = events.Jet[(abs(events.Jet.eta) < 2.5) & (events.Jet.jetId >= 4)]
        jets = momenta(jets, "btagDeepB", *(["hadronFlavour"] if known["is_mc"] else []))
        phi = ak.values_astype(events.PuppiMET.phi, float)
        neutrino = {"pt": met, "eta": 0 * met, "phi": phi, "mass": 0 * met}
        rest = momenta(muons) + momenta(tops) + momenta(ak.Array(neutrino))

        if not known["is_mc"]:
            return self.filled(known, jets, rest, lambda *_: {"nominal": 1.0})
        sf = correctionlib.CorrectionSet.from_string(self.corrections)
        factors = self.factors(known, sf, events, muons)
        found = self.filled(known, jets, rest, lambda *of: self.weights(sf, factors, *of))
        for source in (name for name in sf if name.startswith("jes")):
            shift = of_lists(sf[source], [jets.eta, jets.pt])
            for way, sign in (("up", 1), ("down", -1)):
                varied = ak.with_field(jets, jets.pt * (1 + sign * shift), "pt")
                name = f"{source}_{way}"
                weights = lambda *of, name=name: {name: self.nominal(sf, factors, *of)}  # noqa: E731
                found |= self.filled(known, varied, rest, weights)
        return found

    def skim(self, events, known):
        """Writes a chunk's part."""
        columns = {}
        for name in (*KEPT, *(KEPT_OF_SIMULATION if known["is_mc"] else ())):
            collection, _, field = name.partition("_")
            columns[name] = ak.to_numpy(events[collection][field] if field else events[name])
        for name in ("Muon", "Jet", "FatJet"):
            of = events[name]
            # Without coffea's own fields.
            fields = [x for x in of.fields if "Idx" not in x and (x != "charge" or name == "Muon")]
            columns[name] = ak.zip({field: of[field] for field in fields})
        factory = events.attrs["@events_factory"]
        part = factory._partition_key.replace("/", "_").replace("%", "_")
        with uproot.recreate(
            Path(self.folder, f"coffea_skim_{known['dataset']}_{part}.root")
        ) as file:
            file.mktree("Events", columns, counter_name=lambda key: f"n{key}")

    def factors(self, known, sf, events, muons):
        """Weights that do not depend on jets, by name and direction."""
        year, made = known["year"], {"none": ak.to_numpy(events.genWeight) * known["norm"]}
        true = ak.to_numpy(events.Pileup.nTrueInt)
        eta, pt = ak.to_numpy(abs(muons.eta)), ak.to_numpy(muons.pt)
        for way in ("nominal", "up", "down"):
            made["pileup", way] = sf["pileup"].evaluate(year, true, way)
            systematic = way if way == "nominal" else f"syst{way}"
            for name in MUONS:
                made[name, way] = sf[name].evaluate(year, eta, pt, systematic)
        return made

    def nominal(self, sf, factors, chosen, jets, btag="central", varied=None, way="nominal"):
        """The weights of the chosen events, with the direction of one that varies."""
        weights = factors["none"]
        for name in ("pileup", *MUONS):
            weights = weights * factors[name, way if name == varied else "nominal"]
        lists = [jets.hadronFlavour, abs(jets.eta), jets.pt, jets.btagDeepB]
        return weights[chosen] * ak.to_numpy(ak.prod(of_lists(sf["btag"], lists, btag), axis=1))

    def weights(self, sf, factors, chosen, jets):
        """All variations of the weights, by name."""
        made = {"nominal": self.nominal(sf, factors, chosen, jets)}
        for way in ("up", "down"):
            for name in ("pileup", *MUONS):
                made[f"{name}_{way}"] = self.nominal(
                    sf, factors, chosen, jets, "central", name, way
                )
            for source in BTAG:
                name = f"btag_{source}_{way}"
                made[name] = self.nominal(sf, factors, chosen, jets, f"{way}_{source}")
        return made

    def filled(self, known, jets, rest, weights):
        """Histograms of both regions, for all variations of the weights."""
        jets = jets[jets.pt > 30]
        chosen = ak.to_numpy(ak.num(jets) >= 2)
        jets = jets[chosen]
        mass = ak.to_numpy((jets[:, 0] + rest[chosen]).mass)
        tagged = ak.to_numpy(ak.any(jets.btagDeepB > 0.5, axis=1))
        found = {}
        for variation, weight in weights(chosen, jets).items():
            weight = np.broadcast_to(weight, mass.shape)
            for region, where in (("1b", tagged), ("0b", ~tagged)):
                name = f"{region}_{known['dataset']}_{variation}".removesuffix("_nominal")
                found[name] = hist.new.Reg(20, 200, 3000, label=r"$m_{t\bar{t}}$ [GeV]").Weight()
                found[name].fill(mass[where], weight=weight[where])
        return found

    def postprocess(self, accumulator):
        """Nothing is left to do."""
        return accumulator


def histograms(folder, executor):
    """By name: region, sample and variation."""
    NanoAODSchema.warn_missing_crossrefs = False
    fileset = json.loads(Path(folder, "fileset.json").read_text())
    for sample in fileset.values():
        known = sample["metadata"]
        if known["is_mc"]:
            sums = (uproot.open(file)["Runs/genEventSumw"].array() for file in sample["files"])
            known["norm"] = known["xsec"] * known["lumi"] / sum(map(ak.sum, sums))
    run = processor.Runner(executor, schema=NanoAODSchema)
    return run(fileset, processor_instance=HeavyResonance(folder))


def executor_of(scheduler, workers):
    """Who computes: a Dask cluster, processes of this machine, or this process."""
    if scheduler:
        from distributed import Client

        client = Client(scheduler)
        # As `warn_missing_crossrefs` here: the files lack branches that this program does not use.
        client.run(warnings.filterwarnings, "ignore", "Missing cross-reference", RuntimeWarning)
        return processor.DaskExecutor(client=client, status=False)
    if workers > 1:
        return processor.FuturesExecutor(workers=workers, status=False)
    return processor.IterativeExecutor(status=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--on", help="a Dask scheduler's address; without it this machine works")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    chosen = parser.parse_args()
    found = histograms(chosen.folder.absolute(), executor_of(chosen.on, chosen.workers))
    with uproot.recreate(chosen.folder / "coffea.root") as file:
        for name, histogram in found.items():
            file[name] = histogram
