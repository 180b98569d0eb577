"""Who analyses: each does the same on the same Dask workers, which are there already, and gives the
same three histograms: MET, the jets that pass a cut, the scalar sum of these if there are two.
"""

import contextlib
import importlib.util
import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import treemill as tm

from ..sessions.reading import Analysis

NAMES = ("met", "jets", "ht")


@dataclass(frozen=True)
class Answer:
    """What one run gave. `first`: seconds until the first results could be seen."""

    histograms: dict[str, Any]
    first: float | None = None


@dataclass(frozen=True)
class Contestant:
    """`prepare` is not timed; it gives what is."""

    key: str
    title: str
    prepare: Callable[[Any, Sequence[str]], Callable[[], Answer]]
    needs: str | None = None
    """A package that must be installed."""

    @property
    def is_there(self) -> bool:
        """Whether it can run here."""
        return self.needs is None or importlib.util.find_spec(self.needs) is not None


class _First:
    """Notes when it is called first."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.seconds: float | None = None

    def __call__(self, values: object) -> None:
        if self.seconds is None:
            self.seconds = time.perf_counter() - self.began


def _query(client: Any, paths: Sequence[str]) -> Callable[[], Answer]:
    session = tm.connect(client)

    def run() -> Answer:
        events = tm.dataset(list(paths), "Events")
        jets = events.define("good", "Jet_pt[(Jet_pt > 30) & (abs(Jet_eta) < 2.4)]")
        two = jets.filter("len(good) >= 2")
        booked = {
            "met": events.hist("MET_pt", bins=(128, 0, 256)),
            "jets": jets.hist("good", bins=(128, 0, 256)),
            "ht": two.hist("sum(good)", bins=(100, 0, 1000)),
        }
        first = _First()
        made = session.run(booked, progress=False, feedback=first)
        return Answer(_values(made), first.seconds)

    return run


def _selector(client: Any, paths: Sequence[str]) -> Callable[[], Answer]:
    session = tm.connect(client)

    def run() -> Answer:
        events = tm.dataset(list(paths), "Events", name="demo")
        first = _First()
        made = session.run(Analysis(), events, progress=False, feedback=first)
        return Answer(_values(made), first.seconds)

    return run


def _coffea(client: Any, paths: Sequence[str]) -> Callable[[], Answer]:
    from coffea import processor
    from coffea.nanoevents import NanoAODSchema

    from ..sessions.coffea_runner import CoffeaAnalysis

    NanoAODSchema.warn_missing_crossrefs = False
    executor = processor.DaskExecutor(client=client, status=False)
    run = processor.Runner(executor, schema=NanoAODSchema, savemetrics=False)
    files = {"demo": {"files": dict.fromkeys(paths, "Events")}}
    return lambda: Answer(_values(run(files, processor_instance=CoffeaAnalysis())))


def _rdataframe(client: Any, paths: Sequence[str]) -> Callable[[], Answer]:
    import ROOT

    def run() -> Answer:
        with contextlib.redirect_stdout(io.StringIO()):  # a progress bar
            data = ROOT.RDataFrame("Events", list(paths), executor=client)
            jets = data.Define("good", "Jet_pt[Jet_pt > 30 && abs(Jet_eta) < 2.4]")
            two = jets.Define("ht", "Sum(good)").Filter("good.size() >= 2")
            made = {
                "met": data.Histo1D(("met", "", 128, 0, 256), "MET_pt"),
                "jets": jets.Histo1D(("jets", "", 128, 0, 256), "good"),
                "ht": two.Histo1D(("ht", "", 100, 0, 1000), "ht"),
            }
            return Answer({name: _of_root(each) for name, each in made.items()})

    return run


def _values(made: Any) -> dict[str, list[float]]:
    return {name: [float(x) for x in made[name].values(flow=True)] for name in NAMES}


def _of_root(histogram: Any) -> list[float]:
    return [histogram.GetBinContent(i) for i in range(histogram.GetNbinsX() + 2)]


CONTESTANTS = (
    Contestant("treemill", "treemill, a query", _query),
    Contestant("processor", "treemill, coffea's processor", _selector),
    Contestant("coffea", "coffea's processor, DaskExecutor", _coffea, "coffea"),
    Contestant("rdataframe", "distributed RDataFrame", _rdataframe, "ROOT"),
)
"""All contestants, treemill first."""
