"""Draws with TTree::Draw: `draw.py FILE CASES.json OUTPUT.npz`.

A case is {name, expr, where, bins: [[n, lo, hi], …] x first, profile}; the output has an array
for each name: bin contents with flow bins, x first.
"""

import json
import sys

import numpy as np
import ROOT

_CLASSES = {1: ROOT.TH1D, 2: ROOT.TH2D, 3: ROOT.TH3D}


def main(file: str, cases: str, output: str) -> None:
    with open(cases) as stream:
        wanted = json.load(stream)
    opened = ROOT.TFile.Open(file)
    tree = opened.Get("Events")
    contents = {}
    for number, case in enumerate(wanted):
        axes = case["bins"]
        kind = ROOT.TProfile if case["profile"] else _CLASSES[len(axes)]
        histogram = kind(f"h{number}", "", *(x for axis in axes for x in axis))
        options = "goff prof" if case["profile"] else "goff"
        drawn = tree.Draw(f"{case['expr']}>>h{number}", case["where"] or "", options)
        if drawn < 0:
            raise RuntimeError(f"{case['name']}: TTree::Draw refuses {case['expr']}")
        cells = np.array([histogram.GetBinContent(i) for i in range(histogram.GetNcells())])
        shape = [n + 2 for n, _, _ in axes]
        contents[case["name"]] = cells.reshape(shape[::-1]).T
    np.savez(output, **contents)


if __name__ == "__main__":
    main(*sys.argv[1:])
