"""Adds files as hadd does, and says what ROOT reads in all of them.

Each line of the input asks for one sum, as a list in JSON: `["OUTPUT.json", "MERGED", "FILE",
...]`. A line of the output says that it is made.
"""

import itertools
import json
import sys

import ROOT


def add(output: str, merged: str, *files: str) -> None:
    merger = ROOT.TFileMerger(False)
    merger.OutputFile(merged)
    for file in files:
        merger.AddFile(file)
    assert merger.Merge()
    del merger
    found = {}
    for path in (merged, *files):
        found[path] = {}
        file = ROOT.TFile.Open(path)
        walk(file, "", found[path])
        file.Close()
    with open(output, "w") as out:
        json.dump(found, out)


def walk(folder: ROOT.TDirectory, path: str, found: dict) -> None:
    for name in {key.GetName() for key in folder.GetListOfKeys()}:
        thing = folder.Get(name)
        if isinstance(thing, ROOT.TDirectory):
            walk(thing, f"{path}{name}/", found)
        elif isinstance(thing, ROOT.TH1):
            found[path + name] = histogram(thing)


def histogram(made: ROOT.TH1) -> dict:
    """The sums in its bins, by what the bins are called."""
    axes = [made.GetXaxis(), made.GetYaxis(), made.GetZaxis()][: made.GetDimension()]
    is_profile = made.InheritsFrom("TProfile") or made.InheritsFrom("TProfile2D")
    bins = {}
    for place in itertools.product(*(range(axis.GetNbins() + 2) for axis in axes)):
        at = made.GetBin(*place)
        sums = [made.GetBinContent(at), made.GetBinError(at) ** 2]
        if is_profile:
            entries = made.GetBinEntries(at)
            sums = [sums[0] * entries, entries, made.GetSumw2()[at], made.GetBinSumw2()[at]]
        if any(sums):
            bins[" ".join(map(called, axes, place))] = sums
    return {"bins": bins, "entries": made.GetEntries(), "mean": made.GetMean()}


def called(axis: ROOT.TAxis, number: int) -> str:
    if number in (0, axis.GetNbins() + 1):
        return "<" if number == 0 else ">"
    return axis.GetBinLabel(number) if axis.GetLabels() else f"{axis.GetBinLowEdge(number):g}"


if __name__ == "__main__":
    for line in sys.stdin:
        add(*json.loads(line))
        print("made", flush=True)
