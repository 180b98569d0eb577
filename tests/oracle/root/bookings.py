"""Bookings by RDataFrame: `bookings.py FILE OUTPUT.json SKIM.root`. Vary, Report, Profile1D,
StdDev, Take and Snapshot of the queries that test_bookings.py asks treemill, too."""

import json
import sys
from typing import Any

import ROOT


def _contents(histogram: Any) -> list[float]:
    return [histogram.GetBinContent(i) for i in range(histogram.GetNcells())]


def main(file: str, output: str, skim: str) -> None:
    df = ROOT.RDataFrame("Events", file)
    good = df.Filter("y > 5", "y above 5").Filter("i > 0", "i positive")
    varied = df.Vary(
        "y", "ROOT::RVecD{y * 1.1, y * 0.9}", ROOT.std.vector("string")(["up", "down"])
    )
    varied = varied.Filter("y > 20").Vary(
        "w", "ROOT::RVecD{w + 1}", ROOT.std.vector("string")(["plus"])
    )
    model = ("h", "", 40, -50.0, 150.0)
    sums = ROOT.RDF.Experimental.VariationsFor(varied.Histo1D(model, "y", "w"))
    flat = ROOT.RDF.Experimental.VariationsFor(varied.Histo1D(model, "y"))
    counts = ROOT.RDF.Experimental.VariationsFor(varied.Count())
    profile = good.Profile1D(("p", "", 20, 0.0, 100.0), "y", "w")
    deviation, mean = good.StdDev("y"), good.Mean("y")
    taken = good.Take["double"]("y")
    report = good.Report()
    options = ROOT.RDF.RSnapshotOptions()
    options.fLazy = True
    snapshot = good.Snapshot("Events", skim, ["y", "i", "Jet_pt"], options)
    found = {
        "sums": {str(k): _contents(sums[k]) for k in sums.GetKeys()},
        "flat": {str(k): _contents(flat[k]) for k in flat.GetKeys()},
        "counts": {str(k): int(counts[k]) for k in counts.GetKeys()},
        "profile": _contents(profile),
        "entries": [profile.GetBinEntries(i) for i in range(profile.GetNcells())],
        "std": deviation.GetValue(),
        "mean": mean.GetValue(),
        "take": list(taken.GetValue()),
        "report": [[c.GetName(), c.GetAll(), c.GetPass(), c.GetEff()] for c in report.GetValue()],
    }
    snapshot.GetValue()
    with open(output, "w") as stream:
        json.dump(found, stream)


if __name__ == "__main__":
    main(*sys.argv[1:])
