"""`python -m bench monitoring`: what it costs a query to count what its workers do. The same query
with `monitor=True` and with `monitor=False`, in turn, on threads, processes and Dask's workers, in
packets of the usual length, of some milliseconds and of one. A table on standard output and in
`bench/results/<date>-<machine>-monitoring.md`, raw numbers beside it in JSON.

Prints the ratio of both. A ratio near 1 disappears in the noise of the clock, so that two figures
say the same with less of it: the calls of Python functions that counting adds, and the time that
the master takes to count the records of a real run once more. Some ten minutes on two cores.
"""

import contextlib
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import treemill as tm
from treemill.facility.systems import session_on
from treemill.scheduling import Monitoring
from treemill.scheduling.assignment import Assignment
from treemill.scheduling.sizing import Cost
from treemill.scheduling.small_files import SmallFiles

from . import data, machine, publish
from .measured import Row, in_turn, ratios
from .options import Options

GOAL = 1.01
PACKETS = 200
"""What a query has at least, so that what they cost is more than what a query does once."""
SHORTEST = 1e-3
"""Seconds of the shortest packet that sessions make."""
LENGTHS = {"usual packets": None, "packets of 3 ms": 3 * SHORTEST, "packets of 1 ms": SHORTEST}
"""Seconds of a packet; None: those that the session chooses."""
SYSTEMS = ("threads", "processes", "dask")
CLUSTER = 10_000
"""Entries: packets end where clusters do."""
_LEGEND = """\
The query fills two histograms of all events, the file several times over; what was decompressed is
not remembered. Runs with and without monitoring take turns, and change places from round to round;
the ratio is that of the medians of all rounds. "Usual packets" are those that the session chooses.
The other lines force short ones, down to the shortest that sessions make. "Added for a packet" are
calls of Python functions in this process, counted on one thread. "The master counts a packet" is
the time of counting the records of a run once more. ✓ the goal is reached, ✗ it is not; no mark: no
goal.
"""


def booked(events: Any) -> list[Any]:
    """Two histograms."""
    few = events.filter("nMuon >= 1")
    return [
        few.hist("Muon_pt", bins=(100, 0, 200)),
        events.define("ht", "sum(Jet_pt[Jet_pt > 30])").hist("ht", bins=(100, 0, 1000)),
    ]


def measured(
    paths: list[str], rounds: int, workers: int, systems: tuple[str, ...] = SYSTEMS
) -> Iterator[Row]:
    """Each kind of workers, with packets of each length, with and without."""
    for system in systems:
        with session_on(system, workers) as session:
            for words, seconds in LENGTHS.items():
                with _in_packets(session, seconds):
                    yield from _compared(session, paths, rounds, f"{system}, {words}", seconds)


@contextlib.contextmanager
def _in_packets(session: tm.Session, seconds: float | None) -> Iterator[None]:
    """All packets of the session last so long, as nearly as clusters can."""
    pool = session._pool
    if seconds is None:
        yield
        return
    sizing = replace(
        pool.sizing, first=CLUSTER, shortest=seconds, longest=seconds, share=0.0, ask=0.0
    )
    # A busy machine can make the fixed cost of a packet look so large that packets grow with it.
    with (
        patch.object(pool, "sizing", sizing),
        patch.object(Cost, "worth", lambda _, entries: entries),
    ):
        yield


def _compared(
    session: tm.Session, paths: list[str], rounds: int, words: str, seconds: float | None
) -> Iterator[Row]:
    events = tm.dataset(paths, tree="Events")

    def run(monitor: bool) -> Callable[[], object]:
        return lambda: session.run(booked(events), monitor=monitor, progress=False)

    # What comes second is a little faster or slower: both are second as often.
    tasks = {"on": run(True), "off": run(False), "off 2": run(False), "on 2": run(True)}
    taken = in_turn(rounds, tasks)
    many = {
        each: tuple(
            statistics.fmean(pair) for pair in zip(taken[each], taken[f"{each} 2"], strict=True)
        )
        for each in ("on", "off")
    }
    on = Row(f"{words}, counted", many["on"], "s")
    off = Row(f"{words}, nothing counted", many["off"], "s")
    yield on
    yield off
    least = None if seconds is None else PACKETS
    yield Row(f"{words}: how many", (float(_packets(session)),), "packets", above=least)
    yield ratios(f"{words}: counted over not, each round", on, off)
    yield Row(f"{words}: counted over not, medians", (on.median / off.median,), "x", below=GOAL)


def counted(paths: list[str], times: int = 3) -> Iterator[Row]:
    """Calls of Python functions that counting adds."""
    events = tm.dataset(paths, tree="Events")
    _calls(events, False)  # imports
    without = tuple(float(_calls(events, False)[0]) for _ in range(times))
    many = [_calls(events, True) for _ in range(times)]
    with_it = Row("calls of a run, counted", tuple(float(calls) for calls, _ in many), "calls")
    of_none = Row("calls of a run, nothing counted", without, "calls")
    packets = Row("packets of that run", tuple(float(number) for _, number in many), "packets")
    yield of_none
    yield with_it
    yield packets
    added = (with_it.median - of_none.median) / max(packets.median, 1)
    yield Row("added for a packet", (added,), "calls")


def _calls(events: Any, monitor: bool) -> tuple[int, int]:
    """Calls in all threads of a run in a session of its own, and its packets."""
    found = 0

    def note(_frame: object, what: str, _argument: object) -> None:
        nonlocal found
        found += what == "call"

    threading.setprofile(note)  # for threads that begin from now on
    sys.setprofile(note)
    try:
        # Each packet is a cluster, so that both runs have as many on any machine.
        with (
            tm.connect(workers=1) as session,
            patch.object(Assignment, "_size", lambda *_: 1),
            patch.object(SmallFiles, "are_worth_it", lambda *_: False),
        ):
            session.run(booked(events), monitor=monitor, progress=False)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found, _packets(session)


def counting(paths: list[str], rounds: int, workers: int) -> Iterator[Row]:
    """The time that the master takes for a packet, from the records of a run."""
    with (
        tm.connect(workers=workers, trace=1_000_000) as session,
        _in_packets(session, SHORTEST),
    ):
        session.run(booked(tm.dataset(paths, tree="Events")), progress=False)
        trace = session.report.trace if session.report else None
        packets = _packets(session)
    assert trace is not None
    records = list(trace.records)
    seconds = tuple(_follow(records) / max(packets, 1) for _ in range(rounds))
    taken = Row("the master counts a packet", tuple(each * 1e6 for each in seconds), "us")
    yield taken
    share = taken.median * 1e-6 / SHORTEST
    yield Row("of the time of packets of 1 ms", (share * 100,), "%", below=(GOAL - 1) * 100)


def _follow(records: Sequence[Any]) -> float:
    monitoring = Monitoring(lambda _: "here")
    began = time.perf_counter()
    for record in records:
        monitoring.follow(record.time, record.event, record.actions)
    monitoring.now(records[-1].time)
    return time.perf_counter() - began


def _packets(session: tm.Session) -> int:
    report = session.report
    if report is None or report.measured is None:
        return 0
    return int(report.measured.histograms["packets_per_worker"].sum())


def main(arguments: list[str]) -> int:
    """Measure and write."""
    options = Options("monitoring", __doc__, clock=False)
    options.size("rounds", 41, 2, "counted rounds of each measurement")
    options.size("events", 2_000_000, 50_000, "in the file")
    options.size("times", 12, 2, "the query reads the file")
    options.size("workers", 2, 2, "workers")
    options.choice("on", SYSTEMS, SYSTEMS, "on")
    chosen = options.parse(arguments)
    facts = machine.describe()
    path = data.make("zstd", chosen.events, chosen.data, cluster=CLUSTER)
    data.warm_up(path)
    paths = [str(path)] * chosen.times
    rows = [
        *measured(paths, chosen.rounds, chosen.workers, tuple(chosen.on)),
        *counted(paths),
        *counting(paths, chosen.rounds, chosen.workers),
    ]
    files = f"{chosen.events:,} entries, read {chosen.times} times over by {chosen.workers} workers"
    about = machine.about(facts, files, chosen.rounds, "wall")
    publish.rows(chosen, "monitoring", "The cost of monitoring", _LEGEND, about, facts, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
