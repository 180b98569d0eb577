"""Counts what workers do while a query runs, for histograms: packets, entries, times by worker, and
the workers that read from each node against time. Follows the records of a trace and keeps only
the newest, so that its size depends on the number of workers and nodes alone. Pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from .events import (
    FAILED,
    Action,
    Event,
    FileFailed,
    FilesDone,
    Packet,
    PacketDone,
    PacketFailed,
    Process,
    ProcessFiles,
    Reserve,
    Spent,
    WorkerJoined,
    WorkerLost,
)

__all__ = [
    "BINS",
    "PER_DECADE",
    "SECONDS",
    "WIDTH",
    "Monitored",
    "Monitoring",
    "WorkerCounters",
    "WorkerSums",
    "WorkerTally",
    "bin_of",
    "halved",
    "spread",
]

# Sums and bins what the packets of one worker took. Packets wait in rows until many of them can
# be added at once: added one by one they would cost more than the rest of the monitoring. Pure;
# knows no event.

SECONDS = (-5, 3)
"""Times are binned from 10^-5 s to 10^3 s."""
PER_DECADE = 10
_EDGES = [
    10.0 ** (at / PER_DECADE) for at in range(SECONDS[0] * PER_DECADE, SECONDS[1] * PER_DECADE + 1)
]
_ALWAYS = ("packets", "entries", "seconds")
"""Measures that a packet has even if its worker measured nothing."""
_COLUMNS = (*Spent._fields, *_ALWAYS)
_SPREAD = ("latency", "seconds", "cpu")
"""The measures that are binned for each packet."""
_ROWS = 256
"""Rows that wait."""


@dataclass(slots=True)
class WorkerCounters:
    """What one worker has done."""

    host: str = ""
    sums: dict[str, float] = field(default_factory=dict)
    """The sum of each measure over the worker's packets."""
    spread: dict[str, dict[int, int]] = field(default_factory=dict)
    """The number of packets in each bin of each measure; see `bin_of`."""


def bin_of(seconds: float) -> int:
    """The bin of a time; -1 below the first one, and the number of bins above the last one."""
    return bisect_right(_EDGES, seconds) - 1


class WorkerTally:
    """The packets of one worker."""

    def __init__(self, host: str) -> None:
        self._counts = WorkerCounters(host)
        self._rows: list[tuple[float, ...]] = []
        self._unmeasured: list[tuple[float, ...]] = []

    def add(self, spent: Spent | None, entries: int, seconds: float) -> None:
        """Adds a packet. `spent`: what its worker has measured, if it measures."""
        if spent is None:
            self._unmeasured.append((1, entries, seconds))
        else:
            self._rows.append((*spent, 1, entries, seconds))
        if len(self._rows) + len(self._unmeasured) >= _ROWS:
            self._add_up_all()

    def counts(self) -> WorkerCounters:
        """The sums so far. The caller gets a copy."""
        self._add_up_all()
        counts = self._counts
        spread = {name: dict(bins) for name, bins in counts.spread.items()}
        return WorkerCounters(counts.host, dict(counts.sums), spread)

    def _add_up_all(self) -> None:
        self._add_up(_COLUMNS, self._rows)
        self._add_up(_ALWAYS, self._unmeasured)

    def _add_up(self, names: Iterable[str], rows: list[tuple[float, ...]]) -> None:
        sums, spread = self._counts.sums, self._counts.spread
        for name, column in zip(names, zip(*rows, strict=True), strict=False):
            sums[name] = sum(column, sums.get(name, 0))
            if name in _SPREAD:
                bins = spread.setdefault(name, {})
                for place, packets in Counter(map(partial(bisect_right, _EDGES), column)).items():
                    bins[place - 1] = bins.get(place - 1, 0) + packets
        rows.clear()


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
    workers: dict[int, WorkerCounters]
    width: float
    """Seconds of a bin of time."""
    nodes: dict[str, list[float]]
    """Seconds of workers at a node's packets, by node and bin of time."""


_WORK = (Process, ProcessFiles, Reserve)


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
        self._kept: list[tuple[float, object, list[Process | ProcessFiles | Reserve]]] = []

    def follow(self, now: float, event: Event, actions: Iterable[Action]) -> None:
        """Takes the next record: an event, and what answered it. `now`: seconds since the pass
        began."""
        work = [action for action in actions if isinstance(action, _WORK)]
        self._kept.append((now, event, work))
        if len(self._kept) > _KEPT or isinstance(event, _WITH_ERRORS):
            self._catch_up()

    def _catch_up(self) -> None:
        for record in self._kept:
            self._count(*record)
        self._kept.clear()

    def _count(
        self, now: float, event: object, work: list[Process | ProcessFiles | Reserve]
    ) -> None:
        if isinstance(event, PacketDone):
            self._done(now, event)
        elif isinstance(event, FilesDone):
            self._files_done(now, event)
        elif isinstance(event, PacketFailed | WorkerLost):
            self._leave(now, self._place(event.worker))
        elif isinstance(event, WorkerJoined):
            self._places[event.worker] = _Place(WorkerTally(event.node or ""))
        for action in work:
            if isinstance(action, Process):
                self._reserved.pop(action.packet.number, None)
                self._begin(now, action.worker, action.packet.file, action.packet.start)
            elif isinstance(action, ProcessFiles):
                self._begin(now, action.worker, action.files[0], 0)
            else:
                self._reserved[action.packet.number] = action.packet

    def _place(self, worker: int) -> _Place:
        place = self._places.get(worker)
        if place is None:
            place = self._places[worker] = _Place(None)
        return place

    def _begin(self, now: float, worker: int, file: int, start: int) -> None:
        place = self._place(worker)
        if place.file != file:
            place.file, place.node = file, self._node(file)
        place.since, place.start = now, start

    def _done(self, now: float, event: PacketDone) -> None:
        place = self._place(event.worker)
        start = place.start
        self._leave(now, place)
        if event.begun is not None and event.begun in self._reserved:
            packet = self._reserved.pop(event.begun)
            self._begin(now, event.worker, packet.file, packet.start)
        if start is not None and place.tally is not None:  # else it was given up
            place.tally.add(event.spent, event.stop - start, event.seconds)

    def _files_done(self, now: float, event: FilesDone) -> None:
        place = self._place(event.worker)
        self._leave(now, place)
        if event.entries and event.ended != FAILED and place.tally is not None:
            entries = sum(event.entries) - event.entries[-1] + event.stop
            place.tally.add(event.spent, entries, event.seconds)

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


# Adds up what groups of workers have counted, each for itself, to what one
# coordinator would have counted. A group is the workers of a site. Pure.

_Key = TypeVar("_Key", bound=Hashable)
_Number = TypeVar("_Number", int, float)
_Who = tuple[int, int, str]
"""A worker: its group, its number there, and its host."""


class WorkerSums:
    """The counts of all groups of one pass."""

    def __init__(self) -> None:
        self._groups: dict[int, tuple[Monitored, float]] = {}
        self._closed = _HostSums()
        self._numbers: dict[_Who, int] = {}

    def update(self, group: int, counted: Monitored, since: float = 0.0) -> None:
        """Takes what a group has counted, in place of what it said before. `since`: when it began
        to count, in seconds since the pass began."""
        self._groups[group] = counted, since

    def close(self, group: int) -> None:
        """Keeps what the group has said last. What it says next is added to that."""
        said = self._groups.pop(group, None)
        if said is not None:
            self._closed.add(group, *said)

    def total(self, seconds: float) -> Monitored:
        """Returns what all have counted. `seconds`: since the pass began. A worker keeps the number
        that it gets here first."""
        sums = _HostSums()
        sums.add_all(self._closed)
        for group, said in self._groups.items():
            sums.add(group, *said)
        numbers = self._numbers
        workers = {
            numbers.setdefault(who, len(numbers)): worker for who, worker in sums.workers.items()
        }
        return Monitored(seconds, workers, sums.width, sums.nodes)


class _HostSums:
    """Counts that are added up."""

    def __init__(self) -> None:
        self.workers: dict[_Who, WorkerCounters] = {}
        self.width = WIDTH
        self.nodes: dict[str, list[float]] = {}

    def add(self, group: int, counted: Monitored, since: float) -> None:
        for number, worker in counted.workers.items():
            self._add_worker((group, number, worker.host), worker)
        self._add_nodes(counted.nodes, counted.width, since)

    def add_all(self, other: _HostSums) -> None:
        for who, worker in other.workers.items():
            self._add_worker(who, worker)
        self._add_nodes(other.nodes, other.width, 0.0)

    def _add_worker(self, who: _Who, worker: WorkerCounters) -> None:
        sums = self.workers.setdefault(who, WorkerCounters(worker.host))
        _add(sums.sums, worker.sums)
        for name, bins in worker.spread.items():
            _add(sums.spread.setdefault(name, {}), bins)

    def _add_nodes(self, nodes: Mapping[str, list[float]], width: float, since: float) -> None:
        last = max(
            (at for bins in nodes.values() for at, spent in enumerate(bins) if spent), default=0
        )
        while self.width < width or self.width * BINS < since + (last + 1) * width:
            self.width *= 2
            self.nodes = {node: halved(bins) for node, bins in self.nodes.items()}
        for node, bins in nodes.items():
            sums = self.nodes.setdefault(node, [0.0] * BINS)
            for at, spent in enumerate(bins):
                if spent:
                    start = since + at * width
                    spread(sums, self.width, start, start + width, spent / width)


def _add(sums: dict[_Key, _Number], values: Mapping[_Key, _Number]) -> None:
    for name, value in values.items():
        sums[name] = sums.get(name, 0) + value
