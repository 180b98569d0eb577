"""A master with sub-masters, each of which leads the workers of a part of the nodes. A sub-master
that dies takes what it had merged with it; its workers start anew under another one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ...packetizer import (
    Action,
    Collected,
    Commit,
    Committed,
    Event,
    FileSize,
    Finish,
    Halt,
    MergerLost,
    Tick,
    WorkerLost,
)
from ...submasters import (
    Crew,
    HandedUp,
    Leasing,
    Lessor,
    Reach,
    Step,
    SubLost,
    SubMaster,
)
from .desk import Desk, Load
from .engine import Engine
from .strategies import policy, sizing

__all__ = ["Tree"]


@dataclass(eq=False)
class _Sub:
    """A sub-master and its machines."""

    sub: SubMaster
    desk: Desk
    machines: range
    batch: int  # what is merged into its partial now
    partial: int = 0  # events
    alive: bool = True
    workers: set[int] = field(default_factory=set)


class Tree:
    """See Masters."""

    def __init__(self, engine: Engine, clock: Callable[[], float] | None) -> None:
        self.entries = 0
        """Events in the result, counted independently of the lessor."""
        self._engine = engine
        self._clock = clock
        scenario, cluster = engine.scenario, engine.cluster
        self._policy = policy(scenario)
        self._sizing = sizing(scenario)
        self._leasing = replace(Leasing.of(self._sizing), hand_up_seconds=scenario.collect_seconds)
        count = min(scenario.submasters, len(cluster.nodes))
        self._sites = [node * count // len(cluster.nodes) for node in range(len(cluster.nodes))]
        reaches = [Reach(frozenset([f"rack {site}"])) for site in range(count)]
        self._desk = Desk(clock)
        known = scenario.files.known
        self._lessor = Lessor(
            [FileSize(f.events, f.cuts) if known else None for f in cluster.files],
            self._leasing,
            reach=lambda file: reaches[self._sites[cluster.files[file].node]],
            expected=[f"rack {site}" for site in range(count)],
        )
        self._subs: dict[int, _Sub] = {}
        self._of: list[_Sub] = []  # by worker
        self._numbers = itertools.count()
        self._batches = itertools.count()
        self._dead: list[Load] = []  # of sub-masters that have died

    @property
    def loads(self) -> tuple[Load, ...]:
        """What the master and the sub-masters had to do."""
        return (self._desk.load, *(sub.desk.load for sub in self._subs.values()), *self._dead)

    def begin(self) -> None:
        """See Masters."""
        sites, first = self._sites, 0
        machines = [machine.node for machine in self._engine.cluster.machines]
        for i in range(1, len(machines) + 1):
            if i == len(machines) or sites[machines[i]] != sites[machines[first]]:
                self._join(range(first, i))
                first = i
        faults = self._engine.scenario.faults
        self._engine.spread(faults.deaths, self._worker_dies)
        self._engine.spread(faults.submaster_deaths, self._die)

    # Sub-masters.

    def _join(self, machines: range) -> None:
        engine = self._engine
        cluster, number = engine.cluster, next(self._numbers)
        crew = Crew(
            replace(self._policy, expected_workers=len(machines)),
            self._sizing,
            lambda file: cluster.nodes[cluster.files[file].node].name,
            engine.scenario.max_foreign,
        )
        site = f"rack {self._sites[cluster.machines[machines[0]].node]}"
        made = SubMaster(number, site, crew, self._leasing)
        sub = _Sub(made, Desk(self._clock), machines, next(self._batches))
        self._subs[number] = sub
        self._up(sub, made.join(engine.now), 0)
        for machine in machines:
            self._join_worker(sub, machine)

    def _join_worker(self, sub: _Sub, machine: int) -> None:
        if sub.alive:
            sub.workers.add(len(self._of))
            self._of.append(sub)
            self._engine.join(machine)

    def _worker_dies(self) -> None:
        engine = self._engine
        worker = engine.chance.choice([worker for worker in engine.workers if worker.alive])
        sub = self._of[worker.number]
        sub.workers.discard(worker.number)
        engine.end(worker)
        engine.tell(WorkerLost(worker.number))
        again = partial(self._join_worker, sub, worker.machine)
        engine.at(engine.now + engine.scenario.faults.rejoin, again)

    def _die(self) -> None:
        engine = self._engine
        sub = engine.chance.choice(list(self._subs.values()))
        number = sub.sub.number
        sub.alive = False
        self._dead.append(self._subs.pop(number).desk.load)
        for worker in sorted(sub.workers):
            engine.end(engine.workers[worker])
            engine.timeline.follow(engine.now, WorkerLost(worker), ())
        engine.timeline.follow(engine.now, MergerLost(sub.batch), ())
        arrives = engine.now + engine.scenario.master.latency
        engine.at(arrives, partial(self._up_arrives, None, [SubLost(number)], 0, 0))
        engine.at(engine.now + engine.scenario.faults.rejoin, partial(self._join, sub.machines))

    def hear(self, event: Event) -> None:
        """See Masters."""
        sub = self._of[event.worker]  # type: ignore[union-attr]
        if sub.alive:
            master = self._engine.scenario.master
            merges = isinstance(event, Committed)
            cost = master.commit if merges else master.request
            answered = sub.desk.admit(self._engine.now, cost, merges)
            self._engine.at(answered, partial(self._answer, sub, event))

    def tick(self) -> None:
        """See Masters."""
        self._lead(self._lessor.handle(Tick(), self._engine.now))
        for sub in list(self._subs.values()):
            self._answer(sub, Tick())

    def _answer(self, sub: _Sub, event: Any) -> None:
        engine = self._engine
        if not sub.alive:
            return
        if isinstance(event, Committed):
            worker = engine.workers[event.worker]
            if worker.alive:
                sub.partial += worker.partial
                worker.partial = 0
        step: Step = sub.desk.decide(lambda: sub.sub.handle(event, engine.now))
        if isinstance(event, Event):
            self._follow(sub, event, step.orders)
        elif step.orders:
            engine.timeline.follow(engine.now, Tick(), step.orders)
        engine.carry_out(step.orders)
        self._up(sub, step.up, 0)
        if sub.sub.due(engine.now):
            batch, sub.batch = sub.batch, next(self._batches)
            events, sub.partial = sub.partial, 0
            messages = sub.desk.decide(lambda: sub.sub.hand_up(engine.now))
            self._up(sub, messages, events, batch)

    def _follow(self, sub: _Sub, event: Event, orders: Sequence[Action]) -> None:
        """What is committed to a sub-master is like what is committed to a merger."""
        now, timeline = self._engine.now, self._engine.timeline
        if isinstance(event, Committed):
            timeline.follow(now, Tick(), (Commit(event.worker, sub.batch),))
            event = Committed(event.worker, sub.batch)
        timeline.follow(now, event, orders)

    # The master.

    def _up(self, sub: _Sub, messages: Sequence[Any], events: int, batch: int = -1) -> None:
        if messages:
            engine = self._engine
            arrives = engine.now + engine.scenario.master.latency
            engine.at(arrives, partial(self._up_arrives, sub, messages, events, batch))

    def _up_arrives(
        self, sub: _Sub | None, messages: Sequence[Any], events: int, batch: int
    ) -> None:
        """Messages of one sub-master that were sent together arrive together."""
        master = self._engine.scenario.master
        merges = any(isinstance(message, HandedUp) for message in messages)
        answered = self._desk.admit(
            self._engine.now, master.commit if merges else master.request, merges
        )
        self._engine.at(answered, partial(self._up_answer, messages, events, batch))

    def _up_answer(self, messages: Sequence[Any], events: int, batch: int) -> None:
        engine = self._engine
        if messages[0].sub in self._lessor.subs and batch >= 0:
            self.entries += events
            engine.timeline.follow(engine.now, Collected(batch), ())
        orders: list[Any] = []
        for message in messages:
            orders += self._desk.decide(partial(self._lessor.handle, message, engine.now))
        self._lead(orders)

    def _lead(self, orders: Sequence[Any]) -> None:
        engine = self._engine
        for order in orders:
            if isinstance(order, Finish):
                engine.finished = engine.now
            elif not isinstance(order, Halt) and order.sub in self._subs:
                sub = self._subs[order.sub]
                engine.at(
                    engine.now + engine.scenario.master.latency, partial(self._down, sub, order)
                )

    def _down(self, sub: _Sub, order: Any) -> None:
        if sub.alive:
            answered = sub.desk.admit(self._engine.now, self._engine.scenario.master.request)
            self._engine.at(answered, partial(self._answer, sub, order))
