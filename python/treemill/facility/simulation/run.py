"""Runs a scenario's query once. Its outcome: the timeline, and the best time that was possible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ...scheduling import Packet, Timeline
from .cluster import Cluster
from .engine import Engine
from .master_queue import MasterLoad
from .one_master import OneMaster
from .scenario import Scenario
from .strategies import STRATEGIES

__all__ = ["SimulationOutcome", "simulate"]


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
