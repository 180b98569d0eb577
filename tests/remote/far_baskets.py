"""`python far_baskets.py FILE BYTES ENTRIES`: ROOT writes a tree whose second half lies behind so
many bytes of nothing, in a sparse file. In a process of its own."""

import sys
from array import array


def write(path, gap, entries):
    import ROOT

    ROOT.TTree.SetMaxTreeSize(10 * gap)
    file = ROOT.TFile(path, "recreate")
    tree = ROOT.TTree("Events", "far apart")
    x, n = array("f", [0]), array("i", [0])
    tree.Branch("x", x, "x/F")
    tree.Branch("n", n, "n/I")
    tree.SetAutoFlush(entries // 4)
    for i in range(entries):
        if i == entries // 2:
            free = file.GetListOfFree().Last()
            free.SetFirst(gap)
            free.SetLast(10 * gap)
            file.SetEND(gap)
        x[0], n[0] = i / 2, 3 * i
        tree.Fill()
    file.Write()
    file.Close()


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
