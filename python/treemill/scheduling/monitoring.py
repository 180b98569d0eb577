"""Counts what workers do while a query runs, for histograms: packets, entries, times by worker, and
the workers that read from each node against time. Follows the records of a trace and keeps only
the newest, so that its size depends on the number of workers and nodes alone. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .events import (
    Action,
    Event,
    FileFailed,
    Packet,
    PacketDone,
    PacketFailed,
    Process,
    Reserve,
    WorkerJoined,
    WorkerLost,
)
from .worker_tally import OfWorker, WorkerTally

__all__ = [
    "BINS",
    "WIDTH",
    "Monitored",
    "Monitoring",
    "halved",
    "spread",
]

BINS = 120
"""The most bins of time; when they are full, pairs of them become one."""
WIDTH = 0.05
"""Seconds of the first ones."""
_KEPT = 256
"""Records that wait to be counted. A query of some milliseconds has fewer: it ends before they are
counted."""

_WITH_ERRORS = (PacketFailed, FileFailed, WorkerLost)
"""Events that are not kept, as the action Finish is not: errors hold what their frames hold."""


@dataclass(slots=True)
class Monitored:
    """What was counted so far. Plain data."""

    seconds: float
    """The time since the pass began."""
    workers: dict[int, OfWorker]
    width: float
    """Seconds of a bin of time."""
    nodes: dict[str, list[float]]
    """Seconds of workers at a node's packets, by node and bin of time."""


class _Place:
    """The packet that a worker has, and what its packets took. `tally`: None for a worker that has
    not joined."""

    __slots__ = ("file", "node", "since", "start", "tally")

    def __init__(self, tally: WorkerTally | None) -> None:
        self.tally = tally
        self.file = -1
        self.node = ""
        """The node that serves the file of the worker's last packet."""
        self.since = 0.0
        self.start: int | None = None
        """The first entry of the packet that the worker has, if it has one."""


class Monitoring:
    """Counts one pass."""

    def __init__(self, node: Callable[[int], str]) -> None:
        """`node`: that serves the file with this number."""
        self._node = node
        self._places: dict[int, _Place] = {}  # by worker
        self._reserved: dict[int, Packet] = {}  # by number
        self._width = WIDTH
        self._nodes: dict[str, list[float]] = {}
        self._kept: list[tuple[float, object, list[Process | Reserve]]] = []

    def follow(self, now: float, event: Event, actions: Iterable[Action]) -> None:
        """Takes the next record: an event, and what answered it. `now`: seconds since the pass
        began."""
        work = [action for action in actions if isinstance(action, (Process, Reserve))]
        self._kept.append((now, event, work))
        if len(self._kept) > _KEPT or isinstance(event, _WITH_ERRORS):
            self._catch_up()

    def _catch_up(self) -> None:
        for record in self._kept:
            self._count(*record)
        self._kept.clear()

    def _count(self, now: float, event: object, work: list[Process | Reserve]) -> None:
        if isinstance(event, PacketDone):
            self._done(now, event)
        elif isinstance(event, PacketFailed | WorkerLost):
            self._leave(now, self._place(event.worker))
        elif isinstance(event, WorkerJoined):
            self._places[event.worker] = _Place(WorkerTally(event.node or ""))
        for action in work:
            if isinstance(action, Process):
                self._begin(now, action.worker, action.packet)
            else:
                self._reserved[action.packet.number] = action.packet

    def _place(self, worker: int) -> _Place:
        place = self._places.get(worker)
        if place is None:
            place = self._places[worker] = _Place(None)
        return place

    def _begin(self, now: float, worker: int, packet: Packet) -> None:
        self._reserved.pop(packet.number, None)
        place = self._place(worker)
        if place.file != packet.file:
            place.file, place.node = packet.file, self._node(packet.file)
        place.since, place.start = now, packet.start

    def _done(self, now: float, event: PacketDone) -> None:
        place = self._place(event.worker)
        start = place.start
        self._leave(now, place)
        if event.begun is not None and event.begun in self._reserved:
            self._begin(now, event.worker, self._reserved[event.begun])
        if start is not None and place.tally is not None:  # else it was given up
            place.tally.add(event.spent, event.stop - start, event.seconds)

    def _leave(self, now: float, place: _Place) -> None:
        if place.start is None:
            return
        place.start = None
        while now >= self._width * BINS:
            self._join()
        bins = self._nodes.get(place.node)
        if bins is None:
            bins = self._nodes[place.node] = [0.0] * BINS
        spread(bins, self._width, place.since, now)

    def _join(self) -> None:
        """Joins pairs of bins of time."""
        self._width *= 2
        for node, bins in self._nodes.items():
            self._nodes[node] = halved(bins)

    def now(self, now: float) -> Monitored:
        """Returns what was counted so far, with the packets that workers have now."""
        self._catch_up()
        while now >= self._width * BINS:
            self._join()
        nodes = {node: list(bins) for node, bins in self._nodes.items()}
        for place in self._places.values():
            if place.start is not None:
                bins = nodes.setdefault(place.node, [0.0] * BINS)
                spread(bins, self._width, place.since, now)
        workers = {
            number: place.tally.counts()
            for number, place in self._places.items()
            if place.tally is not None
        }
        return Monitored(now, workers, self._width, nodes)


def halved(bins: list[float]) -> list[float]:
    """Gives as many bins; each of the first half is a pair of these."""
    pairs = [bins[at] + bins[at + 1] for at in range(0, BINS, 2)]
    return pairs + [0.0] * (BINS // 2)


def spread(bins: list[float], width: float, start: float, stop: float, weight: float = 1.0) -> None:
    """Adds the time from `start` to `stop` to the bins that it is in, this many times."""
    last = len(bins) - 1
    first, end = min(int(start / width), last), min(int(stop / width), last)
    if first == end < last:  # as nearly all packets, which are counted for less then
        bins[first] += weight * max(stop - start, 0.0)
        return
    for at in range(first, end + 1):
        bins[at] += weight * max(min(stop, (at + 1) * width) - max(start, at * width), 0.0)
