"""Writes what ROOT finds in a trace to a file: TTree::Draw's counts, sums over the tree, and
RDataFrame's."""

import json
import sys

import ROOT

file = ROOT.TFile(sys.argv[1])
tree = file.Get("PerfStats")
drawn = tree.Draw("seconds", 'event=="packet"', "goff")
entries = sum(row.entries for row in tree if row.counted)
kind = tree.GetLeaf("event")
reads = [
    (int(r.bytes), tree.GetLeaf("ranges").GetValueString())
    for r in tree
    if kind.GetValueString() == "read"
]
frame = ROOT.RDataFrame("PerfStats", sys.argv[1])
told = {
    "rows": tree.GetEntries(),
    "packets": int(drawn),
    "entries": int(entries),
    "bytes": int(frame.Sum("bytes_read").GetValue()),
    "seconds": float(frame.Sum("seconds").GetValue()),
    "read": sum(number for number, _ in reads),
    "ranges": [str(ranges) for _, ranges in reads],
    "about": file.Get("PerfAbout").GetEntries(),
}
with open(sys.argv[2], "w") as out:
    json.dump(told, out)
