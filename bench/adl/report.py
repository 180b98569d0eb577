"""The page about the eight tasks: Markdown from what was measured. Measures nothing."""

from collections.abc import Mapping, Sequence

from ..goals import Verdict
from ..report import facts, goals, table
from ..rivals.adl import ADL_RIVALS, DECOMPRESSION
from ..times import Times
from ..warm import Cell
from .goals import RATIOS
from .tasks import TASKS

_LEGEND = """\
The tasks are those of the analysis description benchmark, on made-up events with the branches of
CMS's open data (`Run2012B_SingleMu`). Times are taken inside each rival's own long-lived process,
file opening included; every rival answers in turn, round by round, and all gave the same bins.
Ratios are of medians; where a rival is written in two ways, the faster one counts. ✓ the goal is
reached, ✗ it is not; no mark: no goal. "Decompression alone" reads and decompresses the whole baskets
of the task's branches with the same libraries, one thread, and makes nothing of them: RDataFrame's
ratio to it is what could be reached if all else cost nothing. treemill itself can be faster: it leaves
the entry offsets of branches alone whose counter's other branches told them, and baskets of which no
entry is left.
"""


def markdown(
    title: str,
    about: Mapping[str, object],
    cells: Sequence[Cell],
    cold: Mapping[tuple[str, str], Times],
    verdicts: Sequence[Verdict],
) -> str:
    """The whole page."""
    parts = [f"# {title}\n", facts(about), _LEGEND]
    if cells:
        parts += ["## Warm: medians in milliseconds (min to max)\n", _warm(cells)]
        parts += ["## Ratios\n", _ratios(cells, verdicts)]
    if cold:
        parts += ["## First result of a new process, seconds\n", _cold(cold)]
    return "\n".join([*parts, "## Goals\n", goals(verdicts)])


def _label(place: str) -> str:
    key, _, codec = place.partition(" ")
    if key not in TASKS:
        return place
    return f"{key} {TASKS[key].title}, {codec}".replace("|", "\\|")


def _warm(cells: Sequence[Cell]) -> str:
    found = {(f"{c.query} {c.codec}", c.rival): c.times for c in cells}
    columns = (*ADL_RIVALS, DECOMPRESSION)
    rivals = [r for r in columns if any(c.rival == r.key for c in cells)]

    def text(times: Times | None) -> str:
        if times is None:
            return "-"
        low, middle, high = (f"{1e3 * s:.1f}" for s in (times.low, times.median, times.high))
        return f"**{middle}** ({low} to {high})"

    places = dict.fromkeys(place for place, _ in found)
    rows = ([_label(p), *(text(found.get((p, r.key))) for r in rivals)] for p in places)
    return table(["", *(r.title for r in rivals)], rows)


def _ratios(cells: Sequence[Cell], verdicts: Sequence[Verdict]) -> str:
    found = {(v.goal, v.where): v for v in verdicts}
    codecs = dict.fromkeys(cell.codec for cell in cells)
    places = dict.fromkeys(f"{cell.query} {cell.codec}" for cell in cells)
    places |= dict.fromkeys(f"geometric mean {codec}" for codec in codecs)

    def text(verdict: Verdict | None) -> str:
        if verdict is None:
            return "-"
        value = f"{verdict.measured:.2f}"
        if verdict.wanted is None:
            return value
        return f"{value} {'✓' if verdict.reached else '✗'} (≥ {verdict.wanted:g})"

    rows = ([_label(p), *(text(found.get((title, p))) for title in RATIOS)] for p in places)
    return table(["", *RATIOS], rows)


def _cold(cold: Mapping[tuple[str, str], Times]) -> str:
    rows = (
        [f"{task}, {program}", f"{t.low:.2f}", f"{t.median:.2f}", f"{t.high:.2f}"]
        for (task, program), t in cold.items()
    )
    return table(["", "min", "median", "max"], rows)
