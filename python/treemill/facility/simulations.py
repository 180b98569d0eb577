"""Runs scenarios for `treemill bench simulate`, and makes the lines of tables and the series of
figures. Neither prints nor draws."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ..pictures.line_charts import Panel, Series
from .simulation.run import SimulationOutcome, simulate
from .simulation.scenario import Scenario

__all__ = ["HEADER", "LOADS_HEADER", "loads_row", "outcomes", "panels", "row"]

HEADER = (
    f"{'scenario':14} {'workers':>7} {'led by':9} {'seconds':>8} {'ideal':>7} {'idle at end':>16} "
    f"{'wasted':>7} {'last packet':>11} {'packets':>8} {'in vain':>7}"
)
LOADS_HEADER = (
    f"{'scenario':14} {'workers':>7} {'messages/s':>10} {'busy':>6} {'merging':>7} "
    f"{'mean wait':>9} {'longest':>9} {'a decision':>10}"
)


def outcomes(
    scenario: Scenario, strategies: Sequence[str], nodes: Sequence[int], seeds: int = 1
) -> Iterator[SimulationOutcome]:
    """The outcomes of all strategies at all numbers of nodes; without numbers, at the scenario's
    own. With several seeds, the outcome with the median time."""
    for number in nodes or scenario.sweep or (scenario.nodes,):
        for strategy in strategies:
            with _without_collector():
                runs = [
                    simulate(
                        replace(scenario.at(number), seed=scenario.seed + i),
                        strategy,
                        time.thread_time,
                    )
                    for i in range(seeds)
                ]
            yield sorted(runs, key=lambda outcome: outcome.seconds)[seeds // 2]


@contextmanager
def _without_collector() -> Iterator[None]:
    """A simulation makes millions of small objects and no circles of them: looking for circles
    would take a third of its time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def row(outcome: SimulationOutcome) -> str:
    """The outcome as a line under HEADER."""
    idle = f"{outcome.idle_at_end:.1f} s ({outcome.idle_at_end / outcome.seconds:6.1%})"
    missing = outcome.expected - outcome.entries
    return (
        f"{outcome.scenario:14} {outcome.workers:7,} {outcome.strategy:9} "
        f"{outcome.seconds:6.1f} s {outcome.ideal:5.1f} s {idle:>16} {outcome.wasted:7.1%} "
        f"{outcome.last_packet:9.1f} s {len(outcome.spans):8,} {len(outcome.thrown_away):7,}"
        + (f"  {outcome.last_merges:.2f} s of merging at the end" if outcome.fetched else "")
        + (f"  {missing:,} events missing!" if missing else "")
    )


def loads_row(outcome: SimulationOutcome) -> str:
    """Returns what the master had to do, as a line under LOADS_HEADER. A decision is measured in
    CPU time on this machine; all else follows from the scenario's costs."""
    load = outcome.load
    return (
        f"{outcome.scenario:14} {outcome.workers:7,} "
        f"{load.messages / outcome.seconds:10,.1f} {load.busy / outcome.seconds:6.1%} "
        f"{load.merging / outcome.seconds:7.2%} "
        f"{1e3 * load.waited / max(load.messages, 1):6.2f} ms {1e3 * load.longest_wait:6.1f} ms "
        f"{1e6 * load.decisions / max(load.messages, 1):7.1f} us"
    )


def panels(title: str, done: Iterable[SimulationOutcome]) -> list[Panel]:
    """Three pictures: the query's time over the number of workers, the last packet's time over the
    number of workers, and the number of busy workers over time in the largest cluster."""
    by_strategy: dict[str, list[SimulationOutcome]] = {}
    for outcome in done:
        by_strategy.setdefault(outcome.strategy, []).append(outcome)
    some = next(iter(by_strategy.values()))
    workers = [o.workers for o in some]
    time = [
        Series(name, [o.workers for o in many], [o.seconds for o in many])
        for name, many in by_strategy.items()
    ]
    time.append(Series("no waiting", workers, [o.ideal for o in some], dashed=True))
    last = [
        Series(name, [o.workers for o in many], [o.last_packet for o in many])
        for name, many in by_strategy.items()
    ]
    active = [Series(name, *many[-1].activity()) for name, many in by_strategy.items()]
    return [
        Panel(title, "workers", "query (s)", time, marked=True),
        Panel("the packet that ends last", "workers", "its time (s)", last, marked=True),
        Panel(f"{max(workers):,} workers", "time (s)", "workers at a packet", active),
    ]
