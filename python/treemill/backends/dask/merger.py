"""A merger: takes the partials of workers, and what other mergers have, each once, and lets others
read what it has. Knows no packet and no transport. Thread-safe; partials are merged one after
another, on the threads that bring them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from ...scheduling import Ranges
from ...workers.workload import Partial
from ..merged_partial import MergedPartial

__all__ = ["Merger", "RefusedByMerger", "Unreachable"]


class RefusedByMerger(Exception):  # noqa: N818 - what happened, not a mistake
    """The merger takes nothing from this worker any more."""


class Unreachable(Exception):  # noqa: N818 - what happened, not a mistake
    """The merger's process did not answer."""


class Merger:
    """What one merger has merged, and how often it has taken a partial from each worker."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._merged = MergedPartial()
        self._taken: dict[int, int] = {}
        self._refused: set[int] = set()
        self._absorbed: dict[int, int] = {}  # other mergers, and how many partials each had
        self._refused_from: set[int] = set()
        self._dropped = False

    def take(
        self, worker: int, number: int, covers: Ranges, load: Callable[[], Partial | None]
    ) -> None:
        """Merges the partial that `load` gives, the worker's `number`-th (from 0), which `covers`
        these entries. Taking it again changes nothing. Raises RefusedByMerger, and what
        merging raises."""
        with self._lock:
            taken = self._taken.get(worker, 0)
            if number < taken:
                return
            if worker in self._refused or self._dropped or number > taken:
                raise RefusedByMerger
            partial = load()
            if partial is not None:
                self._merged.commit(partial, covers)
            self._taken[worker] = taken + 1

    def refuse(self, worker: int) -> int:
        """Takes nothing from the worker from now on. Returns how many partials were taken."""
        with self._lock:
            self._refused.add(worker)
            return self._taken.get(worker, 0)

    def absorb(
        self, giver: int, commits: int, covers: Ranges, load: Callable[[], Partial | None]
    ) -> None:
        """Merges what another merger has, of this many commits, once. Raises RefusedByMerger, and
        what merging raises."""
        with self._lock:
            if giver in self._absorbed:
                return
            if giver in self._refused_from or self._dropped:
                raise RefusedByMerger
            partial = load()
            if partial is not None:
                self._merged.commit(partial, covers)
            self._absorbed[giver] = commits

    def refuse_from(self, giver: int) -> bool:
        """Takes nothing from the other merger from now on. Returns whether it has been taken."""
        with self._lock:
            self._refused_from.add(giver)
            return giver in self._absorbed

    def read(self) -> tuple[int, Ranges, bytes | None]:
        """Returns how many partials were taken; the entries that they cover; and all of them
        merged, in bytes. Raises RefusedByMerger if it was dropped."""
        with self._lock:
            if self._dropped:
                raise RefusedByMerger
            data, covers = self._merged.kept() or (None, {})
            commits = sum(self._taken.values()) + sum(self._absorbed.values())
            return commits, covers, data

    def drop(self) -> None:
        """Drops everything."""
        with self._lock:
            self._dropped = True
            self._merged = MergedPartial()
