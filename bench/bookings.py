"""`python -m bench bookings`: what many bookings cost, and what filters save. A table on standard
output and in `bench/results/<date>-<machine>-bookings.md`, raw numbers beside it in JSON.

Files are written once and kept: 200 columns of floats, and one that filters pass. Times are medians
of `--rounds`, on one thread, interleaved; by the CPU clock, which a busy machine disturbs least.
"""

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import treemill as tm
import uproot
from treemill import _core
from treemill.query.planning import plan

from . import data, machine, publish
from .measured import Row, in_turn, shares
from .options import Options

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
_LEGEND = """\
Tasks are done in turn, round by round, after a round that does not count. Shares are medians of the
rounds' shares. Survivors that lie anywhere leave no basket out: all are read and decompressed, and
only decoding and computing are saved. What that limit is, the rows with one survivor in each basket
measure. ✓ the goal is reached, ✗ it is not; no mark: no goal.
"""
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


def many(path: Path, entries: int, rounds: int, most: int) -> Iterable[Row]:
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

        if any(h.sum(flow=True) != entries for h in session.run(*book(200), progress=False)):
            raise RuntimeError("a histogram has not every entry")
        taken = in_turn(rounds, {"few": fill(100), "most": fill(most)}, time.process_time)
    few = Row("100 histograms of 100 columns", taken["few"], "s")
    all_of_them = Row(f"{most} histograms of them", taken["most"], "s")
    pairs = zip(few.values, all_of_them.values, strict=True)
    extra = tuple((b - a) / (most - 100) / entries * 1e9 for a, b in pairs)
    tree = events.chain.trees[0].core

    def planned() -> None:
        _core.Query(plan(book(most)).specification.text).bind(tree)

    planning = in_turn(rounds, {"plan": planned}, time.process_time)["plan"]
    yield few
    yield all_of_them
    yield Row("an extra histogram of an existing column, per entry", extra, "ns", below=3.0)
    what = f"planning {most} histograms (booking, specification, compilation)"
    yield Row(what, planning, "s", below=0.2)


def filtered(path: Path, codec: str, rounds: int) -> Iterable[Row]:
    """A cut on 20 columns that 1 % of the entries pass, and 200 sums behind it; beside that the
    same sums without it."""
    events = tm.dataset(str(path))

    def book(condition: str | None) -> list[Any]:
        node = events if condition is None else events.filter(condition)
        return [node.sum(f"x{i:03d}") for i in range(COLUMNS)]

    with tm.connect(workers=1) as session:
        read: dict[str, int] = {}

        def task(name: str, condition: str | None) -> Callable[[], object]:
            def run() -> None:
                session.run(*book(condition), progress=False)
                assert session.report is not None
                read[name] = session.report.bytes_decompressed

            return run

        tasks = {name: task(name, condition) for name, (_, condition) in FILTER.items()}
        taken = in_turn(rounds, tasks | {"all": task("all", None)}, time.process_time)
    whole = Row(f"all of {COLUMNS} columns, {codec}", taken["all"], "s")
    yield whole
    for name, (words, _) in FILTER.items():
        what = f"{words} of {FILTERS} columns, {codec}"
        time_of = Row("", taken[name], "s")
        yield shares(f"{what}: time", time_of, whole, below=GOALS.get(name))
        bytes_of = (100 * read[name] / read["all"],)
        yield Row(f"{what}: bytes decompressed", bytes_of, "% of all")


def main(arguments: list[str]) -> int:
    """Measure and write."""
    options = Options("bookings", __doc__, clock=False)
    options.size("rounds", 5, 2, "counted rounds of each measurement")
    options.size("events", 1_000_000, 50_000, "in the files")
    chosen = options.parse(arguments)
    facts = machine.describe()
    rows: list[Row] = []
    paths = {codec: chosen.data / f"filtered-{codec}-{chosen.events}.root" for codec in CODECS}
    for codec, path in paths.items():
        if not path.exists():
            write(path, chosen.events, codec)
        data.warm_up(path)
        if codec == "lz4":
            rows += many(path, chosen.events, chosen.rounds, 300 if chosen.quick else 1000)
        rows += filtered(path, codec, chosen.rounds)
    sizes = ", ".join(
        f"{codec} {path.stat().st_size / 1e6:.0f} MB" for codec, path in paths.items()
    )
    files = f"{chosen.events:,} entries of {COLUMNS} columns: {sizes}"
    about = machine.about(facts, files, chosen.rounds, "cpu, one thread")
    publish.rows(chosen, "bookings", "Many bookings, and filters", _LEGEND, about, facts, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
