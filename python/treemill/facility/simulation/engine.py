"""The simulation's engine: an event queue in which workers read and compute, mergers merge, and
messages travel. Knows the masters by what they are told and what they call here."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from typing import Protocol

from ...scheduling import (
    Action,
    Collect,
    Collected,
    Commit,
    Committed,
    Discard,
    Discarded,
    Dismiss,
    Event,
    FileOpened,
    Forget,
    HandedOn,
    HandOn,
    Hint,
    MergerJoined,
    MergerLost,
    OpenAhead,
    OpenFile,
    Order,
    Packet,
    PacketDone,
    Prefetch,
    Process,
    Refuse,
    Refused,
    RefusedFrom,
    RefuseFrom,
    Reserve,
    TimelineReader,
    WorkerJoined,
    WorkerLost,
)
from .cluster import Cluster, DiskRead, SimulatedNode
from .scenario import Connection, Scenario

__all__ = ["Engine", "Masters"]


@dataclass(eq=False, slots=True)
class SimulatedWorker:
    """A worker, and what it is at."""

    number: int
    machine: int
    alive: bool = True
    opened: int | None = None
    began: float = 0.0
    packet: Packet | None = None
    read: DiskRead | None = None
    connection: Connection | None = None  # if all files are far
    computed: float = 0.0  # when its CPU will have done the packet
    partial: list[Packet] = field(default_factory=list)
    reserved: deque[Packet] = field(default_factory=deque)
    aside_before: int | None = None  # the number of a packet before which it puts its partial aside
    aside: list[Packet] | None = None


@dataclass(eq=False, slots=True)
class SimulatedMerger:
    """A merger, and what it has."""

    number: int
    alive: bool = True
    free: float = 0.0  # when it will have merged all partials that it has
    partial: list[Packet] = field(default_factory=list)
    handed_over: list[Packet] = field(default_factory=list)  # on its way to the master
    refused: set[int] = field(default_factory=set)
    refused_from: set[int] = field(default_factory=set)


class Masters(Protocol):
    """The masters of the workers: one, or a tree of them."""

    def begin(self) -> None:
        """Lets workers and mergers join."""

    def receive(self, event: Event) -> None:
        """An event of a worker or a merger has arrived at the master that leads it."""

    def tick(self) -> None:
        """A second has passed."""


class Engine:
    """The queue, the workers and the mergers. `masters` must be set before `run`."""

    masters: Masters

    def __init__(self, scenario: Scenario, cluster: Cluster) -> None:
        self.scenario = scenario
        self.cluster = cluster
        self.chance = random.Random(scenario.seed + 1)
        self.workers: list[SimulatedWorker] = []
        self.mergers: list[SimulatedMerger] = []
        self.now = 0.0
        self.finished: float | None = None
        """When the query has ended, if it has."""
        self.timeline = TimelineReader()
        self._noise = scenario.faults.noise
        self._mb = scenario.files.event_kb / 1000.0
        distance = scenario.distance
        self._ahead = 0 if distance is None else distance.ahead(self._mb)
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._posted = 0

    def run(self) -> None:
        """Runs the query to its end."""
        self.masters.begin()
        self.at(1.0, self._tick)
        queue = self._queue
        while queue and self.finished is None:
            self.now, _, happen = heappop(queue)
            happen()
        if self.finished is None:
            raise RuntimeError("no event is left, but the query is not over")

    def spread(self, number: int, die: Callable[[], None]) -> None:
        """Spreads this many deaths over the time in which there are deaths."""
        for i in range(number):
            self.at((i + 1) * self.scenario.faults.deaths_until / (number + 1), die)

    # The queue.

    def at(self, when: float, happen: Callable[[], None]) -> None:
        """Has something happen at a time."""
        self._posted += 1
        heappush(self._queue, (when, self._posted, happen))

    def _varied(self, seconds: float) -> float:
        return seconds * self.chance.lognormvariate(0.0, self._noise) if self._noise else seconds

    # Messages.

    def tell(self, event: Event) -> None:
        """Sends an event to the master of a worker or merger."""
        self.at(self.now + self.scenario.master.latency, partial(self.masters.receive, event))

    def carry_out(self, actions: Sequence[Action]) -> None:
        """Sends orders and hints to workers and mergers."""
        arrives = self.now + self.scenario.master.latency
        for action in actions:
            if isinstance(action, Collect | Refuse | RefuseFrom):
                self.at(arrives, partial(self._obey, action))
            elif isinstance(action, HandOn):
                self.at(arrives, partial(self._hand_on, action))
            elif isinstance(action, Dismiss):
                self.mergers[action.merger].alive = False
            elif isinstance(action, Order | Hint):
                worker = self.workers[action.worker]
                self.at(arrives, partial(self._perform, worker, action))

    def _tick(self) -> None:
        self.masters.tick()
        self.at(self.now + 1.0, self._tick)

    # Mergers. Their events arrive in order, and before their loss.

    def join_merger(self, node: str | None = None) -> None:
        """A merger joins, on this node."""
        merger = SimulatedMerger(len(self.mergers), free=self.now)
        self.mergers.append(merger)
        self.tell(MergerJoined(merger.number, node))

    def die_of_mergers(self) -> None:
        """Lets one of the mergers die, and a new one come in its place later."""
        merger = self.chance.choice([m for m in self.mergers if m.alive])
        merger.alive = False
        self.tell(MergerLost(merger.number))
        self.at(self.now + self.scenario.faults.rejoin, self.join_merger)

    def _take(self, merger: SimulatedMerger, worker: int, packets: list[Packet]) -> None:
        """Merges a worker's partial that has arrived."""
        if merger.alive and worker not in merger.refused:
            merger.free = max(merger.free, self.now) + self.scenario.master.commit
            self.at(merger.free, lambda: self._taken(merger, worker, packets))

    def _taken(self, merger: SimulatedMerger, worker: int, packets: list[Packet]) -> None:
        if merger.alive and worker not in merger.refused:
            merger.partial += packets
            self.tell(Committed(worker, merger.number))

    def _hand_on(self, action: HandOn) -> None:
        """Lets a merger fetch what another one has."""
        giver, to = self.mergers[action.merger], self.mergers[action.to]

        def taken() -> None:
            if to.alive and giver.number not in to.refused_from:
                to.partial += packets
                self.tell(HandedOn(giver.number, to.number))

        if to.alive and giver.alive:  # else the packetizer will hear of it
            packets = list(giver.partial)
            to.free = max(to.free, self.now) + self.scenario.master.fetch
            self.at(to.free, taken)

    def _obey(self, action: Collect | Refuse | RefuseFrom) -> None:
        merger = self.mergers[action.merger]
        if not merger.alive:
            return
        if isinstance(action, Refuse):
            merger.refused.add(action.worker)
            self.tell(Refused(merger.number, action.worker))
        elif isinstance(action, RefuseFrom):
            merger.refused_from.add(action.giver)
            self.tell(RefusedFrom(merger.number, action.giver))
        else:
            merger.handed_over, merger.partial = merger.partial, []
            self.tell(Collected(merger.number))

    # Workers.

    def join(self, machine: int) -> None:
        """A worker joins on a machine."""
        worker = SimulatedWorker(len(self.workers), machine)
        self.workers.append(worker)
        node: str | None = self.cluster.nodes[self.cluster.machines[machine].node].name
        if self.scenario.distance is not None:
            worker.connection = Connection(self.scenario.distance, self._mb, self._varied)
            node = None  # no file is nearer than another
        self.tell(WorkerJoined(worker.number, node))

    def die(self) -> None:
        """Lets one of the workers die, and a new one come in its place later."""
        worker = self.chance.choice([w for w in self.workers if w.alive])
        self.end(worker)
        self.tell(WorkerLost(worker.number))
        self.at(self.now + self.scenario.faults.rejoin, partial(self.join, worker.machine))

    def end(self, worker: SimulatedWorker) -> None:
        """Ends a worker, without a word."""
        worker.alive = False
        if worker.read is not None and worker.packet is not None:
            self._end_read(worker)

    def _perform(self, worker: SimulatedWorker, action: Action) -> None:
        if not worker.alive:
            return
        if worker.connection is not None and not isinstance(action, Commit | Discard):
            self._perform_far(worker, worker.connection, action)
        elif isinstance(action, Process):
            if action.packet in worker.reserved:
                worker.reserved.remove(action.packet)
            self._take_up(worker, action.packet)
        elif isinstance(action, Reserve):
            worker.reserved.append(action.packet)
            worker.aside_before = action.packet.number if action.aside else worker.aside_before
        elif isinstance(action, Forget):
            if action.packet in worker.reserved:
                worker.reserved.remove(action.packet)
        elif isinstance(action, OpenAhead):
            file = self.cluster.files[action.file]
            opened = FileOpened(worker.number, action.file, file.events, file.cuts, beside=True)
            self.at(
                self.now + self._varied(self.scenario.open_seconds),
                lambda: self.tell(opened) if worker.alive else None,
            )
        elif isinstance(action, OpenFile):
            worker.opened = action.file
            file = self.cluster.files[action.file]
            opened = FileOpened(worker.number, action.file, file.events, file.cuts)
            self.at(
                self.now + self._varied(self.scenario.open_seconds),
                lambda: self.tell(opened) if worker.alive else None,
            )
        elif isinstance(action, Commit) and action.merger is not None:
            merger = self.mergers[action.merger]
            if worker.aside is not None:
                packets, worker.aside = worker.aside, None
            else:
                packets, worker.partial = worker.partial, []
            self.at(
                self.now + self.scenario.master.latency,
                lambda: self._take(merger, worker.number, packets),
            )
        elif isinstance(action, Commit):
            self.tell(Committed(worker.number))
        elif isinstance(action, Discard):
            worker.partial, worker.aside = [], None
            self.tell(Discarded(worker.number))

    def _perform_far(self, worker: SimulatedWorker, connection: Connection, action: Action) -> None:
        if isinstance(action, Process):
            worker.packet, worker.began = action.packet, self.now
            machine = self.cluster.machines[worker.machine]
            compute = self._varied(
                machine.seconds(action.packet.stop - action.packet.start, self.now)
            )
            ended = connection.process(action.packet, self.now, compute)
            self.at(ended, lambda: self._packet_done(worker))
        elif isinstance(action, OpenFile | OpenAhead):
            file = self.cluster.files[action.file]
            beside = isinstance(action, OpenAhead)
            opened = FileOpened(
                worker.number, action.file, file.events, file.cuts, self._ahead, beside
            )
            self.at(
                connection.open(action.file, self.now),
                lambda: self.tell(opened) if worker.alive else None,
            )
        elif isinstance(action, Prefetch):
            connection.ask(action.packet, self.now)
        elif isinstance(action, Forget):
            connection.forget(action.packet, self.now)

    def _take_up(self, worker: SimulatedWorker, packet: Packet) -> None:
        if worker.opened == packet.file:
            self._begin(worker, packet)
            return
        worker.opened = packet.file
        wait = self._varied(self.scenario.open_seconds)
        self.at(self.now + wait, partial(self._begin, worker, packet))

    def _begin(self, worker: SimulatedWorker, packet: Packet) -> None:
        if not worker.alive:
            return
        worker.packet, worker.began = packet, self.now
        machine = self.cluster.machines[worker.machine]
        events = packet.stop - packet.start
        compute = self._varied(machine.seconds(events, self.now))
        worker.computed = self.now + compute if self.scenario.overlap else compute
        node = self.cluster.files[packet.file].node
        link = self.cluster.nodes[machine.node].link
        far = node != machine.node
        worker.read = DiskRead(worker.number, events * self._mb, far, link, width=machine.width)
        disk = self.cluster.nodes[node]
        self._expect(disk, disk.begin(worker.read, self.now))

    def _expect(self, node: SimulatedNode, ends: tuple[float, DiskRead] | None) -> None:
        if ends is not None:
            self.at(ends[0], partial(self._read_end, node, ends[1], node.version))

    def _read_end(self, node: SimulatedNode, read: DiskRead, version: int) -> None:
        if node.version != version:
            return
        worker = self.workers[read.worker]
        self._end_read(worker)
        end = worker.computed if self.scenario.overlap else self.now + worker.computed
        self.at(max(end, self.now), lambda: self._packet_done(worker))

    def _end_read(self, worker: SimulatedWorker) -> None:
        assert worker.packet is not None
        assert worker.read is not None
        node = self.cluster.nodes[self.cluster.files[worker.packet.file].node]
        read, worker.read = worker.read, None
        self._expect(node, node.end(read, self.now))

    def _packet_done(self, worker: SimulatedWorker, waited: bool = False) -> None:
        packet = worker.packet
        if not worker.alive or packet is None:
            return
        machine = self.cluster.machines[worker.machine]
        if not worker.reserved and machine.width > 1 and not waited:
            events, cluster = packet.stop - packet.start, self.scenario.files.cluster
            wait = machine.waiting(events, cluster, self.now)
            self.at(self.now + wait, lambda: self._packet_done(worker, waited=True))
            return
        worker.packet = None
        worker.partial.append(packet)
        seconds = self.now - worker.began
        begun = worker.reserved.popleft() if worker.reserved else None
        number = None if begun is None else begun.number
        if begun is not None and number == worker.aside_before:
            worker.aside, worker.partial = worker.partial, []
        done = PacketDone(worker.number, packet.number, packet.stop, seconds, self._ahead, number)
        self.tell(done)
        if begun is not None:
            self._take_up(worker, begun)
