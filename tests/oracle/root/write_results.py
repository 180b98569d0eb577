"""Histograms as analyses write them, in a file: with labels for all bins or some, with weights,
profiles; and what ROOT reads of them: `write_results.py FILE OUTPUT.json`."""

import json
import sys

import ROOT
from read_results import walk


def labelled(name: str, bins: int, labels: dict[int, str]) -> ROOT.TH1D:
    made = ROOT.TH1D(name, "", bins, 0, bins)
    for number, label in labels.items():
        made.GetXaxis().SetBinLabel(number, label)
    for x in range(bins + 1):
        made.Fill(x + 0.5, x + 1.0)
    return made


def cut_flow() -> ROOT.TH1D:
    made = ROOT.TH1D("cut_flow", "", 10, 0, 10)
    made.SetCanExtend(ROOT.TH1.kAllAxes)
    for label in ("all", "trigger", "all", "jets", "all"):
        made.Fill(label, 1)
    return made


def profile(name: str, weighted: bool) -> ROOT.TProfile:
    made = ROOT.TProfile(name, "", 4, 0, 4)
    for i in range(50):
        made.Fill(i % 6 - 1, i * i % 17, 1 + i % 3 if weighted else 1)
    return made


def profile_of_two(weighted: bool) -> ROOT.TProfile2D:
    name = "weighted_two" if weighted else "two"
    made = ROOT.TProfile2D(name, "", 3, 0, 3, 2, 0, 2)
    for i in range(50):
        made.Fill(i % 5 - 1, i % 4 - 1, i * i % 17, 1 + i % 3 if weighted else 1)
    return made


def plane() -> ROOT.TH2F:
    made = ROOT.TH2F("plane", "", 3, 0, 3, 2, 0, 2)
    for number, label in ((2, "b"), (1, "a"), (3, "c")):
        made.GetXaxis().SetBinLabel(number, label)
    for i in range(20):
        made.Fill(i % 4, i % 5 - 1)
    return made


def main(path: str, output: str) -> None:
    file = ROOT.TFile(path, "RECREATE")
    below = labelled("below", 3, {1: "a", 2: "b", 3: "c"})
    below.Fill(-1)
    made = [
        labelled("turned", 3, {3: "c", 1: "a"}),
        labelled("full", 3, {1: "a", 2: "b", 3: "c"}),
        below,
        cut_flow(),
        plane(),
        profile("means", False),
        profile("weighted_means", True),
        profile_of_two(False),
        profile_of_two(True),
        ROOT.TH1I("integers", "", 3, 0, 3),
    ]
    for each in made:
        each.Write()
    file.mkdir("deep").cd()
    for each in made[:2]:
        each.Write()
    file.cd()
    ROOT.TEfficiency("efficiency", "", 3, 0, 3).Write()
    file.Close()
    found = {}
    walk(ROOT.TFile.Open(path), "", found)
    with open(output, "w") as out:
        json.dump(found, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
