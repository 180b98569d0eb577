"""What sessions and selectors cost, apart from the work: runs of nothing, packets there and back, a
session's whole life, columns that a selector only reads. `bench sessions` has the goals;
`earlier.py` compares two versions."""

import importlib
from collections.abc import Callable
from typing import Any

import treemill as tm
from treemill.scheduling import Sizing

from ..queries import TREE

try:
    processes: Any = importlib.import_module("treemill.backends.processes.pool")
except ImportError:  # earlier versions have one module
    processes = importlib.import_module("treemill.backends.processes")
_COLUMNS = ("MET_pt", "Jet_pt")
_PACKETS = 300


def _nothing(chunk: Any) -> dict[str, int]:
    return {"chunks": 1}


def _touch(events: Any) -> dict[str, int]:
    import awkward as ak

    return {name: int(ak.count(events[name], axis=None)) for name in _COLUMNS}


class _Sessions:
    def __init__(self) -> None:
        self._threads = tm.connect(workers=1, mode="threads")
        self._processes = tm.connect(workers=1, mode="processes")
        self._run: dict[str, Callable[[str], list[float]]] = {
            "run": lambda path: self._cycles(self._threads, 1),
            "submit": self._submit,
            "packets": self._packets,
            "life": self._life,
            "touch": self._touch,
            "query": self._query,
        }

    def run(self, query: str, path: str) -> list[float]:
        return self._run[query](path)

    def sweep(self, paths: list[str], branches: list[str]) -> float:
        raise NotImplementedError("sessions only")

    def versions(self) -> dict[str, str]:
        return {"treemill": tm.__version__}

    def _cycles(self, session: tm.Session, cycles: int) -> list[float]:
        return [float(session.run(_nothing, cycles=cycles, progress=False)["chunks"])]

    def _submit(self, path: str) -> list[float]:
        return [float(self._processes.submit(_nothing, cycles=1).result()["chunks"])]

    def _packets(self, path: str) -> list[float]:
        usual = processes.SIZING
        processes.SIZING = Sizing(first=1, shortest=0.0, longest=0.0)  # a packet is one cycle
        try:
            return self._cycles(self._processes, _PACKETS)
        finally:
            processes.SIZING = usual

    def _life(self, path: str) -> list[float]:
        with tm.connect(workers=2, mode="processes") as session:
            return self._cycles(session, 1)

    def _touch(self, path: str) -> list[float]:
        found = self._threads.run(_touch, tm.dataset(path, tree=TREE), progress=False)
        return [float(found[name]) for name in _COLUMNS]

    def _query(self, path: str) -> list[float]:
        events = tm.dataset(path, tree=TREE)
        booked = [events.hist(name, bins=(128, 0, 256)) for name in _COLUMNS]
        made = self._threads.run(*booked, progress=False)
        return [float(each.sum(flow=True)) for each in made]


def make(threads: int, variant: str) -> _Sessions:
    """Sessions with one worker each."""
    return _Sessions()
