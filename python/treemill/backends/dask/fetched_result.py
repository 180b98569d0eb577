"""What a pass on a cluster has merged, as this process gets it: from the workers that hold it, and
what a checkpoint had before. Knows no end of the pass: dask_pass.py says when to fetch the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...errors import ChangedError
from ...workers.one_state import OneStateTask, States
from ...workers.task import Task
from ...workers.workload import Partial
from ..merged import Merged, Ranges
from .line import Gone, Line
from .messages import HeldPartial

__all__ = ["FetchedResult"]


class FetchedResult:
    """The result of a pass, from now and then to the end."""

    def __init__(self, line: Line, work: str, task: Task, begin: Callable[[], Merged]) -> None:
        """`work`: what messages call the pass. `begin` makes what all results begin with."""
        self._line = line
        self._work = work
        self._task: OneStateTask | None = OneStateTask(task)
        self._begin = begin
        self._final: Merged | None = None

    def results(self, within: float | None = None) -> list[object] | None:
        """See Results."""
        merged = self._final or self._now()
        return None if merged is None else merged.results(within)

    def take(self) -> Partial | None:
        """See Results."""
        return None if self._final is None else self._final.take()

    def kept(self) -> tuple[bytes, Ranges] | None:
        """See Merged. None too if something has changed meanwhile: the next time it may not."""
        merged = self._final or self._now()
        return None if merged is None else merged.kept()

    def fetch(self, parts: Sequence[HeldPartial]) -> bool:
        """Gets the result, of which these are the parts. False if it has changed meanwhile. Raises
        ChangedError if workers have read two states of a file."""
        try:
            merged, commits = self._read(parts)
        except Gone:
            return False
        if not self._line.ask("settle", self._work, commits):
            return False
        self._final = merged
        return True

    @property
    def is_here(self) -> bool:
        """True if this process has the result."""
        return self._final is not None

    def end(self) -> None:
        """Notes that there is nothing more to be got."""
        if self._final is None:
            self._final = self._begin()
        self._task, self._begin = None, Merged

    def _now(self) -> Merged | None:
        try:
            merged, _ = self._read(self._line.ask("parts", self._work))
        except (Gone, ChangedError):  # the end of the pass says that a file has changed
            return None
        return merged if merged.is_disjoint() else None

    def _read(self, parts: Sequence[HeldPartial]) -> tuple[Merged, dict[int, int]]:
        """Returns what is in these parts as one, and how many commits each has."""
        merged, task, states = self._begin(), self._task, States()
        commits = {}
        reads = self._line.read(self._work, parts)
        for part, (count, covers, data) in zip(parts, reads, strict=True):
            commits[part.merger] = count
            if data is not None and task is not None:
                merged.commit(states.inner(task.load(data)), covers)
        return merged, commits
