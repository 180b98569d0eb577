"""The record of a query: what the packetizer was told, when, and what it answered. Bounded, if it
shall be. A real run and a simulated one leave the same record; timeline.py says what it comes to.

Holds no error and no file's cuts: these would keep alive what was in workers' hands."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .events import (
    Action,
    Event,
    FileFailed,
    FileOpened,
    Finish,
    PacketFailed,
    WorkerJoined,
    WorkerLost,
)

__all__ = ["Record", "Trace"]


@dataclass(frozen=True, slots=True)
class Record:
    """An event and its answer. `time`: seconds since the query's start."""

    time: float
    event: Event
    actions: tuple[Action, ...]


class Trace:
    """The last records of a query."""

    def __init__(self, began: float = 0.0, limit: int | None = None) -> None:
        """`began`: when the query started, on the clock of `record`. `limit`: how many records are
        kept; None: all of them."""
        self.records: deque[Record] = deque()
        self.dropped = 0
        """Records that are not kept."""
        self.there: dict[int, float] = {}
        """Workers that were there before the first record that is kept, and since when."""
        self._began = began
        self._limit = limit

    def record(self, now: float, event: Event, actions: Sequence[Action]) -> None:
        """`event` happened at `now`, and was answered with `actions`."""
        plain = tuple(
            Finish(_words(action.error)) if isinstance(action, Finish) else action
            for action in actions
        )
        self.records.append(Record(now - self._began, _plain(event), plain))
        if self._limit is not None and len(self.records) > self._limit:
            self._drop()

    def _drop(self) -> None:
        old = self.records.popleft()
        self.dropped += 1
        if isinstance(old.event, WorkerJoined):
            self.there[old.event.worker] = old.time
        elif isinstance(old.event, WorkerLost):
            self.there.pop(old.event.worker, None)

    def __repr__(self) -> str:
        dropped = f" of {len(self.records) + self.dropped:,}" if self.dropped else ""
        return f"<trace of {len(self.records):,}{dropped} records>"


def _plain(event: Event) -> Event:
    if isinstance(event, FileOpened):
        return replace(event, cuts=())
    if isinstance(event, FileFailed | PacketFailed):
        return replace(event, error=_words(event.error) or event.error)
    return event


def _words(error: BaseException | None) -> BaseException | None:
    """The error's text alone, without its traceback and what that holds."""
    return None if error is None else Exception(f"{type(error).__name__}: {error}")
