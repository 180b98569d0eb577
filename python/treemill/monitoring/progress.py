"""How far a running query is, as plain numbers, how that came about, and which of its histograms
are shown meanwhile. Pure.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..io_report import IOReport

if TYPE_CHECKING:
    from hist import Hist

__all__ = ["Progress", "ProgressHistory", "histograms", "pick"]

# Chooses the histogram that feedback draws while a query runs, from the query's values. Pure.


def pick(values: object, titles: Sequence[str], name: str | None) -> tuple[str, Hist] | None:
    """The name and the histogram of the value called `name`, or of the first histogram if `name` is
    None. None if there is no such histogram.

    `values` is a selector's output, whose dicts may be nested ("dy.mass" or "mass"), or the tuple
    of values of bookings with these `titles`."""
    for path, histogram in histograms(values, titles):
        if name is None or path == name or path.endswith(f".{name}"):
            return path, histogram
    return None


def histograms(values: object, titles: Sequence[str] = ()) -> Iterator[tuple[str, Hist]]:
    """Yields all histograms among the values, each with its name."""
    pairs: list[tuple[str, object]]
    if isinstance(values, Mapping) and not titles:
        pairs = [(str(key), value) for key, value in values.items()]
    elif isinstance(values, tuple):
        pairs = list(zip(titles, values, strict=False))
    else:
        return
    for name, value in pairs:
        nominal = getattr(value, "nominal", None)
        if _is_histogram(value):
            yield name, value
        elif _is_histogram(nominal):
            yield name, nominal
        elif isinstance(value, Mapping):
            for inner, histogram in histograms(value):
                yield f"{name}.{inner}", histogram


def _is_histogram(value: object) -> bool:
    return all(hasattr(value, part) for part in ("axes", "values", "ndim", "storage_type"))


@dataclass(frozen=True)
class Progress:
    """The state of a running query at one moment."""

    phase: str
    """What the pass is for: finding ranges, or filling."""
    entries: int
    """Number of entries processed in this pass."""
    expected: int
    """Number of entries of the dataset; an estimate until all files have been opened."""
    bytes_read: int
    """Compressed bytes that packets have read from files, or asked servers for; without those that
    opening files took, which `io` has."""
    bytes_decompressed: int
    """Bytes after decompression."""
    seconds: float
    """The time since the query began."""
    workers: int
    """Number of workers."""
    pass_seconds: float
    """The time since this pass began."""
    bytes_from_cache: int = 0
    """Bytes that earlier passes have decompressed: they are taken from memory, not read."""
    entries_before: int = 0
    """Those of the entries that an earlier run has processed (checkpoint=)."""
    io: IOReport = field(default_factory=IOReport)
    """What reading has taken, from servers above all."""

    @property
    def events_per_second(self) -> float:
        """Entries per second of this pass."""
        entries = self.entries - self.entries_before
        return entries / self.pass_seconds if self.pass_seconds > 0 else 0.0

    @property
    def megabytes_per_second(self) -> float:
        """10^6 bytes read from files per second of this pass, without bytes from the cache; see
        `bytes_read`."""
        return self.bytes_read / 1e6 / self.pass_seconds if self.pass_seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimated rest of this pass, at its average rate; None before any entry is done."""
        rate = self.events_per_second
        return max(self.expected - self.entries, 0) / rate if rate > 0 else None


# How a query's progress came about: some hundred samples at most, however long it runs. Pure.

_MOST = 400
"""Samples that are kept, at most."""


class ProgressHistory:
    """Samples of one query's progress, in the order of time."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._kept: list[tuple[float, int, int, int]] = []
        self._apart = 0.0  # seconds that samples must lie apart

    def add(self, progress: Progress) -> None:
        """Adds a sample, unless it lies too near to the last one. When there are too many, every
        second one is dropped, and new ones have to lie twice as far apart."""
        now = (progress.seconds, progress.entries, progress.bytes_read, progress.workers)
        if self._kept and progress.seconds - self._kept[-1][0] < self._apart:
            return
        if self._kept and progress.entries < self._kept[-1][1]:
            self._kept.clear()  # another pass has begun
        self._kept.append(now)
        if len(self._kept) > self._most:
            self._kept = self._kept[::2]
            span = self._kept[-1][0] - self._kept[0][0]
            self._apart = max(2 * self._apart, span / len(self._kept))

    def series(self, packet: float = 0.0) -> dict[str, list[float]]:
        """Columns of equal lengths: seconds since the query's start, events per second, 10^6 bytes
        per second, workers. Rates are those since the sample before. `packet`: seconds of a packet,
        on average: what is told at its end has been done during so long a time."""
        times = [kept[0] for kept in self._kept]
        events = _spread(times, [kept[1] for kept in self._kept], packet)
        megabytes = _spread(times, [kept[2] / 1e6 for kept in self._kept], packet)
        return {
            "seconds": times[1:],
            "events": events,
            "megabytes": megabytes,
            "workers": [kept[3] for kept in self._kept[1:]],
        }


def _spread(times: Sequence[float], sums: Sequence[float], packet: float) -> list[float]:
    """The rates between these times. What is told at a time has been done since the word before,
    the first of it within `packet` seconds; and a packet takes `packet` seconds.

    >>> _spread([0, 1, 2, 3, 4], [0, 0, 40, 40, 80], packet=0)
    [0.0, 40.0, 0.0, 40.0]
    >>> _spread([0, 1, 2, 3, 4], [0, 0, 40, 40, 80], packet=2)
    [20.0, 20.0, 20.0, 20.0]
    """
    last = len(times) - 1
    if packet <= 0.0:
        return [
            (sums[at + 1] - sums[at]) / max(times[at + 1] - times[at], 1e-6) for at in range(last)
        ]
    told = [at for at in range(1, last + 1) if sums[at] > sums[at - 1]]
    if not told:
        return [0.0] * max(last, 0)
    first = max(times[told[0]] - packet, times[0])
    knots = [(first, sums[told[0] - 1]), *((times[at], sums[at]) for at in told)]
    end, rates = knots[-1][0], []
    for at in range(last):
        # Of the last ones, of which not all is told yet, the rate is that of the last packet.
        start = min(times[at], max(end - packet, first))
        upto = min(max(times[at + 1], start + packet), end)
        done = _between(knots, upto) - _between(knots, start)
        rates.append(done / max(upto - start, 1e-6))
    return rates


def _between(knots: Sequence[tuple[float, float]], time: float) -> float:
    """The sum at this time, on the straight line between its neighbours."""
    at = bisect_right(knots, (time, math.inf))
    if at in (0, len(knots)):
        return knots[0 if at == 0 else -1][1]
    (before, low), (after, high) = knots[at - 1], knots[at]
    return low + (high - low) * (time - before) / max(after - before, 1e-9)
