"""`python -m bench adl`: measure, compare, write `bench/results/<date>-<machine>-adl.{json,md}`."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from .. import data, machine, publish, tables, unpack, warm
from ..cold import measure as measure_cold
from ..goals import medians
from ..options import Options
from ..protocol import RivalError
from ..publish import say
from ..rivals.adl import ADL_RIVALS, DECOMPRESSION, MEASURED
from ..times import Times
from . import cold, goals, report, whole
from .tasks import TASKS, TREE, Task

_PARTS = ("warm", "cold")
_CODECS = ("zstd",)


def _options(arguments: list[str]) -> argparse.Namespace:
    options = Options("adl", __doc__)
    options.size("events", 500_000, 20_000, "events in each file")
    options.size("rounds", 5, 2, "counted rounds")
    rivals = [r.key for r in ADL_RIVALS]
    options.choice("tasks", list(TASKS), list(TASKS), "only these")
    options.choice("codecs", data.CODECS, _CODECS, "of the files")
    options.choice("rivals", rivals, rivals, "only these")
    options.choice("parts", _PARTS, _PARTS, "only these")
    return options.parse(arguments)


def main(arguments: list[str]) -> int:
    """Run what the options ask for; 1 when rivals disagree or one fails."""
    chosen = _options(arguments)
    files = {c: data.make(c, chosen.events, chosen.data, "opendata") for c in chosen.codecs}
    for path in files.values():
        data.warm_up(path)
    facts = machine.describe()
    cells: list[warm.Cell] = []
    first: dict[tuple[str, str], Times] = {}
    tasks = [TASKS[key] for key in chosen.tasks]
    try:
        if "warm" in chosen.parts:
            with warm.Pool.of([r for r in ADL_RIVALS if r.key in chosen.rivals], say) as pool:
                cells = warm.measure(pool, tasks, files, chosen.rounds, chosen.clock, say)
                facts["versions"] |= pool.versions
            if unpack.built() and chosen.clock == "wall":
                cells += _decompression(tasks, files, chosen.rounds)
        if "cold" in chosen.parts:
            first = measure_cold(cold.commands(next(iter(files.values()))), chosen.rounds, say)
    except (warm.WrongBinsError, RivalError) as error:
        say(f"failed: {error}")
        return 1
    described = {name: data.describe(path) for name, path in files.items()}
    verdicts = [
        *goals.warm(medians(cells, MEASURED)),
        *whole.verdicts(cells, ADL_RIVALS, chosen.events),
        *goals.cold(first),
    ]
    programs = [
        {"task": task, "program": program} | times.as_dict()
        for (task, program), times in first.items()
    ]
    numbers = tables.numbers(facts, described, chosen, cells, verdicts, cold=programs)
    about = machine.about(facts, tables.sizes(described), chosen.rounds, chosen.clock)
    title = f"The eight tasks of the analysis description benchmark, {publish.today()}"
    text = report.markdown(title, about, cells, first, verdicts, chosen.events)
    publish.page(chosen.output, "-adl" + "-quick" * chosen.quick, numbers, text)
    return 0


def _decompression(tasks: Sequence[Task], files: dict[str, Path], rounds: int) -> list[warm.Cell]:
    """Files are one of `data.make`'s each, or a folder with one."""
    cells = []
    for codec, path in files.items():
        (file,) = path.glob("*.root") if path.is_dir() else [path]
        for task in tasks:
            times = unpack.together([file], TREE, task.branches, rounds)
            cells.append(warm.Cell(DECOMPRESSION.key, task.key, codec, times, times, "wall"))
    return cells
