"""Writes what ROOT finds in a trace to a file: TTree::Draw's counts, sums over the tree, and
RDataFrame's."""

import json
import sys

import ROOT

file = ROOT.TFile(sys.argv[1])
tree = file.Get("PerfStats")
drawn = tree.Draw("seconds", 'event=="packet"', "goff")
entries = sum(row.entries for row in tree if row.counted)
reads = [(int(row.bytes), str(row.ranges)) for row in tree if row.event == "read"]
frame = ROOT.RDataFrame("PerfStats", sys.argv[1])
told = {
    "rows": tree.GetEntries(),
    "packets": int(drawn),
    "entries": int(entries),
    "bytes": int(frame.Sum("bytes_read").GetValue()),
    "seconds": float(frame.Sum("seconds").GetValue()),
    "read": sum(number for number, _ in reads),
    "ranges": [ranges for _, ranges in reads],
    "packets_of_frames": int(frame.Filter('event == "packet"').Count().GetValue()),
    "about": file.Get("PerfAbout").GetEntries(),
}
with open(sys.argv[2], "w") as out:
    json.dump(told, out)
