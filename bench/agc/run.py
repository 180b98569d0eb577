"""`python -m bench agc`: the tt̄ analysis of examples/agc, all histograms of nine data sets, in
treemill, coffea and RDataFrame, one core each. A page in `bench/results/<date>-<machine>-agc.md`,
raw numbers beside it; both are written after each part, with what is known by then.
"""

import argparse
import importlib
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .. import data, machine, publish, tables, unpack, warm
from ..cold import measure as measure_cold
from ..options import Options
from ..protocol import RivalError
from ..publish import say
from ..queries import Query
from ..rivals import Rival
from ..rivals.agc import AGC_RIVALS, DECOMPRESSION, TREE_RIVALS
from ..times import Times
from . import report
from .programs import data as made_data

_Group = tuple[Query, Sequence[Rival]]
_MAIN: _Group = (Query("agc", "all histograms of the tt̄ analysis", ()), AGC_RIVALS)
_TREES: _Group = (
    Query("trees", "all histograms of the version with boosted trees", ()),
    TREE_RIVALS,
)
_PARTS = ("warm", "cold", "trees")
_BRANCHES = (
    *(f"Electron_{name}" for name in ("pt", "eta", "sip3d", "cutBased")),
    *(f"Muon_{name}" for name in ("pt", "eta", "sip3d", "tightId", "pfRelIso04_all")),
    *(f"Jet_{name}" for name in ("pt", "eta", "phi", "mass", "jetId", "btagCSVV2")),
)
"""What the analysis needs of the files."""


def _options(arguments: list[str]) -> argparse.Namespace:
    options = Options("agc", __doc__)
    options.size("events", 200_000, 4_000, "events in each data set")
    options.size("rounds", 5, 2, "counted rounds")
    rivals = [rival.key for rival in (*AGC_RIVALS, *TREE_RIVALS)]
    options.choice("rivals", rivals, rivals, "only these")
    options.choice("parts", _PARTS, _PARTS, "only these")
    return options.parse(arguments)


def unlike(one: list[float], other: list[float]) -> list[int]:
    """Bins that differ, and that single precision does not explain: examples/side_by_side.py."""
    found, explained = importlib.import_module("side_by_side").differences(one, other)
    return [-1] * (found - explained)


class _Page:
    """What has been measured so far, which is written as it comes."""

    def __init__(self, chosen: argparse.Namespace, rivals: Sequence[Rival], folder: Path) -> None:
        self._chosen = chosen
        self._rivals = rivals
        self.facts = machine.describe()
        self.cells: list[warm.Cell] = []
        self.first: dict[str, Times] = {}
        fileset = json.loads((folder / "fileset.json").read_text())
        self._events = sum(each["metadata"]["nevts"] for each in fileset.values())
        size = sum(path.stat().st_size for path in folder.glob("*.root")) / 1e6
        self._files = f"{len(fileset)} data sets, {self._events:,} events: zstd {size:.0f} MB"

    def write(self, missing: str = "") -> None:
        """`missing`: what is still to be measured; nothing: the page is done, and printed."""
        memory = {cell.rival: cell.peak / 1e6 for cell in self.cells if cell.peak}
        about = machine.about(self.facts, self._files, self._chosen.rounds, self._chosen.clock)
        limit = [DECOMPRESSION] * any(cell.rival == DECOMPRESSION.key for cell in self.cells)
        rows = report.rows([*self._rivals, *limit], self.cells, self.first, memory, self._events)
        verdicts = report.verdicts(self.cells)
        numbers = {
            "machine": self.facts,
            "about": about,
            "events": self._events,
            "warm": [cell.as_dict() for cell in self.cells],
            "first": {key: times.as_dict() for key, times in self.first.items()},
            "memory": memory,
            "goals": [verdict.as_dict() for verdict in verdicts],
        }
        known = about | ({"not measured yet": missing} if missing else {})
        title = f"The tt̄ analysis of the Analysis Grand Challenge, {publish.today()}"
        text = report.markdown(title, tables.facts(known), rows, self.cells, verdicts)
        parts = publish.of_parts(self._chosen.parts, _PARTS)
        what = f"-agc{parts}" + "-quick" * self._chosen.quick
        if missing:
            publish.partial(self._chosen.output, what, numbers, text)
        else:
            publish.page(self._chosen.output, what, numbers, text)


def main(arguments: list[str]) -> int:
    """Run what the options ask for; 1 when rivals disagree or one fails. What has been measured by
    then is written."""
    chosen = _options(arguments)
    rivals = [r for r in (*AGC_RIVALS, *TREE_RIVALS) if r.key in chosen.rivals]
    with_trees = "trees" in chosen.parts and any(r in TREE_RIVALS for r in rivals)
    folder = made_data(chosen.data, chosen.events, with_trees)
    for path in folder.glob("*.root"):
        data.warm_up(path)
    page = _Page(chosen, rivals, folder)
    try:
        # New processes come after those that are up: by then RDataFrame's library is compiled.
        if "warm" in chosen.parts:
            _measure(chosen, page, rivals, folder, _MAIN)
            if unpack.built() and chosen.clock == "wall":
                paths = sorted(folder.glob("*.root"))
                times = unpack.together(paths, "Events", _BRANCHES, chosen.rounds)
                limit = warm.Cell(DECOMPRESSION.key, _MAIN[0].key, "zstd", times, times, "wall")
                page.cells.append(limit)
        if "cold" in chosen.parts:
            page.first = _first([r for r in rivals if r in AGC_RIVALS], folder, chosen.rounds)
            page.write("the version with boosted trees")
        if "trees" in chosen.parts:
            _measure(chosen, page, rivals, folder, _TREES)
    except (warm.WrongBinsError, RivalError) as error:
        say(f"failed: {error}")
        return 1
    page.write()
    return 0


def _measure(
    chosen: argparse.Namespace, page: _Page, rivals: Sequence[Rival], folder: Path, what: _Group
) -> None:
    """Adds a group's times and memory."""
    query, group = what
    with warm.Pool.of([rival for rival in rivals if rival in group], say) as pool:
        page.facts["versions"] |= pool.versions
        if pool.workers:
            files = {"zstd": folder}
            page.cells += warm.measure(
                pool, [query], files, chosen.rounds, chosen.clock, say, unlike
            )
            page.write("what is not in the table")


def _first(rivals: Sequence[Rival], folder: Path, rounds: int) -> dict[str, Times]:
    with tempfile.TemporaryDirectory() as made:
        commands = {
            rival.key: [
                *(sys.executable, "-W", "ignore", "-m", "bench.agc.first"),
                *(rival.variant, str(folder), f"{made}/first.png"),
            ]
            for rival in rivals
        }
        return measure_cold(commands, rounds, say)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
