"""Those who read: treemill and its rivals, each run in a process of its own on the client's side of
the link, so that each run is cold: new connections, nothing known of the file.

`python -m bench.io.contestants KEY TASK` (JSON) prints `seconds`, taken inside, and what was read.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from .layouts import TREE

EXERCISE, FILES, REPLICAS = "exercise", "files", "replicas"
WITHOUT = "BENCH_IO_WITHOUT"
"""Variable of a contestant's process: what treemill does without."""
BEGAN = "BENCH_IO_BEGAN"
"""Variable of a contestant's process: a file descriptor that hears when the clock starts."""


@dataclass(frozen=True)
class Task:
    """What is read, the same for all. `what`: EXERCISE (some branches of each entry, all branches
    of each so manyth), FILES (some branches of many files) or REPLICAS (some branches of one file,
    which lies at all of the URLs)."""

    what: str
    urls: tuple[str, ...]
    chosen: tuple[str, ...]
    others: tuple[str, ...] = ()
    """Branches that are read only for each `prescale`th entry."""
    entries: int = 0
    prescale: int = 0
    where: str = ""
    """Which entries are read, as an expression; only treemill knows it."""
    passes: int = 1
    """How often one process does it; the last time counts."""

    @classmethod
    def of(cls, text: str) -> "Task":
        """From JSON."""
        said = json.loads(text)
        urls, chosen, others = (tuple(said[name]) for name in ("urls", "chosen", "others"))
        return cls(**said | {"urls": urls, "chosen": chosen, "others": others})

    def text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class Contestant:
    """`scheme`: of the URLs that it takes. `environment`: added to its process's."""

    key: str
    title: str
    scheme: str
    run: Callable[[Task], Mapping[str, Any]]
    tasks: tuple[str, ...] = (EXERCISE, FILES)
    environment: Mapping[str, str] = field(default_factory=dict)


def _timed(task: Task, read: Callable[[Task], tuple[float, Mapping[str, float]]]) -> dict[str, Any]:
    if BEGAN in os.environ:
        os.write(int(os.environ[BEGAN]), b"!")
    passes = []
    for _ in range(task.passes):
        start, cpu = time.perf_counter(), time.process_time()
        total, counters = read(task)
        passes.append(time.perf_counter() - start)
        cpu = time.process_time() - cpu
    told = {"seconds": passes[-1], "total": total, "counters": {**counters, "cpu": cpu}}
    return told | {"passes": passes}


_LOGICAL = "/store/data/events.root"
"""The name of a file with replicas."""


def _treemill(task: Task) -> dict[str, Any]:
    import numpy as np  # noqa: F401  # imported, as the others have it
    import treemill as tm
    from treemill import _core
    from treemill.session.api import connect

    workers = len(os.sched_getaffinity(0))
    connect(workers=1)  # imported, as the others are
    _core.switch_off(os.environ.get(WITHOUT, "").split())

    def read(task: Task) -> tuple[float, Mapping[str, float]]:
        is_one = task.what == REPLICAS
        files = {_LOGICAL: list(task.urls)} if is_one else list(task.urls)
        events: Any = tm.dataset(files, TREE)
        if task.where:
            events = events.filter(task.where)
        sums = [events.sum(name) for name in task.chosen]
        if task.others:
            each = events.filter(f"entry_number % {task.prescale} == {task.prescale - 1}")
            sums += [each.sum(name) for name in task.others]
        with connect(workers=1 if task.what == EXERCISE else workers) as session:
            limit: dict[str, Any] = {"entries": task.entries} if task.entries else {}
            values = session.run(sums, progress=False, **limit)
            told = session.report
        assert isinstance(values, list)
        counted = {} if told is None else told.io._asdict()
        numbers = {name: value for name, value in counted.items() if not isinstance(value, tuple)}
        return float(sum(values)), numbers

    return _timed(task, read)


_READ = """
#include <memory>
#include <string>
#include <vector>
#include "TFile.h"
#include "TTree.h"
#include "TTreeCache.h"
// Reads `chosen` of every entry and `others` of each `prescale`th; gives the sum of all values.
double read_entries(const char *url, const std::vector<std::string> &chosen,
                    const std::vector<std::string> &others, long entries, long prescale,
                    bool tuned) {
  std::unique_ptr<TFile> file(TFile::Open(url));
  if (!file || file->IsZombie()) throw std::runtime_error("cannot open");
  TTree *tree = file->Get<TTree>("Events");
  if (tuned) {  // all that will be read, known beforehand; few large requests
    tree->SetCacheSize(128 << 20);
    for (auto &name : chosen) tree->AddBranchToCache(name.c_str(), true);
    for (auto &name : others) tree->AddBranchToCache(name.c_str(), true);
    tree->StopCacheLearningPhase();
  }
  double total = 0;
  std::vector<TBranch *> first, second;
  std::vector<std::unique_ptr<std::vector<float> *>> values;
  auto add = [&](const std::string &name, std::vector<TBranch *> &to) {
    values.push_back(std::make_unique<std::vector<float> *>(nullptr));
    tree->SetBranchAddress(name.c_str(), values.back().get());
    to.push_back(tree->GetBranch(name.c_str()));
  };
  for (auto &name : chosen) add(name, first);
  for (auto &name : others) add(name, second);
  long all = tree->GetEntries();
  if (entries > 0 && entries < all) all = entries;
  for (long entry = 0; entry < all; entry++) {
    tree->LoadTree(entry);
    bool is_whole = prescale > 0 && entry % prescale == prescale - 1;
    for (auto *branch : first) branch->GetEntry(entry);
    if (is_whole)
      for (auto *branch : second) branch->GetEntry(entry);
    for (size_t i = 0; i < (is_whole ? values.size() : first.size()); i++)
      for (float value : **values[i]) total += value;
  }
  tree->ResetBranchAddresses();
  return total;
}
"""


def _root(task: Task, tuned: bool) -> dict[str, Any]:
    import ROOT

    ROOT.gInterpreter.Declare(_READ)
    names = [ROOT.std.vector["std::string"](list(each)) for each in (task.chosen, task.others)]

    def read(task: Task) -> tuple[float, Mapping[str, float]]:
        (url,) = task.urls
        total = ROOT.read_entries(url, *names, task.entries, task.prescale, tuned)
        told = {
            "bytes_read": ROOT.TFile.GetFileBytesRead(),
            "requests": ROOT.TFile.GetFileReadCalls(),
        }
        return float(total), told

    return _timed(task, read)


def _rdataframe(task: Task) -> dict[str, Any]:
    import ROOT

    def read(task: Task) -> tuple[float, Mapping[str, float]]:
        frame = ROOT.RDataFrame(TREE, list(task.urls))
        sums = [frame.Sum(name) for name in task.chosen]
        total = sum(float(each.GetValue()) for each in sums)
        return total, {"bytes_read": ROOT.TFile.GetFileBytesRead()}

    ROOT.EnableImplicitMT()
    return _timed(task, read)


def _uproot(task: Task) -> dict[str, Any]:
    import awkward as ak
    import numpy as np
    import uproot

    def total(tree: Any, names: tuple[str, ...], first: int, stop: int | None) -> float:
        arrays = tree.arrays(list(names), entry_start=first, entry_stop=stop, how=dict)
        flat = (ak.to_numpy(ak.flatten(each, axis=None)) for each in arrays.values())
        return sum(float(np.sum(each, dtype=np.float64)) for each in flat)

    def read(task: Task) -> tuple[float, Mapping[str, float]]:
        found = 0.0
        for url in task.urls:
            with uproot.open(f"{url}:{TREE}") as tree:
                found += total(tree, task.chosen, 0, task.entries or None)
                if task.others:
                    for entry in range(task.prescale - 1, task.entries, task.prescale):
                        found += total(tree, task.others, entry, entry + 1)
        return found, {}

    return _timed(task, read)


def _xrdcp(task: Task) -> dict[str, Any]:
    def read(task: Task) -> tuple[float, Mapping[str, float]]:
        for url in task.urls:
            command = ["xrdcp", "--force", "--nopbar", url, "/dev/null"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return 0.0, {}

    return _timed(task, read)


CONTESTANTS = (
    Contestant("treemill", "treemill, XRootD", "root", _treemill),
    Contestant("treemill-http", "treemill, HTTP", "http", _treemill),
    *(
        Contestant(
            f"without-{part}",
            f"treemill without {part}",
            "root",
            _treemill,
            (EXERCISE,),
            {WITHOUT: part},
        )
        for part in ("startup", "trigger", "coalescing", "prefetch")
    ),
    Contestant("root", "ROOT, TTreeCache as it is", "root", lambda t: _root(t, False), (EXERCISE,)),
    Contestant(
        "root-best", "ROOT, TTreeCache set by hand", "root", lambda t: _root(t, True), (EXERCISE,)
    ),
    Contestant("rdataframe", "RDataFrame", "root", _rdataframe, (FILES,)),
    Contestant("uproot", "uproot, XRootD", "root", _uproot),
    Contestant("uproot-http", "uproot, HTTP", "http", _uproot),
)
COPY = Contestant("xrdcp", "xrdcp", "root", _xrdcp)
BY_KEY = {each.key: each for each in (*CONTESTANTS, COPY)}


def main(key: str, text: str) -> None:
    """Runs one; prints what came of it."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    try:
        answer = BY_KEY[key].run(Task.of(text))
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
    os._exit(0)  # threads of clients that still wait for their servers do not matter


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
