"""`python -m bench sessions`: what sessions and selectors cost, and the same processor beside
coffea's runner; writes `bench/results/<date>-<machine>-sessions.{json,md}`.
"""

import argparse
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .. import data, machine, publish
from ..report import facts, table
from . import costs, reading
from .measured import Row

Say = Callable[[str], None]

_PARTS = ("costs", "reading", "coffea")
_LEGEND = """\
Wall times unless it says CPU. Contestants answer in turn, round by round, after a round that does
not count; their results were compared and are equal. Ratios are medians of the rounds' ratios. The
files are one file under several names.
✓ the goal is reached, ✗ it is not; no mark: no goal.
"""


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench sessions", description=__doc__)
    add = parser.add_argument
    add("--quick", action="store_true", help="small: does it run?")
    add("--rounds", type=int, help="counted rounds of each measurement (7)")
    add("--events", type=int, help="in each file that is read (1,000,000)")
    add("--files", type=int, help="that are read (10)")
    add("--parts", nargs="+", metavar="P", choices=_PARTS, default=_PARTS, help=" ".join(_PARTS))
    add("--data", type=Path, default=data.FOLDER, help="folder of the files that are read")
    add("--output", type=Path, default=publish.FOLDER, help="folder")
    chosen = parser.parse_args(arguments)
    chosen.rounds = chosen.rounds or (2 if chosen.quick else 7)
    chosen.events = chosen.events or (20_000 if chosen.quick else 1_000_000)
    chosen.files = chosen.files or (2 if chosen.quick else 10)
    return chosen


def main(arguments: list[str], say: Say) -> int:
    """Measure and write."""
    chosen = _options(arguments)
    path = data.make("zstd", chosen.events, chosen.data)
    data.warm_up(path)
    known = machine.describe()
    about = {
        "machine": f"{known['cpu']}, {known['cores']} cores, {known['kernel']}",
        "versions": _versions(known),
        "files": f"{chosen.files} of {chosen.events:,} events, zstd,"
        f" {path.stat().st_size / 1e6:.0f} MB each",
        "counted rounds": chosen.rounds,
        "load average before the run": f"{known['load']:.2f}",
    }
    rows: list[Row] = []
    for part in chosen.parts:
        for measure in _measures(part, reading.copies(path, chosen.files), chosen):
            for row in measure():
                say(f"{row.what}: {row.median:.3g} {row.unit}")
                rows.append(row)
    numbers = {"machine": known, "about": about, "rows": [row.as_dict() for row in rows]}
    title = f"# Sessions and selectors, {publish.today()}\n"
    text = "\n".join([title, facts(about), _LEGEND, _table(rows)])
    written = publish.page(chosen.output, "-sessions" + "-quick" * chosen.quick, numbers, text)
    say(f"written: {written}")
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


def _table(rows: list[Row]) -> str:
    marks = {True: " ✓", False: " ✗", None: ""}

    def cells(row: Row) -> list[str]:
        spread = f"{min(row.values):.3g} to {max(row.values):.3g}"
        return [
            row.what,
            f"**{row.median:.3g}** {row.unit}",
            spread,
            row.goal + marks[row.reached],
        ]

    return table(["", "median", "min to max", "goal"], (cells(row) for row in rows))


def _versions(known: dict[str, object]) -> str:
    found = dict(known["versions"])  # type: ignore[call-overload]
    try:
        found["coffea"] = version("coffea")
    except PackageNotFoundError:
        found["coffea"] = "not installed"
    names = ", ".join(f"{name} {number}" for name, number in found.items())
    return f"{names}; Python {known['python']}; commit {known['commit']}"
