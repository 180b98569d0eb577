"""A sample of what treemill and uproot agree on, read once more by ROOT's RDataFrame.

ROOT runs in a process of its own (`python -m tools.readers.sample`), one for all files: compiling
for a type is what takes time, and is done once. Where a file ends it, the next one gets another.
"""

import json
import random
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import treemill._core as core

from .child import Child
from .compare import Outcome, Verdict, read
from .process import START_PATIENCE

PER_FILE = 5
"""Branches of numbers, or lists of numbers, that are drawn from each file."""

ENTRIES = 2000
"""Of each branch, at most."""

PATIENCE = 120.0
"""Seconds for a branch."""

NUMBERS = {
    *("float", "double", "int", "unsigned int", "vector<float>", "vector<int>"),
    *("std::int32_t", "std::uint32_t", "std::uint64_t"),
    *("std::vector<float>", "std::vector<std::int32_t>", "ROOT::VecOps::RVec<float>"),
}


def differences_from_root(found: Mapping[Path, list[Outcome]]) -> Iterator[str]:
    """A line for each branch of the sample that RDataFrame reads otherwise; prints the sums."""
    compared = refused = 0
    child: Child | None = None
    try:
        for path, outcomes in found.items():
            file = core.File(str(path))
            for tree, branch in _choose(path, outcomes):
                if child is None:
                    command = [sys.executable, "-W", "ignore", "-m", __name__]
                    child = Child(command, START_PATIENCE)
                child.send([str(path), tree, branch, ENTRIES])
                try:
                    theirs = child.receive(PATIENCE)
                except (EOFError, TimeoutError):
                    child.close()
                    child = theirs = None
                if theirs is None:
                    refused += 1
                    continue
                ours = file.tree(tree)
                compared += 1
                if not _same(read(ours, branch, 0, min(ENTRIES, ours.num_entries)), theirs):
                    yield f"{path.name}:{tree}:{branch}: not what RDataFrame reads"
    finally:
        if child is not None:
            child.close()
    print(f"\nbranches compared with RDataFrame: {compared}; that it does not read: {refused}")


def _choose(path: Path, found: list[Outcome]) -> list[tuple[str, str]]:
    fit = [
        (o.tree.split(";")[0], o.branch)
        for o in found
        if o.verdict is Verdict.EQUAL and o.cpp_type in NUMBERS and not {"/", "."} & set(o.branch)
    ]
    return random.Random(path.name).sample(fit, min(PER_FILE, len(fit)))


def _same(ours: ak.Array, theirs: list[Any]) -> bool:
    counts = [len(x) if isinstance(x, list) else 1 for x in theirs]
    flat = [v for x in theirs for v in (x if isinstance(x, list) else [x])]
    values = ak.to_numpy(ak.flatten(ours, axis=None), allow_missing=False)
    if ours.ndim > 1 and ak.num(ours).to_list() != counts:
        return False
    return np.array_equal(values, np.array(flat, values.dtype), equal_nan=values.dtype.kind == "f")


def main() -> None:
    """The process: values of a branch for each question, null where RDataFrame cannot."""
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    print(json.dumps("ready"), flush=True)
    for question in sys.stdin:
        path, tree, branch, entries = json.loads(question)
        try:
            frame = ROOT.RDataFrame(tree, path)
            taken = frame.Range(entries).Take[frame.GetColumnType(branch)](branch)
            values = [v if isinstance(v, (int, float)) else list(v) for v in taken]
        except Exception:  # of C++, of all kinds
            values = None
        print(json.dumps(values), flush=True)


if __name__ == "__main__":
    main()
