"""The programs of examples/agc, as rivals: each fills all histograms of a folder of files."""

import importlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import remembering, spent
from ..protocol import REPOSITORY

SOURCES = "BENCH_AGC_SOURCES"
"""Names the folder of a copy that was edited."""
EXAMPLE = Path(os.environ.get(SOURCES) or REPOSITORY / "examples" / "agc")
sys.path[:0] = [str(EXAMPLE), str(EXAMPLE.parent)]


class Program:
    """One of the modules, which all give histograms of a folder by name."""

    def __init__(self, module: str) -> None:
        self._module = importlib.import_module(module)

    def run(self, query: str, path: str) -> list[float]:
        found = self.filled(path)
        return [float(x) for name in sorted(found) for x in found[name]]

    def filled(self, path: str) -> Mapping[str, Any]:
        """Bins by name, with those below and above the axis."""
        return {n: h.values(flow=True) for n, h in self._module.histograms(path).items()}

    def compile(self) -> None:
        """What is done before the first event, by a compiler: nothing, or once."""

    def sweep(self, paths: list[str], branches: list[str]) -> float:
        raise NotImplementedError("the analysis only")

    def versions(self) -> dict[str, str]:
        return {}


class _Treemill(Program):
    def __init__(self, module: str) -> None:
        super().__init__(module)
        import treemill

        self._session = treemill.connect(workers=1, mode="threads")

    def _run(self, bookings: Any) -> Any:
        return self._session.run(bookings, progress=False)

    def run(self, query: str, path: str) -> list[float]:
        clock = spent.Clock(self._session)
        bins = super().run(query, path)
        self.measured = {"spent": clock.spent()}
        return bins

    def filled(self, path: str) -> Mapping[str, Any]:
        found = self._module.histograms(path, self._run)
        return {
            "_".join([region, process, variation.replace(":", "_")]).removesuffix("_nominal"): (
                histogram.values(flow=True)
            )
            for region, of in found.items()
            for process, varied in of.items()
            for variation, histogram in varied.items()
        }


class _Root(Program):
    def compile(self) -> None:
        self._module.compiled()

    def filled(self, path: str) -> Mapping[str, Any]:
        found = self._module.histograms(path)
        return {n: [*map(h.GetBinContent, range(h.GetNcells()))] for n, h in found.items()}

    def versions(self) -> dict[str, str]:
        import ROOT  # only where ROOT is the rival

        return {"ROOT": ROOT.gROOT.GetVersion()}


_KINDS = {"treemill": _Treemill, "rdataframe": _Root}


def make(threads: int, variant: str) -> Program:
    """`variant`: the module, and after a colon whether treemill remembers."""
    name, _, memory = variant.partition(":")
    if memory == remembering.VARIANT:
        remembering.as_users_have_it()
    return _KINDS.get(name.partition("_")[0], Program)(name)


def data(folder: Path, events: int, with_trees: bool) -> Path:
    """The folder of files with `events` events in each data set, and of models that were trained
    on them; made if it is not there."""
    made: Path = importlib.import_module("generate").generate(folder / f"agc-{events}", events)
    if with_trees and not (made.parent / "bdt_odd.json").exists():
        importlib.import_module("treemill_bdt").train(made.parent)
    return made.parent
