"""`python -m bench cache`: what it costs and what it gains to remember what was decompressed: the
first, the second and the third run of a task in an empty cache, beside the same with nothing
remembered; writes `bench/results/<date>-<machine>-cache.{json,md}`.
"""

import argparse
import contextlib
import ctypes
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import treemill as tm

from . import data, machine, publish, tables
from .adl.tasks import TASKS
from .adl.treemill_ import Treemill
from .measured import Row, ratios
from .options import Options

_CODECS = ("lz4", "zstd")
_CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}
_LEGEND = """\
Tasks of the analysis description benchmark on one thread, in one process, in turn, round by round:
with nothing remembered (limit 0), then three times with a cache that was empty before. The first
run notes what it has read, the second remembers it, the third neither reads nor decompresses.
Ratios are medians of the rounds' ratios. The process has given its unused memory back before each
round, so that all that the cache takes is new, which is the most that it can cost: a process that
lives on takes it once.
"""
_LIMIT = "2 GB"
"""More than a task reads."""
_RUNS = ("first", "second", "third")


def _options(arguments: list[str]) -> argparse.Namespace:
    options = Options("cache", __doc__)
    options.size("events", 500_000, 20_000, "events in each file")
    options.size("rounds", 9, 2, "counted rounds")
    options.choice("tasks", list(TASKS), list(TASKS), "only these")
    options.choice("codecs", data.CODECS, _CODECS, "of the files")
    return options.parse(arguments)


def measure(
    task: str, path: Path, codec: str, rounds: int, clock: Callable[[], float]
) -> Iterator[Row]:
    """A task's runs."""
    treemill = Treemill(threads=1)
    taken: dict[str, list[float]] = {name: [] for name in ("nothing", *_RUNS)}

    def run(name: str, counts: bool) -> None:
        began = clock()
        treemill.run(task, str(path))
        if counts:
            taken[name].append(clock() - began)

    for counted in range(-1, rounds):
        tm.cache.limit = 0
        _give_memory_back()
        run("nothing", False)
        run("nothing", counted >= 0)
        tm.cache.limit = _LIMIT
        for name in _RUNS:
            run(name, counted >= 0)
    held = tm.cache.held
    plain = Row(f"{task}, {codec}, nothing remembered", tuple(taken["nothing"]), "s")
    yield plain
    for name in _RUNS:
        what = f"{task}, {codec}: {name} run / nothing remembered"
        yield ratios(what, Row("", tuple(taken[name]), "s"), plain)
    yield Row(f"{task}, {codec}: held", (held / 1e6,), "MB")


def _give_memory_back() -> None:
    """Where the C library can be told to."""
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def main(arguments: list[str]) -> int:
    """Measure and write."""
    chosen = _options(arguments)
    facts = machine.describe()
    paths = {c: data.make(c, chosen.events, chosen.data, "opendata") for c in chosen.codecs}
    rows: list[Row] = []
    for codec, path in paths.items():
        data.warm_up(path)
        for task in chosen.tasks:
            now = _CLOCKS[chosen.clock]
            for row in measure(task, path, codec, chosen.rounds, now):
                publish.say(f"{row.what}: {row.median:.3g} {row.unit}")
                rows.append(row)
    described = {codec: data.describe(path) for codec, path in paths.items()}
    about = machine.about(facts, tables.sizes(described), chosen.rounds, chosen.clock)
    publish.rows(chosen, "cache", "What is remembered between runs", _LEGEND, about, facts, rows)
    return 0
