"""A worker: does what the packetizer's actions say with the core, and answers with its events.

Knows one query and how to get a file's tree; knows no other worker, no session, no transport.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Protocol

from .errors import FormatError, QueryError, UnsupportedError, WorkerError
from .packetizer import (
    Commit,
    Committed,
    Discard,
    Discarded,
    Event,
    FileFailed,
    FileOpened,
    OpenFile,
    Order,
    Packet,
    PacketDone,
    PacketFailed,
    Process,
)

__all__ = ["Trees", "Worker", "cuts_of"]

# Another try gives the same bytes and the same question, so the same error.
_FINAL = (FormatError, UnsupportedError, QueryError, MemoryError)


class Trees(Protocol):
    """Gives the query or selector bound to a file's tree; may keep some open."""

    def begin(self) -> None:
        """Before the first packet. Raises what makes any work impossible."""

    def bound(self, file: int) -> Any:
        """core.Bound of the query to the tree of this file."""

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """The tree's entries, and where packets are best cut."""

    def place(self, file: int) -> tuple[str, int]:
        """The file's name, and its entry that packets call 0."""

    def finish(self, partial: Any) -> Any:
        """The partial as it is to be handed over. Raises what makes its results worthless."""

    def discard(self, partial: Any) -> None:
        """The partial is thrown away."""


class Worker:
    """One worker's state: a partial that grows from packet to packet until it is committed."""

    def __init__(
        self, number: int, trees: Trees, control: Any, commit: Callable[[Any], None]
    ) -> None:
        """`commit` takes a partial to the one that merges it, and the word Committed with it."""
        self.number = number
        self._trees = trees
        self._control = control
        self._commit = commit
        self._partial: Any = None

    def perform(self, order: Order) -> Event | None:
        """Carries out the order and gives the answer; None if a partial has taken the answer along.
        Errors of the data or the query are events too, not exceptions."""
        if isinstance(order, Process):
            return self._process(order.packet)
        if isinstance(order, OpenFile):
            return self._open(order.file)
        if isinstance(order, Commit):
            return self._hand_over()
        if isinstance(order, Discard):
            self._throw_away()
            return Discarded(self.number)
        raise TypeError(f"not for a worker: {order!r}")

    def _process(self, packet: Packet) -> Event:
        began = time.perf_counter()
        try:
            bound = self._trees.bound(packet.file)
            if self._partial is None:
                self._partial = bound.partial()
            stop = bound.run(packet.start, packet.stop, self._partial, self._control)
        except Exception as error:
            # Some batches of the packet may be in the partial: none of it can be trusted now.
            self._throw_away()
            retry = not isinstance(error, _FINAL)
            if isinstance(error, MemoryError):
                error = self.out_of_memory(packet)
            return PacketFailed(self.number, packet.number, error, retry)
        seconds = time.perf_counter() - began
        stop = packet.stop if stop is None else stop
        return PacketDone(self.number, packet.number, stop, seconds)

    def leave(self) -> None:
        """The pass is over: what was not handed over is nobody's."""
        self._throw_away()

    def _throw_away(self) -> None:
        if self._partial is not None:
            self._trees.discard(self._partial)
            self._partial = None

    def out_of_memory(self, packet: Packet, words: str = "ran out of memory") -> WorkerError:
        """Names the packet."""
        path, first = self._trees.place(packet.file)
        span = (packet.start + first, packet.stop + first)
        return WorkerError(
            f"worker {self.number} {words}", worker=str(self.number), file=path, entries=span
        )

    def _open(self, file: int) -> Event:
        try:
            entries, cuts = self._trees.size(file)
        except Exception as error:
            return FileFailed(self.number, file, error, not isinstance(error, _FINAL))
        return FileOpened(self.number, file, entries, cuts)

    def _hand_over(self) -> Event | None:
        if self._partial is None:
            return Committed(self.number)
        partial, self._partial = self._partial, None
        self._commit(self._trees.finish(partial))
        return None


_PLENTY = 16
"""Pieces for each worker, of which it matters little that the last ones end at different times."""
_ENOUGH = 4
"""The same, where more of them cost something."""
_BATCH = 32 * 1024
"""Entries that the core takes at once at most."""
_LEAST = 4 * 1024
"""Entries below which a piece costs more than it is worth."""


def cuts_of(
    entries: int,
    clusters: Iterable[int],
    baskets: Callable[[], int],
    workers: int,
    *,
    files: int = 1,
    remembered: Callable[[], bool] = lambda: False,
) -> tuple[int, ...]:
    """Where packets may end: at clusters. Within them too where clusters are too few to share out,
    and nobody does by that what another one has done: where what lies in them is `remembered`, or
    where the largest branch's baskets are so much finer than they that little is read twice.

    `files` are as many as this one. `baskets`, which gives the number of baskets of the branch that
    has fewest, and `remembered` are asked only where clusters are too few."""
    cuts = tuple(start for start in clusters if 0 < start < entries)
    pieces = len(cuts) + 1
    if workers > 1 and pieces * files < _PLENTY * workers and remembered():
        most = min(max(entries // (_PLENTY * workers), _LEAST), _BATCH)
        return tuple(_parts((0, *cuts, entries), most))
    if pieces >= _ENOUGH * workers:
        return cuts
    fewest = baskets()
    if fewest < _ENOUGH * pieces:
        return cuts
    step = max(-(-entries // fewest), 1)
    return tuple(sorted({*cuts, *range(step, entries, step)}))


def _parts(borders: Sequence[int], most: int) -> Iterator[int]:
    """Where pieces begin that have `most` entries at most, as even as can be between two borders;
    but for the first one."""
    for start, stop in pairwise(borders):
        parts = -(-(stop - start) // most)
        for part in range(start == 0, parts):
            yield start + (stop - start) * part // parts
