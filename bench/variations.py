"""`python -m bench variations`: what a systematic variation costs beside the nominal histogram. A
table on standard output and in `bench/results/<date>-<machine>-variations.md`, raw numbers beside
it in JSON.

Times are medians of `--rounds`, on one thread, interleaved; by the CPU clock, which a busy machine
disturbs least. What was decompressed is not remembered from one run to the next.
"""

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import treemill as tm

from . import data, machine, publish
from .measured import Row, in_turn
from .options import Options

GOAL = 15.0
"""Per cent of the nominal histogram, for variations that share their inputs."""
_LEGEND = """\
Tasks are done in turn, round by round, after a round that does not count. A variation's cost is the
time of all variations less that of the nominal histogram alone, over their number. Weights share
the selection and the filled values; a variation of a number of the event has a selection of its
own; one of objects changes everything but what is read. ✓ the goal is reached, ✗ it is not.
"""


@dataclass(frozen=True)
class Kind:
    """A kind of variations of one histogram."""

    words: str
    column: str
    factor: str
    """What a variation makes of the column."""
    cut: str
    value: str


KINDS = {
    "weights": Kind("of weights", "weight", "weight * {}", "two", "ht"),
    "event": Kind("of MET and its cut", "MET_pt", "MET_pt * {}", "two and MET_pt > 20", "MET_pt"),
    "objects": Kind("of jets, with the cut and H_T", "Jet_pt", "Jet_pt * {}", "two", "ht"),
}


def booked(events: Any, kind: Kind, number: int) -> Any:
    """The histogram with this many variations."""
    node = events.define("weight", "nMuon + 0.5")
    if number:
        factors = {str(i): kind.factor.format(1 + i / 1000) for i in range(1, number + 1)}
        node = node.vary(kind.column, factors)
    node = node.define("ht", "sum(Jet_pt[Jet_pt > 30])").define("two", "sum(Jet_pt > 30) >= 2")
    return node.filter(kind.cut).hist(kind.value, bins=(50, 0, 500), weight="weight")


def measured(path: Path, rounds: int, number: int) -> Iterable[Row]:
    """Each kind beside its nominal histogram."""
    events = tm.dataset(str(path), tree="Events")
    with tm.connect(workers=1) as session:

        def run(kind: Kind, count: int) -> Callable[[], object]:
            return lambda: session.run(booked(events, kind, count), progress=False)

        tasks = {
            f"{name} {count}": run(kind, count)
            for name, kind in KINDS.items()
            for count in (0, number)
        }
        taken = in_turn(rounds, tasks, time.process_time)
    for name, kind in KINDS.items():
        alone, all_of_them = taken[f"{name} 0"], taken[f"{name} {number}"]
        yield Row(f"nominal, {kind.cut}", alone, "s")
        yield Row(f"with {number} variations {kind.words}", all_of_them, "s")
        pairs = zip(alone, all_of_them, strict=True)
        each = tuple(100 * (b - a) / a / number for a, b in pairs)
        yield Row(f"a variation {kind.words}", each, "% of nominal", below=GOAL)


def main(arguments: list[str]) -> int:
    """Measure and write."""
    options = Options("variations", __doc__, clock=False)
    options.size("rounds", 7, 2, "counted rounds of each measurement")
    options.size("events", 1_000_000, 50_000, "in the file")
    chosen = options.parse(arguments)
    facts = machine.describe()
    path = data.make("zstd", chosen.events, chosen.data)
    data.warm_up(path)
    rows = [*measured(path, chosen.rounds, 20)]
    about = machine.about(facts, f"{chosen.events:,} entries", chosen.rounds, "cpu, one thread")
    publish.rows(chosen, "variations", "Variations", _LEGEND, about, facts, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
