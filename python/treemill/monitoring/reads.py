"""Reads of files on servers, as they were recorded: as lines of JSON, and as a picture of offsets
in the files against time, coloured by server. Knows only names and numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Read", "lines", "save"]

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


def lines(reads: Sequence[Read]) -> Iterator[str]:
    """One JSON object for each vectored read, in the order in which they were sent.

    >>> next(lines([Read(1, "root://a", "root://a//f.root", 0, 10, 0.5, 0.25, True)]))
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


def save(
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
