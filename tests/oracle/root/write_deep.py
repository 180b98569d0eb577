"""Writes a tree of vectors, of vectors of vectors and of vectors of these: `write_deep.py FOLDER`
makes deep.root."""

import random
import sys

import ROOT

ENTRIES = 40
chance = random.Random(5)


def values():
    return [chance.gauss(1.0, 3.0) for _ in range(chance.randrange(4))]


def lists(make):
    return [make() for _ in range(chance.randrange(4))]


file = ROOT.TFile(f"{sys.argv[1]}/deep.root", "RECREATE")
tree = ROOT.TTree("Events", "Events")
tree.SetAutoFlush(7)
entry, x = ROOT.std.vector["int"](1), ROOT.std.vector["double"](1)
pts = ROOT.std.vector["float"]()
deep = ROOT.std.vector["vector<float>"]()
cube = ROOT.std.vector["vector<vector<float>>"]()
tree.Branch("entry", entry.data(), "entry/I")
tree.Branch("x", x.data(), "x/D")
for name, vector in (("pts", pts), ("deep", deep), ("cube", cube)):
    tree.Branch(name, vector)
for number in range(ENTRIES):
    entry[0], x[0] = number, chance.gauss(1.0, 3.0)
    pts.assign(values())
    deep.clear()
    for inner in lists(values):
        deep.push_back(ROOT.std.vector["float"](inner))
    cube.clear()
    for square in lists(lambda: lists(values)):
        outer = ROOT.std.vector["vector<float>"]()
        for inner in square:
            outer.push_back(ROOT.std.vector["float"](inner))
        cube.push_back(outer)
    tree.Fill()
tree.Write()
file.Close()
