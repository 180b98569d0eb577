"""`python -m bench scale`: how cost grows with what there may be many of. A table on standard
output and in `bench/results/<date>-<machine>-scale.md`, raw numbers beside it in JSON, and the
tables of `docs/growth.md`, between its marks.

Each rival lives in a process of its own for each part; all give the same answer. Expressions are
new in each round, as in the first run of a query. Times are medians of `--rounds`, after a round
that does not count: it imports, and fills the kernel's memory.
"""

import math
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import uproot

from . import machine, publish, tables
from .measured import Row
from .options import Options
from .protocol import REPOSITORY, RivalError, Worker
from .rivals import Rival
from .rivals.growth import COLUMN, FRIEND, GROWTH_RIVALS, LISTS, SOME, TREE

ENTRIES = 100
NANO_ENTRIES, NANO_BRANCHES = 2000, 1500
EXPONENT = 1.05
"""The growth that counts as that of the work."""
ACCURACY = 1e-9
PAGE = REPOSITORY / "docs" / "growth.md"
_LEGEND = """\
The exponent is that of the growth between the last two sizes: 1 where cost grows as the work does.
Memory is the most that the process has held, less what it held before the part, at the largest
size. Ratios are of medians of the same size. ✓ the goal is reached, ✗ it is not; no mark: no goal.
"""


def _same(size: int) -> int:
    return size


@dataclass(frozen=True)
class Part:
    """Something that there may be many of."""

    name: str
    title: str
    most: int
    quick: int
    least: int
    two: bool = False
    """Whether two threads are measured, too."""
    work: Callable[[int], int] = _same
    """What cost should be in proportion to."""
    above: float | None = None
    """How many times faster than RDataFrame treemill should be at the largest size."""


PARTS = {
    part.name: part
    for part in (
        Part("files", "files", 20_000, 1000, 200, two=True, above=2.0),
        Part("defaults", "files, half of them without the column", 20_000, 1000, 200, two=True),
        Part("friends", "files with a friend's file each", 20_000, 1000, 200, two=True),
        Part("nano_files", "files of 1,500 branches", 1000, 10, 10, two=True, above=3.0),
        Part("ntuple_files", "files with an RNTuple", 20_000, 1000, 200, two=True, above=2.0),
        Part("datasets", "data sets of one file each", 10_000, 100, 100),
        Part("histograms", "histograms", 10_000, 100, 10),
        Part("variations", "variations of a weight", 1000, 100, 10),
        Part("steps", "filters and definitions", 1000, 100, 10),
        Part("branches", "branches that `show` lists", 20_000, 200, 200),
        Part("baskets", "baskets of seven entries", 100_000, 1000, 1000),
        Part("clusters", "clusters of one entry, TTree", 20_000, 200, 200),
        Part("ntuple_clusters", "clusters of one entry, RNTuple", 20_000, 200, 200),
        Part("categories", "categories that grow", 10_000, 100, 100),
        Part("rows", "rows that `take` gives", 1_000_000, 10_000, 10_000, above=2.0),
        Part("pairs", "items of 20 lists, all pairs", 1000, 100, 10, work=lambda n: n * (n - 1)),
    )
}


@dataclass(frozen=True)
class Curve:
    """What one rival took, size by size."""

    part: Part
    rival: Rival
    rows: dict[int, Row] = field(default_factory=dict)
    memory: list[float] = field(default_factory=list)
    """In MB, of the largest size."""

    @property
    def exponent(self) -> float | None:
        """Of the growth between the last two sizes; None of one size."""
        (*_, small, large) = [0, *self.rows]
        if not small:
            return None
        grown = self.rows[large].median / self.rows[small].median
        return math.log(grown) / math.log(self.part.work(large) / self.part.work(small))

    def lines(self) -> Iterator[Row]:
        """For the page of results."""
        yield from self.rows.values()
        name = f"{self.part.title}, {self.rival.title}"
        if (exponent := self.exponent) is not None:
            below = EXPONENT if self.rival.variant == "treemill" else None
            yield Row(f"{name}: exponent", (exponent,), "", below=below)
        if self.memory:
            yield Row(f"{name}: memory", (max(self.memory),), "MB")


def decades(most: int, least: int) -> list[int]:
    """Sizes, ten times apart, the last of which is `most`."""
    sizes = [most]
    while sizes[0] // 10 >= least:
        sizes.insert(0, sizes[0] // 10)
    return sizes


# The files that are read.


def copies(folder: Path, count: int, *, is_ntuple: bool = False) -> list[Path]:
    """This many copies of a file of `ENTRIES` entries."""
    numbers = np.arange(ENTRIES)
    columns = {COLUMN: (numbers * 7 % 100).astype("float32"), "n": numbers.astype("int32")}
    return _several(folder, "f", [columns], count, is_ntuple=is_ntuple)


def nano_files(folder: Path, count: int) -> None:
    """This many copies of a file as NanoAOD's are: many branches, of which a query wants few."""
    numbers = np.arange(NANO_ENTRIES)
    columns = {f"b{branch}": (numbers % 50).astype("float32") for branch in range(NANO_BRANCHES)}
    columns[COLUMN] = columns.pop("b0")
    _several(folder, "f", [columns], count)


def differing(folder: Path, count: int) -> None:
    """This many files, half of which have a column that the others lack."""
    numbers = np.arange(ENTRIES)
    columns = {COLUMN: (numbers * 7 % 100).astype("float32")}
    forms = [columns | {SOME: (numbers % 10).astype("float64")}, columns]
    _several(folder, "f", forms, count)


def _several(
    folder: Path,
    kind: str,
    forms: Sequence[dict[str, Any]],
    count: int,
    *,
    is_ntuple: bool = False,
) -> list[Path]:
    """This many files whose names begin so, of these forms in turns."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{kind}{number:06d}.root" for number in range(count)]
    for number, path in enumerate(paths):
        if not path.exists():
            if number < len(forms):
                with uproot.recreate(path) as file:
                    columns = forms[number]
                    if is_ntuple:
                        file.mkrntuple(TREE, columns)
                        continue
                    file.mktree(TREE, {name: part.dtype for name, part in columns.items()})
                    file[TREE].extend(columns)
            else:
                shutil.copyfile(paths[number % len(forms)], path)
    return paths


def _columns(part: str, size: int) -> dict[str, object]:
    """What a file of this part and size holds."""
    if part == "rows":
        return {COLUMN: (np.arange(size) % 100).astype("float32")}
    if part == "categories":
        return {"name": [f"category {i % size}" for i in range(10 * size)]}
    import awkward as ak

    values = np.random.default_rng(1).random(20 * size)
    return {LISTS: ak.Array(values.reshape(20, size).tolist())}


def paths_of(part: Part, sizes: Sequence[int], folder: Path) -> dict[int, Path]:
    """The file, or the folder of files, of each size; they are made if they are not there."""
    small = folder / "small-files"
    if part.name in ("files", "datasets"):
        copies(small, max(sizes))
        return dict.fromkeys(sizes, small)
    if part.name == "defaults":
        folder /= "differing-files"
        differing(folder, max(sizes))
        return dict.fromkeys(sizes, folder)
    if part.name == "nano_files":
        folder /= "nano-files"
        nano_files(folder, max(sizes))
        return dict.fromkeys(sizes, folder)
    if part.name == "ntuple_files":
        folder /= "ntuple-files"
        copies(folder, max(sizes), is_ntuple=True)
        return dict.fromkeys(sizes, folder)
    if part.name == "friends":
        copies(small, max(sizes))
        friend = {"z": (np.arange(ENTRIES) % 20).astype("float32")}
        _several(small, FRIEND, [friend], max(sizes))
        return dict.fromkeys(sizes, small)
    if part.name in ("histograms", "variations", "steps"):
        return dict.fromkeys(sizes, copies(small, 1)[0])
    paths = {size: folder / "growth" / part.name / f"{size}.root" for size in sizes}
    missing = {size: path for size, path in paths.items() if not path.exists()}
    for path in missing.values():
        path.parent.mkdir(parents=True, exist_ok=True)
    if part.name in ("rows", "categories", "pairs"):
        for size, path in missing.items():
            with uproot.recreate(path) as file:
                file[TREE] = _columns(part.name, size)
    elif missing:
        writer = Worker(next(r for r in GROWTH_RIVALS if r.variant == "rdf"))
        for size, path in missing.items():
            writer.run(f"write:{size}:0", path)
        writer.close()
    return paths


# The measurement.


def measured(part: Part, chosen: Namespace) -> Iterator[Curve]:
    """One curve for each rival that has an answer."""
    answers: dict[tuple[int, int], float] = {}
    most = part.quick if chosen.quick else part.most
    sizes = decades(most, part.least)
    paths = paths_of(part, sizes, chosen.data)
    for rival in (each for each in GROWTH_RIVALS if each.threads == 1 or part.two):
        curve, worker = Curve(part, rival), None
        try:
            worker = Worker(rival)
            before = worker.run(f"{part.name}:{sizes[0]}:0", paths[sizes[0]])["peak"]
            for size in sizes:
                _one_size(curve, size, worker, paths[size], chosen, answers)
            # What the interpreter and its libraries hold is there before the part is.
            peak = worker.run(f"{part.name}:{sizes[-1]}:{chosen.rounds + 1}", paths[sizes[-1]])
            curve.memory.append((peak["peak"] - before) / 1e6)
        except RivalError as error:
            publish.say(f"{part.title}: {error}")
        finally:
            if worker is not None:
                worker.close()
        if curve.rows:
            yield curve


def _one_size(
    curve: Curve,
    size: int,
    worker: Worker,
    path: Path,
    chosen: Namespace,
    answers: dict[tuple[int, int], float],
) -> None:
    part, taken = curve.part, []
    for turn in range(chosen.rounds + 1):
        answer = worker.run(f"{part.name}:{size}:{size + turn}", path)
        (value,) = answer["bins"]
        expected = answers.setdefault((size, turn), value)
        if not math.isclose(value, expected, rel_tol=ACCURACY):
            raise RuntimeError(f"{curve.rival.title} gives {value}, others {expected}")
        if turn:
            taken.append(answer["cpu" if chosen.clock == "cpu" else "seconds"])
    row = Row(f"{size:,} {part.title}, {curve.rival.title}", tuple(taken), "s")
    curve.rows[size] = row
    publish.say(f"{row.what}: {row.median:.4f} s")


def ratios(curves: Sequence[Curve]) -> Iterator[Row]:
    """RDataFrame's medians over treemill's, of the same threads and size."""
    for ours in (each for each in curves if each.rival.variant == "treemill"):
        for theirs in (each for each in curves if each.rival.variant == "rdf"):
            if (theirs.part, theirs.rival.threads) != (ours.part, ours.rival.threads):
                continue
            for size in theirs.rows:
                above = ours.part.above if size == max(theirs.rows) else None
                what = f"{size:,} {ours.part.title}: {theirs.rival.title} over treemill"
                ratio = theirs.rows[size].median / ours.rows[size].median
                yield Row(what, (ratio,), "x", above=above)


# The page of the documentation.


def table(curves: Sequence[Curve]) -> str:
    """Of one part: a line for each size, and one each for growth and memory."""
    sizes = list(dict.fromkeys(size for curve in curves for size in curve.rows))
    head = [curves[0].part.title, *(curve.rival.title for curve in curves)]
    lines = [[f"{size:,}", *(_seconds(curve.rows.get(size)) for curve in curves)] for size in sizes]
    exponents = (curve.exponent for curve in curves)
    lines.append(["exponent", *("-" if e is None else f"{e:.2f}" for e in exponents)])
    memory = (f"{max(curve.memory):.0f} MB" if curve.memory else "-" for curve in curves)
    return tables.table(head, [*lines, ["memory", *memory]])


def _seconds(row: Row | None) -> str:
    return "-" if row is None else f"{row.median:.3g} s"


def write(page: Path, found: Iterable[Sequence[Curve]], about: str) -> None:
    """Puts the tables of what was measured into the page of the documentation."""
    for curves in found:
        text = f"{table(curves)}\n{about}\n"
        page.write_text(publish.between(page, "scale", curves[0].part.name, text))


def main(arguments: list[str]) -> int:
    """Measure and write."""
    options = Options("scale", __doc__)
    options.size("rounds", 5, 1, "counted rounds of each size")
    options.choice("parts", tuple(PARTS), tuple(PARTS), "only these")
    options.add("--page", type=Path, default=PAGE, help="where tables go; not with --quick")
    chosen = options.parse(arguments)
    facts = machine.describe()
    found = [list(measured(PARTS[name], chosen)) for name in chosen.parts]
    found = [curves for curves in found if curves]
    about = machine.about(facts, f"{ENTRIES} entries each", chosen.rounds, chosen.clock)
    lines = [line for curves in found for curve in curves for line in curve.lines()]
    lines += [ratio for curves in found for ratio in ratios(curves)]
    name = "scale" + publish.of_parts(chosen.parts, PARTS)
    publish.rows(chosen, name, "How cost grows", _LEGEND, about, facts, lines)
    if not chosen.quick:
        clock = "CPU time" if chosen.clock == "cpu" else "time"
        measured_on = f"{publish.today()}, {about['machine']}; {clock}, {chosen.rounds} rounds."
        write(chosen.page, found, measured_on)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
