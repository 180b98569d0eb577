"""`python -m bench cluster`: an analysis on two Dask workers by treemill, by coffea and by
distributed RDataFrame, with even and uneven loads; what treemill's protocol costs; what users get
who share a cluster. Writes `bench/results/<date>-<machine>-cluster.{json,md}`.
"""

import argparse
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import data, machine, publish, tables
from ..measured import Row, ratios
from ..options import Options
from ..publish import say
from ..sessions.reading import copies
from . import protocol, shared
from .contestants import CONTESTANTS, NAMES, Answer
from .watching import Watch, slowed

_LOADS = ("even", "uneven", "slowed")
_PARTS = (*_LOADS, "latency", "connecting", "throughput", "shared")
_WORKERS = 2
_LEGEND = """\
All contestants run in the same two worker processes of one thread, which were started before and
have loaded what they need in a round that does not count; they answer in turn, and their histograms
were compared and are equal. Ratios are medians of the rounds' ratios.

*uneven*: one file has ten times as many events as the others. *slowed*: one of the two worker
processes runs half of the time only. *idle*: for how long, at the end, the worker that was done
first had nothing to do, as its CPU time says. *first result*: when a histogram could be seen; the
others show nothing before their end.

*waiting for the next one*: from the end of a packet to the beginning of the next in the same
worker. *threads that want a core*: that compute or wait for one, counted by the kernel; with more
of them than cores each waits for its turn, whatever it waits for else. *a selector that sleeps*:
its workers take no core, so that what is left is the protocol; *of the ideal*: in which each of
them begins a packet as soon as it has done one, from the call of `run` to its end. *packets of one
cluster* take less time than any message. *Dask's profilers off*:
`distributed.worker.profile.enabled`, `distributed.admin.tick` and
`distributed.worker.memory.monitor-interval`; by default Dask looks at each worker process 150 times
a second, also while it is idle. Each worker has as many packets, however many workers there are.
*beside a long one*, *users at once*: selectors that sleep, of users with sessions of their own.
✓ the goal is reached, ✗ it is not; no mark: no goal.
"""


def _options(arguments: list[str]) -> argparse.Namespace:
    options = Options("cluster", __doc__, clock=False)
    options.size("rounds", 5, 1, "counted rounds of each measurement")
    options.size("events", 1_000_000, 10_000, "in each file")
    options.size("files", 8, 2, "that are read")
    options.size("workers", 64, 4, "at most, for the throughput")
    options.choice("parts", _PARTS, _PARTS, "only these")
    keys = tuple(each.key for each in CONTESTANTS)
    options.choice("contestants", keys, keys, "only these")
    return options.parse(arguments)


def main(arguments: list[str]) -> int:
    """Measure and write."""
    chosen = _options(arguments)
    known = machine.describe()
    path = data.make("zstd", chosen.events, chosen.data)
    data.warm_up(path)
    files = f"{chosen.files} of {chosen.events:,} events, zstd, {path.stat().st_size / 1e6:.0f} MB"
    about = machine.about(known, files, chosen.rounds, "wall")
    rows: list[Row] = []
    for row in itertools.chain(_compared(chosen, path), _protocol(chosen, path)):
        say(f"{row.what}: {row.median:.3g} {row.unit}")
        rows.append(row)
    numbers = {"machine": known, "about": about, "rows": [row.as_dict() for row in rows]}
    title = f"# Sessions on a Dask cluster, {publish.today()}\n"
    text = "\n".join([title, tables.facts(about), _LEGEND, tables.rows(rows)])
    publish.page(chosen.output, "-cluster" + "-quick" * chosen.quick, numbers, text)
    return 0


def _compared(chosen: argparse.Namespace, path: Path) -> Iterator[Row]:
    loads = [load for load in _LOADS if load in chosen.parts]
    if not loads:
        return
    even = copies(path, chosen.files)
    large = data.make("zstd", 10 * chosen.events, chosen.data) if "uneven" in loads else path
    with protocol.cluster(_WORKERS) as client:
        pids = list(client.run(_pid).values())
        for load in loads:
            paths = [*even[1:], large] if load == "uneven" else even
            slow = pids[0] if load == "slowed" else None
            yield from _load(load, client, [str(each) for each in paths], pids, slow, chosen)


def _pid() -> int:
    import os

    return os.getpid()


def _load(
    load: str,
    client: Any,
    paths: Sequence[str],
    pids: Sequence[int],
    slow: int | None,
    chosen: argparse.Namespace,
) -> Iterator[Row]:
    there = [each for each in CONTESTANTS if each.is_there and each.key in chosen.contestants]
    for each in CONTESTANTS:
        if each.key in chosen.contestants and not each.is_there:
            say(f"{each.title}: {each.needs} is not installed")
    runs = {each.key: each.prepare(client, paths) for each in there}
    walls: dict[str, list[float]] = {key: [] for key in runs}
    idle: dict[str, list[float]] = {key: [] for key in runs}
    firsts: dict[str, list[float]] = {key: [] for key in runs}
    for counted in range(-1, chosen.rounds):
        answers: dict[str, Answer] = {}
        for key, run in runs.items():
            with slowed(slow), Watch(pids) as watch:
                answers[key] = run()
            if counted >= 0:
                walls[key].append(watch.seconds)
                idle[key].append(watch.idle)
                first = answers[key].first
                firsts[key].append(watch.seconds if first is None else first)
        _check(answers)
    titles = {each.key: f"{load}: {each.title}" for each in there}
    times = {key: Row(titles[key], tuple(found), "s") for key, found in walls.items()}
    for key, row in times.items():
        yield row
        yield Row(f"{titles[key]}, first result", tuple(firsts[key]), "s")
        yield Row(f"{titles[key]}, idle at the end", tuple(idle[key]), "s")
    for key, other in (("coffea", "treemill"), ("rdataframe", "treemill"), ("coffea", "processor")):
        if key in times and other in times:
            what = f"{titles[key]} against {titles[other].removeprefix(f'{load}: ')}"
            goal = {"above": 3.0} if other == "treemill" else {}
            yield ratios(what, times[key], times[other], **goal)


def _check(answers: dict[str, Answer]) -> None:
    """Raises RuntimeError if two contestants differ. Sums of jets may be rounded to the other side
    of a bin's edge, in which case a neighbour has it."""
    (first, expected), *others = answers.items()
    for key, answer in others:
        for name in NAMES:
            a, b = (np.cumsum(each.histograms[name]) for each in (expected, answer))
            allowed = 0 if name != "ht" else 1 + 1e-5 * a[-1]
            if a[-1] != b[-1] or np.abs(a - b).max() > allowed:
                raise RuntimeError(f"{key} and {first} differ in {name}")


def _protocol(chosen: argparse.Namespace, large: Path) -> Iterator[Row]:
    rounds, quick = chosen.rounds, chosen.quick
    path = protocol.many_packets(chosen.data, 20_000 if quick else 400_000)
    if {"latency", "connecting"} & set(chosen.parts):
        with protocol.cluster(2 if quick else 8) as client:
            if "connecting" in chosen.parts:
                yield from protocol.connecting(client.scheduler.address, path, rounds)
            if "latency" in chosen.parts:
                usual = [str(each) for each in copies(large, chosen.files)]
                yield from protocol.latency(client, path, usual, rounds)
    if "throughput" in chosen.parts:
        sizes = [size for size in (2, 4, 8, 16, 32, 64) if size <= chosen.workers]
        sizes = sizes if quick else [size for size in sizes if size >= min(8, chosen.workers)]
        nap = protocol.many_packets(chosen.data, 2_000 if quick else 40_000)
        yield from protocol.throughput(sizes, path, nap, rounds)
    if "shared" in chosen.parts:
        work = protocol.many_packets(chosen.data, 40_000 if quick else 400_000)
        with protocol.cluster(2 if quick else 4) as client:
            yield from shared.beside_a_long_one(client, work, 5 if quick else 100)
            yield from shared.together(client, work, rounds)
