"""A worker: carries out the packetizer's orders with its workload, and answers with events.

Knows no other worker, no session and no transport.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic

from ..errors import (
    ChangedError,
    FormatError,
    QueryError,
    SourceError,
    TreemillError,
    UnsupportedError,
    WorkerError,
)
from ..scheduling import (
    Commit,
    Committed,
    Discard,
    Discarded,
    Event,
    FileFailed,
    FileOpened,
    Forget,
    Hint,
    OpenAhead,
    OpenFile,
    Order,
    Packet,
    PacketDone,
    PacketFailed,
    Prefetch,
    Process,
)
from .meter import meter
from .side_work import SideWork
from .workload import Bound, P, Workload

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["Worker"]

# Errors that another try would raise again, from the same bytes and the same question.
_FINAL = (ChangedError, FormatError, UnsupportedError, QueryError, MemoryError)


class Worker(Generic[P]):
    """A worker with its partial, which grows from packet to packet until it is committed."""

    def __init__(
        self,
        number: int,
        workload: Workload[P],
        control: Control,
        commit: Callable[[P], None],
        tell: Callable[[Event], None],
    ) -> None:
        """`control`: of all workers that the process has for the pass. `commit` hands over a
        partial to be merged, and the event `Committed` with it. `tell` sends an event that answers
        a hint, on any thread; it must raise nothing."""
        self.number = number
        self._workload = workload
        self._control = control.part()
        self._meter = meter(self._control)
        self._commit = commit
        self._tell = tell
        self._beside = SideWork(workload, self._control)
        self._partial: P | None = None

    def perform(self, order: Order) -> Event | None:
        """Carries out the order and gives the answering event. None if the answer was sent along
        with a partial. Errors of the data or the query become events, not exceptions."""
        self._control.enter()
        try:
            return self._perform(order)
        finally:
            self._control.leave()
            self._meter.answered()

    def _perform(self, order: Order) -> Event | None:
        if isinstance(order, Process):
            return self._process(order.packet)
        if isinstance(order, OpenFile):
            return self._open(order.file)
        if isinstance(order, Commit):
            return self._hand_over()
        if isinstance(order, Discard):
            self._throw_away()
            return Discarded(self.number)
        raise TypeError(f"not an order for a worker: {order!r}")

    def note(self, hint: Hint, to: Worker[P] | None = None) -> None:
        """Takes a hint, on any thread and at any time. What it asks for is done beside the order;
        only OpenAhead is answered, by `tell`. `to`: the worker that gets the entries of a Forget
        instead, if it is of this process: with the same workload it has what was fetched."""
        if isinstance(hint, Prefetch):
            self._beside.prefetch(hint.packet)
        elif isinstance(hint, Forget):
            if to is not None and to._workload is self._workload:
                self._beside.pass_on(hint.packet)
            else:
                self._beside.forget(hint.packet)
        elif isinstance(hint, OpenAhead):
            self._beside.do(lambda: self._tell(self._open(hint.file, beside=True)))
        else:
            raise TypeError(f"not a hint for a worker: {hint!r}")

    def _process(self, packet: Packet) -> Event:
        self._meter.begin()
        self._beside.begin(packet)
        bound = None
        try:
            bound = self._workload.bound(packet.file)
            self._meter.opened()
            stop = self._run(bound, packet)
        except Exception as error:
            if bound is None and self._control.stopped:
                return self._done(packet, packet.start, is_open=False)
            return self._failed(packet, self._changed(packet) or error)
        changed = self._changed(packet)
        if changed is not None:
            return self._failed(packet, changed)
        return self._done(packet, packet.stop if stop is None else stop)

    def _changed(self, packet: Packet) -> SourceError | None:
        """The error for a file that was written to while the packet was read: what was read may be
        of both."""
        changed = self._workload.changed(packet.file)
        if changed is not None:
            changed.entries = self._place(packet)[1]
        return changed

    def _failed(self, packet: Packet, error: Exception) -> Event:
        # The partial may hold a part of the packet: it cannot be used any more.
        self._throw_away()
        retry = not isinstance(error, _FINAL)
        if isinstance(error, MemoryError):
            error = self.out_of_memory(packet)
        spent = self._meter.end()[1]
        steps = self._meter.steps
        return PacketFailed(self.number, packet.number, error, retry, spent, steps)

    def _done(self, packet: Packet, stop: int, *, is_open: bool = True) -> Event:
        seconds, spent = self._meter.end()
        ahead = self._workload.ahead(packet.file) if is_open else 0
        steps = self._meter.steps
        return PacketDone(self.number, packet.number, stop, seconds, ahead, None, spent, steps)

    def _run(self, bound: Bound[P], packet: Packet) -> int | None:
        if self._partial is None:
            self._partial = bound.partial()
        try:
            return bound.run(packet.start, packet.stop, self._partial, self._control)
        except TreemillError as error:
            # The core's query sees values, and neither the file nor which entries they are of.
            if error.file is None:
                path, span = self._place(packet)
                error.file, error.entries = path, error.entries or span
            raise

    def leave(self) -> None:
        """Drops what was not committed. The pass is over."""
        self._beside.leave()
        self._throw_away()

    def _throw_away(self) -> None:
        if self._partial is not None:
            self._workload.discard(self._partial)
            self._partial = None

    def out_of_memory(self, packet: Packet, words: str = "ran out of memory") -> WorkerError:
        """An error that names the packet."""
        path, span = self._place(packet)
        return WorkerError(
            f"worker {self.number} {words}", worker=str(self.number), file=path, entries=span
        )

    def _place(self, packet: Packet) -> tuple[str, tuple[int, int]]:
        """The packet's file, and its entries as that file numbers them."""
        path, first = self._workload.place(packet.file)
        return path, (packet.start + first, packet.stop + first)

    def _open(self, file: int, beside: bool = False) -> Event:
        try:
            entries, cuts = self._workload.size(file)
        except Exception as error:
            return FileFailed(self.number, file, error, not isinstance(error, _FINAL), beside)
        return FileOpened(self.number, file, entries, cuts, self._workload.ahead(file), beside)

    def _hand_over(self) -> Event | None:
        if self._partial is None:
            return Committed(self.number)
        try:
            finished = self._workload.finish(self._partial)
        except BaseException:
            self._throw_away()
            raise
        self._partial = None
        self._commit(finished)
        return None
