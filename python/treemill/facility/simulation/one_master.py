"""One master that leads all workers of a simulation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...scheduling import Collected, Committed, Event, Finish, Packet, Packetizer, Tick
from .engine import Engine
from .master_queue import MasterLoad, MasterQueue
from .strategies import OURS, Strategy

__all__ = ["OneMaster"]


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
