"""What TTree::Draw finds for expressions: `draw_values.py FILE OUTPUT.npz (TREE EXPRESSION)…`."""

import sys

import numpy as np
import ROOT


def main(path: str, output: str, *words: str) -> None:
    file = ROOT.TFile(path)
    found = {}
    for number, (tree, text) in enumerate(zip(words[::2], words[1::2], strict=True)):
        events = file.Get(tree)
        count = events.Draw(text, "", "goff")
        values = events.GetV1()
        found[str(number)] = np.array([values[i] for i in range(count)])
    np.savez(output, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
