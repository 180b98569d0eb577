"""`python -m bench sessions`: what sessions and selectors cost, and the same processor beside
coffea's runner; writes `bench/results/<date>-<machine>-sessions.{json,md}`.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

from .. import data, machine, publish, tables
from ..measured import Row
from ..options import Options
from ..publish import say
from . import costs, reading

_PARTS = ("costs", "reading", "coffea")
_LEGEND = """\
Wall times unless it says CPU. Contestants answer in turn, round by round, after a round that does
not count; their results were compared and are equal. Ratios are medians of the rounds' ratios. The
files are one file under several names.
✓ the goal is reached, ✗ it is not; no mark: no goal.
"""


def _options(arguments: list[str]) -> argparse.Namespace:
    options = Options("sessions", __doc__, clock=False)
    options.size("rounds", 7, 2, "counted rounds of each measurement")
    options.size("events", 1_000_000, 20_000, "in each file that is read")
    options.size("files", 10, 2, "that are read")
    options.choice("parts", _PARTS, _PARTS, "only these")
    return options.parse(arguments)


def main(arguments: list[str]) -> int:
    """Measure and write."""
    chosen = _options(arguments)
    path = data.make("zstd", chosen.events, chosen.data)
    data.warm_up(path)
    known = machine.describe()
    size = f"{path.stat().st_size / 1e6:.0f} MB each"
    files = f"{chosen.files} of {chosen.events:,} events, zstd, {size}"
    about = machine.about(known, files, chosen.rounds, "wall")
    rows: list[Row] = []
    for part in chosen.parts:
        for measure in _measures(part, reading.copies(path, chosen.files), chosen):
            for row in measure():
                say(f"{row.what}: {row.median:.3g} {row.unit}")
                rows.append(row)
    numbers = {"machine": known, "about": about, "rows": [row.as_dict() for row in rows]}
    title = f"# Sessions and selectors, {publish.today()}\n"
    text = "\n".join([title, tables.facts(about), _LEGEND, tables.rows(rows)])
    publish.page(chosen.output, "-sessions" + "-quick" * chosen.quick, numbers, text)
    return 0


def _measures(
    part: str, paths: list[Path], chosen: argparse.Namespace
) -> list[Callable[[], list[Row]]]:
    rounds, quick = chosen.rounds, chosen.quick
    parts: dict[str, list[Callable[[], list[Row]]]] = {
        "costs": [
            lambda: costs.packets(rounds),
            lambda: costs.scaling(rounds, 40_000 if quick else 1_000_000),
            lambda: costs.memory(min(rounds, 5), 50 if quick else 500),
            lambda: costs.starts(rounds, 2 if quick else 16),
            lambda: costs.news(min(rounds, 5)),
        ],
        "reading": [lambda: reading.against_query(paths, rounds)],
        "coffea": [lambda: reading.against_coffea(paths, rounds)],
    }
    return parts[part]
