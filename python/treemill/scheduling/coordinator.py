"""Leads one pass, whatever carries its messages and whatever schedules it: gives workers' events to
the packetizer, or those of sites to the scheduler of leases, has the partials merged that they
commit, and returns the actions to be carried out.

It has no lock, no thread and no transport, and never waits, so that it can run on an event loop as
well as under a lock. Knows no task, no file and no kind of worker.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Set
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Protocol

from ..frozen import replaced
from .events import (
    Action,
    Committed,
    Event,
    FileFailed,
    FileSize,
    Finish,
    Halt,
    MergerLost,
    Packet,
    PacketFailed,
    Stop,
    WorkerLost,
)
from .ledger import Coverage, Missing, Ranges, ranges_of
from .packetizer import Packetizer
from .sizing import Sizing
from .state import Policy
from .timeline import Trace
from .worker_counters import Monitored, Monitoring

__all__ = ["Coordinator", "Log", "packetizer_and_coordinator"]


class Log(Protocol):
    """Takes what goes wrong in a pass: an event in a few words, and its fields."""

    def __call__(self, event: str, /, **fields: object) -> None:
        """Logs it."""


def _silent(event: str, /, **fields: object) -> None:
    pass


class Merging(Protocol):
    """What partials are merged into."""

    def merge(self, partial: Any, covers: Ranges, /) -> None:  # noqa: ANN401 - the driver's
        """Merges a partial. `covers`: its entries."""


class Outcome(Protocol):
    """The entries of a pass."""

    @property
    def expected_entries(self) -> int:
        """Entries of the dataset; an estimate until all files have been opened."""

    @property
    def committed_entries(self) -> int:
        """The number of entries in the result."""

    def files(self) -> Collection[int]:
        """The files of which entries are in the result."""

    def coverage(self) -> Coverage:
        """Which entries are in the result, and which are given up."""


class Scheduler(Outcome, Protocol):
    """What decides who does which entries: a packetizer, or a scheduler of leases, whose workers
    are sites."""

    @property
    def workers(self) -> Set[int]:
        """The workers that have joined and are not lost."""

    @property
    def mergers(self) -> Collection[int]:
        """The mergers that have joined and are not lost."""

    def handle(self, event: Any, now: float, /) -> list[Any]:  # noqa: ANN401 - its own events
        """Returns the actions to carry out. The last one is Finish if the pass is over."""

    def sizes(self, files: Collection[int] | None = None) -> dict[int, int]:
        """The entries of those of these files, None: of all, whose size is known."""

    def uncommitted(self, event: Committed, /) -> Sequence[Packet]:
        """What will be in the result by this event."""

    def outcome(self) -> Outcome:
        """What has to be kept when the pass is over."""


def packetizer_and_coordinator(
    files: Sequence[FileSize | None],
    policy: Policy,
    sizing: Sizing,
    clock: Callable[[], float],
    *,
    nodes: Sequence[str | None] = (),
    done: Ranges | None = None,
    trace: int = 0,
    merged: Merging | None = None,
    served: Callable[[int], str] | None = None,
    notes_entries: bool = False,
    log: Log = _silent,
) -> tuple[Packetizer, Coordinator]:
    """Makes what leads a pass by packets, and what decides on these. `served`: gives the node that
    serves a file; None: what workers do is not counted. See Packetizer and Coordinator for the
    others."""
    packetizer = Packetizer(files, policy, nodes=nodes, sizing=sizing, done=done)
    coordinator = Coordinator(
        packetizer,
        policy.expected_workers,
        clock,
        trace,
        merged,
        None if served is None else Monitoring(served),
        notes_entries=notes_entries,
        log=log,
    )
    return packetizer, coordinator


class Coordinator:
    """The state of one pass. Methods return the actions to carry out now. The last of them is
    Finish if the pass has ended; from then on events have no effect."""

    def __init__(
        self,
        scheduler: Scheduler,
        workers: int,
        clock: Callable[[], float],
        trace: int = 0,
        merged: Merging | None = None,
        monitoring: Monitoring | None = None,
        *,
        notes_entries: bool = False,
        log: Log = _silent,
    ) -> None:
        """`workers`: the number of workers that should join. `trace`: the number of records to
        keep. `merged`: what is committed here is merged into it; None: mergers have all.
        `monitoring`: counts what workers do, if it is to be counted. `notes_entries`: whether
        `merged` is told which entries a partial covers; that costs time. `log` is told what goes
        wrong."""
        self._log = log
        self._merged = merged
        self._notes_entries = notes_entries
        self.error: BaseException | None = None
        self.began = clock()
        self.ended: float | None = None
        self.trace = Trace(self.began, trace) if trace else None
        """The last events and the actions that answered them, if records are kept."""
        self._monitoring = monitoring
        self._scheduler = scheduler
        self._outcome: Outcome = scheduler
        self._workers = workers
        self._clock = clock
        self._merging: set[int] = set()  # the workers whose partials are being merged
        self._ends: list[WorkerLost] = []  # losses, to be handled after a merge
        self._at_work: set[int] = set()
        self._lost: str | None = None  # why what was merged cannot be used

    @property
    def workers(self) -> Set[int]:
        """The workers that have joined and are not lost. Events of others have no effect."""
        return self._scheduler.workers

    @property
    def expected_entries(self) -> int:
        """Entries of the dataset; an estimate until all files have been opened."""
        return self._outcome.expected_entries

    @property
    def committed_entries(self) -> int:
        """The number of entries in the merged partial."""
        return self._outcome.committed_entries

    def sizes(self, files: Collection[int] | None = None) -> dict[int, int]:
        """The entries of those of these files, None: of all, that were opened."""
        return self._scheduler.sizes(files)

    @property
    def merging(self) -> list[int]:
        """The workers whose partials are being merged now."""
        return sorted(self._merging)

    def files(self) -> Collection[int]:
        """The files of which entries are merged."""
        return self._outcome.files() if self._lost is None else ()

    def coverage(self) -> Coverage:
        """Returns which entries are merged, and which are given up."""
        coverage = self._outcome.coverage()
        if self._lost is None:
            return coverage
        lost = [
            Missing(file, start, stop, self._lost)
            for file, ranges in coverage.processed.items()
            for start, stop in ranges
        ]
        return Coverage(
            {}, sorted([*coverage.missing, *lost], key=lambda each: (each.file, each.start))
        )

    def handle(self, event: Any) -> list[Action]:  # noqa: ANN401 - its scheduler's
        """Handles an event. The loss of a worker waits until its partial is merged, if a merge of
        it is under way."""
        if self.ended is not None:
            return []
        if isinstance(event, WorkerLost) and event.worker in self._merging:
            self._ends.append(event)
            return []
        self._note_fault(event)
        now = self._clock()
        actions = self._scheduler.handle(event, now)
        if self.trace is not None:
            self.trace.record(now, event, actions)
        if self._monitoring is not None:
            self._monitoring.follow(now - self.began, event, actions)
        for action in actions:
            if isinstance(action, Finish):
                self._end(action.error)
        return actions

    def commit(
        self,
        worker: int,
        load: Callable[[], object],
        aside: AbstractContextManager[object] | None = None,
        ranges: tuple[tuple[int, int, int], ...] = (),
    ) -> list[Action]:
        """A worker commits the partial that `load` returns. Either the partial is merged and its
        packets count, or neither happens. `aside` is entered during the merge: a driver that has
        locked this object releases its lock there. `ranges`: see Committed."""
        if self.ended is not None or worker not in self._scheduler.workers:
            return []
        assert self._merged is not None
        event = Committed(worker, ranges=ranges)
        self._merging.add(worker)
        # It cannot change before the merge is done.
        covers = ranges_of(self._scheduler.uncommitted(event)) if self._notes_entries else {}
        began = self._clock()
        try:
            with aside or nullcontext():
                self._merged.merge(load(), covers)
        finally:
            self._merging.remove(worker)
        event = replaced(event, merging=self._clock() - began)
        actions = self.handle(event)
        if self._ends:
            for end in [end for end in self._ends if end.worker == worker]:
                self._ends.remove(end)
                actions += self.handle(end)
        return actions

    def monitored(self) -> Callable[[], Monitored] | None:
        """Gives what workers have done until now, or until the end, if that is counted. After the
        end it is counted when it is asked for: few look at it, and all wait for the end."""
        if self._monitoring is None:
            return None
        if self.ended is not None:
            return partial(self._monitoring.now, self.ended - self.began)
        counts = self._monitoring.now(self._clock() - self.began)
        return lambda: counts

    def begins(self, worker: int) -> bool:
        """Notes that the worker has got its first packet. True once: when as many workers have got
        one as should join, including workers that have died since."""
        before = len(self._at_work)
        self._at_work.add(worker)
        return before < len(self._at_work) == self._workers

    def abort(self, reason: str) -> list[Action]:
        """Ends the pass with what is merged here and what mergers have. All workers are given up,
        except those whose partials are being merged now: the pass ends after these merges."""
        if self.ended is not None:
            return []
        actions = self.handle(Stop(reason))
        for worker in list(self._scheduler.workers):
            actions += self.handle(WorkerLost(worker, reason))
        return actions

    def fail(self, error: BaseException) -> list[Action]:
        """Ends the pass with an error. Entries that are not merged are missing because of it."""
        if self.ended is not None:
            return []
        self._give_up(f"no result: {error}")
        self._end(error)
        return [Halt(), Finish(error)]

    def lose_merged(self, error: BaseException) -> list[Action]:
        """Ends the pass with an error after which what was merged cannot be used either."""
        if self.ended is None:
            self._lost = f"no result: {error}"
        return self.fail(error)

    def _give_up(self, reason: str) -> None:
        """Gives up all workers and mergers, also those whose partials are being merged."""
        now = self._clock()
        events: list[Event] = [Stop(reason)]
        events += [WorkerLost(worker, reason) for worker in self._scheduler.workers]
        events += [MergerLost(merger) for merger in self._scheduler.mergers]
        for event in events:
            self._scheduler.handle(event, now)

    def release(self) -> None:
        """Drops the merged partial, the error and all that has scheduled the pass, after the end.
        The numbers of entries, the coverage and the trace stay: a session keeps the last
        hundred."""
        self._merged, self.error = None, None
        self._outcome = self._scheduler.outcome()
        del self._scheduler

    def _end(self, error: BaseException | None) -> None:
        self.error = error
        self.ended = self._clock()

    def _note_fault(self, event: Event) -> None:
        """Logs what goes wrong. That is rare: an event is of a packet or of a file."""
        if isinstance(event, WorkerLost):
            self._log("worker lost", worker=event.worker, why=event.reason)
        elif isinstance(event, MergerLost):
            self._log("merger lost", merger=event.merger, then="what it had is done again")
        elif isinstance(event, FileFailed | PacketFailed):
            if isinstance(event, FileFailed):
                what, which = "file failed", {"file": event.file}
            else:
                what, which = "packet failed", {"packet": event.packet}
            then = "a further attempt may help" if event.retry else "given up"
            self._log(what, **which, worker=event.worker, error=str(event.error), then=then)
