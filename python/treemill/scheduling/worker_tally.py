"""Sums and bins what the packets of one worker took. Packets wait in rows until many of them can be
added at once: added one by one they would cost more than the rest of the monitoring. Pure; knows
no event.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

from .measures import Spent

__all__ = ["PER_DECADE", "SECONDS", "OfWorker", "WorkerTally", "bin_of"]

SECONDS = (-5, 3)
"""Times are binned from 10^-5 s to 10^3 s."""
PER_DECADE = 10
_EDGES = [
    10.0 ** (at / PER_DECADE) for at in range(SECONDS[0] * PER_DECADE, SECONDS[1] * PER_DECADE + 1)
]
_ALWAYS = ("packets", "entries", "seconds")
"""Measures that a packet has even if its worker measured nothing."""
_COLUMNS = (*Spent._fields, *_ALWAYS)
_SPREAD = ("latency", "seconds", "cpu")
"""The measures that are binned for each packet."""
_ROWS = 256
"""Rows that wait."""


@dataclass(slots=True)
class OfWorker:
    """What one worker has done."""

    host: str = ""
    sums: dict[str, float] = field(default_factory=dict)
    """The sum of each measure over the worker's packets."""
    spread: dict[str, dict[int, int]] = field(default_factory=dict)
    """The number of packets in each bin of each measure; see `bin_of`."""


def bin_of(seconds: float) -> int:
    """The bin of a time; -1 below the first one, and the number of bins above the last one."""
    return bisect_right(_EDGES, seconds) - 1


class WorkerTally:
    """The packets of one worker."""

    def __init__(self, host: str) -> None:
        self._counts = OfWorker(host)
        self._rows: list[tuple[float, ...]] = []
        self._unmeasured: list[tuple[float, ...]] = []

    def add(self, spent: Spent | None, entries: int, seconds: float) -> None:
        """Adds a packet. `spent`: what its worker has measured, if it measures."""
        if spent is None:
            self._unmeasured.append((1, entries, seconds))
        else:
            self._rows.append((*spent, 1, entries, seconds))
        if len(self._rows) + len(self._unmeasured) >= _ROWS:
            self._add_up_all()

    def counts(self) -> OfWorker:
        """The sums so far. The caller gets a copy."""
        self._add_up_all()
        counts = self._counts
        spread = {name: dict(bins) for name, bins in counts.spread.items()}
        return OfWorker(counts.host, dict(counts.sums), spread)

    def _add_up_all(self) -> None:
        self._add_up(_COLUMNS, self._rows)
        self._add_up(_ALWAYS, self._unmeasured)

    def _add_up(self, names: Iterable[str], rows: list[tuple[float, ...]]) -> None:
        sums, spread = self._counts.sums, self._counts.spread
        for name, column in zip(names, zip(*rows, strict=True), strict=False):
            sums[name] = sum(column, sums.get(name, 0))
            if name in _SPREAD:
                bins = spread.setdefault(name, {})
                for place, packets in Counter(map(partial(bisect_right, _EDGES), column)).items():
                    bins[place - 1] = bins.get(place - 1, 0) + packets
        rows.clear()
