"""`python -m bench agc`: the tt̄ analysis of examples/agc, all histograms of nine data sets, in
treemill, coffea and RDataFrame, one core each. A page in `bench/results/<date>-<machine>-agc.md`,
raw numbers beside it.
"""

import argparse
import importlib
import json
import sys
import tempfile
from pathlib import Path

from .. import data, machine, publish, tables, warm
from ..cold import measure as measure_cold
from ..options import Options
from ..protocol import RivalError, Worker
from ..publish import say
from ..queries import Query
from ..rivals import Rival
from ..rivals.agc import AGC_RIVALS, TREE_RIVALS
from ..times import Times
from . import report
from .programs import data as made_data

_GROUPS = (
    (Query("agc", "all histograms of the tt̄ analysis", ()), AGC_RIVALS),
    (Query("trees", "all histograms of the version with boosted trees", ()), TREE_RIVALS),
)
_PARTS = ("warm", "cold", "memory")


def _options(arguments: list[str]) -> argparse.Namespace:
    options = Options("agc", __doc__)
    options.size("events", 300_000, 4_000, "events in each data set")
    options.size("rounds", 5, 2, "counted rounds")
    rivals = [rival.key for _, group in _GROUPS for rival in group]
    options.choice("rivals", rivals, rivals, "only these")
    options.choice("parts", _PARTS, _PARTS, "only these")
    return options.parse(arguments)


def unlike(one: list[float], other: list[float]) -> list[int]:
    """Bins that differ, and that single precision does not explain: examples/agc/compare.py."""
    found, explained = importlib.import_module("compare").differences(one, other)
    return [-1] * (found - explained)


def main(arguments: list[str]) -> int:
    """Run what the options ask for; 1 when rivals disagree or one fails."""
    chosen = _options(arguments)
    rivals = [r for r in (*AGC_RIVALS, *TREE_RIVALS) if r.key in chosen.rivals]
    folder = made_data(chosen.data, chosen.events, any(r in TREE_RIVALS for r in rivals))
    for path in folder.glob("*.root"):
        data.warm_up(path)
    facts = machine.describe()
    cells: list[warm.Cell] = []
    first: dict[str, Times] = {}
    memory: dict[str, float] = {}
    try:
        for query, group in _GROUPS if "warm" in chosen.parts else ():
            with warm.Pool.of([rival for rival in rivals if rival in group], say) as pool:
                if pool.workers:
                    files = {"zstd": folder}
                    cells += warm.measure(
                        pool, [query], files, chosen.rounds, chosen.clock, say, unlike
                    )
                facts["versions"] |= pool.versions
        if "memory" in chosen.parts:
            memory = {rival.key: _peak(Worker(rival), folder) for rival in rivals}
        if "cold" in chosen.parts:
            first = _first(rivals, folder, chosen.rounds)
    except (warm.WrongBinsError, RivalError) as error:
        say(f"failed: {error}")
        return 1
    fileset = json.loads((folder / "fileset.json").read_text())
    events = sum(each["metadata"]["nevts"] for each in fileset.values())
    size = sum(path.stat().st_size for path in folder.glob("*.root")) / 1e6
    about = machine.about(
        facts,
        f"{len(fileset)} data sets, {events:,} events: zstd {size:.0f} MB",
        chosen.rounds,
        chosen.clock,
    )
    rows = report.rows(rivals, cells, first, memory, events)
    verdicts = report.verdicts(cells)
    numbers = {
        "machine": facts,
        "about": about,
        "events": events,
        "warm": [cell.as_dict() for cell in cells],
        "first": {key: times.as_dict() for key, times in first.items()},
        "memory": memory,
        "goals": [verdict.as_dict() for verdict in verdicts],
    }
    title = f"The tt̄ analysis of the Analysis Grand Challenge, {publish.today()}"
    text = report.markdown(title, tables.facts(about), rows, verdicts)
    publish.page(chosen.output, "-agc" + "-quick" * chosen.quick, numbers, text)
    return 0


def _peak(worker: Worker, folder: Path) -> float:
    """MB of a process that has done the analysis once."""
    try:
        return float(worker.run(_GROUPS[0][0].key, folder)["peak"]) / 1e6
    finally:
        worker.close()


def _first(rivals: list[Rival], folder: Path, rounds: int) -> dict[str, Times]:
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
