"""Several queries, one after another, as one that is looked at: the progress of a run over several
datasets. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .progress import Progress

if TYPE_CHECKING:
    from .watch import Watched

__all__ = ["Together"]


class Together:
    """Is told when the next one starts."""

    def __init__(self, datasets: Sequence[tuple[str, int]]) -> None:
        """Name and number of files of each, in the order in which they start."""
        self._datasets = datasets
        self._over: list[Progress] = []
        self._now: Watched | None = None

    def start(self, query: Watched) -> None:
        """The one before has ended."""
        if self._now is not None:
            self._over.append(self._now.progress)
        self._now = query

    @property
    def progress(self) -> Progress:
        """Of all; those that did not start yet count as many entries for each file as the
        others."""
        now = None if self._now is None else self._now.progress
        begun = self._over if now is None else [*self._over, now]
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
            seconds=seconds,
            workers=0 if now is None else now.workers,
            pass_seconds=seconds,
        )

    def _phase(self, number: int, phase: str) -> str:
        name = self._datasets[number - 1][0]
        return f"{name} ({number} of {len(self._datasets)}): {phase}"

    @property
    def titles(self) -> Sequence[str]:
        """Of the values of the one that runs."""
        return () if self._now is None else self._now.titles

    def snapshot(self, within: float | None = None) -> Any:
        """The values so far of the one that runs; see Query.snapshot."""
        return None if self._now is None else self._now.snapshot(within)
