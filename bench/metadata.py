"""`python -m bench metadata`: to open a file and read all metadata of a NanoAOD's branches, beside
ROOT and uproot. A table on standard output, raw numbers in
`bench/results/<date>-<machine>-metadata.json`.

Each reader opens the file anew and says name and C++ type of every branch; they must agree on the
names. Nothing that one opening has learnt is used by the next, but for what lies in the page cache.
"""

import gc
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import ROOT
import treemill as tm
import uproot

from . import data, machine, publish, tables
from .nanoaod import BRANCHES
from .options import Options
from .protocol import REPOSITORY
from .times import Times

GOAL = 10e-3
"""Seconds, of treemill."""

# In C++, so that no binding is paid for each branch.
_ROOT = """
#include <TBranch.h>
#include <TFile.h>
#include <TLeaf.h>
#include <TTree.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>
std::vector<std::pair<std::string, std::string>> treemill_branches(
    const char *path, const char *name) {
  std::unique_ptr<TFile> file(TFile::Open(path));
  std::vector<std::pair<std::string, std::string>> found;
  for (auto *at : *file->Get<TTree>(name)->GetListOfBranches()) {
    auto *branch = static_cast<TBranch *>(at);
    auto *leaf = static_cast<TLeaf *>(branch->GetListOfLeaves()->First());
    found.emplace_back(branch->GetName(), leaf->GetTypeName());
  }
  return found;
}
"""

Reader = Callable[[str, str], object]


def _treemill(path: str, tree: str) -> dict[str, str]:
    branches = tm.dataset(path, tree=tree).branches
    return {name: branch.cpp_type for name, branch in branches.items()}


def _root(path: str, tree: str) -> object:
    return ROOT.treemill_branches(path, tree)


def _uproot(path: str, tree: str) -> dict[str, str]:
    with uproot.open(path, object_cache=None, array_cache=None) as file:
        return dict(file[tree].typenames(recursive=False))


READERS: dict[str, Reader] = {"treemill": _treemill, "ROOT": _root, "uproot": _uproot}


def names(answer: object) -> list[str]:
    """Of the branches that a reader has found."""
    if isinstance(answer, dict):
        return list(answer)
    return [str(pair.first) for pair in answer]  # type: ignore[attr-defined]


def measure(path: Path, tree: str, rounds: int, clock: str) -> dict[str, Times]:
    """Times by reader, in turn, after a round that does not count."""
    now = time.process_time if clock == "cpu" else time.perf_counter
    taken: dict[str, list[float]] = {reader: [] for reader in READERS}
    expected = names(_treemill(str(path), tree))
    for turn in range(rounds + 1):
        for reader, read in READERS.items():
            # uproot leaves cycles, which the next reader's clock is not to count; and a dataset
            # of treemill's that still lies about would lend its tree to the next one.
            gc.collect()
            begin = now()
            answer = read(str(path), tree)
            seconds = now() - begin
            if turn:
                taken[reader].append(seconds)
            elif names(answer) != expected:
                raise SystemExit(f"{reader} finds other branches than treemill in {path}")
    return {reader: Times(tuple(seconds)) for reader, seconds in taken.items()}


def main(arguments: list[str]) -> int:
    """Measure and write."""
    options = Options("metadata", __doc__)
    options.size("rounds", 9, 2, "counted rounds")
    options.add("--file", help="FILE:TREE of one's own")
    chosen = options.parse(arguments)
    if chosen.file:
        path, tree = Path(chosen.file.rpartition(":")[0]), chosen.file.rpartition(":")[2]
    else:
        path, tree = chosen.data / f"nanoaod-{BRANCHES}.root", "Events"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-W", "ignore", "-m", "bench.nanoaod", str(path)]
        subprocess.run(command, cwd=REPOSITORY, check=True)
    ROOT.gInterpreter.Declare(_ROOT)
    data.warm_up(path)
    facts = machine.describe()
    found = measure(path, tree, chosen.rounds, chosen.clock)
    many = len(_treemill(str(path), tree))
    print(f"{many} branches; {chosen.clock} time, load {facts['load']:.1f} before the run\n")
    goals = {"treemill": f"≤ {GOAL * 1e3:g} for {BRANCHES} branches"}
    lines = ([name, tables.spread(times), goals.get(name, "")] for name, times in found.items())
    print(tables.table(["opened, all branches listed", "ms (min to max)", "goal"], lines))
    raw = {name: times.as_dict() for name, times in found.items()}
    numbers = {"machine": facts, "clock": chosen.clock, "branches": many, "readers": raw}
    publish.raw(chosen.output, "-metadata" + "-quick" * chosen.quick, numbers)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
