"""Writes trees of arrays whose lengths are known: `write_arrays.py FOLDER` makes arrays.root. In
the tree Counted there are as many as a branch says, in Fixed always as many. Of the names that
random expressions know.
"""

import sys

import numpy as np
import ROOT

ENTRIES = 40
MOST = 4
chance = np.random.default_rng(7)

TREES = {
    "Counted": {"pts": "[n]/F", "deep": "[n][3]/F", "cube": "[n][2][2]/D", "Hit_pos": "[n][3]/I"},
    "Fixed": {"pts": "[5]/D", "deep": "[3][4]/F", "cube": "[2][3][2]/F", "Hit_pos": "[2][2]/s"},
}
TYPES = {"F": np.float32, "D": np.float64, "I": np.int32, "s": np.uint16}

file = ROOT.TFile(f"{sys.argv[1]}/arrays.root", "RECREATE")
for name, branches in TREES.items():
    tree = ROOT.TTree(name, name)
    tree.SetAutoFlush(7)
    entry, n, x = np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1)
    tree.Branch("entry", entry, "entry/I")
    tree.Branch("n", n, "n/I")
    tree.Branch("x", x, "x/D")
    buffers = {}
    for branch, form in branches.items():
        lengths, letter = form.split("/")
        shape = [MOST if m == "n" else int(m) for m in lengths.strip("[]").split("][")]
        buffers[branch] = np.zeros(shape, TYPES[letter])
        tree.Branch(branch, buffers[branch], branch + form)
    if name == "Counted":
        pt = buffers["Hit_pt"] = np.zeros(MOST, np.float32)
        tree.Branch("Hit_pt", pt, "Hit_pt[n]/F")
    for number in range(ENTRIES):
        entry[0], x[0], n[0] = number, chance.normal(1.0, 3.0), chance.integers(0, MOST + 1)
        for values in buffers.values():
            drawn = chance.normal(1.0, 3.0, values.shape)
            values[...] = np.abs(np.rint(drawn)) if values.dtype.kind in "iu" else drawn
        tree.Fill()
    tree.Write()
file.Close()
