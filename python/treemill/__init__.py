"""treemill: ROOT files to histograms and selections at interactive speed, on every core.

    import treemill as tm

    events = tm.dataset("data/*.root", tree="Events")
    good = events.filter("nMuon >= 2")
    met = good.hist("MET_pt", bins=(100, 0, 200))
    count = good.count()
    met_hist, n = tm.run(met, count)

Names are loaded when they are first used, so that `import treemill` is fast.
"""

from __future__ import annotations

import importlib
from types import FunctionType
from typing import TYPE_CHECKING

from ._system.processor import warn_if_lacking

# Not lazy: the function has the name of its module, and must be bound after it.
from .dataset import Dataset, dataset
from .fileset import Fileset, fileset
from .migration_hints import UPROOT_FUNCTIONS
from .public_api import short_errors

if TYPE_CHECKING:
    from ._system.cache import cache
    from .cli.ipython_completion import Shell
    from .data.file_constants import DataFile
    from .data.luminosity import LumiMask, LumiSections, lumi_mask
    from .errors import (
        FormatError,
        QueryError,
        QueryInterrupted,
        SourceError,
        StoppedError,
        TreemillError,
        UnsupportedError,
        WorkerError,
    )
    from .functions.batched import Batched, batched
    from .functions.corrections import Correction, Corrections, corrections
    from .functions.kernel import Kernel, kernel
    from .functions.models import model
    from .functions.onnx import OnnxModel
    from .functions.trees import TreeModel
    from .language.expression import function
    from .monitoring.report import IncompleteWarning, Report
    from .query.booking import Booking
    from .query.cutflow import Cut, CutFlow
    from .query.node import Node
    from .query.rows import SnapshotFile
    from .results.by_dataset import ByDataset
    from .results.file_output import FileOutput
    from .results.listing import CutTable, cut_table
    from .results.plotting import plot
    from .results.saving import load, save
    from .results.showing import show
    from .results.templates import templates
    from .results.variations import Variations
    from .session.api import connect, report, run
    from .session.results_folder import remember
    from .session.run import Query
    from .session.session import Session
    from .workers.selector import Selector

    __version__: str

__all__ = [
    "Batched",
    "Booking",
    "ByDataset",
    "ChangedError",
    "Correction",
    "Corrections",
    "Cut",
    "CutFlow",
    "CutTable",
    "DataFile",
    "Dataset",
    "FileOutput",
    "Fileset",
    "FormatError",
    "IncompleteWarning",
    "Kernel",
    "LumiMask",
    "LumiSections",
    "Node",
    "OnnxModel",
    "Query",
    "QueryError",
    "QueryInterrupted",
    "Report",
    "Selector",
    "Session",
    "SnapshotFile",
    "SourceError",
    "StoppedError",
    "TreeModel",
    "TreemillError",
    "UnsupportedError",
    "Variations",
    "WorkerError",
    "__version__",
    "batched",
    "cache",
    "connect",
    "corrections",
    "cut_table",
    "dataset",
    "fileset",
    "function",
    "kernel",
    "load",
    "lumi_mask",
    "model",
    "plot",
    "remember",
    "report",
    "run",
    "save",
    "show",
    "templates",
]

_MODULES = {
    "Batched": "functions.batched",
    "batched": "functions.batched",
    "Kernel": "functions.kernel",
    "kernel": "functions.kernel",
    "Booking": "query.booking",
    "Correction": "functions.corrections",
    "Corrections": "functions.corrections",
    "corrections": "functions.corrections",
    "ByDataset": "results.by_dataset",
    "DataFile": "data.file_constants",
    "Node": "query.node",
    "Query": "session.run",
    "IncompleteWarning": "monitoring.report",
    "Report": "monitoring.report",
    "cache": "_system.cache",
    "Cut": "query.cutflow",
    "CutFlow": "query.cutflow",
    "CutTable": "results.listing",
    "cut_table": "results.listing",
    "FileOutput": "results.file_output",
    "function": "language.expression",
    "LumiMask": "data.luminosity",
    "LumiSections": "data.luminosity",
    "lumi_mask": "data.luminosity",
    "OnnxModel": "functions.onnx",
    "TreeModel": "functions.trees",
    "model": "functions.models",
    "SnapshotFile": "query.rows",
    "Variations": "results.variations",
    "Selector": "workers.selector",
    "ChangedError": "errors",
    "FormatError": "errors",
    "QueryError": "errors",
    "QueryInterrupted": "errors",
    "Session": "session.session",
    "SourceError": "errors",
    "StoppedError": "errors",
    "TreemillError": "errors",
    "UnsupportedError": "errors",
    "WorkerError": "errors",
    "connect": "session.api",
    "report": "session.api",
    "run": "session.api",
    "remember": "session.results_folder",
    "plot": "results.plotting",
    "show": "results.showing",
    "load": "results.saving",
    "save": "results.saving",
    "templates": "results.templates",
}


warn_if_lacking()


def __getattr__(name: str) -> object:
    if name == "__version__":
        return _version()
    module = _MODULES.get(name)
    if module is None:
        hint = f": {UPROOT_FUNCTIONS[name]}" if name in UPROOT_FUNCTIONS else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    value: object = getattr(importlib.import_module(f".{module}", __name__), name)
    if isinstance(value, FunctionType) and not hasattr(value, "__wrapped__"):
        value = short_errors(value)  # of a folder that knows no faces
    globals()[name] = value
    return value


def _version() -> str:
    """The version of the package that is installed: it stands in Cargo.toml alone."""
    from importlib import metadata  # start-up

    try:
        return metadata.version(__name__)
    except metadata.PackageNotFoundError:
        return "0+unknown"  # of sources that were put on the path by hand


def load_ipython_extension(ipython: Shell) -> None:
    """`%load_ext treemill`: the tabulator completes columns within expressions."""
    from .cli.ipython_completion import load  # start-up

    load(ipython)


def __dir__() -> list[str]:
    return sorted(__all__)
