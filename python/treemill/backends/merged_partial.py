"""A merged partial and the entries that it covers: partials are merged into it as they are
committed, by the process that schedules a pass, by a merger of a cluster, or by a client.

Knows partials by their protocol only. Which entries the result of a pass has is in the packetizer's
ledger. They are noted here too, because what is kept on disk must be of one moment.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TypeVar

from ..scheduling import Range, Ranges, joined
from ..workers.workload import Partial

__all__ = ["MergedPartial", "Seen"]

Found = TypeVar("Found")
Seen = Mapping[str, object] | None
"""What the workers of a cluster have seen of files, by their paths; None: all workers are on this
host."""

_LOOK = 0.1
"""Seconds between two checks whether a merge was given up."""


def _nothing(partial: Partial) -> None:
    """Accepts every partial."""


class MergedPartial:
    """The partial into which all others are merged. Thread-safe: a worker may commit while another
    thread asks for results."""

    def __init__(
        self,
        partial: Partial | None = None,
        covers: Ranges | None = None,
        check: Callable[[Partial], None] = _nothing,
    ) -> None:
        """`partial`: what is merged already. `covers`: its entries. `check` raises an error about a
        partial that cannot be merged here."""
        self._lock = threading.Lock()
        self._partial = partial
        self._covers: dict[int, list[Range]] = {}
        if covers:
            self._covers = {file: list(ranges) for file, ranges in covers.items()}
        self.seen: Seen = None
        self._check = check
        self._given_up = False
        self._broken = False  # a merge has failed half way

    def merge(self, partial: Partial, covers: Ranges) -> None:
        """Merges a partial, which the caller must not use afterwards. `covers`: its entries."""
        with self._lock:
            self._check(partial)
            if self._partial is None:
                self._partial = partial
            else:
                try:
                    self._partial.merge(partial)
                except BaseException:
                    self._broken = True
                    raise
            for file, ranges in covers.items():
                self._covers.setdefault(file, []).extend(ranges)

    def saw(self, states: Mapping[str, object]) -> None:
        """Notes what the workers of a cluster have seen of files, by their paths. The caller may
        add to it later."""
        self.seen = states

    def is_disjoint(self) -> bool:
        """True if no two partials had the same entries."""
        with self._lock:
            try:
                self._join()
            except RuntimeError:
                return False
        return True

    def _join(self) -> None:
        self._covers = {file: joined(ranges) for file, ranges in self._covers.items()}

    def give_up(self) -> None:
        """Called when a merge does not end: from now on there are no results."""
        self._given_up = True

    def results(self, within: float | None = None) -> list[object] | None:
        """The results so far, one per booking. None before the first commit, and if a merge takes
        more than `within` seconds or was given up."""
        return self._of_partial(lambda partial: list(partial.results()), within)

    def take(self) -> Partial | None:
        """See Results."""
        return self._of_partial(lambda partial: None if self._broken else partial)

    def kept(self) -> tuple[bytes, Ranges] | None:
        """The partial in bytes, and the entries that it covers, as ascending ranges. None before
        the first commit, and if a merge was given up or has failed. Raises RuntimeError if two
        partials had the same entries."""
        return self._of_partial(self._in_bytes)

    def _in_bytes(self, partial: Partial) -> tuple[bytes, Ranges] | None:
        if self._broken:
            return None
        self._join()
        return partial.dumps(), {file: list(ranges) for file, ranges in self._covers.items()}

    def _of_partial(
        self, look: Callable[[Partial], Found | None], within: float | None = None
    ) -> Found | None:
        """Returns what `look` gives of the partial, which does not change meanwhile. None if there
        is none, and if a merge takes more than `within` seconds or was given up."""
        waited = 0.0
        while not self._lock.acquire(timeout=_LOOK):
            waited += _LOOK
            if self._given_up or (within is not None and waited >= within):
                return None
        try:
            return None if self._given_up or self._partial is None else look(self._partial)
        finally:
            self._lock.release()
