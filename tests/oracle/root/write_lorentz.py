"""Objects of ROOT's classes of Lorentz vectors, whole and split, and what their methods give:
`write_lorentz.py FILE VALUES.npz`."""

import sys

import numpy as np
import ROOT

VECTORS = {
    "m": ("ROOT::Math::PtEtaPhiMVector", (10, 0.5, 0.2, 0.1)),
    "e": ("ROOT::Math::PtEtaPhiEVector", (10, 0.5, 0.2, 20)),
    "x": ("ROOT::Math::PxPyPzEVector", (1, 2, 3, 5)),
    "y": ("ROOT::Math::PxPyPzMVector", (1, -2, 3, 0.5)),
    "t": ("TLorentzVector", (-1, 2, 3, 5)),
}


def main(path: str, values: str) -> None:
    file = ROOT.TFile(path, "recreate")
    tree = ROOT.TTree("vectors", "Lorentz vectors")
    made = {}
    for name, (kind, coordinates) in VECTORS.items():
        for level in (0, 99):
            scale = 2 if level else 1
            vector = getattr(ROOT, kind)(*(scale * value for value in coordinates))
            made[f"{name}{level}"] = vector
            tree.Branch(f"{name}{level}", vector, 32000, level)
    several = ROOT.std.vector["ROOT::Math::PtEtaPhiMVector"]()
    several.push_back(made["m0"])
    several.push_back(made["m99"])
    tree.Branch("several", several, 32000, 0)
    places = {"v": ROOT.TVector3(1, 2, 3), "w": ROOT.TVector3(-1, 2, -0.5)}
    for name, place in places.items():
        tree.Branch(name, place)
    for _ in range(3):
        tree.Fill()
    file.Write()
    methods = ("Pt", "Eta", "Phi", "M", "E", "Px", "Rapidity")
    found = {name: [getattr(v, method)() for method in methods] for name, v in made.items()}
    found["several"] = [(several[0] + several[1]).M()]
    v, w = places.values()
    found["two"] = [v.Angle(w), v.DrEtaPhi(w), v.Dot(w), v.DeltaPhi(w), v.Perp(w)]
    np.savez(values, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
