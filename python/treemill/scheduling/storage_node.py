"""One node that files lie on: the work that its files have left, and its readers. Knows no other
node and no packet.

A node is a disk that readers share, named `scheme://host/partition`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heapify, heappop, heappush, heapreplace
from urllib.parse import urlsplit

from .entities import File, WorkerState

__all__ = ["Left", "StorageNode", "host_of", "node_of"]


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
        """True if entries were never handed out, as far as is known."""
        return self.entries > 0 or self.unknown > 0


@dataclass(eq=False)
class StorageNode:
    """One node. What it has left is part of `total`, which follows each change."""

    number: int
    host: str | None
    total: Left
    left: Left = field(default_factory=Left)
    fresh: deque[File] = field(default_factory=deque)  # no entry of them was handed out
    started: list[tuple[int, int, File]] = field(default_factory=list)  # a heap: most left first
    opening: int = 0  # files of unknown size that workers open
    foreign: int = 0  # workers of other hosts that read from it
    rate: float | None = None  # entries per second of one reader, lately
    speed: float = 0.0  # entries per second of all present readers, as last measured
    version: int = 0  # of its entry in the heap of nodes; older entries are void

    def add(self, file: File) -> None:
        """Adds a file that is to be read, or whose size is unknown."""
        if file.entries is None or file.left:
            self._count(file, 1)
            self.fresh.append(file)

    def add_started(self, file: File) -> None:
        """Adds a file of known size that a worker has opened."""
        if file.left:
            self._count(file, 1)
            self._start(file)

    def withdraw(self, files: Container[File]) -> tuple[list[File], list[File]]:
        """Takes these files out. Returns those of which no entry was handed out, and those of which
        some were."""
        fresh = [file for file in self.fresh if file in files]
        started = [file for _, _, file in self.started if file in files]
        if fresh:
            self.fresh = deque(file for file in self.fresh if file not in files)
        if started:
            self.started = [each for each in self.started if each[2] not in files]
            heapify(self.started)
        for file in (*fresh, *started):
            self._count(file, -1)
        return fresh, started

    def next_file(self) -> File | None:
        """The file for one more reader: a fresh one, else the one that has most left. A fresh one
        of unknown size is to be opened by that reader."""
        if self.fresh:
            file = self.fresh.popleft()
            if file.entries is None:
                self._count(file, -1)
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

    def _count(self, file: File, sign: int) -> None:
        if file.entries is None:
            self.left.unknown += sign
            self.total.unknown += sign
        else:
            self._count_entries(sign * file.left)

    def _count_entries(self, more: int) -> None:
        self.left.entries += more
        self.total.entries += more
