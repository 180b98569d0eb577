"""The tt̄ analysis in coffea: `python examples/agc/coffea_ttbar.py FOLDER` writes the histograms of
all processes and variations, as treemill_ttbar.py does.

It goes about it as the reference implementation does: a loop over all systematics, each of which
selects and reconstructs anew, with the objects of NanoEvents, in the precision of the file.
coffea_fast.py is written for speed.
"""

import json
import sys
from pathlib import Path

import awkward as ak
import correctionlib
import hist
import numpy as np
import uproot
from coffea import processor
from coffea.analysis_tools import PackedSelection
from coffea.nanoevents import NanoAODSchema

JETS = ("pt_scale_up", "pt_res_up")
BTAGS = tuple(f"btag_var_{i}" for i in range(4))
REGIONS = ("4j1b", "4j2b")


def empty(bins=(25, 50, 550)):
    """A histogram of all processes and variations."""
    return (
        hist.Hist.new.Reg(*bins, name="observable")
        .StrCat([], name="process", growth=True)
        .StrCat([], name="variation", growth=True)
        .Weight()
    )


def observables(jets, region):
    """The sum of the jets' pT, or the mass of the three tagged jets with the highest pT."""
    if region == "4j1b":
        return ak.sum(jets.pt, axis=1)
    trijets = ak.combinations(jets, 3, fields=["a", "b", "c"])
    trijets["p4"] = trijets.a + trijets.b + trijets.c
    highest = np.maximum(trijets.a.btagCSVV2, trijets.b.btagCSVV2)
    trijets = trijets[np.maximum(highest, trijets.c.btagCSVV2) > 0.5]
    best = ak.argmax(trijets.p4.pt, axis=1, keepdims=True)
    return ak.flatten(trijets.p4[best].mass)


class TtbarAnalysis(processor.ProcessorABC):
    """A histogram for each region."""

    def __init__(self, corrections):
        self.corrections = corrections

    def empty(self):
        """What is filled."""
        return {region: empty() for region in REGIONS}

    def jets(self, events):
        """The jets as the analysis takes them."""
        return events.Jet

    def observed(self, region, chosen, events, jets, electrons, muons):
        """What is filled in a region, and its values in the events that are chosen."""
        yield region, observables(jets[chosen], region)

    def process(self, events):
        """The histograms of a chunk of events."""
        found = self.empty()
        known = events.metadata
        sf = correctionlib.CorrectionSet.from_string(self.corrections)
        systematics = ["nominal"]
        if known["variation"] == "nominal":
            systematics += [*JETS, *BTAGS]
            if known["process"] == "wjets":
                systematics.append("scale_var")
        for systematic in systematics:
            jets = self.jets(events)
            if systematic == "pt_scale_up":
                jets = ak.with_field(jets, jets.pt * 1.03, "pt")
            elif systematic == "pt_res_up":
                noise = sf["jet_resolution"].evaluate(jets.pt, jets.phi)
                jets = ak.with_field(jets, jets.pt * (1 + 0.05 * noise), "pt")
            electrons, muons = events.Electron, events.Muon
            electrons = electrons[
                (electrons.pt > 30)
                & (np.abs(electrons.eta) < 2.1)
                & (electrons.cutBased == 4)
                & (electrons.sip3d < 4)
            ]
            muons = muons[
                (muons.pt > 30)
                & (np.abs(muons.eta) < 2.1)
                & muons.tightId
                & (muons.sip3d < 4)
                & (muons.pfRelIso04_all < 0.15)
            ]
            jets = jets[(jets.pt > 30) & (np.abs(jets.eta) < 2.4) & jets.isTightLeptonVeto]
            tags = ak.sum(jets.btagCSVV2 > 0.5, axis=1)
            selection = PackedSelection()
            selection.add("exactly_1l", ak.num(electrons) + ak.num(muons) == 1)
            selection.add("atleast_4j", ak.num(jets) >= 4)
            selection.add("4j1b", tags == 1)
            selection.add("4j2b", tags >= 2)
            for region in REGIONS:
                chosen = selection.all("exactly_1l", "atleast_4j", region)
                objects = jets, electrons, muons
                for name, values in self.observed(region, chosen, events, *objects):
                    self.fill(found[name], known, sf, values, systematic, jets[chosen])
        return found

    def fill(self, histogram, known, sf, values, systematic, jets):
        """Fills one histogram in one systematic variation."""
        weights = np.full(len(jets), known["xsec"] * 3378 / known["nevts"])
        where = {"observable": values, "process": known["process"]}
        if systematic in (*BTAGS, "scale_var"):
            kind, jet = (
                ("scale_var", 0) if systematic == "scale_var" else ("btag_var", systematic[-1])
            )
            for way in ("up", "down"):
                factor = sf["event_systematics"].evaluate(kind, way, jets.pt[:, int(jet)])
                histogram.fill(**where, variation=f"{systematic}_{way}", weight=weights * factor)
            return
        name = known["variation"] if systematic == "nominal" else systematic
        histogram.fill(**where, variation=name, weight=weights)

    def postprocess(self, accumulator):
        """Nothing is left to do."""
        return accumulator


def histograms(folder, analysis=TtbarAnalysis):
    """By name, as the fit has them: region, process and variation."""
    fileset = json.loads(Path(folder, "fileset.json").read_text())
    executor = processor.IterativeExecutor(status=False)
    return by_name(fileset, run(fileset, executor, analysis, folder))


def run(fileset, executor, analysis, folder, **how):
    """A histogram for each region, of files in coffea's form."""
    NanoAODSchema.warn_missing_crossrefs = False
    runner = processor.Runner(executor, schema=NanoAODSchema, **how)
    corrections = Path(folder, "corrections.json").read_text()
    return runner(fileset, processor_instance=analysis(corrections))


def by_name(fileset, found):
    """A histogram for each region, process and variation."""
    made = {}
    for dataset in fileset.values():
        process, variation = (dataset["metadata"][key] for key in ("process", "variation"))
        names = [variation]
        if variation == "nominal":
            btags = [f"{name}_{way}" for name in BTAGS for way in ("up", "down")]
            scales = ["scale_var_up", "scale_var_down"] if process == "wjets" else []
            names = ["nominal", *JETS, *btags, *scales]
        for where, histogram in found.items():
            for name in names:
                own = f"{where}_{process}" + (f"_{name}" if name != "nominal" else "")
                made[own] = histogram[:, process, name]
    return made


def main(histograms, output):
    """The program of both forms."""
    folder = Path(sys.argv[1])
    with uproot.recreate(folder / output) as file:
        for name, histogram in histograms(folder).items():
            file[name] = histogram


if __name__ == "__main__":
    main(histograms, "coffea.root")
