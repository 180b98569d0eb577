"""python read_snapshots.py FOLDER: what ROOT reads of each file of the folder, through RDataFrame,
as FILE.json beside it: columns by name, values as nested lists; letters as their numbers. Trees are
drawn, too, and RNTuples are opened by RNTupleReader."""

import json
import sys
from pathlib import Path

import ROOT

ROOT.gROOT.SetBatch(True)


LETTERS = ("Char_t", "UChar_t", "std::int8_t", "std::uint8_t", "bool", "Bool_t", "char")


def taken(frame, types):
    """Values of all columns, in one event loop."""
    found = {}
    for name, kind in types.items():
        if "std::array" in kind:  # which RDataFrame does not read, also where ROOT wrote it
            continue
        inner = kind.removeprefix("ROOT::VecOps::RVec<").removesuffix(">")
        column = name
        if inner in LETTERS:
            is_list = inner != kind
            kind = "ROOT::VecOps::RVec<int>" if is_list else "int"
            form = "{0}({1}.begin(), {1}.end())" if is_list else "{0}({1})"
            column = f"{name}_number"
            frame = frame.Define(column, form.format(kind, name))
        found[name] = frame.Take[kind](column)
    return {name: values.GetValue() for name, values in found.items()}


def plain(value):
    """Numbers, strings and lists of them."""
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (bytes, ROOT.std.string)):
        return str(value)
    if hasattr(value, "item"):
        return value.item()
    return [plain(each) for each in value]


def read(path):
    with ROOT.TFile.Open(str(path)) as file:
        kind = type(file.Get("Events")).__name__
        titles, drawn = {}, {}
        if kind == "TTree":
            tree = file.Get("Events")
            titles = {branch.GetName(): branch.GetTitle() for branch in tree.GetListOfBranches()}
            entries = tree.GetEntries()
            for name in titles if entries else ():
                count = tree.Draw(name, "", "goff")
                drawn[name] = [tree.GetV1()[i] for i in range(count)]
            others = {
                key.GetName(): file.Get(key.GetName()).GetEntries() for key in file.GetListOfKeys()
            }
            code = file.GetCompressionSettings()
        else:
            entries = ROOT.RNTupleReader.Open("Events", str(path)).GetNEntries()
            others, code = {}, None
    found = {"kind": kind, "entries": entries, "titles": titles, "drawn": drawn}
    found |= {"trees": others, "compression": code, "columns": {}, "types": {}}
    # Of an RNTuple without entries RDataFrame reads nothing: it crashes, also where ROOT wrote it.
    # It compiles a reader for each type, so one file of each kind has to do.
    if entries and path.stem.endswith("half"):
        frame = ROOT.RDataFrame("Events", str(path))
        found["types"] = {str(n): frame.GetColumnType(n) for n in frame.GetColumnNames()}
        for name, values in taken(frame, found["types"]).items():
            found["columns"][name] = [plain(value) for value in values]
    path.with_suffix(".json").write_text(json.dumps(found))


for each in sorted(Path(sys.argv[1]).glob("*.root")):
    read(each)
