"""A worker: carries out the packetizer's orders with its workload, and answers with events.

Knows no other worker, no session, no transport.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic

from ..errors import FormatError, QueryError, UnsupportedError, WorkerError
from ..packetizer import (
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
from .workload import P, Workload

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["Worker"]

# Another try gives the same bytes and the same question, so the same error.
_FINAL = (FormatError, UnsupportedError, QueryError, MemoryError)


class Worker(Generic[P]):
    """One worker's state: a partial that grows from packet to packet until it is committed."""

    def __init__(
        self, number: int, workload: Workload[P], control: Control, commit: Callable[[P], None]
    ) -> None:
        """`commit` takes a partial to the one that merges it, and the word Committed with it."""
        self.number = number
        self._workload = workload
        self._control = control
        self._commit = commit
        self._partial: P | None = None

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
            bound = self._workload.bound(packet.file)
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
            self._workload.discard(self._partial)
            self._partial = None

    def out_of_memory(self, packet: Packet, words: str = "ran out of memory") -> WorkerError:
        """Names the packet."""
        path, first = self._workload.place(packet.file)
        span = (packet.start + first, packet.stop + first)
        return WorkerError(
            f"worker {self.number} {words}", worker=str(self.number), file=path, entries=span
        )

    def _open(self, file: int) -> Event:
        try:
            entries, cuts = self._workload.size(file)
        except Exception as error:
            return FileFailed(self.number, file, error, not isinstance(error, _FINAL))
        return FileOpened(self.number, file, entries, cuts)

    def _hand_over(self) -> Event | None:
        if self._partial is None:
            return Committed(self.number)
        partial, self._partial = self._partial, None
        self._commit(self._workload.finish(partial))
        return None
