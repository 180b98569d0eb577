"""The nodes that the files lie on. Chooses a worker's next file.

A worker reads from the nodes of its own host. It helps the node with most left per reader, in
seconds, when its own nodes have nothing left or clearly less than that: so reads over the network
spread over the whole query, and do not all come at its end. Every step costs O(log n): nodes and
files lie in heaps, whose keys are checked when they come to the top. Knows no packet and no clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heapify, heappop, heappush, heapreplace
from itertools import groupby
from typing import TypeVar
from urllib.parse import urlsplit

from .entities import File, Files, FreshFiles, WorkerState

__all__ = ["Left", "StorageNodes", "host_of", "node_of"]

_Name = TypeVar("_Name")

# One node that files lie on: the work that its files have left, and its readers. Knows no other
# node and no packet. A node is a disk that readers share, named `scheme://host/partition`.


def node_of(url: str) -> str:
    """The node of a file: scheme, host, and as the partition the first folder of its path."""
    parts = urlsplit(url)
    partition = parts.path.lstrip("/").partition("/")[0] if "/" in parts.path.lstrip("/") else ""
    return f"{parts.scheme or 'file'}://{parts.hostname or ''}/{partition}"


@lru_cache(maxsize=4096)  # many files are on one node
def host_of(node: str | None) -> str | None:
    """The host in a node's name; the name itself if it is no URL."""
    if node is None or "://" not in node:
        return node
    return urlsplit(node).hostname or ""


@dataclass
class Left:
    """What was never handed out of some files."""

    entries: int = 0
    """Entries of files of known size."""
    unknown: int = 0
    """Files of unknown size that no worker has tried to open."""

    @property
    def is_some(self) -> bool:
        """True if there are entries, as far as is known, that were never handed out."""
        return self.entries > 0 or self.unknown > 0


@dataclass(eq=False)
class StorageNode:
    """One node. What it has left is part of `total`, which follows each change."""

    number: int
    host: str | None
    total: Left
    files: Files
    fresh: FreshFiles
    left: Left = field(default_factory=Left)
    started: list[tuple[int, int, File]] = field(default_factory=list)  # a heap: most left first
    opening: int = 0  # files of unknown size that workers open
    foreign: int = 0  # workers of other hosts that read from it
    rate: float | None = None  # entries per second of one reader, lately
    speed: float = 0.0  # entries per second of all present readers, as last measured
    version: int = 0  # of its entry in the heap of nodes; older entries are void

    def add(self, piece: range | File) -> None:
        """Adds files of which no entry was handed out: a run, or one."""
        self._count(1, _numbers(piece))
        self.fresh.append(piece)

    def add_started(self, file: File) -> None:
        """Adds a file of known size that a worker has opened."""
        if file.left:
            self._count_entries(file.left)
            self._start(file)

    def withdraw(self, files: Mapping[int, str]) -> tuple[list[int], list[File]]:
        """Takes these files out. Returns the numbers of those of which no entry was handed out, and
        those of which some were."""
        fresh = self.fresh.withdraw(files)
        # One that was put back is in the heap still, perhaps more than once.
        started = {n: file for _, n, file in self.started if n in files}
        if started:
            self.started = [each for each in self.started if each[1] not in files]
            heapify(self.started)
            for number in fresh:
                started.pop(number, None)
        self._count(-1, fresh)
        self._count_entries(-sum(file.left for file in started.values()))
        return fresh, [*started.values()]

    def next_file(self) -> File | None:
        """The file for one more reader: a fresh one, else the one that has most left. A fresh one
        of unknown size is to be opened by that reader."""
        if self.fresh:
            file = self.fresh.pop()
            if file.entries is None:
                self._count_unknown(-1)
            else:
                self._start(file)
            return file
        while self.started:
            left, number, file = self.started[0]
            if file.left == 0:
                heappop(self.started)
            elif file.left < -left:
                heapreplace(self.started, (-file.left, number, file))
            else:
                return file
        return None

    def take_fresh(self, most: int, largest: int) -> Sequence[int]:
        """Takes out up to `most` files of which no entry was handed out, none of which is known to
        have more entries than `largest`. They count as left no more."""
        taken = self.fresh.take(most, largest)
        self._count(-1, taken)
        return taken

    def put_back(self, numbers: range) -> None:
        """Adds files again, before all others, of which no entry was handed out."""
        for piece in reversed([*self.files.pieces(numbers)]):
            self._count(1, _numbers(piece))
            self.fresh.put_back(piece)

    def take(self, file: File, stop: int) -> tuple[int, int]:
        """Hands out the file's entries up to `stop`. Returns the range."""
        span = (file.next, stop)
        file.advance(stop)
        self._count_entries(span[0] - stop)
        return span

    def enter(self, worker: WorkerState) -> None:
        """Counts the worker among the readers."""
        self.speed += worker.speed
        self.foreign += worker.host != self.host

    def leave(self, worker: WorkerState) -> None:
        """Counts the worker, which is a reader, no more."""
        self.speed -= worker.speed
        self.foreign -= worker.host != self.host

    def measured(self, rate: float) -> None:
        """Notes the speed of one packet. The newest packet counts half."""
        self.rate = rate if self.rate is None else (self.rate + rate) / 2

    def seconds(self, mean: float, rate: float, without: float = 0.0) -> float:
        """Seconds until nothing is left, with one more reader of this rate, and without a speed
        that is counted. `mean`: the expected entries of a file of unknown size."""
        left = self.left.entries + (self.left.unknown + self.opening) * mean
        return left / (max(self.speed - without, 0.0) + rate)

    def _start(self, file: File) -> None:
        heappush(self.started, (-file.left, file.number, file))

    def _count(self, sign: int, numbers: Sequence[int]) -> None:
        unknown, entries = self.files.left(numbers)
        self._count_unknown(sign * unknown)
        self._count_entries(sign * entries)

    def _count_unknown(self, more: int) -> None:
        self.left.unknown += more
        self.total.unknown += more

    def _count_entries(self, more: int) -> None:
        self.left.entries += more
        self.total.entries += more


def _numbers(piece: range | File) -> range:
    return piece if isinstance(piece, range) else range(piece.number, piece.number + 1)


_PREFERENCE = 1.2
"""The factor by which another node must have more left before a worker takes its next file from
it."""
_PERSISTENCE = 2.0
"""The factor by which another node must have more left before a worker leaves a file in the middle
for it."""
_WORTH_A_MOVE = 5.0
"""The seconds that the other node must have left beyond that."""


class StorageNodes:
    """The nodes, and the choice among them."""

    def __init__(self, files: Files, names: Sequence[str | None], max_foreign: int | None) -> None:
        """`names`: each file's node; nothing: all files lie on one. At most `max_foreign` workers
        of other hosts read from a node at once; workers of its own host always may."""
        self._files = files
        self._max_foreign = max_foreign
        self._nodes: list[StorageNode] = []
        self._by_host: dict[str, list[StorageNode]] = {}
        self._of: list[StorageNode] = []  # by file
        self.left = Left()
        """What all nodes have left."""
        self.opening: set[int] = set()
        """The numbers of files of unknown size that workers open, by an order or ahead."""
        self._named: dict[str | None, StorageNode] = {}
        for name, together in _runs(names) if names else [(None, range(len(files)))]:
            node = self._node(name)
            self._of += [node] * len(together)
            for piece in files.pieces(together):
                node.add(piece)
        self._mean = 1.0  # expected entries of a file of unknown size
        self._rate: float | None = None  # of all readers, for nodes without readers so far
        self._heap: list[tuple[float, int, int]] = []
        """The nodes that have work, most left first. Their keys are bounds from above, within the
        factor by which a node is preferred; `_most_left` makes those true that come to the top."""
        self._weigh_all()

    def _node(self, name: str | None) -> StorageNode:
        node = self._named.get(name)
        if node is None:
            fresh = FreshFiles(self._files)
            node = StorageNode(len(self._nodes), host_of(name), self.left, self._files, fresh)
            self._named[name] = node
            self._nodes.append(node)
            if node.host is not None:
                self._by_host.setdefault(node.host, []).append(node)
        return node

    def locate(self, names: Mapping[int, str]) -> None:
        """Puts files on the nodes with these names. No worker may be reading one of them."""
        fresh: set[int] = set()
        started: dict[int, File] = {}
        for node in self._nodes:
            untouched, touched = node.withdraw(names)
            fresh.update(untouched)
            started |= {file.number: file for file in touched}
        for number in sorted(names):
            old, node = self._of[number], self._node(names[number])
            self._of[number] = node
            if number in fresh:
                for piece in self._files.pieces(range(number, number + 1)):
                    node.add(piece)
            elif number in started:
                node.add_started(started[number])
            elif number in self.opening:
                old.opening -= 1
                node.opening += 1
        self._weigh_all()

    def host(self, file: File) -> str | None:
        """The host of the file's node, if it is known."""
        return self._of[file.number].host

    def fresh_unknown(self) -> set[int]:
        """The numbers of files of unknown size that no worker has tried to open."""
        fresh = [number for node in self._nodes for number in node.fresh]
        return set(fresh).difference(self._files.known(fresh))

    def pick(self, worker: WorkerState, mean: float) -> File | None:
        """A file for the worker: it has entries left or has to be opened. None if there is no such
        file, or none on a node that the worker may read from. `mean`: the expected entries of a
        file of unknown size."""
        self._expect(mean)
        here = self._here(worker)

        def weight(node: StorageNode) -> float:
            # A worker that looks for its next file does not compete with itself.
            return self._weight(node, worker.speed if node is here else 0.0)

        near = () if worker.host is None else self._by_host.get(worker.host, ())
        best = max((node for node in near if node.left.is_some), key=weight, default=None)
        far = [node for node in (self._most_left(), here) if node is not None]
        other = max((node for node in far if node.left.is_some), key=weight, default=None)
        if best is None or (other is not None and _PREFERENCE * weight(best) < weight(other)):
            best = other
        return None if best is None else best.next_file()

    def next_in(self, worker: WorkerState) -> File | None:
        """The worker's present file, if it has entries left and no other node has far more left."""
        file = worker.file
        if file is None or not file.left:
            return None
        other = self._most_left()
        if other is not None and other is not self._of[file.number]:
            here, there = self._weight(self._of[file.number]), self._weight(other)
            if there > max(_PERSISTENCE * here, here + _WORTH_A_MOVE):
                return None
        return file

    def admits(self, worker: WorkerState, file: File) -> bool:
        """True if the worker may read from the file's node in addition to those that do."""
        node = self._of[file.number]
        if self._max_foreign is None or worker.host == node.host:
            return True
        return node is self._here(worker) or node.foreign < self._max_foreign

    def take(self, file: File, stop: int) -> tuple[int, int]:
        """Hands out the file's entries up to `stop`. Returns the range."""
        return self._of[file.number].take(file, stop)

    def take_fresh(self, beside: File, most: int, largest: int) -> Sequence[int]:
        """Takes out up to `most` files, of which no entry was handed out, on the node of another
        one. None is known to have more entries than `largest`."""
        return self._of[beside.number].take_fresh(most, largest)

    def put_back(self, files: Sequence[int]) -> None:
        """Puts files back, before all others, of which no entry was handed out."""
        touched = set()
        for number, numbers in _runs([self._of[file].number for file in files]):
            several = files[numbers.start : numbers.stop]
            runs = [several] if isinstance(several, range) else _ascending(several)
            for run in reversed(runs):
                self._nodes[number].put_back(run)
            touched.add(number)
        for number in touched:
            self._place(self._nodes[number])

    def fresh(self, beside: File) -> int:
        """The number of files on the node of another one of which no entry was handed out."""
        return len(self._of[beside.number].fresh)

    def begin_opening(self, *files: int) -> None:
        """Notes that a worker opens files of one node, by their numbers, whose sizes are unknown.
        What they have is left still."""
        if files:
            self.opening.update(files)
            node = self._of[files[0]]
            node.opening += len(files)
            self._place(node)

    def end_opening(self, *files: int) -> None:
        """Notes that files are open, by their numbers, or that they cannot be opened."""
        self.opening.difference_update(files)
        for number, numbers in _runs([self._of[file].number for file in files]):
            self._nodes[number].opening -= len(numbers)

    def opened(self, file: File) -> None:
        """Notes that the file's size has become known."""
        node = self._of[file.number]
        node.add_started(file)
        self._place(node)

    def measured(self, worker: WorkerState, file: File, entries: int, seconds: float) -> None:
        """Notes how long a packet of the file took the worker."""
        rate = entries / max(seconds, 1e-6)
        self._of[file.number].measured(rate)
        self._rate = rate if self._rate is None else 0.99 * self._rate + 0.01 * rate
        here = self._here(worker)
        before, worker.speed = worker.speed, rate
        if here is not None:
            here.speed += rate - before
            if rate < before:
                self._place(here)

    def rate(self, worker: WorkerState, file: File, usual: float) -> float:
        """The worker's expected speed on the file, if its usual speed is `usual`. On a node of
        another host it is at most the speed of that node's readers."""
        node = self._of[file.number]
        if node.host == worker.host:
            return usual
        return min(usual, usual / 2 if node.rate is None else node.rate)

    def move(self, worker: WorkerState, file: File | None) -> None:
        """Makes the worker a reader of the file's node, and of no other node."""
        if file is worker.file:
            return
        here = self._here(worker)
        if here is not None:
            here.leave(worker)
            self._place(here)
        if file is not None:
            self._of[file.number].enter(worker)
        worker.file = file

    def _here(self, worker: WorkerState) -> StorageNode | None:
        return None if worker.file is None else self._of[worker.file.number]

    def _expect(self, mean: float) -> None:
        self._mean = max(mean, 1.0)
        then_mean, then_rate = self._weighed
        larger, slower = self._mean / then_mean, then_rate / (self._rate or 1.0)
        if max(larger, 1.0) * max(slower, 1.0) > _PREFERENCE:
            self._weigh_all()

    def _most_left(self) -> StorageNode | None:
        # A key is too large if entries were handed out since: then the node gets its true key.
        heap = self._heap
        while heap:
            key, number, version = heap[0]
            node = self._nodes[number]
            if version != node.version or not node.left.is_some:
                heappop(heap)
            elif self._max_foreign is not None and node.foreign >= self._max_foreign:
                heappop(heap)  # it comes back when a reader leaves
            elif (weight := self._weight(node)) < -key:
                heapreplace(heap, (-weight, number, version))
            else:
                return node
        return None

    def _place(self, node: StorageNode) -> None:
        node.version += 1
        if node.left.is_some:
            heappush(self._heap, (-self._weight(node), node.number, node.version))
        if len(self._heap) > 4 * len(self._nodes) + 64:
            self._weigh_all()

    def _weigh_all(self) -> None:
        self._weighed = self._mean, self._rate or 1.0
        self._heap = [
            (-self._weight(node), node.number, node.version)
            for node in self._nodes
            if node.left.is_some
        ]
        heapify(self._heap)

    def _weight(self, node: StorageNode, without: float = 0.0) -> float:
        return node.seconds(self._mean, self._rate or 1.0, without)


def _runs(names: Sequence[_Name]) -> Iterator[tuple[_Name, range]]:
    """Each name with the places that follow one another and have it."""
    start = 0
    for name, group in groupby(names):
        stop = start + sum(1 for _ in group)
        yield name, range(start, stop)
        start = stop


def _ascending(numbers: Sequence[int]) -> list[range]:
    """The numbers in their order, those that follow one another as one range."""
    runs: list[range] = []
    for number in numbers:
        if runs and runs[-1].stop == number:
            runs[-1] = range(runs[-1].start, number + 1)
        else:
            runs.append(range(number, number + 1))
    return runs
