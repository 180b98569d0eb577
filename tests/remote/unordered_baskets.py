"""`python unordered_baskets.py FILE FLUSH ENTRIES`: ROOT writes a tree after SetAutoFlush(FLUSH);
with 0 each branch writes a basket when it is full, wherever the others are. In a process of its
own."""

import sys
from array import array


def write(path, flush, entries):
    import ROOT

    file = ROOT.TFile(path, "recreate")
    tree = ROOT.TTree("Events", "of thin and thick branches")
    tree.SetAutoFlush(flush)
    x, n, v = array("f", [0]), array("i", [0]), array("d", [0] * 20)
    tree.Branch("x", x, "x/F")
    tree.Branch("n", n, "n/I")
    tree.Branch("v", v, "v[20]/D")
    for i in range(entries):
        x[0], n[0] = i / 2, 3 * i
        for k in range(len(v)):
            v[k] = 1 / (1 + i + k)
        tree.Fill()
    file.Write()
    file.Close()


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
