"""One master that leads all workers of a simulation: the queue of what it has to do, and a run from
its begin to its end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from ...scheduling import Collected, Committed, Event, Finish, Packet, Packetizer, Tick, Timeline
from .cluster import Cluster
from .engine import Engine
from .scenario import Scenario
from .strategies import OURS, STRATEGIES, Strategy

__all__ = ["OneMaster", "SimulationOutcome", "simulate"]

# The queue of a master: it answers one message after another, and notes its load. Knows no
# messages and no queue.

Answer = TypeVar("Answer")


@dataclass
class MasterLoad:
    """What a master had to do."""

    messages: int = 0
    busy: float = 0.0
    """Seconds for which it was at its messages, by the scenario's costs."""
    merges: int = 0
    merging: float = 0.0
    """Seconds of these for merges."""
    waited: float = 0.0
    """The sum of the seconds for which messages waited for their turn."""
    longest_wait: float = 0.0
    decisions: float = 0.0
    """Seconds of CPU that its decisions took in reality, if they were measured."""


class MasterQueue:
    """A master's queue of messages."""

    def __init__(self, clock: Callable[[], float] | None) -> None:
        """`clock`: CPU seconds, if decisions are to be measured."""
        self.load = MasterLoad()
        self._clock = clock
        self._free = 0.0  # when all messages that have come will be answered

    def admit(self, now: float, cost: float, merges: bool = False) -> float:
        """A message comes. Returns when it is answered."""
        load = self.load
        wait = max(self._free - now, 0.0)
        self._free = now + wait + cost
        load.messages += 1
        load.busy += cost
        load.waited += wait
        load.longest_wait = max(load.longest_wait, wait)
        if merges:
            load.merges += 1
            load.merging += cost
        return self._free

    def decide(self, decision: Callable[[], Answer]) -> Answer:
        """Makes a decision."""
        if self._clock is None:
            return decision()
        began = self._clock()
        try:
            return decision()
        finally:
            self.load.decisions += self._clock() - began


class OneMaster:
    """See Masters."""

    def __init__(
        self, engine: Engine, name: str, strategy: Strategy, clock: Callable[[], float] | None
    ) -> None:
        """`name`: the strategy's."""
        self.result: list[Packet] = []
        """What is in the result, noted independently of the strategy."""
        self._engine = engine
        self._strategy = strategy
        self._ours = name in OURS
        self._queue = MasterQueue(clock)
        self._fetching = False

    @property
    def entries(self) -> int:
        """Events in the result."""
        return sum(packet.stop - packet.start for packet in self.result)

    @property
    def load(self) -> MasterLoad:
        """What the master had to do."""
        return self._queue.load

    def begin(self) -> None:
        """See Masters."""
        engine, faults = self._engine, self._engine.scenario.faults
        for _ in range(engine.scenario.mergers if self._ours else 0):
            engine.join_merger()
        if self._ours and engine.scenario.roots is not None:
            for node in engine.cluster.nodes:
                engine.join_merger(node.name)
        for machine in range(len(engine.cluster.machines)):
            engine.join(machine)
        if self._ours:
            engine.spread(faults.deaths, engine.die)
            engine.spread(faults.merger_deaths, engine.die_of_mergers)

    def receive(self, event: Event) -> None:
        """See Masters."""
        master = self._engine.scenario.master
        merges = isinstance(event, Collected) or (
            isinstance(event, Committed) and event.merger is None
        )
        cost = master.commit if merges else master.request
        answered = self._queue.admit(self._engine.now, cost, merges)
        self._engine.at(answered, partial(self._answer, event))

    def tick(self) -> None:
        """See Masters."""
        self._answer(Tick())

    def _answer(self, event: Event) -> None:
        engine = self._engine
        if isinstance(event, Collected):
            merger = engine.mergers[event.merger]
            if merger.alive:
                self.result += merger.handed_over
                merger.handed_over = []
        elif isinstance(event, Committed) and event.merger is None:
            worker = engine.workers[event.worker]
            if worker.alive:
                self.result += worker.partial
                worker.partial = []
        actions = self._queue.decide(lambda: self._strategy.handle(event, engine.now))
        engine.timeline.follow(engine.now, event, actions)
        engine.carry_out(actions)
        if any(isinstance(action, Finish) for action in actions):
            engine.finished = engine.now
        elif engine.scenario.roots is not None and isinstance(self._strategy, Packetizer):
            self._fetch(self._strategy)

    def _fetch(self, packetizer: Packetizer) -> None:
        """Lets the client fetch the result, once mergers have all of it."""
        if self._fetching or not packetizer.only_mergers_hold:
            return
        self._fetching = True
        engine, holding = self._engine, packetizer.holding
        costs = engine.scenario.master

        def fetched() -> None:
            self._fetching = False
            if packetizer.only_mergers_hold and packetizer.holding == holding:
                for number in holding:
                    merger = engine.mergers[number]
                    merger.handed_over, merger.partial = merger.partial, []
                    self._answer(Collected(number))

        seconds = 2 * costs.latency + len(holding) * (2 * costs.latency + costs.fetch)
        engine.at(engine.now + seconds, fetched)


# Runs a scenario's query once. Its outcome: the timeline, and the best time that was possible.


@dataclass(frozen=True, kw_only=True)
class SimulationOutcome(Timeline):
    """The timeline of a simulated query from its trace. `entries` is counted by the simulation
    itself, as a check."""

    scenario: str
    strategy: str
    workers: int
    ideal: float
    """Seconds of the query if every worker read from its own node and none waited, without noise
    and faults."""
    entries: int
    """Events in the result, each counted once."""
    twice: int
    """Events that are in the result once more."""
    expected: int
    """Events of the dataset."""
    fetched: bool = False
    """Whether a client has fetched what mergers had."""
    load: MasterLoad = field(default_factory=MasterLoad)
    """What the master had to do."""

    @property
    def last_merges(self) -> float:
        """Seconds from the end of the last packet to the query's end."""
        return self.seconds - max(span.ended for span in self.spans)


def simulate(
    scenario: Scenario, strategy: str = "treemill", clock: Callable[[], float] | None = None
) -> SimulationOutcome:
    """Runs the query of a scenario once, with the named strategy. `clock`: CPU seconds of this
    process, by which it is measured what the master's decisions take."""
    cluster = Cluster(scenario)
    engine = Engine(scenario, cluster)
    master = OneMaster(engine, strategy, STRATEGIES[strategy](scenario, cluster), clock)
    engine.masters = master
    engine.run()
    entries, twice = _counted(master.result)
    return SimulationOutcome(
        scenario=scenario.name,
        strategy=strategy,
        workers=len(cluster.machines),
        ideal=_ideal(scenario, cluster),
        entries=entries,
        twice=twice,
        expected=cluster.events,
        fetched=scenario.roots is not None,
        load=master.load,
        **vars(engine.timeline.timeline()),
    )


def _counted(packets: list[Packet]) -> tuple[int, int]:
    """The entries that these packets have, and how many of these more than one has."""
    entries = twice = 0
    file, stop = -1, 0
    for packet in sorted(packets, key=lambda each: (each.file, each.start)):
        if packet.file != file:
            file, stop = packet.file, 0
        first = max(packet.start, stop)
        entries += max(packet.stop - first, 0)
        twice += min(first, packet.stop) - packet.start
        stop = max(stop, packet.stop)
    return entries, twice


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
