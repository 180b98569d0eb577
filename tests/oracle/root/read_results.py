"""What ROOT reads in a file of results, and in two copies of it joined as hadd does:
`read_results.py FILE MERGED OUTPUT.json`."""

import json
import sys
from collections.abc import Iterator

import ROOT


def main(file: str, merged: str, output: str) -> None:
    merger = ROOT.TFileMerger(False)
    merger.OutputFile(merged)
    merger.AddFile(file)
    merger.AddFile(file)
    assert merger.Merge()
    found = {"one": {}, "two": {}}
    walk(ROOT.TFile.Open(file), "", found["one"])
    walk(ROOT.TFile.Open(merged), "", found["two"])
    with open(output, "w") as out:
        json.dump(found, out)


def walk(folder: ROOT.TDirectory, path: str, found: dict) -> None:
    for key in folder.GetListOfKeys():
        thing, name = key.ReadObj(), path + key.GetName()
        if isinstance(thing, ROOT.TDirectory):
            walk(thing, f"{name}/", found)
        elif isinstance(thing, ROOT.TH1):
            found[name] = histogram(thing)
        elif isinstance(thing, ROOT.TTree):
            found[name] = {"class": "TTree", "values": [*rows(thing)]}
        else:
            found[name] = {"class": thing.ClassName(), "text": str(thing.GetName())}


def rows(tree: ROOT.TTree) -> Iterator[list[float]]:
    leaf = tree.GetLeaf("values")
    for entry in range(tree.GetEntries()):
        tree.GetEntry(entry)
        yield [leaf.GetValue(i) for i in range(leaf.GetLen())]


def histogram(made: ROOT.TH1) -> dict:
    cells = range(made.GetNcells())
    axis = made.GetXaxis()
    return {
        "class": made.ClassName(),
        "title": made.GetTitle(),
        "axis": axis.GetTitle(),
        "labels": [axis.GetBinLabel(i) for i in range(1, axis.GetNbins() + 1)],
        "edges": [axis.GetBinLowEdge(i) for i in range(1, axis.GetNbins() + 2)],
        "values": [made.GetBinContent(i) for i in cells],
        "errors": [made.GetBinError(i) for i in cells],
        "mean": made.GetMean(),
        "entries": made.GetEntries(),
        "effective": made.GetEffectiveEntries(),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
