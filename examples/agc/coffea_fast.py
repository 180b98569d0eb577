"""The tt̄ analysis in coffea, written for speed: `python examples/agc/coffea_fast.py FOLDER`.

Events without the lepton are left out before jets are looked at, jets have only the fields that are
needed, and one selection serves all variations of weights. Momenta are in double precision, so that
bins can be compared one by one.
"""

import awkward as ak
import correctionlib
import numpy as np
from coffea import processor
from coffea.nanoevents.methods import vector
from coffea_ttbar import BTAGS, JETS, empty, main
from coffea_ttbar import histograms as histograms_of


class FastAnalysis(processor.ProcessorABC):
    """One histogram of everything."""

    def __init__(self, corrections):
        self.corrections = corrections

    def process(self, events):
        """The histogram of a chunk of events."""
        process = events.metadata["process"]
        variation = events.metadata["variation"]
        weight = events.metadata["xsec"] * 3378 / events.metadata["nevts"]
        sf = correctionlib.CorrectionSet.from_string(self.corrections)
        is_nominal = variation == "nominal"
        histogram = empty()

        def fill(region, name, values, weights):
            histogram.fill(
                observable=values, region=region, process=process, variation=name, weight=weights
            )

        def fill_weights(region, values, jets):
            shape = np.full(len(values), weight)
            for i, name in enumerate(BTAGS):
                for way in ("up", "down"):
                    pt = ak.to_numpy(jets.pt[:, i])
                    factor = sf["event_systematics"].evaluate("btag_var", way, pt)
                    fill(region, f"{name}_{way}", values, shape * factor)
            if process == "wjets":
                for way in ("up", "down"):
                    pt = ak.to_numpy(jets.pt[:, 0])
                    factor = sf["event_systematics"].evaluate("scale_var", way, pt)
                    fill(region, f"scale_var_{way}", values, shape * factor)

        electrons, muons = events.Electron, events.Muon
        good_electrons = (
            (electrons.pt > 30)
            & (abs(electrons.eta) < 2.1)
            & (electrons.sip3d < 4)
            & (electrons.cutBased == 4)
        )
        good_muons = (
            (muons.pt > 30)
            & (abs(muons.eta) < 2.1)
            & (muons.sip3d < 4)
            & muons.tightId
            & (muons.pfRelIso04_all < 0.15)
        )
        events = events[ak.sum(good_electrons, axis=1) + ak.sum(good_muons, axis=1) == 1]
        every = events.Jet[(abs(events.Jet.eta) < 2.4) & events.Jet.isTightLeptonVeto]
        every = ak.zip(
            {
                name: ak.values_astype(every[name], np.float64)
                for name in ("pt", "eta", "phi", "mass", "btagCSVV2")
            },
            with_name="PtEtaPhiMLorentzVector",
            behavior=vector.behavior,
        )

        for systematic in ("nominal", *JETS) if is_nominal else ("nominal",):
            jets = every
            if systematic == "pt_scale_up":
                jets = ak.with_field(every, every.pt * 1.03, "pt")
            elif systematic == "pt_res_up":
                noise = sf["jet_resolution"].evaluate(every.pt, every.phi)
                jets = ak.with_field(every, every.pt * (1 + 0.05 * noise), "pt")
            jets = jets[jets.pt > 30]
            jets = jets[ak.num(jets) >= 4]
            tags = ak.sum(jets.btagCSVV2 > 0.5, axis=1)
            name = systematic if is_nominal else variation

            one = jets[tags == 1]
            ht = ak.to_numpy(ak.sum(one.pt, axis=1))
            fill("4j1b", name, ht, np.full(len(ht), weight))

            two = jets[tags >= 2]
            trijets = ak.combinations(two, 3, fields=["a", "b", "c"])
            highest = np.maximum(trijets.a.btagCSVV2, trijets.b.btagCSVV2)
            trijets = trijets[np.maximum(highest, trijets.c.btagCSVV2) > 0.5]
            tops = trijets.a + trijets.b + trijets.c
            best = ak.argmax(tops.pt, axis=1, keepdims=True)
            mass = ak.to_numpy(ak.flatten(tops[best].mass))
            fill("4j2b", name, mass, np.full(len(mass), weight))

            if is_nominal and systematic == "nominal":
                fill_weights("4j1b", ht, one)
                fill_weights("4j2b", mass, two)
        return histogram

    def postprocess(self, accumulator):
        """Nothing is left to do."""
        return accumulator


def histograms(folder):
    """By name, as the fit has them: region, process and variation."""
    return histograms_of(folder, FastAnalysis)


if __name__ == "__main__":
    main(histograms, "coffea_fast.root")
