"""Writes TLorentzVectors member by member, alone and in a TClonesArray, and what ROOT's own methods
say of them: `split_vectors.py FILE OUTPUT.npz`.
"""

import sys

import numpy as np
import ROOT


def main(path: str, output: str) -> None:
    chance = np.random.default_rng(3)
    file = ROOT.TFile(path, "RECREATE")
    tree = ROOT.TTree("Events", "")
    met = ROOT.TLorentzVector()
    muons = ROOT.TClonesArray("TLorentzVector", 8)
    tree.Branch("met", met, 32000, 99)
    tree.Branch("muons", muons, 32000, 99)
    facts: dict[str, list[float]] = {"met_pt": [], "met_phi": [], "pair": [], "pts": [], "near": []}
    for _ in range(500):
        met.SetPtEtaPhiM(chance.exponential(30), 0.0, chance.uniform(-3.1, 3.1), 0.0)
        muons.Clear()
        n = int(chance.integers(0, 5))
        for i in range(n):
            muon = muons.ConstructedAt(i)
            place = chance.normal(0, 1.5), chance.uniform(-3.1, 3.1)
            muon.SetPtEtaPhiM(chance.exponential(20) + 1, *place, 0.105)
        tree.Fill()
        facts["met_pt"].append(met.Pt())
        facts["met_phi"].append(met.Phi())
        facts["pair"].append((muons[0] + muons[1]).M() if n > 1 else -1.0)
        facts["near"].append(muons[0].DeltaR(muons[1]) if n > 1 else -1.0)
        facts["pts"] += [muons[i].Pt() for i in range(n)]
    tree.Write()
    file.Close()
    np.savez(output, **{name: np.array(values) for name, values in facts.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
