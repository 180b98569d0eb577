"""The strategies that can lead a simulation: treemill's packetizer and those of other systems, with
the same events and actions.

The others are PROOF's packetizers of ROOT 6.36 (TPacketizer and TPacketizerAdaptive, both with
TPacketizer's choice of nodes), and one range of entries per worker, as in distributed RDataFrame.
They handle no faults: no retries, no second runs. Knows clusters; knows no event queue.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from ...frozen import replaced
from ...scheduling import (
    Action,
    Commit,
    Committed,
    Event,
    FileOpened,
    FileSize,
    Finish,
    OpenFile,
    Packet,
    PacketDone,
    Packetizer,
    Policy,
    Process,
    Sizing,
    WorkerJoined,
)
from .cluster import Cluster
from .scenario import Scenario

__all__ = ["OURS", "STRATEGIES", "Strategy", "policy", "sizing"]


class Strategy(Protocol):
    """The packetizer, as its drivers use it."""

    def handle(self, event: Event, now: float) -> list[Action]:
        """Handles an event. Returns the actions to carry out."""


def policy(scenario: Scenario) -> Policy:
    """The policy of the packetizer that the sessions use."""
    fetched = scenario.roots is not None
    return Policy(
        max_attempts=10,
        commit_seconds=scenario.commit_seconds,
        collect_seconds=None if fetched else scenario.collect_seconds,
        roots=scenario.roots or None,
        speculate=True,
        reserve=scenario.width > 1 or scenario.ahead > 0.0,
    )


def sizing(scenario: Scenario) -> Sizing:
    """The sizes of packets."""
    return Sizing(
        first=scenario.files.cluster * scenario.width,
        shortest=scenario.shortest,
        longest=scenario.longest,
        ask=scenario.master.request,
        merge=scenario.master.commit,
        ahead=scenario.ahead or Sizing.ahead,
    )


def treemill(scenario: Scenario, cluster: Cluster) -> Strategy:
    """The packetizer that the sessions use."""
    known = scenario.files.known
    return Packetizer(
        [FileSize(f.events, f.cuts) if known else None for f in cluster.files],
        policy(scenario),
        nodes=None if scenario.distance else [cluster.nodes[f.node].name for f in cluster.files],
        max_foreign=scenario.max_foreign and max(scenario.max_foreign // scenario.width, 1),
        sizing=sizing(scenario),
    )


class Cold:
    """The packetizer that the sessions use, which is not told that files are far: it promises
    nothing, so that each packet begins without any of its bytes."""

    def __init__(self, scenario: Scenario, cluster: Cluster) -> None:
        self._inner = treemill(scenario, cluster)

    def handle(self, event: Event, now: float) -> list[Action]:
        """See Strategy."""
        if isinstance(event, FileOpened | PacketDone):
            event = replaced(event, ahead=0)
        return self._inner.handle(event, now)


class _Store:
    """A node's files and readers in TPacketizer."""

    def __init__(self, own: int) -> None:
        self.fresh: deque[int] = deque()
        self.active: deque[int] = deque()
        self.readers = own  # the node's own workers count even if they do not read


class Base:
    """TPacketizer. All files are opened before the first packet. All packets have the same size, a
    twentieth of a worker's even share. A node has at most four readers, its own workers included; a
    worker that finds no node with fewer gets no more work."""

    max_readers = 4
    parts = 20

    def __init__(self, scenario: Scenario, cluster: Cluster) -> None:
        self._files = cluster.files
        self._nodes = [machine.node for machine in cluster.machines]
        self._next = [0] * len(self._files)
        self._stores = [_Store(0) for _ in cluster.nodes]
        for node in self._nodes:
            self._stores[node].readers += 1
        for number, file in enumerate(self._files):
            self._stores[file.node].fresh.append(number)
        self._unopened = deque([] if scenario.files.known else range(len(self._files)))
        self._to_open = [deque(s.fresh) for s in self._stores]
        self._opened = [scenario.files.known] * len(self._files)
        self._left_to_open = 0 if scenario.files.known else len(self._files)
        self._waiting: list[int] = []
        self._on: dict[int, int] = {}  # file of a worker
        self._packet: dict[int, Packet] = {}
        self._working = len(self._nodes)
        self._packets = 0
        self._total = cluster.events
        self._size = max(self._total // (self.parts * len(self._nodes)), 1)

    def handle(self, event: Event, now: float) -> list[Action]:
        """See Strategy."""
        if isinstance(event, WorkerJoined):
            return self._prepare(event.worker)
        if isinstance(event, FileOpened):
            self._left_to_open -= 1
            if self._left_to_open == 0:
                waiting, self._waiting = [*self._waiting, event.worker], []
                return [self._next_packet(worker) for worker in waiting]
            return self._prepare(event.worker)
        if isinstance(event, PacketDone):
            self._measured(self._packet[event.worker], event)
            return [self._next_packet(event.worker)]
        if isinstance(event, Committed):
            self._working -= 1
            return [Finish()] if self._working == 0 else []
        return []

    def _prepare(self, worker: int) -> list[Action]:
        if self._left_to_open == 0:
            return [self._next_packet(worker)]
        for files in (self._to_open[self._nodes[worker]], self._unopened):
            while files:
                file = files.popleft()
                if not self._opened[file]:
                    self._opened[file] = True
                    return [OpenFile(worker, file)]
        self._waiting.append(worker)
        return []

    def _next_packet(self, worker: int) -> Action:
        file = self._on.get(worker)
        if file is not None and self._next[file] >= self._files[file].events:
            self._leave(worker, file)
            file = None
        if file is None:
            file = self._choose(self._nodes[worker])
            if file is None:
                return Commit(worker)
            self._on[worker] = file
            store = self._files[file].node
            self._stores[store].readers += store != self._nodes[worker]
        start, end = self._next[file], self._files[file].events
        size = self._entries(worker)
        stop = end if start + size >= end else start + size
        self._next[file] = stop
        packet = self._packet[worker] = Packet(self._packets, file, start, stop)
        self._packets += 1
        return Process(worker, packet)

    def _leave(self, worker: int, file: int) -> None:
        store = self._files[file].node
        self._stores[store].readers -= store != self._nodes[worker]
        del self._on[worker]

    def _choose(self, node: int) -> int | None:
        own = self._stores[node]
        if own.fresh:
            return self._start(own)
        fresh = [s for s in self._stores if s.fresh]
        if fresh:
            store = min(fresh, key=_readers)
            if store.readers < self.max_readers:
                return self._start(store)
        active = [s for s in self._stores if self._has_active(s)]
        if active:
            store = min(active, key=_readers)
            if store.readers < self.max_readers:
                store.active.rotate(-1)
                return store.active[-1]
        return None

    def _start(self, store: _Store) -> int:
        file = store.fresh.popleft()
        store.active.append(file)
        return file

    def _has_active(self, store: _Store) -> bool:
        if store.active:
            store.active = deque(f for f in store.active if self._next[f] < self._files[f].events)
        return bool(store.active)

    def _entries(self, worker: int) -> int:
        return self._size

    def _measured(self, packet: Packet, event: PacketDone) -> None:
        pass


def _readers(store: _Store) -> int:
    return store.readers


class Adaptive(Base):
    """TPacketizerAdaptive. A packet takes a quarter of the time left, 3 to 20 s; the first has
    1,000 entries. The time left is that of all unprocessed entries, including those that are handed
    out."""

    def __init__(self, scenario: Scenario, cluster: Cluster) -> None:
        super().__init__(scenario, cluster)
        self._rates: dict[int, float] = {}
        self._processed = 0
        self._seconds = 0.0

    def _measured(self, packet: Packet, event: PacketDone) -> None:
        entries = packet.stop - packet.start
        self._rates[event.worker] = entries / event.seconds
        self._processed += entries
        self._seconds += event.seconds

    def _entries(self, worker: int) -> int:
        rate = self._rates.get(worker)
        if rate is None:
            return 1000
        average = self._processed / (self._seconds / len(self._nodes))
        seconds = (self._total - self._processed) / average / 4
        return max(int(rate * min(max(seconds, 3.0), 20.0)), 1)


class Static:
    """One contiguous range of the dataset per worker, cut between clusters. Sizes are known."""

    def __init__(self, scenario: Scenario, cluster: Cluster) -> None:
        self._parts = _partition(cluster, len(cluster.machines), scenario.files.cluster)
        self._working = len(cluster.machines)
        self._packets = 0

    def handle(self, event: Event, now: float) -> list[Action]:
        """See Strategy."""
        if isinstance(event, Committed):
            self._working -= 1
            return [Finish()] if self._working == 0 else []
        if not isinstance(event, WorkerJoined | PacketDone):
            return []
        if not self._parts[event.worker]:
            return [Commit(event.worker)]
        file, start, stop = self._parts[event.worker].popleft()
        self._packets += 1
        return [Process(event.worker, Packet(self._packets, file, start, stop))]


def _partition(cluster: Cluster, parts: int, grain: int) -> list[deque[tuple[int, int, int]]]:
    """Divides the files evenly, in the order of their nodes. A part of a file is at least as long
    as a cluster."""
    order = sorted(range(len(cluster.files)), key=lambda f: (cluster.files[f].node, f))
    shares: list[deque[tuple[int, int, int]]] = [deque() for _ in range(parts)]
    total, seen = cluster.events, 0
    for file in order:
        start, events = 0, cluster.files[file].events
        while start < events:
            part = min(seen * parts // total, parts - 1)
            room = (part + 1) * total // parts - seen
            stop = min(start + max(-(-room // grain) * grain, grain), events)
            shares[part].append((file, start, stop))
            seen += stop - start
            start = stop
    return shares


OURS = ("treemill", "cold")
"""The strategies that handle faults and know mergers."""
STRATEGIES: dict[str, Callable[[Scenario, Cluster], Strategy]] = {
    "treemill": treemill,
    "cold": Cold,
    "adaptive": Adaptive,
    "base": Base,
    "static": Static,
}
