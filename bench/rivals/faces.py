"""treemill's faces other than histograms: arrays, selectors on threads and on processes, skims, and
the start of the package. Each gives some numbers by which two versions are compared; `earlier.py`
lists them."""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import treemill as tm

from ..queries import TREE


def _sums(events: Any) -> dict[str, float]:
    near = events[events.MET_pt > 20]
    return {"events": len(near), "jets": int(ak.sum(ak.num(near.Jet_pt)))}


class _Faces:
    def __init__(self) -> None:
        self._threads = tm.connect(workers=1, mode="threads")
        self._processes = tm.connect(workers=1, mode="processes")
        self._folder = tempfile.TemporaryDirectory()
        self._run: dict[str, Callable[[str], list[float]]] = {
            "import": self._import,
            "arrays": lambda path: self._arrays(path, ["MET_pt", "MET_phi"]),
            "lists": lambda path: self._arrays(path, ["Jet_pt", "Jet_eta", "Muon_charge"]),
            "threads": lambda path: self._selector(self._threads, path),
            "processes": lambda path: self._selector(self._processes, path),
            "skim": self._skim,
        }

    def run(self, query: str, path: str) -> list[float]:
        return self._run[query](path)

    def sweep(self, paths: list[str], branches: list[str]) -> float:
        raise NotImplementedError("the faces only")

    def versions(self) -> dict[str, str]:
        return {"treemill": tm.__version__}

    def _import(self, path: str) -> list[float]:
        subprocess.run([sys.executable, "-c", "import treemill"], check=True)
        return [0.0]

    def _arrays(self, path: str, names: list[str]) -> list[float]:
        read = tm.dataset(path, tree=TREE).arrays(names)
        return [float(ak.count(read[name], axis=None)) for name in names]

    def _selector(self, session: tm.Session, path: str) -> list[float]:
        found = session.run(_sums, tm.dataset(path, tree=TREE), progress=False)
        return [float(found["events"]), float(found["jets"])]

    def _skim(self, path: str) -> list[float]:
        target = Path(self._folder.name) / "skim.root"
        events = tm.dataset(path, tree=TREE).filter("MET_pt > 20")
        self._threads.run(events.snapshot(str(target), ["MET_pt", "Jet_pt"]), progress=False)
        return [float(tm.dataset(str(target)).num_entries)]


def make(threads: int, variant: str) -> _Faces:
    """The faces, with one worker each."""
    return _Faces()
