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
from coffea_ttbar import BTAGS, JETS, REGIONS, empty, main, observables
from coffea_ttbar import histograms as histograms_of


def momenta(objects, *others):
    """Four-vectors in double precision, with other fields."""
    return ak.zip(
        {
            name: ak.values_astype(objects[name], np.float64)
            for name in ("pt", "eta", "phi", "mass", *others)
        },
        with_name="PtEtaPhiMLorentzVector",
        behavior=vector.behavior,
    )


class FastAnalysis(processor.ProcessorABC):
    """A histogram for each region."""

    fields = ("btagCSVV2",)

    def __init__(self, corrections):
        self.corrections = corrections

    def empty(self):
        """What is filled."""
        return {region: empty() for region in REGIONS}

    def observed(self, jets, events):
        """What is filled, its values and the jets of these events."""
        tags = ak.sum(jets.btagCSVV2 > 0.5, axis=1)
        for region, chosen in (("4j1b", tags == 1), ("4j2b", tags >= 2)):
            yield region, ak.to_numpy(observables(jets[chosen], region)), jets[chosen]

    def process(self, events):
        """The histograms of a chunk of events."""
        known = events.metadata
        sf = correctionlib.CorrectionSet.from_string(self.corrections)
        found = self.empty()
        electrons, muons = events.Electron, events.Muon
        events["good_electrons"] = (
            (electrons.pt > 30)
            & (abs(electrons.eta) < 2.1)
            & (electrons.sip3d < 4)
            & (electrons.cutBased == 4)
        )
        events["good_muons"] = (
            (muons.pt > 30)
            & (abs(muons.eta) < 2.1)
            & (muons.sip3d < 4)
            & muons.tightId
            & (muons.pfRelIso04_all < 0.15)
        )
        number = ak.sum(events.good_electrons, axis=1) + ak.sum(events.good_muons, axis=1)
        events = events[number == 1]
        every = events.Jet[(abs(events.Jet.eta) < 2.4) & events.Jet.isTightLeptonVeto]
        every = momenta(every, *self.fields)

        is_nominal = known["variation"] == "nominal"
        for systematic in ("nominal", *JETS) if is_nominal else ("nominal",):
            jets = every
            if systematic == "pt_scale_up":
                jets = ak.with_field(every, every.pt * 1.03, "pt")
            elif systematic == "pt_res_up":
                noise = sf["jet_resolution"].evaluate(every.pt, every.phi)
                jets = ak.with_field(every, every.pt * (1 + 0.05 * noise), "pt")
            jets = jets[jets.pt > 30]
            enough = ak.num(jets) >= 4
            for where, values, of in self.observed(jets[enough], events[enough]):
                name = systematic if is_nominal else known["variation"]
                for own, weights in self.weights(known, sf, of, name):
                    found[where].fill(
                        observable=values, process=known["process"], variation=own, weight=weights
                    )
        return found

    def weights(self, known, sf, jets, name):
        """Weights by the variation's name."""
        nominal = np.full(len(jets), known["xsec"] * 3378 / known["nevts"])
        yield name, nominal
        if name != "nominal":
            return
        varied = [(btag, "btag_var", i) for i, btag in enumerate(BTAGS)]
        if known["process"] == "wjets":
            varied.append(("scale_var", "scale_var", 0))
        for own, kind, jet in varied:
            for way in ("up", "down"):
                pt = ak.to_numpy(jets.pt[:, jet])
                yield f"{own}_{way}", nominal * sf["event_systematics"].evaluate(kind, way, pt)

    def postprocess(self, accumulator):
        """Nothing is left to do."""
        return accumulator


def histograms(folder):
    """By name, as the fit has them: region, process and variation."""
    return histograms_of(folder, FastAnalysis)


if __name__ == "__main__":
    main(histograms, "coffea_fast.root")
