"""The progress of several queries that run one after another, as that of one query: a run over
several datasets has one progress bar. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from ..io_report import IOReport
from .progress import Progress

if TYPE_CHECKING:
    from .watch import Watched

__all__ = ["SeveralQueries"]


class SeveralQueries:
    """Implements `Watched` for a sequence of queries. `start` must be called for each of them."""

    def __init__(self, datasets: Sequence[tuple[str, int]]) -> None:
        """`datasets` gives the name and the number of files of each dataset, in running order."""
        self._datasets = datasets
        self._ended: list[Progress] = []
        self._current: Watched | None = None

    def start(self, query: Watched) -> None:
        """Makes this query the current one. The previous query has ended."""
        if self._current is not None:
            self._ended.append(self._current.progress)
        self._current = query

    @property
    def progress(self) -> Progress:
        """The sums over all queries. A query that has not started is estimated: its files are taken
        to have as many entries as the files of the others have on average."""
        now = None if self._current is None else self._current.progress
        begun = self._ended if now is None else [*self._ended, now]
        files = [number for _, number in self._datasets]
        expected = sum(each.expected for each in begun)
        rest = sum(files[len(begun) :])
        seconds = sum(each.seconds for each in begun)
        return Progress(
            phase="" if now is None else self._phase(len(begun), now.phase),
            entries=sum(each.entries for each in begun),
            expected=expected + expected * rest // max(sum(files[: len(begun)]), 1),
            bytes_read=sum(each.bytes_read for each in begun),
            bytes_decompressed=sum(each.bytes_decompressed for each in begun),
            bytes_from_cache=sum(each.bytes_from_cache for each in begun),
            io=reduce(IOReport.plus, (each.io for each in begun), IOReport()),
            seconds=seconds,
            workers=0 if now is None else now.workers,
            pass_seconds=seconds,
        )

    def _phase(self, number: int, phase: str) -> str:
        name = self._datasets[number - 1][0]
        return f"{name} ({number} of {len(self._datasets)}): {phase}"

    @property
    def titles(self) -> Sequence[str]:
        """The titles of the current query's values."""
        return () if self._current is None else self._current.titles

    def measured(self, name: str) -> object:
        """The current query's; see `Query.measured`."""
        return None if self._current is None else self._current.measured(name)

    def snapshot(self, within: float | None = None) -> object:
        """The current query's values so far; see `Query.snapshot`."""
        return None if self._current is None else self._current.snapshot(within)
