"""Runs queries with RDataFrame: `queries.py FILE QUERIES.json OUTPUT.npz`, one pass for all.

A query is {name, where: [...], define: {...}, fill: [...], weight, bins: [[n, lo, hi] or edges]} in
C++; the output has an array for each name: bin contents with flow bins, in boost-histogram's order.
"""

import json
import sys
from array import array
from typing import Any

import numpy as np
import ROOT


def _axis(bins: list[Any]) -> tuple[Any, ...]:
    if len(bins) == 3 and isinstance(bins[0], int):
        return tuple(bins)
    return len(bins) - 1, array("d", bins)


def _book(df: Any, query: dict[str, Any]) -> Any:
    for name, text in query["define"].items():
        df = df.Define(name, text)
    for text in query["where"]:
        df = df.Filter(text)
    names = []
    for number, text in enumerate(query["fill"]):
        names.append(f"fill_{number}")
        df = df.Define(names[-1], text)
    if query["weight"] is not None:
        names.append("weight_")
        df = df.Define("weight_", query["weight"])
    dimensions = len(query["fill"])
    title = f"h{dimensions}"
    axes = [_axis(bins) for bins in query["bins"]]
    if dimensions == 3:
        # TH3's constructors take one kind of axis for all three.
        model = ROOT.RDF.TH3DModel(title, "", *(x for axis in axes for x in axis))
        return df.Histo3D(model, *names)
    if dimensions == 2:
        model = ROOT.RDF.TH2DModel(title, "", *(x for axis in axes for x in axis))
        return df.Histo2D(model, *names)
    return df.Histo1D(ROOT.RDF.TH1DModel(title, "", *axes[0]), *names)


def _contents(histogram: Any, dimensions: int) -> np.ndarray[Any, Any]:
    axes = [histogram.GetXaxis(), histogram.GetYaxis(), histogram.GetZaxis()][:dimensions]
    shape = [axis.GetNbins() + 2 for axis in axes]
    cells = np.array([histogram.GetBinContent(i) for i in range(histogram.GetNcells())])
    return cells.reshape(shape[::-1]).T


def main(file: str, queries: str, output: str) -> None:
    with open(queries) as stream:
        wanted = json.load(stream)
    df = ROOT.RDataFrame("Events", file)
    booked = {query["name"]: (_book(df, query), len(query["fill"])) for query in wanted}
    np.savez(output, **{name: _contents(h, n) for name, (h, n) in booked.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
