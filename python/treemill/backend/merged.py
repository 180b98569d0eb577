"""The merged partial of a pass: workers' partials are merged into it as they are committed.

Knows partials by their protocol only. Which entries the result has is in the packetizer's ledger;
what is kept on disk notes its entries here, because a partial and its entries must be of the same
moment.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..packetizer import Packet, Range, joined
from ..worker.workload import Partial

__all__ = ["Covered", "Merged"]

_LOOK = 0.1
"""Seconds between two checks whether a merge was given up."""


def _nothing(partial: Partial) -> None:
    """Accepts every partial."""


@dataclass
class Covered:
    """The entries that a merged partial covers, by file."""

    processed: dict[int, list[Range]] = field(default_factory=dict)
    check: Callable[[Partial], None] = _nothing
    """Raises an error about a partial that cannot be kept."""

    def add(self, packets: Sequence[Packet]) -> None:
        """Notes that these were merged."""
        for packet in packets:
            self.processed.setdefault(packet.file, []).append((packet.start, packet.stop))

    def now(self) -> dict[int, list[Range]]:
        """The ranges now, ascending, with neighbours joined."""
        self.processed = {file: joined(ranges) for file, ranges in self.processed.items()}
        return {file: list(ranges) for file, ranges in self.processed.items()}


class Merged:
    """The partial into which all others are merged. Thread-safe: a worker may commit while another
    thread asks for results."""

    def __init__(self, partial: Partial | None = None, covered: Covered | None = None) -> None:
        """`partial`: what is merged already. `covered`: its entries, which are noted from now on;
        None: nothing is noted."""
        self._lock = threading.Lock()
        self._partial = partial
        self._covered = covered
        self._given_up = False
        self._broken = False  # a merge has failed half way

    def commit(self, partial: Partial, packets: Sequence[Packet] = ()) -> None:
        """Merges a worker's partial, which the worker must not use afterwards. `packets`: what it
        covers."""
        with self._lock:
            if self._covered is not None:
                self._covered.check(partial)
            if self._partial is None:
                self._partial = partial
            else:
                try:
                    self._partial.merge(partial)
                except BaseException:
                    self._broken = True
                    raise
            if self._covered is not None:
                self._covered.add(packets)

    def give_up(self) -> None:
        """Called when a merge does not end: from now on there are no results."""
        self._given_up = True

    def results(self, within: float | None = None) -> list[object] | None:
        """The results so far, one per booking. None before the first commit, and if a merge takes
        more than `within` seconds or was given up."""
        with self._held(within) as partial:
            return None if partial is None else list(partial.results())

    def take(self) -> Partial | None:
        """See Results."""
        with self._held(None) as partial:
            return None if self._broken else partial

    def kept(self) -> tuple[bytes, Mapping[int, Sequence[Range]]] | None:
        """The partial in bytes, and the entries that it covers. None before the first commit, and
        if a merge was given up or has failed."""
        with self._held(None) as partial:
            if partial is None or self._covered is None or self._broken:
                return None
            return partial.dumps(), self._covered.now()

    @contextmanager
    def _held(self, within: float | None) -> Iterator[Partial | None]:
        """The partial, which does not change inside the context; None if there is none."""
        waited = 0.0
        while not self._lock.acquire(timeout=_LOOK):
            waited += _LOOK
            if self._given_up or (within is not None and waited >= within):
                yield None
                return
        try:
            yield None if self._given_up else self._partial
        finally:
            self._lock.release()
