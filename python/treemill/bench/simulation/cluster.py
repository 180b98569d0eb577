"""The machines of a scenario: nodes with a disk and a link that their readers share, workers with a
CPU each, files on the disks.

A disk serves its readers evenly; readers of other nodes also share its node's link. Whenever a
reader comes or goes, the others' ends move: a read's end is an estimate with a version.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from .scenario import Scenario

__all__ = ["Cluster", "DataFile", "Machine", "Node", "Read"]


# With more readers than this a disk loses no more to seeks: the system sorts what waits.
MANY = 15


@dataclass(eq=False, slots=True)
class Read:
    """Bytes on their way from a disk to a worker."""

    worker: int
    left: float  # MB
    foreign: bool
    link: float  # MB/s that the reading node can take
    speed: float = 0.0
    version: int = 0


@dataclass(eq=False)
class Node:
    """A node's disk and link."""

    name: str
    disk: float
    link: float
    seek: float
    reads: list[Read] = field(default_factory=list)
    since: float = 0.0

    def begin(self, read: Read, now: float) -> list[tuple[float, Read]]:
        """One reader more; gives everybody's new end."""
        self._advance(now)
        self.reads.append(read)
        return self._share(now)

    def end(self, read: Read, now: float) -> list[tuple[float, Read]]:
        """One reader less."""
        self._advance(now)
        self.reads.remove(read)
        return self._share(now)

    def _advance(self, now: float) -> None:
        for read in self.reads:
            read.left -= read.speed * (now - self.since)
        self.since = now

    def _share(self, now: float) -> list[tuple[float, Read]]:
        readers = len(self.reads)
        if not readers:
            return []
        part = self.disk / (1.0 + self.seek * min(readers - 1, MANY)) / readers
        foreign = sum(read.foreign for read in self.reads)
        ends = []
        for read in self.reads:
            read.speed = min(part, self.link / foreign, read.link) if read.foreign else part
            read.version += 1
            ends.append((now + max(read.left, 0.0) / read.speed, read))
        return ends


@dataclass(frozen=True, slots=True)
class Machine:
    """A worker's place: its node, and its CPU's events per second, other users accounted for."""

    node: int
    rate: float


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file: its node, its events, where it may be cut."""

    node: int
    events: int
    cuts: tuple[int, ...]


class Cluster:
    """All machines and files of a scenario, made by its seed."""

    def __init__(self, scenario: Scenario) -> None:
        chance = random.Random(scenario.seed)
        self.nodes: list[Node] = []
        self.machines: list[Machine] = []
        made = []
        for generation in scenario.generations:
            for _ in range(generation.nodes):
                made.append(generation)
        chance.shuffle(made)  # racks are not filled by age
        for number, generation in enumerate(made):
            node = Node(f"root://n{number:04}/", generation.disk, generation.link, scenario.seek)
            self.nodes.append(node)
            slow = chance.random() < scenario.faults.slow_nodes
            rate = generation.rate / (scenario.faults.slowdown if slow else 1.0)
            self.machines += [Machine(number, rate)] * generation.workers
        stores = [number for number, generation in enumerate(made) if generation.files]
        self.files = _files(scenario, len(self.nodes), stores, chance)

    @property
    def events(self) -> int:
        """Of all files."""
        return sum(file.events for file in self.files)


def _files(
    scenario: Scenario, nodes: int, stores: list[int], chance: random.Random
) -> list[DataFile]:
    wanted = scenario.files
    cuts: dict[int, tuple[int, ...]] = {}
    files = []
    for number in range(wanted.per_node * nodes):
        spread = 1.0 + wanted.spread * (2.0 * chance.random() - 1.0)
        clusters = max(round(wanted.events * spread / wanted.cluster), 1)
        events = clusters * wanted.cluster
        if events not in cuts:
            cuts[events] = tuple(range(wanted.cluster, events, wanted.cluster))
        files.append(DataFile(stores[number % len(stores)], events, cuts[events]))
    return files
