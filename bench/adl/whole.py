"""All eight tasks over all events of the real file, as others have published them: pure. What was
measured on fewer events counts in proportion, because the made-up events have its numbers of
particles (treemill.facility.recipe).
"""

from collections.abc import Iterable, Sequence

from .. import tables
from ..goals import Verdict
from ..rivals import Rival
from ..rivals.adl import READING
from ..warm import Cell
from .tasks import TASKS

EVENTS = 53_446_198
"""Of CMS's open data `Run2012B_SingleMu`."""
MOST = 60.0
"""Seconds of one core, with nothing remembered."""
PUBLISHED = (
    ("RDataFrame, 48 cores, published", 58.6),
    ("BigQuery, published", 104.0),
    ("Athena, published", 179.0),
)
"""Sums over the eight tasks, in seconds: "Evaluating Query Languages and Systems for High-Energy
Physics Data" (https://github.com/RumbleDB/hep-iris-benchmark-scripts)."""
TITLE = f"all eight tasks over {EVENTS:,} events, s"
_LEGEND = f"""\
All eight tasks over the {EVENTS:,} events of the real file, each task reading it anew: the sum of
the medians above times {EVENTS:,} over the events measured. Published sums are of the real file on
other machines. The goal, ≤ {MOST:g} s on one core, is one of treemill with nothing remembered.
"""


def seconds(cells: Iterable[Cell], events: int) -> dict[tuple[str, str], float]:
    """By rival and codec: where all eight tasks were measured on this many events."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for cell in cells:
        found.setdefault((cell.rival, cell.codec), {})[cell.query] = cell.times.median
    return {
        of: sum(tasks.values()) * EVENTS / events
        for of, tasks in found.items()
        if tasks.keys() == TASKS.keys()
    }


def verdicts(cells: Iterable[Cell], rivals: Iterable[Rival], events: int) -> list[Verdict]:
    """Whether treemill, with nothing remembered, does it in time."""
    keys = {rival.key for rival in rivals if rival.group == READING}
    found = seconds(cells, events)
    return [
        Verdict(TITLE, codec, taken, MOST, taken <= MOST)
        for (rival, codec), taken in found.items()
        if rival in keys
    ]


def markdown(cells: Sequence[Cell], rivals: Iterable[Rival], events: int) -> str:
    """The sums beside the published ones, and each task's rate."""
    codecs = dict.fromkeys(cell.codec for cell in cells)
    there = [r for r in rivals if any(c.rival == r.key for c in cells)]
    sums = seconds(cells, events)
    rows = [
        [rival.title, *(_number(sums.get((rival.key, codec))) for codec in codecs)]
        for rival in there
        if any((rival.key, codec) in sums for codec in codecs)
    ]
    rows += [[title, *[f"{taken:.1f}"] * len(codecs)] for title, taken in PUBLISHED]
    medians = {(c.rival, c.query, c.codec): c.times.median for c in cells}
    places = dict.fromkeys((c.query, c.codec) for c in cells)
    rates = [
        [f"{task}, {codec}", *(_rate(medians.get((r.key, task, codec)), events) for r in there)]
        for task, codec in places
    ]
    head = [rival.title for rival in there]
    return "\n".join(
        [
            _LEGEND,
            tables.table(["seconds", *codecs], rows),
            "Million events a second:\n",
            tables.table(["", *head], rates),
        ]
    )


def _number(taken: float | None) -> str:
    return "-" if taken is None else f"{taken:.1f}"


def _rate(taken: float | None, events: int) -> str:
    return "-" if taken is None else f"{events / taken / 1e6:.1f}"
