"""python read_snapshots.py FOLDER [frames]: what ROOT reads of each file of the folder, as
FILE.json beside it: columns by name, values as nested lists; letters as their numbers. Trees are
read leaf by leaf, and drawn; RNTuples are read by RNTupleReader. With `frames` the columns are
those that RDataFrame reads, which compiles a reader for each type: of one file of each kind."""

import json
import sys
from pathlib import Path

import numpy as np
import ROOT

ROOT.gROOT.SetBatch(True)


LETTERS = ("Char_t", "UChar_t", "std::int8_t", "std::uint8_t", "bool", "Bool_t", "char")


def of_leaves(tree):
    """Values of all branches: numbers, text, or lists of all items of an entry."""
    found = {}
    for branch in tree.GetListOfBranches():
        leaf, name = branch.GetListOfLeaves().At(0), branch.GetName()
        kind = leaf.GetTypeName()
        has_items = bool(leaf.GetLeafCount()) or leaf.GetLenStatic() > 1
        value = leaf.GetValue if kind in ("Float_t", "Double_t") else leaf.GetValueLong64
        values = found[name] = []
        for entry in range(tree.GetEntries()):
            branch.GetEntry(entry)
            if kind == "string":
                values.append(str(getattr(tree, name)))
                continue
            items = [value(i) for i in range(leaf.GetLen())]
            if kind == "ULong64_t":
                items = [item % 2**64 for item in items]
            values.append(items if has_items else items[0])
    return found


def of_reader(reader):
    """Values of all fields."""
    entry = reader.CreateEntry()
    names = [str(f.GetFieldName()) for f in reader.GetDescriptor().GetTopLevelFields()]
    found = {name: [] for name in names}
    for number in range(reader.GetNEntries()):
        reader.LoadEntry(number, entry)
        for name, values in found.items():
            values.append(plain(entry[name]))
    return found


def of_frame(path):
    """Values of all columns and their types, in one event loop."""
    frame = ROOT.RDataFrame("Events", str(path))
    types = {str(name): frame.GetColumnType(name) for name in frame.GetColumnNames()}
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
    return {name: [plain(each) for each in values.GetValue()] for name, values in found.items()}


def plain(value):
    """Numbers, strings and lists of them."""
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (bytes, ROOT.std.string)):
        return str(value)
    if hasattr(value, "item"):
        return value.item()
    if hasattr(value, "__array_interface__"):
        return np.asarray(value).tolist()
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
            columns = of_leaves(tree)
            others = {
                key.GetName(): file.Get(key.GetName()).GetEntries() for key in file.GetListOfKeys()
            }
            code = file.GetCompressionSettings()
        else:
            reader = ROOT.RNTupleReader.Open("Events", str(path))
            entries, columns = reader.GetNEntries(), of_reader(reader)
            others, code = {}, None
    found = {"kind": kind, "entries": entries, "titles": titles, "drawn": drawn}
    found |= {"trees": others, "compression": code, "columns": columns}
    path.with_suffix(".json").write_text(json.dumps(found))


def main(folder, what=""):
    for path in sorted(folder.glob("*.root")):
        # Of an RNTuple without entries RDataFrame crashes, also where ROOT wrote it.
        if what == "frames" and path.stem.endswith("half"):
            path.with_suffix(".frame.json").write_text(json.dumps(of_frame(path)))
        elif what != "frames":
            read(path)


main(Path(sys.argv[1]), *sys.argv[2:])
