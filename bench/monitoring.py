"""`python -m bench monitoring`: what it costs a query to count what its workers do. The same query
with `monitor=True` and with `monitor=False`, in turn, on threads and processes. A table on standard
output and in `bench/results/<date>-<machine>-monitoring.md`, raw numbers beside it in JSON.

Prints the ratio of both. A ratio near 1 disappears in the noise of the clock, so that the calls of
Python functions are counted, too: they do not depend on the machine.
"""

import statistics
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import treemill as tm

from . import data, machine, publish
from .measured import Row, in_turn, ratios
from .options import Options

GOAL = 1.01
_LEGEND = """\
The query fills two histograms of all events; what was decompressed is not remembered. Runs with
and without monitoring take turns, and change places from round to round; the ratio is that of the
medians of all rounds. Packets are as the session makes them; "counted" are calls of Python
functions in this process, of one run on one thread. ✓ the goal is reached, ✗ it is not; no mark: no
goal.
"""


def booked(events: Any) -> list[Any]:
    """Two histograms."""
    few = events.filter("nMuon >= 1")
    return [
        few.hist("Muon_pt", bins=(100, 0, 200)),
        events.define("ht", "sum(Jet_pt[Jet_pt > 30])").hist("ht", bins=(100, 0, 1000)),
    ]


def measured(path: Path, rounds: int, workers: int) -> Iterator[Row]:
    """Each kind of workers, with and without."""
    events = tm.dataset(str(path), tree="Events")
    for mode in ("threads", "processes"):
        with tm.connect(workers=workers, mode=mode) as session:

            def run(monitor: bool, session: tm.Session = session) -> Callable[[], object]:
                return lambda: session.run(booked(events), monitor=monitor, progress=False)

            # Whoever comes second is a little faster or slower: both are second as often.
            tasks = {"on": run(True), "off": run(False), "off 2": run(False), "on 2": run(True)}
            taken = in_turn(rounds, tasks)
            many = {
                each: tuple(
                    statistics.fmean(pair)
                    for pair in zip(taken[each], taken[f"{each} 2"], strict=True)
                )
                for each in ("on", "off")
            }
            on = Row(f"{mode}, {workers} workers, counted", many["on"], "s")
            off = Row(f"{mode}, {workers} workers, nothing counted", many["off"], "s")
            yield on
            yield off
            ratio = ratios(f"{mode}: counted over not, each round", on, off)
            yield ratio
            middle = on.median / off.median
            yield Row(f"{mode}: counted over not, medians", (middle,), "x", below=GOAL)


def counted(path: Path) -> Iterator[Row]:
    """Calls of Python functions that counting adds."""
    events = tm.dataset(str(path), tree="Events")
    _calls(events, False)  # imports
    without, _ = _calls(events, False)
    with_it, packets = _calls(events, True)
    yield Row("calls of a run, nothing counted", (float(without),), "calls")
    yield Row("calls of a run, counted", (float(with_it),), "calls")
    yield Row("packets of that run", (float(packets),), "packets")
    yield Row("added for a packet", ((with_it - without) / max(packets, 1),), "calls")


def _calls(events: Any, monitor: bool) -> tuple[int, int]:
    """Calls in all threads of a run in a session of its own, and its packets."""
    found = 0

    def note(_frame: object, what: str, _argument: object) -> None:
        nonlocal found
        found += what == "call"

    threading.setprofile(note)  # for threads that begin from now on
    sys.setprofile(note)
    try:
        with tm.connect(workers=1) as session:
            session.run(booked(events), monitor=monitor, progress=False)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found, _packets(session)


def _packets(session: tm.Session) -> int:
    report = session.report
    if report is None or report.measured is None:
        return 0
    return int(report.measured.histograms["packets_per_worker"].sum())


def main(arguments: list[str]) -> int:
    """Measure and write."""
    options = Options("monitoring", __doc__, clock=False)
    options.size("rounds", 101, 2, "counted rounds of each measurement")
    options.size("events", 2_000_000, 50_000, "in the file")
    options.size("workers", 2, 2, "workers")
    chosen = options.parse(arguments)
    facts = machine.describe()
    path = data.make("zstd", chosen.events, chosen.data)
    data.warm_up(path)
    rows = [*measured(path, chosen.rounds, chosen.workers), *counted(path)]
    about = machine.about(facts, f"{chosen.events:,} entries", chosen.rounds, "wall")
    publish.rows(chosen, "monitoring", "The cost of monitoring", _LEGEND, about, facts, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
