"""The trace of a query: the packetizer's events, their times, and the actions that answered them. A
trace may be bounded. Real and simulated runs leave the same trace, which timeline.py evaluates.

A trace holds no errors and no cuts of files: errors would keep the memory of workers alive."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ..frozen import frozen, replaced
from .events import (
    Action,
    Event,
    FileFailed,
    FileOpened,
    Finish,
    PacketDone,
    PacketFailed,
    WorkerJoined,
    WorkerLost,
)

__all__ = ["LeasedTrace", "Record", "Trace"]


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
