"""Writes a tree `Events` of what TTree::Draw takes and uproot does not write (arrays of arrays,
lists of arrays and of lists, vectors as objects): `write_drawn.py FOLDER` makes drawn.root."""

import sys
from array import array

import numpy as np
import ROOT


def main(folder: str) -> None:
    chance = np.random.default_rng(11)
    opened = ROOT.TFile(f"{folder}/drawn.root", "RECREATE")
    tree = ROOT.TTree("Events", "")
    mat, rows = np.zeros((3, 2), np.float32), np.zeros((4, 3), np.float32)
    count = array("i", [0])
    v, vv = ROOT.std.vector("float")(), ROOT.std.vector("std::vector<float>")()
    p4, clones = ROOT.TLorentzVector(), ROOT.TClonesArray("TLorentzVector", 4)
    tree.Branch("mat", mat, "mat[3][2]/F")
    tree.Branch("nRow", count, "nRow/I")
    tree.Branch("rows", rows, "rows[nRow][3]/F")
    tree.Branch("v", v)
    tree.Branch("vv", vv)
    tree.Branch("p4", p4, 32000, 99)
    tree.Branch("clones", clones, 32000, 99)
    for _ in range(1000):
        mat[:], rows[:] = chance.normal(2, 4, (3, 2)), chance.normal(2, 4, (4, 3))
        count[0] = int(chance.integers(0, 4))
        v.clear()
        vv.clear()
        for _ in range(int(chance.integers(0, 4))):
            v.push_back(chance.normal(2, 4))
            inner = ROOT.std.vector("float")()
            for _ in range(int(chance.integers(0, 4))):
                inner.push_back(chance.normal(2, 4))
            vv.push_back(inner)
        p4.SetPtEtaPhiM(chance.exponential(30) + 1, *vector(chance), chance.exponential(5))
        clones.Clear()
        for i in range(int(chance.integers(0, 4))):
            made = clones.ConstructedAt(i)
            made.SetPtEtaPhiM(chance.exponential(30) + 1, *vector(chance), 0.105)
        tree.Fill()
    tree.Write()
    opened.Close()


def vector(chance: np.random.Generator) -> tuple[float, float]:
    return chance.normal(0, 1.5), chance.uniform(-3.1, 3.1)


if __name__ == "__main__":
    main(*sys.argv[1:])
