"""How a query's progress came about: some hundred samples at most, however long it runs. Pure."""

from __future__ import annotations

from .progress import Progress

__all__ = ["Samples"]

MOST = 400
"""Samples that are kept, at most."""


class Samples:
    """Samples of one query, in the order of time."""

    def __init__(self, most: int = MOST) -> None:
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

    def series(self) -> dict[str, list[float]]:
        """Columns of equal lengths: seconds since the query's start, events per second, 10^6 bytes
        per second, workers. Rates are those since the sample before."""
        columns: dict[str, list[float]] = {"seconds": [], "events": [], "megabytes": []}
        columns["workers"] = []
        for (before, entries, read, _), (now, more, further, workers) in zip(
            self._kept, self._kept[1:], strict=False
        ):
            took = max(now - before, 1e-6)
            columns["seconds"].append(now)
            columns["events"].append((more - entries) / took)
            columns["megabytes"].append((further - read) / 1e6 / took)
            columns["workers"].append(workers)
        return columns
