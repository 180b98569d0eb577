"""The page about treemill and its rivals: Markdown from what was measured. Measures nothing."""

from collections.abc import Mapping, Sequence

from . import remembering, tables
from .goals import GOALS, Verdict
from .memory import Sweep
from .queries import QUERIES
from .rivals import REMEMBERING, RIVALS
from .times import Times
from .warm import Cell

_TITLES = {query.key: query.title for query in QUERIES}
_GROUPS = {rival.key: rival.group for rival in RIVALS}
_LEGEND = """\
Times are taken inside each rival's own long-lived process, file opening included;
every rival answers in turn, round by round, and all gave the same bins. Ratios are of medians;
where a rival is written in two ways, the faster one counts. ✓ the goal is reached, ✗ it is not; no
mark: no goal.
"""


def markdown(
    title: str,
    about: Mapping[str, object],
    cells: Sequence[Cell],
    cold: Mapping[str, Times],
    sweeps: Sequence[Sweep],
    verdicts: Sequence[Verdict],
) -> str:
    """The whole page."""
    parts = [f"# {title}\n", tables.facts(about), _LEGEND]
    if any(_GROUPS[cell.rival] == REMEMBERING for cell in cells):
        parts.append(remembering.LEGEND)
    if cells:
        measured = {verdict.goal for verdict in verdicts}
        wanted = [goal.title for goal in GOALS if goal.title in measured]
        parts += ["## Warm: medians in milliseconds (min to max)\n"]
        parts += [tables.warm(cells, RIVALS, _TITLES)]
        parts += ["## Ratios\n", tables.ratios(cells, verdicts, wanted, _TITLES)]
    if cold:
        parts += ["## Cold: from the shell, a new process each time, seconds\n", tables.cold(cold)]
    if sweeps:
        parts += ["## Memory\n", _memory(sweeps)]
    return "\n".join([*parts, "## Goals\n", tables.goals(verdicts)])


def _memory(sweeps: Sequence[Sweep]) -> str:
    titles = {rival.key: rival.title for rival in RIVALS}
    rows = (
        [
            titles[s.rival],
            f"{s.files}",
            f"{s.gigabytes:.1f}",
            f"{s.idle_megabytes:.0f}",
            f"**{s.peak_megabytes:.0f}**",
            f"{s.seconds:.1f}",
            f"{1e3 * s.gigabytes / s.seconds:.0f}",
        ]
        for s in sweeps
    )
    head = ["", "files", "GB", "MB at start", "MB at peak", "s", "file MB/s"]
    return tables.table(head, rows)
