"""`python -m bench.bookings`: what many bookings cost, and what filters save. A table on standard
output and in `bench/results/<date>-<machine>-bookings.md`, raw numbers beside it in JSON.

Files are written once and kept: 200 columns of floats, and one that filters pass. Times are medians
of `--rounds`, on one thread, interleaved; by the CPU clock, which a busy machine disturbs least.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import treemill as tm
import uproot
from treemill import _core
from treemill.planning import plan

from . import data, machine, publish
from .report import table

COLUMNS, FILTERS, CLUSTER = 200, 20, 10_000
SPREADS = ("runs", "spread", "each")
"""How those that pass lie: together, anywhere, one in each basket. With the last, nearly nothing is
left to do but to read and decompress every basket: what a filter whose survivors lie anywhere
cannot do without."""
OTHERS = [f"x{i:03d}" for i in range(FILTERS - 1)]
ANDS = "".join(f" and {name} > -1" for name in OTHERS)
FILTER = {
    "runs": ("1 % pass, in runs; one condition", f"runs + 0 * ({' + '.join(OTHERS)}) < 0.01"),
    "runs, and": ("1 % pass, in runs; 20 conditions", f"runs < 0.01{ANDS}"),
    "spread": ("1 % pass, anywhere; 20 conditions", f"spread < 0.01{ANDS}"),
    "each": ("1 in each basket; 20 conditions", f"each < 0.01{ANDS}"),
}
"""Words and condition. One condition needs all 20 columns of every entry. Of 20, each needs one
column, and none but the first refuses anything."""
GOALS = {"runs": 15.0, "runs, and": 15.0}
CODECS: dict[str, Any] = {"lz4": uproot.LZ4(4), "zstd": uproot.ZSTD(5), "none": None}


def write(path: Path, entries: int, codec: str) -> None:
    """The file, with baskets of 10,000 entries (40 kB), as ROOT's are. `runs` is below 0.01 in
    whole runs of entries, `spread` in entries anywhere, `each` in the middle of each basket."""
    chance = np.random.default_rng(1)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".tmp")
    names = [f"x{i:03d}" for i in range(COLUMNS)]
    with uproot.recreate(part, compression=CODECS[codec]) as file:
        tree = file.mktree("Events", dict.fromkeys([*SPREADS, *names], "float32"))
        cluster = CLUSTER
        for first in range(0, entries, cluster):
            n = min(cluster, entries - first)
            # Every hundredth cluster: 1 %.
            in_run = first // cluster % 100 == 0
            chunk = {"runs": np.full(n, 0.0 if in_run else 1.0), "spread": chance.random(n)}
            chunk["each"] = (np.arange(n) != n // 2).astype(np.float64)
            # Few bits, so that codecs have something to do.
            chunk |= {name: chance.integers(0, 1000, n) / 10 for name in names}
            tree.extend({name: values.astype(np.float32) for name, values in chunk.items()})
    part.rename(path)


def medians(rounds: int, tasks: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """CPU seconds of each task, round by round, after one round that does not count."""
    taken: dict[str, list[float]] = {name: [] for name in tasks}
    for number in range(rounds + 1):
        for name, task in tasks.items():
            begin = time.process_time()
            task()
            if number:
                taken[name].append(time.process_time() - begin)
    return taken


def many(path: Path, entries: int, rounds: int, most: int) -> Iterable[dict[str, Any]]:
    """One histogram of each of 100 columns, and `most` of them: every one with bins of its own."""
    events = tm.dataset(str(path))
    names = [f"x{i % 100:03d}" for i in range(most)]

    def book(count: int) -> list[Any]:
        return [
            events.hist(name, bins=(40 + i // 100, 0, 100)) for i, name in enumerate(names[:count])
        ]

    with tm.connect(workers=1) as session:

        def fill(count: int) -> Callable[[], object]:
            return lambda: session.run(*book(count), progress=False)

        taken = medians(rounds, {"100": fill(100), "most": fill(most)})
        found = session.run(*book(200), progress=False)
        equal = all(h.sum(flow=True) == entries for h in found)
    few, all_of_them = (statistics.median(taken[name]) for name in ("100", "most"))
    extra = (all_of_them - few) / (most - 100) / entries * 1e9
    yield {
        "what": "100 histograms of 100 columns",
        "seconds": taken["100"],
        "value": few,
        "unit": "s",
    }
    yield {
        "what": f"{most} histograms of them",
        "seconds": taken["most"],
        "value": all_of_them,
        "unit": "s",
    }
    yield {
        "what": "an extra histogram of an existing column, per entry",
        "value": extra,
        "unit": "ns",
        "goal": 3.0,
        "equal": equal,
    }
    tree = events.trees[0].core

    def planned() -> None:

        _core.Query(json.dumps(plan(book(most)).spec)).bind(tree)

    planning = medians(rounds, {"plan": planned})["plan"]
    yield {
        "what": f"planning {most} histograms (booking, specification, compilation)",
        "seconds": planning,
        "value": statistics.median(planning),
        "unit": "s",
        "goal": 0.2,
    }


def filtered(path: Path, codec: str, rounds: int) -> Iterable[dict[str, Any]]:
    """A cut on 20 columns that 1 % of the entries pass, and 200 histograms behind it; beside that
    the same histograms without it."""
    events = tm.dataset(str(path))

    def book(condition: str | None) -> list[Any]:
        node = events if condition is None else events.filter(condition)
        return [node.sum(f"x{i:03d}") for i in range(COLUMNS)]

    with tm.connect(workers=1) as session:
        read: dict[str, int] = {}

        def task(name: str, condition: str | None) -> Callable[[], object]:
            def run() -> None:
                session.run(*book(condition), progress=False)
                read[name] = session.report.bytes_decompressed

            return run

        tasks = {name: task(name, condition) for name, (_, condition) in FILTER.items()}
        tasks["all"] = task("all", None)
        taken = medians(rounds, tasks)
    whole = statistics.median(taken["all"])
    yield {
        "what": f"all of 200 columns, {codec}",
        "seconds": taken["all"],
        "value": whole,
        "unit": "s",
    }
    for name, (words, _) in FILTER.items():
        yield {
            "what": f"{words} of 20 columns, {codec}: time",
            "seconds": taken[name],
            "value": 100 * statistics.median(taken[name]) / whole,
            "unit": "% of all",
            "goal": GOALS.get(name),
        }
        yield {
            "what": f"{words} of 20 columns, {codec}: bytes decompressed",
            "value": 100 * read[name] / read["all"],
            "unit": "% of all",
        }


def main() -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(prog="python -m bench.bookings", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small: does it run?")
    parser.add_argument("--rounds", type=int, help="of each measurement (5)")
    parser.add_argument("--events", type=int, help="in the files (1,000,000)")
    parser.add_argument("--data", type=Path, default=data.FOLDER, help="folder of the files")
    parser.add_argument("--output", type=Path, default=publish.FOLDER, help="folder")
    chosen = parser.parse_args()
    rounds = chosen.rounds or (2 if chosen.quick else 5)
    entries = chosen.events or (50_000 if chosen.quick else 1_000_000)
    most = 300 if chosen.quick else 1000
    facts = machine.describe()
    rows: list[dict[str, Any]] = []
    for codec in CODECS:
        path = chosen.data / f"filtered-{codec}-{entries}.root"
        if not path.exists():
            write(path, entries, codec)
        data.warm_up(path)
        if codec == "lz4":
            rows += many(path, entries, rounds, most)
        rows += filtered(path, codec, rounds)
    numbers = {"machine": facts, "entries": entries, "rows": rows}
    text = page_of(rows, entries, rounds, facts)
    publish.page(chosen.output, "-bookings" + "-quick" * chosen.quick, numbers, text)
    return 0


def page_of(
    rows: Iterable[dict[str, Any]], entries: int, rounds: int, facts: dict[str, object]
) -> str:
    """The table."""
    lines = []
    for row in rows:
        goal = row.get("goal")
        mark = "" if goal is None else f"≤ {goal:g} {'✓' if row['value'] <= goal else '✗'}"
        lines.append([row["what"], f"{row['value']:.3g} {row['unit']}", mark])
    said = (
        f"# Many bookings, and filters\n\n{entries:,} entries of {COLUMNS} float columns, one "
        f"thread, CPU time, medians of {rounds}; commit {facts['commit']}, {facts['cpu']}, load "
        f"before the run {facts['load']}.\n\n"
    )
    limit = (
        "\nSurvivors that lie anywhere leave no basket out: all are read and decompressed, and "
        "only decoding and computing are saved. What that limit is, the rows with one survivor in "
        "each basket measure.\n"
    )
    return said + table(["", "measured", "goal"], lines) + limit


if __name__ == "__main__":
    sys.exit(main())
