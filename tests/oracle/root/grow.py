"""Fills a tree, step by step: a line on standard input fills 1000 entries more and saves them; the
number of entries is said on standard output. The file stays open for writing until input ends."""

import array
import sys

import ROOT

file = ROOT.TFile(sys.argv[1], "RECREATE")
tree = ROOT.TTree("t", "")
x = array.array("i", [0])
tree.Branch("x", x, "x/I", 1000)
for _ in sys.stdin:
    for _ in range(1000):
        tree.Fill()
        x[0] += 1
    tree.AutoSave("SaveSelf")
    print(tree.GetEntries(), flush=True)
tree.Write()
file.Close()
