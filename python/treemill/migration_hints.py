"""The names that users of ROOT and uproot write by habit, with the names to write in treemill."""

from __future__ import annotations

__all__ = ["BRANCH"]

# What users of ROOT write by habit, and what to write here: methods of RDataFrame, TTree and
# TChain by name. Pure: data only.

_HISTOGRAM = (
    'hist("x", bins=(100, 0, 200)) books a histogram, hist("x", "y", bins=[…, …]) one of two '
    "dimensions"
)
_PROFILE = 'profile("y", sample="x", bins=(100, 0, 200)) books a profile'
_SAME = ("Count", "Define", "Describe", "Filter", "Max", "Mean", "Min", "Report", "Snapshot", "Sum")

ROOT_METHODS = {
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
    "Range": "tm.run(…, entries=(start, stop)) processes a part of the entries",
    "Redefine": "it is called define",
    "SetAlias": 'define("name", "expression") names an expression',
    "StdDev": "std(x, ddof=1) is the standard deviation",
}
"""What to write for methods of RDataFrame, TTree and TChain."""


# What users of uproot write by habit, and what to write here: functions, methods and keywords by
# name. Pure: data only.

_CHOSEN = "write [name for name, branch in events.branches.items() if …]"
_RANGES = (
    "arrays(names, start, stop) reads a range of entries; tm.run(function, events) calls a "
    "function with each chunk"
)

UPROOT_METHODS = {
    "[]": "arrays(name) reads a column, arrays(name)[name] is the column alone; "
    "events.branches[name] describes it",
    "array": "arrays(name) reads a column, arrays(name)[name] is the column alone",
    "iterate": _RANGES,
    "keys": "events.branches has the names of the columns",
    "values": "events.branches has the columns, arrays() their values",
    "items": "events.branches.items() has names and columns",
    "typenames": "events.show() lists the types; events.branches[name].cpp_type is one of them",
    "pandas": "to_arrow(names).to_pandas() makes a DataFrame",
}
"""What to write for methods of uproot's trees; `[]` is a subscript."""

BRANCH = {
    "array": "events.arrays(name)[name] is the column",
    "arrays": "events.arrays(names) reads columns",
    "basket": "events.arrays(name, start, stop)[name] is a range of its entries",
    "compressed_bytes": "it is called zip_bytes",
    "interpretation": "cpp_type is its type in the file, reads_as the type of its values",
    "num_baskets": "it is called baskets",
    "num_entries": "len(events) is the number of entries",
    "typename": "it is called cpp_type",
    "uncompressed_bytes": "it is called total_bytes",
}
"""What to write for methods of uproot's branches."""

UPROOT_FUNCTIONS = {
    "open": 'tm.dataset("file.root", "Events") is a tree',
    "concatenate": "tm.dataset([path, path]).arrays(names) reads several files as one tree",
    "iterate": f"tm.dataset([path, path]) is several files as one tree; its {_RANGES}",
    "lazy": "tm.dataset(path) reads nothing until you need data",
    "dask": "tm.dataset(path) reads nothing until you need data",
}
"""What to write for functions of uproot."""

UPROOT_KEYWORDS = {
    "expressions": "names is the first argument",
    "cut": 'events.filter("…").arrays(…) selects entries',
    "filter_name": "names are names or globs; for other choices write "
    "[name for name in events.branches if …]",
    "filter_typename": _CHOSEN,
    "filter_branch": _CHOSEN,
    "filter_field": _CHOSEN,
    "aliases": 'events.define("name", "expression").arrays(…) names an expression; so does '
    'arrays({"name": "expression"})',
    "entry_start": "it is called start",
    "entry_stop": "it is called stop",
    "library": "arrays(…) gives an awkward array, to_numpy(…) NumPy's, to_arrow(…).to_pandas() a "
    "DataFrame",
    "how": "arrays(…) gives an awkward record array, to_numpy(…) a dict of arrays",
    "step_size": _RANGES,
    "interpretation": "columns have the types of the file; cast in an expression",
    "decompression_executor": "tm.connect(workers=…) sets the number of workers",
    "interpretation_executor": "tm.connect(workers=…) sets the number of workers",
    "array_cache": "tm.cache keeps data in memory",
}
"""What to write for keywords of uproot's methods."""
