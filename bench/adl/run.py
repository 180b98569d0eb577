"""`python -m bench adl`: measure, compare, write `bench/results/<date>-<machine>-adl.{json,md}`."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from .. import data, machine, publish, unpack, warm
from ..protocol import RivalError, Worker
from ..rivals.adl import ADL_RIVALS, DECOMPRESSION
from ..times import Times
from . import cold, goals, report
from .tasks import TASKS, TREE, Task

_PARTS = ("warm", "cold")
_CODECS = ("lz4", "zstd")

Say = Callable[[str], None]


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench adl", description=__doc__)
    add = parser.add_argument
    add("--quick", action="store_true", help="20,000 events, 2 rounds: does it run?")
    add("--events", type=int, help="events in each file (500,000)")
    add("--rounds", type=int, help="counted rounds (5)")
    add("--tasks", nargs="+", metavar="T", choices=list(TASKS), default=list(TASKS))
    add("--codecs", nargs="+", metavar="C", choices=data.CODECS, default=_CODECS)
    rivals = [r.key for r in ADL_RIVALS]
    add("--rivals", nargs="+", metavar="R", choices=rivals, default=rivals, help=", ".join(rivals))
    add("--parts", nargs="+", metavar="P", choices=_PARTS, default=_PARTS, help="warm cold")
    add("--data", type=Path, default=data.FOLDER, help="folder of the files that are read")
    add("--output", type=Path, default=publish.FOLDER, help="folder")
    add("--clock", choices=("wall", "cpu"), default="wall", help="cpu: for a machine that is busy")
    chosen = parser.parse_args(arguments)
    chosen.events = chosen.events or (20_000 if chosen.quick else 500_000)
    chosen.rounds = chosen.rounds or (2 if chosen.quick else 5)
    return chosen


def main(
    arguments: list[str],
    say: Say,
    summary: Callable[
        [dict[str, object], dict[str, dict[str, object]], int, str], dict[str, object]
    ],
) -> int:
    """Run what the options ask for; 1 when rivals disagree or one fails. `summary` gives the page's
    first lines."""
    chosen = _options(arguments)
    files = {c: data.make(c, chosen.events, chosen.data, "opendata") for c in chosen.codecs}
    for path in files.values():
        data.warm_up(path)
    facts = machine.describe()
    cells: list[warm.Cell] = []
    first: dict[tuple[str, str], Times] = {}
    versions: dict[str, str] = {}
    try:
        if "warm" in chosen.parts:
            cells, versions = _warm(chosen, files, say)
        if "cold" in chosen.parts:
            first = cold.measure(next(iter(files.values())), chosen.rounds, say)
    except (warm.WrongBinsError, RivalError) as error:
        say(f"failed: {error}")
        return 1
    facts["versions"] = {**dict(facts["versions"]), **versions}  # type: ignore[call-overload]
    described = {name: data.describe(path) for name, path in files.items()}
    verdicts = [*goals.warm(goals.medians(cells)), *goals.cold(first)]
    numbers = {
        "machine": facts,
        "files": described,
        "rounds": chosen.rounds,
        "clock": chosen.clock,
        "warm": [
            {"rival": c.rival, "query": c.query, "codec": c.codec}
            | {"wall": c.wall.as_dict(), "cpu": c.cpu.as_dict()}
            for c in cells
        ],
        "cold": [
            {"task": task, "program": program} | times.as_dict()
            for (task, program), times in first.items()
        ],
        "goals": [verdict.as_dict() for verdict in verdicts],
    }
    about = summary(facts, described, chosen.rounds, chosen.clock)
    title = f"The eight tasks of the analysis description benchmark, {publish.today()}"
    text = report.markdown(title, about, cells, first, verdicts)
    written = publish.page(chosen.output, "-adl" + "-quick" * chosen.quick, numbers, text)
    say(f"written: {written}")
    return 0


def _warm(
    chosen: argparse.Namespace, files: dict[str, Path], say: Say
) -> tuple[list[warm.Cell], dict[str, str]]:
    pool = warm.Pool()
    versions: dict[str, str] = {}
    try:
        for rival in ADL_RIVALS:
            if rival.key not in chosen.rivals:
                continue
            try:
                pool.workers.append(Worker(rival))
            except RivalError as error:
                say(str(error))
        tasks = [TASKS[key] for key in chosen.tasks]
        cells = warm.measure(pool, tasks, files, chosen.rounds, chosen.clock, say)
        for worker in pool.workers:
            versions |= worker.versions
        if unpack.built() and chosen.clock == "wall":
            cells += _decompression(tasks, files, chosen.rounds)
    finally:
        pool.close()
    return cells, versions


def _decompression(tasks: Sequence[Task], files: dict[str, Path], rounds: int) -> list[warm.Cell]:
    """Files are one of `data.make`'s each, or a folder with one."""
    cells = []
    for codec, path in files.items():
        (file,) = path.glob("*.root") if path.is_dir() else [path]
        for task in tasks:
            times = unpack.together(file, TREE, task.branches, rounds)
            cells.append(warm.Cell(DECOMPRESSION.key, task.key, codec, times, times, "wall"))
    return cells
