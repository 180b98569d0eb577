"""The page about the eight tasks: Markdown from what was measured. Measures nothing."""

from collections.abc import Mapping, Sequence

from .. import remembering, tables
from ..goals import Verdict
from ..rivals.adl import ADL_RIVALS, DECOMPRESSION, MEASURED, ONE_THREAD
from ..times import Times
from ..warm import Cell
from . import whole
from .goals import RATIOS
from .tasks import TASKS

_TITLES = {key: task.title for key, task in TASKS.items()}
_LEGEND = """\
The tasks are those of the analysis description benchmark, on made-up events with the branches of
CMS's open data (`Run2012B_SingleMu`) and its numbers of particles (41.8 trijets in the mean). Times
are taken inside each rival's own long-lived process, file opening included; every rival answers in
turn, round by round, and all gave the same bins. Ratios are of medians; where a rival is written in
two ways, the faster one counts. ✓ the goal is reached, ✗ it is not; no mark: no goal.
"Decompression alone" reads and decompresses the whole baskets of the task's branches with the same
libraries, one thread, and makes nothing of them: RDataFrame's ratio to it is what reading could
reach if all else cost nothing. treemill can be faster even where nothing is remembered: it leaves
entry offsets alone that another branch of the same counter has told already, and baskets of which
no entry is left.
"""
_AWKWARD = """\
awkward is given the same chance: in its form "tree and arrays kept" uproot's tree stays open from
round to round with a memory for its arrays (`array_cache`) that holds all of them. Goals are those
of treemill as a user has it, against the faster form of each rival.
"""


def markdown(
    title: str,
    about: Mapping[str, object],
    cells: Sequence[Cell],
    cold: Mapping[tuple[str, str], Times],
    verdicts: Sequence[Verdict],
    events: int,
) -> str:
    """The whole page. `events`: those of a file."""
    parts = [f"# {title}\n", tables.facts(about), _LEGEND, remembering.LEGEND, _AWKWARD]
    if cells:
        parts += ["## Warm: medians in milliseconds (min to max)\n"]
        parts += [tables.warm(cells, MEASURED, _TITLES)]
        parts += ["## The whole file\n", whole.markdown(cells, ADL_RIVALS, events)]
        parts += [tables.where_time_goes(cells, ONE_THREAD, DECOMPRESSION, _TITLES)]
        parts += ["## Ratios\n", tables.ratios(cells, verdicts, list(RATIOS), _TITLES)]
    if cold:
        named = {", ".join(key): times for key, times in cold.items()}
        parts += ["## First result of a new process, seconds\n", tables.cold(named)]
    return "\n".join([*parts, "## Goals\n", tables.goals(verdicts)])
