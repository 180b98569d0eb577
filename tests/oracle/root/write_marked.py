"""Writes trees with what ROOT marks them with, a weight or kEntriesReshuffled, and what TTree::Draw
makes of weights: `write_marked.py FOLDER`."""

import array
import json
import sys
from pathlib import Path

import ROOT


def write(path: Path, first: int, weight: float = 1.0, *, is_reshuffled: bool = False) -> None:
    file = ROOT.TFile(str(path), "RECREATE")
    tree = ROOT.TTree("t", "")
    x, entry_number = array.array("i", [0]), array.array("i", [0])
    tree.Branch("x", x, "x/I")
    tree.Branch("entry_number", entry_number, "entry_number/I")
    for number in range(10):
        x[0], entry_number[0] = first + number, 100 * number
        tree.Fill()
    tree.SetWeight(weight)
    if is_reshuffled:
        tree.SetBit(ROOT.TTree.kEntriesReshuffled)
    tree.Write()
    file.Close()


def main(folder: Path) -> None:
    write(folder / "half.root", 0, 0.5)
    write(folder / "one.root", 10)
    write(folder / "two.root", 20, 2.0)
    write(folder / "reshuffled.root", 0, is_reshuffled=True)
    chain = ROOT.TChain("t")
    for name in ("one", "half", "two"):
        chain.Add(str(folder / f"{name}.root"))
    said = {}
    for expr, where in (("x", ""), ("x", "x%2==0"), ("x", "x"), ("LocalEntry$", "")):
        histogram = ROOT.TH1D("h", "", 30, 0, 30)
        chain.Draw(f"{expr}>>h", where, "goff")
        said[f"{expr}|{where}"] = [histogram.GetBinContent(i + 1) for i in range(30)]
    (folder / "said.json").write_text(json.dumps(said))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
