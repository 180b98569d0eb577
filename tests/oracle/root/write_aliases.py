"""Writes trees with aliases, and what TTree::Draw makes of them: FOLDER/aliases_N.root, .json."""

import array
import json
import sys
from pathlib import Path

import ROOT

ALIASES = {
    "z": "x+y",
    "zz": "z*2",  # of an alias
    "y": "x*100",  # a branch wins
    "x": "y",
    "power": "-x^2",
    "half": "1/2",
    "first": "v[0]",
    "plain": "v",
    "big": "v > 10 && x >= 2",
    "total": "Sum$(v)",
    "many": "Length$(v)",
    "largest": "Max$(v)",
    "scoped": "TMath::Sqrt(TMath::Abs(-x)) + TMath::Pi() * fabs(-1) + sq(x)",
    "not_n": "!n",
    "shifted": "(1 << 3) + (n & 1)",
    "of_cut": "(x > 2) * 3",
    "least": "min(x, 3) + TMath::Max(x, 2.5)",
    "chosen": "n == 2 ? x : -y",
    "truncated": "int(x / 2)",
    "unused": "no_such_branch + 1",
}


def write(path, scale):
    file = ROOT.TFile(str(path), "RECREATE")
    tree = ROOT.TTree("t", "")
    x, y, n, v = (array.array(code, [0] * 8) for code in "ddif")
    for name, buffer, leaves in (("x", x, "x/D"), ("y", y, "y/D"), ("n", n, "n/I")):
        tree.Branch(name, buffer, leaves)
    tree.Branch("v", v, "v[n]/F")
    for i in range(6):
        x[0], y[0], n[0] = (i + 1) * scale, 100 + i, i % 3
        for j in range(n[0]):
            v[j] = j + 5 * i
        tree.Fill()
    for name, text in ALIASES.items():
        tree.SetAlias(name, text)
    tree.SetAlias("scaled", f"x*{scale}")  # another one in each file
    tree.SetAlias("a", "b+1")
    tree.SetAlias("b", "a+1")
    tree.Write()
    sums = {}
    for name in [*ALIASES, "scaled", "2*z + scaled"]:
        if name != "unused":
            found = tree.Draw(name, "", "goff")
            sums[name] = [found, sum(tree.GetV1()[i] for i in range(found))]
    path.with_suffix(".json").write_text(json.dumps(sums))
    file.Close()


folder = Path(sys.argv[1])
write(folder / "aliases_0.root", 1)
write(folder / "aliases_1.root", 2)
