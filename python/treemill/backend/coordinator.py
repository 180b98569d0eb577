"""Leads one pass: feeds what workers say to the packetizer, merges what they hand over, and answers
with what they are to be told.

Has no lock, no thread and no transport, and never waits, so that it runs on an event loop as well
as under the lock of base.py. Knows no task, no file and no kind of worker.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Set
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..packetizer import (
    Action,
    Collected,
    Committed,
    Coverage,
    Event,
    Finish,
    Halt,
    MergerLost,
    Packetizer,
    Stop,
    Trace,
    WorkerLost,
)
from .merged import Merged

__all__ = ["Coordinator"]


class Coordinator:
    """All methods give the actions that are to be carried out now; the last one is Finish when the
    pass has ended by this. Afterwards nothing that is said counts any more."""

    def __init__(
        self,
        packetizer: Packetizer,
        workers: int,
        clock: Callable[[], float] = time.monotonic,
        trace: int = 0,
    ) -> None:
        """`workers`: how many there should be. `trace`: how many records of it are kept."""
        self.merged = Merged()
        self.error: BaseException | None = None
        self.began = clock()
        self.ended: float | None = None
        self.trace = Trace(self.began, trace) if trace else None
        """What was told and answered, if that is kept."""
        self._packetizer = packetizer
        self._workers = workers
        self._clock = clock
        self._merging: set[Event] = set()  # what will be said when that is done
        self._ends: list[Event] = []  # that are to be handled afterwards
        self._at_work: set[int] = set()

    @property
    def workers(self) -> Set[int]:
        """Workers that are there; the words of others do not count."""
        return self._packetizer.workers

    @property
    def expected_entries(self) -> int:
        """Entries of the dataset, estimated while files are unopened."""
        return self._packetizer.expected_entries

    @property
    def committed_entries(self) -> int:
        """Entries in the merged result."""
        return self._packetizer.committed_entries

    @property
    def merging(self) -> list[int]:
        """Workers whose partials are being merged now."""
        return sorted(event.worker for event in self._merging if isinstance(event, Committed))

    def coverage(self) -> Coverage:
        """Which entries are merged and which are given up."""
        return self._packetizer.coverage()

    def handle(self, event: Event) -> list[Action]:
        """Something has happened. A loss counts only after what was handed over is merged."""
        if self.ended is not None:
            return []
        if _hand_over_of(event) in self._merging:
            self._ends.append(event)
            return []
        now = self._clock()
        actions = self._packetizer.handle(event, now)
        if self.trace is not None:
            self.trace.record(now, event, actions)
        for action in actions:
            if isinstance(action, Finish):
                self._end(action.error)
        return actions

    def commit(
        self,
        worker: int,
        load: Callable[[], Any],
        aside: AbstractContextManager[object] | None = None,
    ) -> list[Action]:
        """A worker hands over its partial, which `load` gives: it is merged and its packets count,
        or neither is so. `aside` is entered while partials are merged: a driver that has locked
        this object lets others use it meanwhile."""
        if worker not in self._packetizer.workers:
            return []
        return self._merge(Committed(worker), load, aside)

    def collect(
        self,
        merger: int,
        load: Callable[[], Any],
        aside: AbstractContextManager[object] | None = None,
    ) -> list[Action]:
        """A merger hands over its partial; likewise."""
        if merger not in self._packetizer.mergers:
            return []
        return self._merge(Collected(merger), load, aside)

    def _merge(
        self,
        event: Committed | Collected,
        load: Callable[[], Any],
        aside: AbstractContextManager[object] | None,
    ) -> list[Action]:
        if self.ended is not None:
            return []
        self._merging.add(event)
        try:
            with aside or nullcontext():
                self.merged.commit(load())
        finally:
            self._merging.remove(event)
        actions = self.handle(event)
        for end in [end for end in self._ends if _hand_over_of(end) == event]:
            self._ends.remove(end)
            actions += self.handle(end)
        return actions

    def begins(self, worker: int) -> bool:
        """The worker is at its first packet. Whether that makes all workers be: true once, when as
        many have begun as there should be, those included that have died since."""
        before = len(self._at_work)
        self._at_work.add(worker)
        return before < len(self._at_work) == self._workers

    def abort(self, reason: str) -> list[Action]:
        """Ends the pass with what is merged: all others are given up, but those whose partials are
        being merged, which are waited for."""
        actions = self.handle(Stop(reason))
        for worker in list(self._packetizer.workers):
            actions += self.handle(WorkerLost(worker, reason))
        for merger in list(self._packetizer.mergers):
            actions += self.handle(MergerLost(merger))
        return actions

    def fail(self, error: BaseException) -> list[Action]:
        """Ends the pass with this error."""
        if self.ended is not None:
            return []
        self._end(error)
        return [Halt(), Finish(error)]

    def release(self) -> None:
        """After the end: what remains says what was done, and holds nothing that was made."""
        self.merged, self.error = Merged(), None

    def _end(self, error: BaseException | None) -> None:
        self.error = error
        self.ended = self._clock()


def _hand_over_of(event: Event) -> Event | None:
    """What is said when the partial is merged of the one that this event is the end of."""
    if isinstance(event, WorkerLost):
        return Committed(event.worker)
    return Collected(event.merger) if isinstance(event, MergerLost) else None
