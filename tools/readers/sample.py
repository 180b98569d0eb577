"""A sample of what treemill and uproot agree on, read once more by ROOT's RDataFrame."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import treemill._core as core

from .compare import Outcome, Verdict, read

PER_FILE = 5
"""Branches of numbers, or lists of numbers, that are drawn from each file."""

NUMBERS = {
    *("float", "double", "int", "unsigned int", "vector<float>", "vector<int>"),
    *("std::int32_t", "std::uint32_t", "std::uint64_t"),
    *("std::vector<float>", "std::vector<std::int32_t>", "ROOT::VecOps::RVec<float>"),
}

PROGRAM = """
import json, sys
import ROOT
ROOT.gErrorIgnoreLevel = ROOT.kFatal
path, jobs = sys.argv[1], json.loads(sys.argv[2])
for tree, branch in jobs:
    frame = ROOT.RDataFrame(tree, path)
    taken = frame.Take[frame.GetColumnType(branch)](branch)
    values = [v if isinstance(v, (int, float)) else list(v) for v in taken]
    print(json.dumps(values), flush=True)
"""


def differences_from_root(paths: list[Path], found: list[Outcome]) -> Iterator[str]:
    """A line for each branch of the sample that RDataFrame reads otherwise."""
    compared = 0
    for path in paths:
        jobs = _choose(path, [o for o in found if o.file == path.name])
        command = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(path), json.dumps(jobs)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        for (tree, branch), line in zip(jobs, done.stdout.splitlines(), strict=False):
            ours = read(core.File(str(path)).tree(tree), branch)
            compared += 1
            if not _same(ours, json.loads(line)):
                yield f"{path.name}:{tree}:{branch}: not what RDataFrame reads"
    print(f"\nbranches compared with RDataFrame: {compared}")


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
