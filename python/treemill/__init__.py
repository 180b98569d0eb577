"""treemill: ROOT files to histograms and selections at interactive speed, on every core.

    import treemill as tm

    events = tm.dataset("data/*.root", tree="Events")
    good = events.filter("nMuon >= 2")
    met = good.hist("MET_pt", bins=(100, 0, 200))
    count = good.count()
    met_hist, n = tm.run(met, count)

Names are loaded when they are first used, so that `import treemill` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Not lazy: the function has the name of its module, and must be bound after it.
from .dataset import Dataset, dataset
from .processor import warn_if_too_old

if TYPE_CHECKING:
    from .booking import Booking
    from .caching import cache
    from .cutflow import Cut, CutFlow
    from .errors import (
        FormatError,
        QueryError,
        QueryInterrupted,
        SourceError,
        TreemillError,
        UnsupportedError,
        WorkerError,
    )
    from .files import FileOutput
    from .front import connect, run
    from .functions import function
    from .monitor.report import Report
    from .query import Node
    from .running import Query
    from .selector import Selector
    from .session import Session
    from .showing import plot, show
    from .snapshot_format import SnapshotFile
    from .variations import Variations

__version__ = "0.1.0"

__all__ = [
    "Booking",
    "Cut",
    "CutFlow",
    "Dataset",
    "FileOutput",
    "FormatError",
    "Node",
    "Query",
    "QueryError",
    "QueryInterrupted",
    "Report",
    "Selector",
    "Session",
    "SnapshotFile",
    "SourceError",
    "TreemillError",
    "UnsupportedError",
    "Variations",
    "WorkerError",
    "__version__",
    "cache",
    "connect",
    "dataset",
    "function",
    "plot",
    "run",
    "show",
]

_HOMES = {
    "Booking": "booking",
    "Node": "query",
    "Query": "running",
    "Report": "monitor.report",
    "cache": "caching",
    "Cut": "cutflow",
    "CutFlow": "cutflow",
    "FileOutput": "files",
    "function": "functions",
    "SnapshotFile": "snapshot_format",
    "Variations": "variations",
    "Selector": "selector",
    "FormatError": "errors",
    "QueryError": "errors",
    "QueryInterrupted": "errors",
    "Session": "session",
    "SourceError": "errors",
    "TreemillError": "errors",
    "UnsupportedError": "errors",
    "WorkerError": "errors",
    "connect": "front",
    "run": "front",
    "plot": "showing",
    "show": "showing",
}


warn_if_too_old()


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext treemill`: the tabulator completes columns within expressions."""
    from .completing import load

    load(ipython)


def __dir__() -> list[str]:
    return sorted(__all__)
