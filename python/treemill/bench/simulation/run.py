"""The simulation: an event queue in which workers read and compute, mergers merge, messages travel,
and the master answers one event after another. Knows the packetizer as a `Strategy`."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush

from ...packetizer import (
    Action,
    Collect,
    Collected,
    Commit,
    Committed,
    Discard,
    Discarded,
    Event,
    FileOpened,
    Finish,
    Forget,
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
    Tick,
    Timeline,
    Trace,
    WorkerJoined,
    WorkerLost,
)
from .cluster import Cluster, Read
from .distance import Connection
from .outcome import Outcome
from .scenario import Scenario
from .strategies import OURS, STRATEGIES, Strategy

__all__ = ["Outcome", "simulate"]


@dataclass(eq=False, slots=True)
class _Worker:
    number: int
    machine: int
    alive: bool = True
    opened: int | None = None
    began: float = 0.0
    packet: Packet | None = None
    read: Read | None = None
    connection: Connection | None = None  # if all files are far
    computed: float = 0.0  # when its CPU will have done the packet
    partial: int = 0  # events


@dataclass(eq=False, slots=True)
class _Merger:
    number: int
    alive: bool = True
    free: float = 0.0  # when it will have merged all partials that it has
    partial: int = 0  # events
    handed_over: int = 0  # events on their way to the master
    refused: set[int] = field(default_factory=set)


def simulate(scenario: Scenario, strategy: str = "treemill") -> Outcome:
    """Runs the query of a scenario once, with the named strategy."""
    cluster = Cluster(scenario)
    return _Simulation(scenario, cluster, STRATEGIES[strategy](scenario, cluster)).run(strategy)


class _Simulation:
    def __init__(self, scenario: Scenario, cluster: Cluster, strategy: Strategy) -> None:
        self._scenario = scenario
        self._cluster = cluster
        self._strategy = strategy
        self._chance = random.Random(scenario.seed + 1)
        self._noise = scenario.faults.noise
        self._mb = scenario.files.event_kb / 1000.0
        distance = scenario.distance
        self._ahead = 0 if distance is None else distance.ahead(self._mb)
        self._workers: list[_Worker] = []
        self._mergers: list[_Merger] = []
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._posted = 0
        self._now = 0.0
        self._master_free = 0.0
        self._finished: float | None = None
        self._entries = 0  # in the result, counted independently of the strategy
        self._trace = Trace()

    def run(self, strategy: str) -> Outcome:
        ours = strategy in OURS
        for _ in range(self._scenario.mergers if ours else 0):
            self._join_merger()
        for machine in range(len(self._cluster.machines)):
            self._join(machine)
        self._at(1.0, self._tick)
        faults = self._scenario.faults
        for deaths, die in (
            (faults.deaths, self._die),
            (faults.merger_deaths, self._die_of_mergers),
        ):
            for i in range(deaths if ours else 0):
                self._at((i + 1) * faults.deaths_until / (deaths + 1), die)
        while self._queue and self._finished is None:
            self._now, _, happen = heappop(self._queue)
            happen()
        if self._finished is None:
            raise RuntimeError(f"{strategy}: no event is left, but the query is not over")
        timeline = Timeline.of(self._trace)
        return Outcome(
            scenario=self._scenario.name,
            strategy=strategy,
            workers=len(self._cluster.machines),
            ideal=_ideal(self._scenario, self._cluster),
            entries=self._entries,
            expected=self._cluster.events,
            **vars(timeline),
        )

    # The queue.

    def _at(self, when: float, happen: Callable[[], None]) -> None:
        self._posted += 1
        heappush(self._queue, (when, self._posted, happen))

    def _varied(self, seconds: float) -> float:
        return seconds * self._chance.lognormvariate(0.0, self._noise) if self._noise else seconds

    # Messages and the master.

    def _tell(self, event: Event) -> None:
        """Sends an event to the master, which answers events in turn."""
        self._at(self._now + self._scenario.master.latency, lambda: self._arrive(event))

    def _arrive(self, event: Event) -> None:
        master = self._scenario.master
        merges = isinstance(event, Collected) or (
            isinstance(event, Committed) and event.merger is None
        )
        cost = master.commit if merges else master.request
        self._master_free = max(self._master_free, self._now) + cost
        self._at(self._master_free, lambda: self._answer(event))

    def _answer(self, event: Event) -> None:
        if isinstance(event, Collected):
            merger = self._mergers[event.merger]
            if merger.alive:
                self._entries += merger.handed_over
                merger.handed_over = 0
        elif isinstance(event, Committed) and event.merger is None:
            worker = self._workers[event.worker]
            if worker.alive:
                self._entries += worker.partial
                worker.partial = 0
        actions = self._strategy.handle(event, self._now)
        self._trace.record(self._now, event, actions)
        for action in actions:
            if isinstance(action, Finish):
                self._finished = self._now
            elif isinstance(action, Collect | Refuse):
                self._at(self._now + self._scenario.master.latency, partial(self._obey, action))
            elif isinstance(action, Order | Hint):
                self._send(action)

    def _send(self, action: Order | Hint) -> None:
        worker = self._workers[action.worker]
        self._at(self._now + self._scenario.master.latency, lambda: self._perform(worker, action))

    def _tick(self) -> None:
        self._answer(Tick())
        self._at(self._now + 1.0, self._tick)

    # Mergers. Their events arrive in order, and before their loss.

    def _join_merger(self) -> None:
        merger = _Merger(len(self._mergers), free=self._now)
        self._mergers.append(merger)
        self._tell(MergerJoined(merger.number))

    def _die_of_mergers(self) -> None:
        merger = self._chance.choice([m for m in self._mergers if m.alive])
        merger.alive = False
        self._tell(MergerLost(merger.number))
        self._at(self._now + self._scenario.faults.rejoin, self._join_merger)

    def _take(self, merger: _Merger, worker: int, events: int) -> None:
        """Merges a worker's partial that has arrived."""
        if merger.alive and worker not in merger.refused:
            merger.free = max(merger.free, self._now) + self._scenario.master.commit
            self._at(merger.free, lambda: self._taken(merger, worker, events))

    def _taken(self, merger: _Merger, worker: int, events: int) -> None:
        if merger.alive and worker not in merger.refused:
            merger.partial += events
            self._tell(Committed(worker, merger.number))

    def _obey(self, action: Collect | Refuse) -> None:
        merger = self._mergers[action.merger]
        if not merger.alive:
            return
        if isinstance(action, Refuse):
            merger.refused.add(action.worker)
            self._tell(Refused(merger.number, action.worker))
        else:
            merger.handed_over, merger.partial = merger.partial, 0
            self._tell(Collected(merger.number))

    # Workers.

    def _join(self, machine: int) -> None:
        worker = _Worker(len(self._workers), machine)
        self._workers.append(worker)
        node: str | None = self._cluster.nodes[self._cluster.machines[machine].node].name
        if self._scenario.distance is not None:
            worker.connection = Connection(self._scenario.distance, self._mb, self._varied)
            node = None  # no file is nearer than another
        self._tell(WorkerJoined(worker.number, node))

    def _die(self) -> None:
        worker = self._chance.choice([w for w in self._workers if w.alive])
        worker.alive = False
        if worker.read is not None and worker.packet is not None:
            self._end_read(worker)
        self._tell(WorkerLost(worker.number))
        self._at(self._now + self._scenario.faults.rejoin, lambda: self._join(worker.machine))

    def _perform(self, worker: _Worker, action: Action) -> None:
        if not worker.alive:
            return
        if worker.connection is not None and not isinstance(action, Commit | Discard):
            self._perform_far(worker, worker.connection, action)
        elif isinstance(action, Process):
            wait = 0.0
            if worker.opened != action.packet.file:
                worker.opened = action.packet.file
                wait = self._varied(self._scenario.open_seconds)
            packet = action.packet
            self._at(self._now + wait, lambda: self._begin(worker, packet))
        elif isinstance(action, OpenFile):
            worker.opened = action.file
            file = self._cluster.files[action.file]
            opened = FileOpened(worker.number, action.file, file.events, file.cuts)
            self._at(
                self._now + self._varied(self._scenario.open_seconds),
                lambda: self._tell(opened) if worker.alive else None,
            )
        elif isinstance(action, Commit) and action.merger is not None:
            merger, events, worker.partial = self._mergers[action.merger], worker.partial, 0
            self._at(
                self._now + self._scenario.master.latency,
                lambda: self._take(merger, worker.number, events),
            )
        elif isinstance(action, Commit):
            self._tell(Committed(worker.number))
        elif isinstance(action, Discard):
            worker.partial = 0
            self._tell(Discarded(worker.number))

    def _perform_far(self, worker: _Worker, connection: Connection, action: Action) -> None:
        if isinstance(action, Process):
            worker.packet, worker.began = action.packet, self._now
            rate = self._cluster.machines[worker.machine].rate
            compute = self._varied((action.packet.stop - action.packet.start) / rate)
            ended = connection.process(action.packet, self._now, compute)
            self._at(ended, lambda: self._packet_done(worker))
        elif isinstance(action, OpenFile | OpenAhead):
            file = self._cluster.files[action.file]
            beside = isinstance(action, OpenAhead)
            opened = FileOpened(
                worker.number, action.file, file.events, file.cuts, self._ahead, beside
            )
            self._at(
                connection.open(action.file, self._now),
                lambda: self._tell(opened) if worker.alive else None,
            )
        elif isinstance(action, Prefetch):
            connection.ask(action.packet, self._now)
        elif isinstance(action, Forget):
            connection.forget(action.packet, self._now)

    def _begin(self, worker: _Worker, packet: Packet) -> None:
        if not worker.alive:
            return
        worker.packet, worker.began = packet, self._now
        machine = self._cluster.machines[worker.machine]
        events = packet.stop - packet.start
        compute = self._varied(events / machine.rate)
        worker.computed = self._now + compute if self._scenario.overlap else compute
        node = self._cluster.files[packet.file].node
        link = self._cluster.nodes[machine.node].link
        worker.read = Read(worker.number, events * self._mb, node != machine.node, link)
        self._expect(self._cluster.nodes[node].begin(worker.read, self._now))

    def _expect(self, ends: list[tuple[float, Read]]) -> None:
        for when, read in ends:
            self._at(when, partial(self._read_end, read, read.version))

    def _read_end(self, read: Read, version: int) -> None:
        worker = self._workers[read.worker]
        if read.version != version or worker.read is not read:
            return
        self._end_read(worker)
        end = worker.computed if self._scenario.overlap else self._now + worker.computed
        self._at(max(end, self._now), lambda: self._packet_done(worker))

    def _end_read(self, worker: _Worker) -> None:
        assert worker.packet is not None
        assert worker.read is not None
        node = self._cluster.nodes[self._cluster.files[worker.packet.file].node]
        read, worker.read = worker.read, None
        self._expect(node.end(read, self._now))

    def _packet_done(self, worker: _Worker) -> None:
        packet = worker.packet
        if not worker.alive or packet is None:
            return
        worker.packet = None
        events = packet.stop - packet.start
        worker.partial += events
        seconds = self._now - worker.began
        self._tell(PacketDone(worker.number, packet.number, packet.stop, seconds, self._ahead))


def _ideal(scenario: Scenario, cluster: Cluster) -> float:
    """The seconds of the query if every worker read from its own node, or from far at the full
    speed of its connection, and none ever waited."""
    rate = 0.0
    for generation in scenario.generations:
        workers = generation.workers
        disk = generation.disk / (1.0 + scenario.seek * (workers - 1)) / workers
        speed = disk if scenario.distance is None else scenario.distance.stream
        reading = scenario.files.event_kb / 1000.0 / speed
        computing = 1.0 / generation.rate
        overlaps = scenario.overlap or scenario.distance is not None
        each = max(reading, computing) if overlaps else reading + computing
        rate += generation.nodes * workers / each
    return cluster.events / rate
