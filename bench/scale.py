"""`python -m bench scale`: how cost grows with what there may be many of: files, histograms,
variations, steps. A table on standard output and in `bench/results/<date>-<machine>-scale.md`, raw
numbers beside it in JSON.

Files are copies of one with 100 entries. Each rival lives in a process of its own; all fill the
same number of values. Times are medians of `--rounds`, after a round that does not count.
"""

import math
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import treemill as tm
import uproot

from . import machine, publish
from .measured import Row, in_turn
from .options import Options
from .protocol import RivalError, Worker
from .rivals import RIVALS

ENTRIES = 100
COLUMN = "x"
EXPONENT = 1.05
"""The growth that counts as that of the work."""
RIVALS_OF = ("treemill", "treemill-2", "rdf", "rdf-2")
PARTS = ("files", "histograms", "variations", "steps")
_LEGEND = """\
The exponent is that of the growth between the last two sizes, ten times apart: 1 where cost grows
as the work does. Ratios are of medians of the same size. ✓ the goal is reached, ✗ it is not; no
mark: no goal.
"""


def copies(folder: Path, count: int) -> list[Path]:
    """This many copies of a file of `ENTRIES` entries."""
    folder.mkdir(parents=True, exist_ok=True)
    first = folder / "f000000.root"
    if not first.exists():
        with uproot.recreate(first) as file:
            tree = file.mktree("Events", {COLUMN: "float32", "n": "int32"})
            numbers = np.arange(ENTRIES)
            tree.extend({COLUMN: (numbers * 7 % 100).astype("float32"), "n": numbers})
    paths = [folder / f"f{number:06d}.root" for number in range(count)]
    for path in paths:
        if not path.exists():
            shutil.copyfile(first, path)
    return paths


def decades(most: int, least: int = 10) -> list[int]:
    """Sizes, ten times apart, the last of which is `most`."""
    sizes = [most]
    while sizes[0] // 10 >= least:
        sizes.insert(0, sizes[0] // 10)
    return sizes


def exponent(small: Row, large: Row) -> float:
    """Of the growth between two sizes that are ten times apart."""
    return math.log10(large.median / small.median)


def grown(what: str, rows: Sequence[Row]) -> Iterable[Row]:
    """The rows of one contestant over all sizes, and how they grow."""
    yield from rows
    if len(rows) > 1:
        value = exponent(rows[-2], rows[-1])
        yield Row(f"{what}: exponent", (value,), "", below=EXPONENT)


def beside(
    what: str,
    unit: str,
    sizes: Sequence[int],
    rounds: int,
    ask: Callable[[Worker, int], dict[str, Any]],
    above: float | None = None,
) -> Iterable[Row]:
    """Each rival over all sizes. `ask` gives a rival's answer; all fill as much.
    `above`: how many times faster than RDataFrame treemill should be."""
    found: dict[str, list[Row]] = {}
    filled: dict[int, float] = {}
    for rival in (each for each in RIVALS if each.key in RIVALS_OF):
        try:
            worker = Worker(rival)
        except RivalError as error:
            publish.say(f"{what}: {error}")
            continue
        for size in sizes:
            seconds = []
            for counted in range(-1, rounds):
                answer = ask(worker, size)
                total = answer["total"]
                if filled.setdefault(size, total) != total:
                    raise RuntimeError(f"{rival.title} filled {total}, others {filled[size]}")
                if counted >= 0:
                    seconds.append(answer["seconds"])
            row = Row(f"{size:,} {what}, {rival.title}", tuple(seconds), "s")
            found.setdefault(rival.key, []).append(row)
            publish.say(f"{row.what}: {row.median:.3f} s, {1e3 * row.median / size:.3f} ms {unit}")
        worker.close()
    for key, rows in found.items():
        title = next(rival.title for rival in RIVALS if rival.key == key)
        yield from grown(f"{what}, {title}", rows)
    for ours, theirs, words in (("treemill", "rdf", "1 thread"), ("treemill-2", "rdf-2", "2")):
        pairs = zip(found.get(theirs, ()), found.get(ours, ()), strict=False)
        for size, (root, mine) in zip(sizes, pairs, strict=False):
            ratio = f"{size:,} {what}: RDataFrame over treemill, {words}"
            yield Row(ratio, (root.median / mine.median,), "x", above=above)


def of_treemill(
    what: str, sizes: Sequence[int], rounds: int, run: Callable[[int], object]
) -> Iterable[Row]:
    """treemill alone, over all sizes."""
    tasks = {str(size): partial(run, size) for size in sizes}
    taken = in_turn(rounds, tasks)
    rows = [Row(f"{size:,} {what}", taken[str(size)], "s") for size in sizes]
    yield from grown(what, rows)


def varied(path: Path, session: tm.Session, number: int) -> object:
    """A histogram with this many variations of its weight."""
    factors = {str(i): f"w * {1 + i / 1000}" for i in range(number)}
    node = tm.dataset(str(path), tree="Events").define("w", "n + 1.0").vary("w", factors)
    return session.run(node.hist(COLUMN, bins=(50, 0, 100), weight="w"), progress=False)


def chained(path: Path, session: tm.Session, number: int) -> object:
    """A sum behind this many filters and definitions."""
    node = tm.dataset(str(path), tree="Events").define("v0", COLUMN)
    for step in range(1, number // 2 + 1):
        node = node.define(f"v{step}", f"v{step - 1} + 1").filter(f"v{step} > -1")
    return session.run(node.sum(f"v{number // 2}"), progress=False)


def main(arguments: list[str]) -> int:
    """Measure and write."""
    options = Options("scale", __doc__, clock=False)
    options.size("rounds", 5, 2, "counted rounds of each size")
    options.size("files", 20_000, 1000, "files at most")
    options.size("histograms", 1000, 100, "histograms at most")
    options.size("variations", 1000, 100, "variations at most")
    options.size("steps", 1000, 100, "filters and definitions at most")
    options.choice("parts", PARTS, PARTS, "only these")
    chosen = options.parse(arguments)
    paths = copies(chosen.data / "small-files", chosen.files)
    facts = machine.describe()
    rounds, rows = chosen.rounds, list[Row]()
    if "files" in chosen.parts:
        rows += beside(
            "files",
            "a file",
            decades(chosen.files, 100),
            rounds,
            lambda worker, size: worker.sweep(paths[:size], (COLUMN,)),
            above=2.0,
        )
    if "histograms" in chosen.parts:
        rows += beside(
            "histograms",
            "each",
            decades(chosen.histograms),
            rounds,
            lambda worker, size: worker.sweep(paths[:1], (COLUMN,) * size),
        )
    with tm.connect(workers=1) as session:
        for part, run in (("variations", varied), ("steps", chained)):
            if part in chosen.parts:
                sizes = decades(getattr(chosen, part))
                rows += of_treemill(part, sizes, rounds, partial(run, paths[0], session))
    about = machine.about(facts, f"{ENTRIES} entries each", rounds, "wall")
    name = "scale" + publish.of_parts(chosen.parts, PARTS)
    publish.rows(chosen, name, "How cost grows", _LEGEND, about, facts, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
