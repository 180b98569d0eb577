"""The access pattern of CMSSW's IOExerciser: some of the branches for every entry, as an analysis
reads them, and all branches of each fiftieth entry or so, as an analysis does with what it selects.
What is to be read, what came of it, and what servers were asked for meanwhile, as plain values, as
lines and as a picture: it knows no dataset and reads nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from ..scheduling import MEASURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "COUNTERS",
    "ORDERS",
    "SWITCHES",
    "Exercise",
    "ExerciseOutcome",
    "Read",
    "Size",
    "chosen",
    "draw_reads",
    "read_lines",
]

ORDERS = ("smallest", "largest", "roundrobin")
"""The orders in which branches are taken until their share is reached; "roundrobin" takes a small
and a large one in turn, which is closest to what users do."""

SWITCHES: Mapping[str, str] = {
    "startup": "headers and ends of files together, known metadata from the disk",
    "trigger": "of the columns of rare entries, only what these entries touch",
    "coalescing": "neighbouring ranges as one",
    "multisource": "several sources of one file at once",
    "prefetch": "what later packets need, while one is computed",
}
"""What may be switched off, one by one, to see what it gains."""

COUNTERS = (
    "bytes_wanted",
    "bytes_read",
    "bytes_over_read",
    "bytes_from_cache",
    "bytes_from_disk",
    "requests",
    "waits",
    "waited",
)
"""What is told of an exercise, of what the core counts."""


@dataclass(frozen=True)
class Size:
    """A branch and its bytes in the file."""

    branch: str
    zip_bytes: int


@dataclass(frozen=True)
class Exercise:
    """What to read."""

    share: float = 0.3
    """The least share of the bytes of all branches that is read for every entry."""
    prescale: int = 50
    """Every n-th entry is read with all its branches; 0: none."""
    entries: int = 1000
    """The first ones of all files together; 0: all."""
    order: str = "smallest"
    without: frozenset[str] = field(default_factory=frozenset)
    """Names of SWITCHES."""

    @property
    def trigger(self) -> str:
        """The entries that are read whole, as a filter."""
        return f"entry_number % {self.prescale} == {self.prescale - 1}"


@dataclass(frozen=True)
class ExerciseOutcome:
    """What an exercise took."""

    seconds: float
    entries: int
    chosen: int
    """Branches that were read for every entry."""
    branches: int
    total: float
    """The sum of all values that were read: equal for all readers of the same data."""
    counters: Mapping[str, float]

    def lines(self) -> list[str]:
        """Gives lines for a terminal."""
        return [
            f"{self.entries:,} entries, {self.chosen} of {self.branches} branches: "
            f"{self.seconds:.3f} s",
            *(_line(name, value) for name, value in self.counters.items()),
        ]


def _line(name: str, value: float) -> str:
    measure = MEASURES[name]
    told = _BY_UNIT[measure.unit](value)
    return f"  {told:>14}  {measure.words}"


_BY_UNIT: Mapping[str, Callable[[float], str]] = {
    "bytes": lambda value: f"{value / 1e6:,.3f} MB",
    "s": lambda value: f"{value:,.3f} s",
    "": lambda value: f"{value:,.0f}",
}


def chosen(sizes: Iterable[Size], share: float, order: str) -> list[str]:
    """The branches to read for every entry: in the given order until they have the share of the
    bytes. Branches without bytes count, but never decide."""
    ascending = sorted(sizes, key=lambda size: (size.zip_bytes, size.branch))
    wanted = share * sum(size.zip_bytes for size in ascending)
    branches: list[str] = []
    taken = 0
    from_small = order != "largest"
    while ascending and taken < wanted:
        size = ascending.pop(0 if from_small else -1)
        branches.append(size.branch)
        taken += size.zip_bytes
        from_small ^= order == "roundrobin"
    return branches


# Reads of files on servers, as they were recorded: as lines of JSON, and as a picture of offsets in
# the files against time, coloured by server.

_FILES = 8
"""Panels of a picture, at most."""


class Read(NamedTuple):
    """A range that a server was asked for."""

    number: int
    """The number of the vectored read that the range was a part of."""
    source: str
    """The server."""
    file: str
    start: int
    stop: int
    sent: float
    """When it was asked for, in seconds since the record began."""
    seconds: float
    """How long it took."""
    came: bool


def read_lines(reads: Sequence[Read]) -> Iterator[str]:
    """One JSON object for each vectored read, in the order in which they were sent.

    >>> next(read_lines([Read(1, "root://a", "root://a//f.root", 0, 10, 0.5, 0.25, True)]))
    '{"source": "root://a", "file": "root://a//f.root", "sent": 0.5, "seconds": 0.25, "bytes": 10, \
"ranges": [[0, 10]], "failed": 0}'
    """
    for _, group in groupby(sorted(reads), key=lambda read: read.number):
        parts = list(group)
        told = {
            "source": parts[0].source,
            "file": parts[0].file,
            "sent": round(parts[0].sent, 6),
            "seconds": round(max(part.seconds for part in parts), 6),
            "bytes": sum(part.stop - part.start for part in parts),
            "ranges": [[part.start, part.stop] for part in parts],
            "failed": sum(not part.came for part in parts),
        }
        yield json.dumps(told)


def draw_reads(
    reads: Sequence[Read],
    path: str | Path | BinaryIO,
    title: str = "",
    form: str | None = None,
) -> None:
    """Draws each range as a box, as high as it has bytes, from when it was asked for until it came
    (the dot, which is black if it did not come). One panel for each file, for eight files at most;
    a file that has the same path on several servers is one. The suffix of `path` decides the
    format; an open file gets that of `form`.

    Raises ImportError if matplotlib is missing."""
    from matplotlib.figure import Figure

    files = list(dict.fromkeys(_path(read) for read in reads))
    shown = files[:_FILES] or [""]
    colors = {name: f"C{i % 10}" for i, name in enumerate(sorted({r.source for r in reads}))}
    figure = Figure(figsize=(8.0, 1.2 + (3.6 if len(shown) == 1 else 2.2 * len(shown))))
    figure.set_layout_engine("constrained")
    axes = figure.subplots(len(shown), 1, squeeze=False, sharex=True)[:, 0]
    for place, file in zip(axes, shown, strict=True):
        _draw(place, [read for read in reads if _path(read) == file], colors)
        place.set_title(file, fontsize=8)
        place.set_ylabel("offset / MB")
    axes[-1].set_xlabel("time / s")
    for source, color in colors.items():
        count = sum(read.source == source for read in reads)
        axes[0].scatter([], [], c=color, s=12, label=f"{source} ({count:,} ranges)")
    if colors:
        figure.legend(fontsize=7, loc="outside lower center", ncols=3)
    more = len(files) - len(shown)
    figure.suptitle(f"{title}, and {more} files more" if more > 0 else title, fontsize=9)
    figure.savefig(path, format=form, dpi=130)


def _path(read: Read) -> str:
    """The file's name without its server's."""
    _, is_url, rest = read.file.partition("://")
    return rest.partition("/")[2].lstrip("/") if is_url else read.file


def _draw(axes: Axes, reads: Sequence[Read], colors: dict[str, str]) -> None:
    from matplotlib.collections import PolyCollection

    height = max((read.stop for read in reads), default=0) / 1e6
    least = height / 400  # what is thinner cannot be seen
    for source, color in colors.items():
        own = [read for read in reads if read.source == source]
        if not own:
            continue
        boxes = []
        for read in own:
            low, high = read.start / 1e6, read.stop / 1e6
            high = max(high, low + least)
            end = read.sent + read.seconds
            boxes.append([(read.sent, low), (end, low), (end, high), (read.sent, high)])
        axes.add_collection(PolyCollection(boxes, facecolors=color, edgecolors="none", alpha=0.35))
        ends = [read.sent + read.seconds for read in own]
        middles = [(read.start + read.stop) / 2e6 for read in own]
        marks = [color if read.came else "black" for read in own]
        axes.scatter(ends, middles, s=5, c=marks, zorder=3)
    axes.set_ylim(-0.03 * height, 1.03 * height if height else 1.0)
    axes.set_xlim(left=0.0)
