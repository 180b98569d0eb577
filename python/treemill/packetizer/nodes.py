"""The nodes that the files lie on: the entries that each has left, and its readers. Chooses a
worker's next file.

A node is a disk that readers share, named `scheme://host/partition`. A worker reads from the nodes
of its own host. It helps the node with most left per reader, in seconds, when its own nodes have
nothing left or clearly less than that: so reads over the network spread over the whole query, and
do not all come at its end. Every step costs O(log n): nodes and files lie in heaps, whose keys are
checked when they come to the top. Knows no packet and no clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush, heapreplace
from urllib.parse import urlsplit

from .entities import File, WorkerState

__all__ = ["Nodes", "StorageNode", "host_of", "node_of"]


def node_of(url: str) -> str:
    """The node of a file: scheme, host, and as the partition the first folder of its path."""
    parts = urlsplit(url)
    partition = parts.path.lstrip("/").partition("/")[0] if "/" in parts.path.lstrip("/") else ""
    return f"{parts.scheme or 'file'}://{parts.hostname or ''}/{partition}"


def host_of(node: str | None) -> str | None:
    """The host in a node's name; the name itself if it is no URL."""
    if node is None or "://" not in node:
        return node
    return urlsplit(node).hostname or ""


Part = tuple[File, int, int | None]
"""Entries of a file, or (None) all of a file of unknown size."""

_PREFERENCE = 1.2
"""The factor by which another node must have more left before a worker takes its next file from
it."""
_PERSISTENCE = 2.0
"""The factor by which another node must have more left before a worker leaves a file in the middle
for it."""
_WORTH_A_MOVE = 5.0
"""The seconds that the other node must have left beyond that."""


@dataclass(eq=False)
class StorageNode:
    """One node: the work that it has left, and its readers."""

    number: int
    host: str | None
    fresh: deque[File] = field(default_factory=deque)  # no entry of them was handed out
    started: list[tuple[int, int, File]] = field(default_factory=list)  # a heap: most left first
    left: int = 0  # entries never handed out, of files of known size
    unknown: int = 0  # fresh files of unknown size
    opening: int = 0  # files of unknown size that workers open
    foreign: int = 0  # workers of other hosts that read from it
    rate: float | None = None  # entries per second of one reader, lately
    speed: float = 0.0  # entries per second of all present readers, as last measured
    version: int = 0  # of its entry in the heap of nodes; older entries are void

    @property
    def has_work(self) -> bool:
        """True if the node has entries that were never handed out, as far as is known."""
        return self.left > 0 or self.unknown > 0


class Nodes:
    """The nodes, and the choice among them."""

    def __init__(
        self, files: Sequence[File], names: Sequence[str | None], max_foreign: int | None
    ) -> None:
        """`names`: each file's node. At most `max_foreign` workers of other hosts read from a node
        at once; workers of its own host always may."""
        self._max_foreign = max_foreign
        self._nodes: list[StorageNode] = []
        self._by_host: dict[str, list[StorageNode]] = {}
        self._of: list[StorageNode] = []  # by file
        self.left = 0  # entries never handed out, over all nodes
        self.unknown = 0  # fresh files of unknown size, over all nodes
        self.opening: set[File] = set()  # of unknown size: workers open them, by an order or ahead
        self._named: dict[str | None, StorageNode] = {}
        for file, name in zip(files, names, strict=True):
            self._add(file, name)
        self._mean = 1.0  # expected entries of a file of unknown size
        self._rate: float | None = None  # of all readers, for nodes without readers so far
        self._heap: list[tuple[float, int, int]] = []
        self._weigh_all()

    def add(self, file: File, name: str | None) -> None:
        """Adds a file, which has the next number."""
        self._place(self._add(file, name))

    def _add(self, file: File, name: str | None) -> StorageNode:
        node = self._node(name)
        self._of.append(node)
        self._count(node, file, 1)
        if file.entries is None or file.left:
            node.fresh.append(file)
        return node

    def _node(self, name: str | None) -> StorageNode:
        node = self._named.get(name)
        if node is None:
            node = self._named[name] = StorageNode(len(self._nodes), host_of(name))
            self._nodes.append(node)
            if node.host is not None:
                self._by_host.setdefault(node.host, []).append(node)
        return node

    def _count(self, node: StorageNode, file: File, sign: int) -> None:
        """Adds what a fresh file has left to its node's account, or takes it out."""
        if file.entries is None:
            node.unknown += sign
            self.unknown += sign
        else:
            left = sign * file.left
            node.left += left
            self.left += left

    def locate(self, names: Mapping[File, str]) -> None:
        """Puts files on the nodes with these names. No worker may be reading one of them."""
        fresh: set[File] = set()
        for node in self._nodes:
            gone = [file for file in node.fresh if file in names]
            if gone:
                node.fresh = deque(file for file in node.fresh if file not in names)
                fresh.update(gone)
            if any(file in names for _, _, file in node.started):
                node.started = [each for each in node.started if each[2] not in names]
                heapify(node.started)
        for file in sorted(names, key=lambda file: file.number):
            old, node = self._of[file.number], self._node(names[file])
            self._of[file.number] = node
            if file in fresh:
                self._count(old, file, -1)
                self._count(node, file, 1)
                node.fresh.append(file)
            elif file in self.opening:
                old.opening -= 1
                node.opening += 1
            elif file.left:
                old.left -= file.left
                node.left += file.left
                heappush(node.started, (-file.left, file.number, file))
        self._weigh_all()

    def host(self, file: File) -> str | None:
        """The host of the file's node, if it is known."""
        return self._of[file.number].host

    @property
    def has_work(self) -> bool:
        """True if any file has entries that were never handed out, as far as is known."""
        return self.left > 0 or self.unknown > 0

    def fresh_unknown(self) -> list[File]:
        """Files of unknown size that no worker has tried to open."""
        return [f for node in self._nodes for f in node.fresh if f.entries is None]

    def pick(self, worker: WorkerState, mean: float) -> File | None:
        """A file for the worker: it has entries left or has to be opened. None if there is no such
        file, or none on a node that one more worker may read from. `mean`: the expected entries of
        a file of unknown size."""
        self._mean = max(mean, 1.0)
        own = self._by_host.get(worker.host, ()) if worker.host is not None else ()
        best = max(own, key=self._weight, default=None)
        if best is not None and not best.has_work:
            best = None
        other = self._most_left()
        here = None if worker.file is None else self._of[worker.file.number]

        def weight(node: StorageNode) -> float:
            # A worker that looks for its next file is no reader beside itself.
            return self._weight(node, worker.speed if node is here else 0.0)

        if best is None or (other is not None and _PREFERENCE * weight(best) < weight(other)):
            best = other
        return None if best is None else self._file(best)

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
        """True if the worker may read from the file's node, beside those that do."""
        node = self._of[file.number]
        if self._max_foreign is None or worker.host == node.host:
            return True
        is_there = worker.file is not None and self._of[worker.file.number] is node
        return is_there or node.foreign < self._max_foreign

    def take(self, file: File, stop: int) -> tuple[int, int]:
        """Hands out the file's entries up to `stop`. Returns the range."""
        span = (file.next, stop)
        file.advance(stop)
        self._of[file.number].left -= stop - span[0]
        self.left -= stop - span[0]
        return span

    def give_back(self, wanted: float, mean: float, among: Set[int] | None) -> list[Part]:
        """Takes out about this many entries that were never handed out, of the files `among`, from
        the nodes that have most left. `mean` as in `pick`."""
        self._mean = max(mean, 1.0)
        given: list[Part] = []
        nodes = [node for node in self._nodes if node.has_work]
        while nodes and wanted > 0:
            node = max(nodes, key=self._weight)
            part = self._give_back(node, wanted, among)
            if part is None:
                nodes.remove(node)
                continue
            given.append(part)
            wanted -= self._mean if part[2] is None else part[2] - part[1]
        return given

    def _give_back(self, node: StorageNode, wanted: float, among: Set[int] | None) -> Part | None:
        for file in reversed(node.fresh):
            if file.entries is None and (among is None or file.number in among):
                node.fresh.remove(file)
                node.unknown -= 1
                self.unknown -= 1
                return file, 0, None
        known = [file for file in node.fresh if file.entries is not None]
        for file in [*reversed(known), *(file for _, _, file in sorted(node.started))]:
            if not file.left or (among is not None and file.number not in among):
                continue
            stop, keep = file.entries or 0, file.left - int(min(wanted, file.left))
            start = file.cut(keep) if keep else file.next
            if start < stop:
                file.entries = start
                node.left -= stop - start
                self.left -= stop - start
                if not file.left and file in known:
                    node.fresh.remove(file)
                return file, start, stop
        return None

    def begin_opening(self, file: File) -> None:
        """Notes that a worker opens the file, whose size is unknown. What it has is left still."""
        self.opening.add(file)
        node = self._of[file.number]
        node.opening += 1
        self._place(node)

    def end_opening(self, file: File) -> None:
        """Notes that the file is open, or that it cannot be opened."""
        self.opening.remove(file)
        self._of[file.number].opening -= 1

    def opened(self, file: File) -> None:
        """Notes that the file's size has become known."""
        node = self._of[file.number]
        node.left += file.left
        self.left += file.left
        if file.left:
            heappush(node.started, (-file.left, file.number, file))
        self._place(node)

    def measured(self, worker: WorkerState, file: File, entries: int, seconds: float) -> None:
        """Notes how long a packet of the file took the worker. The newest packet counts half."""
        node = self._of[file.number]
        rate = entries / max(seconds, 1e-6)
        node.rate = rate if node.rate is None else (node.rate + rate) / 2
        self._rate = rate if self._rate is None else 0.99 * self._rate + 0.01 * rate
        if worker.file is not None:
            self._of[worker.file.number].speed += rate - worker.speed
        worker.speed = rate

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
        if worker.file is not None:
            node = self._of[worker.file.number]
            node.speed -= worker.speed
            node.foreign -= worker.host != node.host
            self._place(node)
        if file is not None:
            node = self._of[file.number]
            node.speed += worker.speed
            node.foreign += worker.host != node.host
        worker.file = file

    def _most_left(self) -> StorageNode | None:
        # A key is too large if entries were handed out since: then the node gets its true key.
        heap = self._heap
        while heap:
            key, number, version = heap[0]
            node = self._nodes[number]
            if version != node.version or not node.has_work:
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
        if node.has_work:
            heappush(self._heap, (-self._weight(node), node.number, node.version))
        if len(self._heap) > 4 * len(self._nodes) + 64:
            self._weigh_all()

    def _weigh_all(self) -> None:
        self._heap = [
            (-self._weight(node), node.number, node.version)
            for node in self._nodes
            if node.has_work
        ]
        heapify(self._heap)

    def _file(self, node: StorageNode) -> File | None:
        if node.fresh:
            file = node.fresh.popleft()
            if file.entries is None:
                node.unknown -= 1
                self.unknown -= 1
            else:
                heappush(node.started, (-file.left, file.number, file))
            return file
        while node.started:
            left, number, file = node.started[0]
            if file.left == 0:
                heappop(node.started)
            elif file.left < -left:
                heapreplace(node.started, (-file.left, number, file))
            else:
                return file
        return None

    def _weight(self, node: StorageNode, without: float = 0.0) -> float:
        """Seconds until the node has nothing left, with one average reader more, and `without` one
        of this speed."""
        left = node.left + (node.unknown + node.opening) * self._mean
        speed = node.speed - without
        return left / ((speed if speed > 0.0 else 0.0) + (self._rate or 1.0))
