"""The machines of a scenario: nodes, each with a disk and a link that readers share; workers with a
CPU each; files on the disks. Knows scenarios; knows no packetizer.

A disk serves its readers evenly. Readers on other nodes also share the link of the disk's node.
When a reader comes or goes, the ends of all other reads change: only the next end of a read is
known, until then.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

from .scenario import Scenario

__all__ = ["Cluster", "DiskRead", "Machine", "SimulatedFile", "SimulatedNode"]


PARTS = 4
"""Parts of a packet that each thread of a worker does in turn."""
MANY = 15
"""Further readers of a disk that cost throughput by seeks; more cost nothing, since the system
sorts requests."""


@dataclass(eq=False, slots=True)
class DiskRead:
    """A read of a worker from a disk."""

    worker: int
    left: float  # MB
    foreign: bool
    link: float  # MB/s that the reading node can take
    speed: float = 0.0
    width: int = 1
    """The threads that read."""


@dataclass(eq=False, slots=True)
class SimulatedNode:
    """A node's disk and link."""

    name: str
    disk: float
    link: float
    seek: float
    reads: list[DiskRead] = field(default_factory=list)
    since: float = 0.0
    version: int = 0
    """The version of the end of the next read: each reader that comes or goes makes a new one."""

    def begin(self, read: DiskRead, now: float) -> tuple[float, DiskRead] | None:
        """Adds a read. Returns the end of the read that will end next."""
        self._advance(now)
        self.reads.append(read)
        return self._share(now)

    def end(self, read: DiskRead, now: float) -> tuple[float, DiskRead] | None:
        """Removes a read. Returns the end of the read that will end next."""
        self._advance(now)
        self.reads.remove(read)
        return self._share(now)

    def _advance(self, now: float) -> None:
        passed = now - self.since
        for read in self.reads:
            read.left -= read.speed * passed
        self.since = now

    def _share(self, now: float) -> tuple[float, DiskRead] | None:
        self.version += 1
        if not self.reads:
            return None
        readers = sum([read.width for read in self.reads])
        part = self.disk / (1.0 + self.seek * min(readers - 1, MANY)) / readers
        foreign = 0
        for read in self.reads:
            foreign += read.foreign * read.width
        soonest, which = float("inf"), self.reads[0]
        for read in self.reads:
            speed = min(part, self.link / foreign, read.link) if read.foreign else part
            read.speed = speed = speed * read.width
            seconds = read.left / speed
            if seconds < soonest:
                soonest, which = seconds, read
        return now + max(soonest, 0.0), which


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine of a worker: its node, and the events per second of each thread. `fixed`: the
    seconds that each packet takes whatever its events. From the second `slow_from` on others use
    it, too, and everything takes it `slowdown` times as long."""

    node: int
    rate: float
    fixed: float = 0.0
    width: int = 1
    slowdown: float = 1.0
    slow_from: float = 0.0

    def seconds(self, events: int, now: float) -> float:
        """What a packet that begins now takes its CPUs, if none of them waits for another."""
        return self._shared(self.fixed + events / self.rate / self.width, now)

    def waiting(self, events: int, cluster: int, now: float) -> float:
        """How much later than now the last of its threads is done, if no packet follows: they share
        a packet by whole clusters, and by as few parts as that takes in turn."""
        if self.width == 1:
            return 0.0
        part = max(cluster, math.ceil(events / (PARTS * self.width * cluster)) * cluster)
        turns = math.ceil(math.ceil(events / part) / self.width)
        return self._shared(max(turns * part - events / self.width, 0.0) / self.rate, now)

    def _shared(self, alone: float, now: float) -> float:
        return alone * self.slowdown if now >= self.slow_from else alone


@dataclass(frozen=True, slots=True)
class SimulatedFile:
    """A file: its node, its events, and the entries before which packets should end."""

    node: int
    events: int
    cuts: tuple[int, ...]


class Cluster:
    """The machines and files of a scenario, which depend on its seed."""

    def __init__(self, scenario: Scenario) -> None:
        chance = random.Random(scenario.seed)
        self.nodes: list[SimulatedNode] = []
        self.machines: list[Machine] = []
        node_generations = []
        for generation in scenario.generations:
            for _ in range(generation.nodes):
                node_generations.append(generation)
        chance.shuffle(node_generations)  # racks are not filled by age
        for number, generation in enumerate(node_generations):
            node = SimulatedNode(
                f"root://n{number:04}/", generation.disk, generation.link, scenario.seek
            )
            self.nodes.append(node)
            faults = scenario.faults
            slowdown = faults.slowdown if chance.random() < faults.slow_nodes else 1.0
            left = generation.workers
            while left > 0:
                width = min(scenario.width, left)
                about = (generation.rate, generation.fixed, width, slowdown, faults.slow_from)
                self.machines.append(Machine(number, *about))
                left -= width
        stores = [number for number, generation in enumerate(node_generations) if generation.files]
        self.files = _files(scenario, len(self.nodes), stores, chance)

    @property
    def events(self) -> int:
        """The events of all files."""
        return sum(file.events for file in self.files)


def _files(
    scenario: Scenario, nodes: int, stores: list[int], chance: random.Random
) -> list[SimulatedFile]:
    wanted = scenario.files
    cuts: dict[int, tuple[int, ...]] = {}
    files = []
    for number in range(wanted.per_node * nodes):
        spread = 1.0 + wanted.spread * (2.0 * chance.random() - 1.0)
        clusters = max(round(wanted.events * spread / wanted.cluster), 1)
        events = clusters * wanted.cluster
        if events not in cuts:
            cuts[events] = tuple(range(wanted.cluster, events, wanted.cluster))
        files.append(SimulatedFile(stores[number % len(stores)], events, cuts[events]))
    return files
