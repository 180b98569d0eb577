"""What users of ROOT write by habit, and what to write here: methods of RDataFrame, TTree and
TChain by name.

Pure: data only.
"""

from __future__ import annotations

__all__ = ["METHODS"]

_HISTOGRAM = (
    'hist("x", bins=(100, 0, 200)) books a histogram, hist("x", "y", bins=[…, …]) one of two '
    "dimensions"
)
_PROFILE = 'profile("y", sample="x", bins=(100, 0, 200)) books a profile'
_SAME = ("Count", "Define", "Describe", "Filter", "Max", "Mean", "Min", "Report", "Snapshot", "Sum")

METHODS = {
    **{name: f"it is called {name.lower()}" for name in (*_SAME, "Draw", "Scan", "Take", "Vary")},
    **dict.fromkeys(("Histo1D", "Histo2D", "Histo3D", "HistoND"), _HISTOGRAM),
    **dict.fromkeys(("Profile1D", "Profile2D"), _PROFILE),
    "AddFriend": "it is called add_friend",
    "Alias": 'define("name", "column") gives a column a second name',
    "AsNumpy": "arrays(names) gives an awkward array; of a dataset, to_numpy(names) gives NumPy's",
    "CopyTree": 'filter("cut").snapshot("skim.root", "*") writes the entries that pass',
    "DefinePerSample": "define_per_file(name, function); items of the metadata are columns",
    "Display": "head(names, n) gives the first entries, scan(*names) prints them",
    "Foreach": "tm.run(function, events) calls a function with each chunk of entries",
    "GetColumnNames": "events.branches has the names of the columns",
    "GetEntries": "events.num_entries is the number of entries, filter(…).count() books the number "
    "of those that pass",
    "GetListOfBranches": "events.branches has the branches",
    "GetMaximum": "max(x).value is the maximum",
    "GetMinimum": "min(x).value is the minimum",
    "Print": "events.show() prints the branches",
    "Process": "tm.run(selector, events) runs a treemill.Selector",
    "Range": "tm.run(…, entries=(start, stop)) goes through a part of the entries",
    "Redefine": "it is called define",
    "SetAlias": 'define("name", "expression") names an expression',
    "StdDev": "std(x, ddof=1) is the standard deviation",
}
"""What to write for methods of RDataFrame, TTree and TChain."""
