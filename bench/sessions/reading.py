"""Reading in a selector beside the query path, and the same processor beside coffea's runner."""

import importlib.util
import os
import time
from pathlib import Path
from typing import Any

import treemill as tm

from ..measured import Row, in_turn, ratios

_COLUMNS = ("MET_pt", "Jet_pt")


class _Touch(tm.Selector):
    """Reads what the query reads, and does nothing with it."""

    collections = True

    def begin_worker(self, inputs: Any) -> None:
        self.output["values"] = 0

    def process(self, events: Any) -> None:
        import awkward as ak

        met, jets = ak.to_numpy(events.MET.pt), ak.to_numpy(ak.flatten(events.Jet.pt))
        self.output["values"] += len(met) + len(jets)


class Analysis:
    """A coffea processor, without coffea: MET, jets that pass a cut, their scalar sum."""

    def process(self, events: Any) -> Any:
        import awkward as ak
        import hist

        good = events.Jet[(events.Jet.pt > 30) & (abs(events.Jet.eta) < 2.4)]
        ht = ak.sum(good.pt, axis=1)
        axis = hist.axis.Regular
        return {
            "met": hist.Hist(axis(128, 0, 256)).fill(ak.to_numpy(events.MET.pt)),
            "jets": hist.Hist(axis(128, 0, 256)).fill(ak.to_numpy(ak.flatten(good.pt))),
            "ht": hist.Hist(axis(100, 0, 1000)).fill(ak.to_numpy(ht[ak.num(good) >= 2])),
        }

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


def copies(path: Path, count: int) -> list[Path]:
    """The file under several names, since coffea counts files by name."""
    made = []
    for i in range(count):
        link = path.with_name(f"{path.stem}-{i}{path.suffix}")
        if not link.exists():
            os.link(path, link)
        made.append(link)
    return made


def against_query(paths: list[Path], rounds: int) -> list[Row]:
    """One thread, so that all that it costs is this process's CPU time."""
    events = tm.dataset([str(path) for path in paths], "Events")
    with tm.connect(workers=1) as session:

        def query() -> Any:
            booked = [events.hist(name, bins=(128, 0, 256)) for name in _COLUMNS]
            return session.run(*booked, progress=False)

        def touch() -> Any:
            return session.run(_Touch(), events, progress=False)

        filled = sum(int(made.sum(flow=True)) for made in query())
        if filled != touch()["values"]:
            raise RuntimeError("the selector has not read what the query has")
        found = in_turn(rounds, {"query": query, "touch": touch}, time.process_time)
    size = f"{len(paths)} files, CPU time of one thread"
    by_query = Row(f"two histograms by a query, {size}", found["query"], "s")
    by_touch = Row("the same two columns read by a selector", found["touch"], "s")
    ratio = ratios("reading in a selector against the query path", by_touch, by_query, below=1.3)
    return [by_query, by_touch, ratio]


def against_coffea(paths: list[Path], rounds: int) -> list[Row]:
    """The same processor on two processes. Both keep what they can between the rounds: treemill its
    template, coffea its worker processes and what it knows of the files."""
    events = tm.dataset([str(path) for path in paths], "Events", name="demo")
    with tm.connect(workers=2, mode="processes") as session:

        def ours() -> Any:
            return session.run(Analysis(), events, progress=False)

        if importlib.util.find_spec("coffea") is None:
            times = in_turn(rounds, {"treemill": ours})
            return [Row("a processor by treemill, 2 processes", times["treemill"], "s")]
        from loky import get_reusable_executor

        from .coffea_runner import runner

        pool = get_reusable_executor(max_workers=2)
        theirs = runner(paths, pool)
        expected, found = theirs(), ours()
        for name in ("met", "jets", "ht"):
            if (found[name].values(flow=True) != expected[name].values(flow=True)).any():
                raise RuntimeError(f"coffea and treemill differ in {name}")
        times = in_turn(rounds, {"treemill": ours, "coffea": theirs})
        pool.shutdown()
    alone = _alone(events, paths, rounds)
    by_us = Row("a processor by treemill, 2 processes", times["treemill"], "s")
    by_them = Row("the same by coffea's FuturesExecutor, 2 processes", times["coffea"], "s")
    return [by_us, by_them, ratios("coffea against treemill", by_them, by_us, above=2.0), *alone]


def _alone(events: Any, paths: list[Path], rounds: int) -> list[Row]:
    """One session without other processes, whose CPU time could not be seen."""
    from .coffea_runner import runner

    with tm.connect(workers=1) as session:
        contestants = {
            "treemill": lambda: session.run(Analysis(), events, progress=False),
            "coffea": runner(paths, None),
        }
        times = in_turn(rounds, contestants, time.process_time)
    by_us = Row("a processor by treemill, CPU time of one thread", times["treemill"], "s")
    by_them = Row("the same by coffea's IterativeExecutor, CPU time", times["coffea"], "s")
    return [by_us, by_them, ratios("coffea against treemill, CPU time", by_them, by_us, above=2.0)]
