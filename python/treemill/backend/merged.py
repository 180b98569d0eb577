"""The merged partial of a pass: workers' partials are merged into it as they are committed.

Knows partials by their protocol only. Which entries a commit covers is in the packetizer's ledger.
"""

from __future__ import annotations

import threading

from ..worker.workload import Partial

__all__ = ["Merged"]

_LOOK = 0.1
"""Seconds between two checks whether a merge was given up."""


class Merged:
    """The partial into which all others are merged. Thread-safe: a worker may commit while another
    thread asks for results."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._partial: Partial | None = None
        self._given_up = False

    def commit(self, partial: Partial) -> None:
        """Merges a worker's partial, which the worker must not use afterwards."""
        with self._lock:
            if self._partial is None:
                self._partial = partial
            else:
                self._partial.merge(partial)

    def give_up(self) -> None:
        """Called when a merge does not end: from now on there are no results."""
        self._given_up = True

    def results(self, within: float | None = None) -> list[object] | None:
        """The results so far, one per booking. None before the first commit, and if a merge takes
        more than `within` seconds or was given up."""
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
