"""The timeline of a query, real or simulated, from its trace: what workers did with their time, and
the numbers that measure a packetizer. Pure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from ..frozen import frozen, replaced
from .events import (
    FAILED,
    Action,
    Collected,
    Commit,
    Committed,
    Discarded,
    Event,
    FileFailed,
    FileOpened,
    FilesDone,
    Finish,
    HandedOn,
    HandOn,
    MergerLost,
    Packet,
    PacketDone,
    PacketFailed,
    Process,
    Refused,
    RefusedFrom,
    Reserve,
    WorkerJoined,
    WorkerLost,
)

__all__ = ["LeasedTrace", "Record", "Span", "Timeline", "TimelineReader", "Trace"]

# The trace of a query: the packetizer's events, their times, and the actions that answered them.
# A trace may be bounded. Real and simulated runs leave the same trace, which timeline.py
# evaluates. A trace holds no errors and no cuts of files: errors would keep the memory of workers
# alive.


@frozen
class Record:
    """An event and the actions that answered it. `time`: seconds since the query's start."""

    time: float
    event: Event
    actions: tuple[Action, ...]


class Trace:
    """The last records of a query."""

    def __init__(self, began: float = 0.0, limit: int | None = None) -> None:
        """`began`: the query's start, on the clock of `record`. `limit`: the number of records and
        of steps in them to keep; None: all of them."""
        self.records: deque[Record] = deque()
        self.dropped = 0
        """The number of records that were dropped."""
        self.there: dict[int, float] = {}
        """The workers that had joined before the first kept record, and when they had joined."""
        self.sizes: dict[int, tuple[int, int]] = {}
        """The entries of each file that workers have opened, and the pieces that packets may be."""
        self._began = began
        self._limit = limit
        self._held = 0  # records, and the steps in them

    def record(self, now: float, event: Event, actions: Sequence[Action]) -> None:
        """Adds a record: `event` happened at `now`, and `actions` answered it."""
        if isinstance(event, FileOpened):
            self.sizes[event.file] = event.entries, len(event.cuts) + 1
        plain = tuple(
            Finish(_words(action.error)) if isinstance(action, Finish) else action
            for action in actions
        )
        self.records.append(Record(now - self._began, _plain(event), plain))
        self._held += _room(event)
        while self._limit is not None and self._held > self._limit and self.records:
            self._drop()

    def ended(self, now: float, events: Sequence[Event], error: BaseException | None) -> Trace:
        """A copy that ends at `now` with these events. Changes nothing."""
        copied = copy(self)
        copied.records, copied.there = self.records.copy(), self.there.copy()
        copied.sizes = self.sizes.copy()
        for at, event in enumerate(events, 1):
            copied.record(now, event, [Finish(error)] if at == len(events) else [])
        return copied

    def _drop(self) -> None:
        old = self.records.popleft()
        self.dropped += 1
        self._held -= _room(old.event)
        if isinstance(old.event, WorkerJoined):
            self.there[old.event.worker] = old.time
        elif isinstance(old.event, WorkerLost):
            self.there.pop(old.event.worker, None)

    @property
    def held(self) -> int:
        """The number of records that are kept, and of steps in them."""
        return self._held

    def __repr__(self) -> str:
        dropped = f" of {len(self.records) + self.dropped:,}" if self.dropped else ""
        return f"<trace of {len(self.records):,}{dropped} records>"


@frozen
class LeasedTrace:
    """The trace of one pass of a site, on the parts of the dataset that it had leased."""

    site: str
    began: float
    """When it was made, on the clock of this process."""
    trace: Trace
    parts: tuple[tuple[int, int], ...]
    """What its files are: a file's number in the dataset, and the entry that counts as 0."""
    counted: bool
    """Whether what it has committed is in the result."""


def _room(event: Event) -> int:
    if isinstance(event, PacketDone | PacketFailed):
        return 1 + len(event.steps)
    return 1


def _plain(event: Event) -> Event:
    if isinstance(event, FileOpened):
        return replaced(event, cuts=())
    if isinstance(event, FileFailed | PacketFailed):
        return replaced(event, error=_words(event.error) or event.error)
    return event


def _words(error: BaseException | None) -> BaseException | None:
    """An error with the same text, without the traceback and the objects that it holds."""
    return None if error is None else Exception(f"{type(error).__name__}: {error}")


@frozen
class Span:
    """The time that a worker spent on one packet."""

    worker: int
    began: float
    ended: float
    entries: int


@dataclass(frozen=True)
class Timeline:
    """Times in seconds from the query's start. `seconds` is the time of the last record: the end of
    the query, if it has ended."""

    seconds: float
    attended: float
    """The sum of the seconds for which workers were there."""
    spans: list[Span] = field(repr=False)
    """The packets whose entries are in the result."""
    thrown_away: list[Span] = field(repr=False)
    """The packets that were done in vain: their worker or merger died, or another worker was
    first."""
    at_the_end: set[int] = field(repr=False)
    """The workers that were there when the query ended."""

    @classmethod
    def of(cls, trace: Trace) -> Timeline:
        """The timeline of a trace."""
        reader = TimelineReader(trace.there)
        for record in trace.records:
            reader.follow(record.time, record.event, record.actions)
        return reader.timeline()

    @property
    def idle_at_end(self) -> float:
        """Seconds from the first time at which a worker had done its last packet to the query's
        end. Packets done in vain count as work here; see `wasted`."""
        last: dict[int, float] = {}
        for span in (*self.spans, *self.thrown_away):
            last[span.worker] = max(span.ended, last.get(span.worker, 0.0))
        return self.seconds - min(last.get(worker, 0.0) for worker in self.at_the_end)

    @property
    def wasted(self) -> float:
        """The part of the workers' time that was not spent on packets that count: idle, asking,
        opening files, committing, packets done in vain."""
        return 1.0 - sum(span.ended - span.began for span in self.spans) / self.attended

    @property
    def last_packet(self) -> float:
        """The seconds of the packet that ended last."""
        last = max(self.spans, key=lambda span: span.ended)
        return last.ended - last.began

    def activity(self, points: int = 400) -> tuple[list[float], list[int]]:
        """Times, and the number of workers that had a packet at each, whether it counted or not."""
        times = [self.seconds * i / points for i in range(points + 1)]
        change = [0] * (points + 2)
        for span in (*self.spans, *self.thrown_away):
            change[min(int(span.began / self.seconds * points) + 1, points + 1)] += 1
            change[min(int(span.ended / self.seconds * points) + 1, points + 1)] -= 1
        active, now = [], 0
        for i in range(points + 1):
            now += change[i]
            active.append(now)
        return times, active


class TimelineReader:
    """Follows each packet from record to record, to the result or to where it was lost."""

    def __init__(self, there: Mapping[int, float] | None = None) -> None:
        """`there`: the workers that were there before the first record, and since when."""
        self._now = 0.0
        self._there = dict(there or {})
        self._attended = 0.0
        self._working: dict[int, tuple[Packet, float]] = {}  # by worker: which, since when
        self._reserved: dict[int, Packet] = {}  # by number
        self._done: dict[int, list[Span]] = {}  # by worker
        self._moving: dict[int, tuple[int, list[Span]]] = {}  # by worker: to which merger
        self._merged: dict[int, list[Span]] = {}  # by merger
        self._handing_on: dict[int, tuple[int, list[Span]]] = {}  # by merger: to which, if it dies
        self._spans: list[Span] = []
        self._lost: list[Span] = []

    def follow(self, now: float, event: object, actions: Iterable[Action]) -> None:
        """Takes the next record: `event` happened `now` seconds after the query's start, and
        `actions` answered it. Other events than the packetizer's change nothing."""
        self._now = now
        follow = _FOLLOW.get(type(event))
        if follow is not None:
            follow(self, event)
        for action in actions:
            if isinstance(action, Process):
                self._reserved.pop(action.packet.number, None)  # it may be ordered instead
                self._working[action.worker] = (action.packet, now)
            elif isinstance(action, Reserve):
                self._reserved[action.packet.number] = action.packet
            elif isinstance(action, Commit) and action.merger is not None:
                spans = self._done.pop(action.worker, [])
                self._moving[action.worker] = (action.merger, spans)
            elif isinstance(action, HandOn):
                self._handing_on[action.merger] = (action.to, [])

    def timeline(self) -> Timeline:
        """The timeline up to the last record."""
        unfinished = [
            Span(worker, began, self._now, 0)
            for worker, (_, began) in self._working.items()
            if worker in self._there
        ]
        attended = self._attended + sum(self._now - since for since in self._there.values())
        return Timeline(self._now, attended, self._spans, self._lost + unfinished, set(self._there))

    def _joined(self, event: WorkerJoined) -> None:
        self._there[event.worker] = self._now

    def _worker_lost(self, event: WorkerLost) -> None:
        since = self._there.pop(event.worker, None)
        if since is not None:
            self._attended += self._now - since
        self._throw_away(event)

    def _packet_done(self, event: PacketDone) -> None:
        working = self._working.pop(event.worker, None)
        if working is not None:  # else the worker was given up, or its packet came before the trace
            entries = event.stop - working[0].start
            # A late word of one packet must not make it a neighbour of the next: a worker has one.
            began = max(self._now - event.seconds, working[1])
            span = Span(event.worker, began, self._now, entries)
            self._done.setdefault(event.worker, []).append(span)
        if event.begun is not None and event.begun in self._reserved:
            self._working[event.worker] = (self._reserved.pop(event.begun), self._now)

    def _files_done(self, event: FilesDone) -> None:
        began = self._now - event.seconds
        if event.ended == FAILED:
            self._lost += self._done.pop(event.worker, [])
            self._lost.append(Span(event.worker, began, self._now, 0))
        elif event.entries:
            entries = sum(event.entries) - event.entries[-1] + event.stop
            span = Span(event.worker, began, self._now, entries)
            self._done.setdefault(event.worker, []).append(span)

    def _throw_away(self, event: WorkerLost | PacketFailed | Discarded) -> None:
        self._working.pop(event.worker, None)
        self._lost += self._done.pop(event.worker, [])

    def _committed(self, event: Committed) -> None:
        if event.merger is None:
            self._spans += self._done.pop(event.worker, [])
        elif self._moving.get(event.worker, (None,))[0] == event.merger:
            self._merged.setdefault(event.merger, []).extend(self._moving.pop(event.worker)[1])

    def _collected(self, event: Collected) -> None:
        self._spans += self._merged.pop(event.merger, [])

    def _refused(self, event: Refused) -> None:
        self._lost += self._moving.pop(event.worker, (event.merger, []))[1]

    def _merger_lost(self, event: MergerLost) -> None:
        lost = self._merged.pop(event.merger, [])
        if event.merger in self._handing_on:  # the other one may have it
            self._handing_on[event.merger][1].extend(lost)
        else:
            self._lost += lost
        for worker, (merger, _) in list(self._moving.items()):
            if merger == event.merger:
                self._lost += self._moving.pop(worker)[1]
        for giver, (merger, _) in list(self._handing_on.items()):
            if merger == event.merger:
                self._lost += self._handing_on.pop(giver)[1]

    def _handed_on(self, event: HandedOn) -> None:
        to, spans = self._handing_on.get(event.merger, (None, []))
        if to == event.to:
            del self._handing_on[event.merger]
            spans = spans + self._merged.pop(event.merger, [])
            self._merged.setdefault(event.to, []).extend(spans)

    def _refused_from(self, event: RefusedFrom) -> None:
        self._lost += self._handing_on.pop(event.giver, (event.merger, []))[1]


_FOLLOW: dict[type, Callable[[TimelineReader, Any], None]] = {
    WorkerJoined: TimelineReader._joined,
    WorkerLost: TimelineReader._worker_lost,
    FilesDone: TimelineReader._files_done,
    PacketDone: TimelineReader._packet_done,
    PacketFailed: TimelineReader._throw_away,
    Discarded: TimelineReader._throw_away,
    Committed: TimelineReader._committed,
    Collected: TimelineReader._collected,
    Refused: TimelineReader._refused,
    MergerLost: TimelineReader._merger_lost,
    HandedOn: TimelineReader._handed_on,
    RefusedFrom: TimelineReader._refused_from,
}
