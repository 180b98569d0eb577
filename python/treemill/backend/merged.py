"""What workers hand over: their partial results merged into one, as commits come in.

Merge arithmetic only (the partials' own); which entries a commit covers is the ledger's account.
"""

from __future__ import annotations

import threading
from typing import Any

__all__ = ["Merged"]

_LOOK = 0.1
"""Seconds between looks whether a merge is given up."""


class Merged:
    """The master's partial. Thread-safe: workers commit while others look."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._partial: Any = None
        self._given_up = False

    def commit(self, partial: Any) -> None:
        """Takes over a worker's partial; the worker does not touch it any more."""
        with self._lock:
            if self._partial is None:
                self._partial = partial
            else:
                self._partial.merge(partial)

    def give_up(self) -> None:
        """A merge does not come to an end: there are no results, and nobody waits for them."""
        self._given_up = True

    def results(self, within: float | None = None) -> list[Any] | None:
        """The results as of now, one per booking; None before the first commit, and where a merge
        goes on for more than `within` seconds or is given up."""
        waited = 0.0
        while not self._lock.acquire(timeout=_LOOK):
            waited += _LOOK
            if self._given_up or (within is not None and waited >= within):
                return None
        try:
            if self._partial is None or self._given_up:
                return None
            return list(self._partial.results())
        finally:
            self._lock.release()
