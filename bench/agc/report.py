"""The page about the tt̄ analysis: Markdown from what was measured. Measures nothing."""

import importlib
from collections.abc import Mapping, Sequence

from .. import remembering, tables
from ..goals import Verdict
from ..rivals import TREEMILL, Rival
from ..rivals.agc import (
    AGC_RIVALS,
    DECOMPRESSION,
    FAST,
    READING,
    REFERENCE,
    ROOT,
    TREES,
    TREES_FAST,
    TREES_READING,
    TREES_REFERENCE,
    TREES_ROOT,
)
from ..times import Times
from ..warm import Cell
from .programs import EXAMPLE

OVER_COFFEA, OVER_ROOT, OF_LIMIT = 10.0, 8.0, 0.71
_RATIOS = (
    ("coffea, as its reference / treemill", REFERENCE, OVER_COFFEA),
    ("coffea, for speed / treemill", FAST, OVER_COFFEA),
    ("RDataFrame / treemill", ROOT, OVER_ROOT),
)
_TREE_RATIOS = (
    ("coffea as its reference / treemill, trees", TREES_REFERENCE, OVER_COFFEA),
    ("coffea for speed / treemill, trees", TREES_FAST, OVER_COFFEA),
    ("RDataFrame / treemill, trees", TREES_ROOT, OVER_ROOT),
)
_LEGEND = """\
All programs fill the same 122 histograms (five processes, two regions, all variations) from the
same files, and all bins are equal: sums of weights up to rounding, and values of coffea's reference
form, which is in single precision, up to entries in the neighbouring bin. Those with "trees" fill
1,220 histograms, of the jets' assignment by XGBoost's models; RDataFrame walks their trees in the
program's own C++, since ROOT's packages for pip have no TMVA. Times are taken inside
each program's own long-lived process, which uses one core; files are opened in every round; every
program answers in turn, round by round. "First picture" is a new process from its start to the
picture of one region, without trees; RDataFrame's library has been compiled before. Memory is the
peak of a process that has done the analysis once. Lines are those of the program, without empty
ones, comments and docstrings. "Decompression alone" reads and decompresses all baskets of the
branches that the analysis needs, by the same libraries, and makes nothing of them. ✓ the goal is
reached, ✗ it is not.
"""


def rows(
    rivals: Sequence[Rival],
    cells: Sequence[Cell],
    first: Mapping[str, Times],
    memory: Mapping[str, float],
    events: int,
) -> list[list[str]]:
    """A line of the table for each program."""
    found = {cell.rival: cell.times for cell in cells}
    return [
        [
            rival.title,
            _lines(rival),
            f"{first[rival.key].median:.2f}" if rival.key in first else "-",
            tables.spread(found.get(rival.key)),
            f"{events / found[rival.key].median / 1e3:,.0f}" if rival.key in found else "-",
            f"{memory[rival.key]:.0f}" if rival.key in memory else "-",
        ]
        for rival in rivals
    ]


def _lines(rival: Rival) -> str:
    if not rival.variant:
        return "-"
    compare = importlib.import_module("compare")
    program = f"{rival.variant.partition(':')[0]}.py"
    programs = [*compare.PROGRAMS.values(), *compare.TREES.values()]
    (sources,) = (of for _, of in programs if of[0] == program)
    lines_of_code = importlib.import_module("side_by_side").lines_of_code
    return str(sum(lines_of_code(EXAMPLE / source) for source in sources))


def verdicts(cells: Sequence[Cell]) -> list[Verdict]:
    """The ratios of times, with treemill as users have it and with nothing remembered."""
    found = {cell.rival: cell.times.median for cell in cells}
    remembering = next(r.key for r in AGC_RIVALS if r.group == TREEMILL)
    pairs = [(title, theirs, wanted, remembering, READING) for title, theirs, wanted in _RATIOS]
    pairs += [
        (title, theirs, wanted, TREES, TREES_READING) for title, theirs, wanted in _TREE_RATIOS
    ]
    made = []
    for title, theirs, wanted, ours, reading in pairs:
        for key, words, goal in ((ours, "", wanted), (reading, ", nothing remembered", None)):
            if key in found and theirs in found:
                ratio = found[theirs] / found[key]
                made.append(Verdict(title + words, "agc", ratio, goal, ratio >= (goal or 0)))
    if DECOMPRESSION.key in found and READING in found:
        ratio = found[DECOMPRESSION.key] / found[READING]
        title = "decompression alone / treemill, nothing remembered"
        made.append(Verdict(title, "agc", ratio, OF_LIMIT, ratio >= OF_LIMIT))
    return made


def markdown(
    title: str,
    facts: str,
    rows: Sequence[Sequence[str]],
    cells: Sequence[Cell],
    verdicts: Sequence[Verdict],
) -> str:
    """The whole page."""
    head = ["", "lines", "first picture, s", "all histograms, ms", "1000 events/s", "peak MB"]
    ratios = ([v.goal, f"{v.measured:.2f}", _wanted(v)] for v in verdicts)
    parts = [f"# {title}\n", facts, _LEGEND, remembering.LEGEND, tables.table(head, rows)]
    parts += [tables.where_time_goes(cells, READING, DECOMPRESSION, {})]
    return "\n".join([*parts, tables.table(["times", "ratio", "goal"], ratios)])


def _wanted(verdict: Verdict) -> str:
    if verdict.wanted is None:
        return ""
    return f"≥ {verdict.wanted:g} {'✓' if verdict.reached else '✗'}"
