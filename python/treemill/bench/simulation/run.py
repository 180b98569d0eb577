"""Runs a scenario's query once, and makes its outcome."""

from __future__ import annotations

from collections.abc import Callable

from .cluster import Cluster
from .engine import Engine
from .one_master import OneMaster
from .outcome import Outcome
from .scenario import Scenario
from .strategies import STRATEGIES
from .tree import Tree

__all__ = ["Outcome", "simulate"]


def simulate(
    scenario: Scenario, strategy: str = "treemill", clock: Callable[[], float] | None = None
) -> Outcome:
    """Runs the query of a scenario once, with the named strategy. `clock`: CPU seconds of this
    process, by which it is measured what masters' decisions take."""
    cluster = Cluster(scenario)
    engine = Engine(scenario, cluster)
    masters: OneMaster | Tree
    if scenario.submasters:
        if strategy != "treemill":
            raise ValueError(f"{strategy} has no sub-masters")
        masters = Tree(engine, clock)
    else:
        masters = OneMaster(engine, strategy, STRATEGIES[strategy](scenario, cluster), clock)
    engine.masters = masters
    engine.run()
    return Outcome(
        scenario=scenario.name,
        strategy=strategy,
        workers=len(cluster.machines),
        ideal=_ideal(scenario, cluster),
        entries=masters.entries,
        expected=cluster.events,
        fetched=scenario.roots is not None,
        loads=masters.loads,
        **vars(engine.timeline.timeline()),
    )


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
