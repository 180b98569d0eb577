"""Counts what workers do while a query runs, for histograms: packets, entries, times by worker, and
the workers that read from each node against time. Follows the records of a trace and keeps only
the newest, so that its size depends on the number of workers and nodes alone. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .events import (
    Action,
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


class Monitoring:
    """Counts one pass."""

    def __init__(self, node: Callable[[int], str]) -> None:
        """`node`: that serves the file with this number."""
        self._node = node
        self._workers: dict[int, WorkerTally] = {}
        self._at: dict[int, tuple[str, float]] = {}  # by worker: the node of its packet, since when
        self._reserved: dict[int, Packet] = {}  # by number
        self._starts: dict[int, int] = {}  # by worker: the first entry of its packet
        self._width = WIDTH
        self._nodes: dict[str, list[float]] = {}
        self._kept: list[tuple[float, object, list[Process | Reserve]]] = []

    def follow(self, now: float, event: object, actions: Iterable[Action]) -> None:
        """Takes the next record: an event, or what a parent has said to a sub-master, and what
        answered it. `now`: seconds since the pass began."""
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
            self._leave(now, event.worker)
        elif isinstance(event, WorkerJoined):
            self._workers[event.worker] = WorkerTally(event.node or "")
        for action in work:
            if isinstance(action, Process):
                self._begin(now, action.worker, action.packet)
            else:
                self._reserved[action.packet.number] = action.packet

    def _begin(self, now: float, worker: int, packet: Packet) -> None:
        self._reserved.pop(packet.number, None)
        self._at[worker] = self._node(packet.file), now
        self._starts[worker] = packet.start

    def _done(self, now: float, event: PacketDone) -> None:
        start = self._starts.pop(event.worker, None)
        self._leave(now, event.worker)
        if event.begun is not None and event.begun in self._reserved:
            self._begin(now, event.worker, self._reserved[event.begun])
        worker = self._workers.get(event.worker)
        if start is None or worker is None:
            return  # it was given up
        worker.add(event.spent, event.stop - start, event.seconds)

    def _leave(self, now: float, worker: int) -> None:
        at = self._at.pop(worker, None)
        if at is not None:
            node, since = at
            while now >= self._width * BINS:
                self._join()
            bins = self._nodes.get(node)
            if bins is None:
                bins = self._nodes[node] = [0.0] * BINS
            spread(bins, self._width, since, now)

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
        for node, since in self._at.values():
            spread(nodes.setdefault(node, [0.0] * BINS), self._width, since, now)
        workers = {number: tally.counts() for number, tally in self._workers.items()}
        return Monitored(now, workers, self._width, nodes)


def halved(bins: list[float]) -> list[float]:
    """Gives as many bins; each of the first half is a pair of these."""
    pairs = [bins[at] + bins[at + 1] for at in range(0, BINS, 2)]
    return pairs + [0.0] * (BINS // 2)


def spread(bins: list[float], width: float, start: float, stop: float, weight: float = 1.0) -> None:
    """Adds the time from `start` to `stop` to the bins that it is in, this many times."""
    last = len(bins) - 1
    first, end = min(int(start / width), last), min(int(stop / width), last)
    if first == end < last:
        bins[first] += weight * max(stop - start, 0.0)
        return
    for at in range(first, end + 1):
        bins[at] += weight * max(min(stop, (at + 1) * width) - max(start, at * width), 0.0)
