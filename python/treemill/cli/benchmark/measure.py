"""Runs the plan of a benchmark on one system after the other, and notes what each run took."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ...bench.scaling.breakdown import broken_down
from ...bench.scaling.measurements import Measurement
from ...bench.scaling.plan import PlannedQuery, ScalingPlan
from ...errors import WorkerError
from . import page_cache
from .standard import EVENTS, Digest, Gaussians, booked, digest, same
from .systems import session_on

if TYPE_CHECKING:
    from ...dataset import Dataset
    from ...session.session import Session

__all__ = ["Benchmark"]

_TRACE = 100_000
"""Records of a run that are kept."""


@dataclass
class Benchmark:
    """A dataset, what is said while it is measured, and what was measured."""

    events: Dataset
    say: Callable[[str], None]
    drops: bool = True
    """Whether caches are dropped before each run."""
    on_host: int | None = None
    """Workers on each host of a cluster, at most; None: any number."""
    measured: list[Measurement] = field(default_factory=list)
    _hosts: int = 1  # of the workers of the session
    _digests: dict[tuple[str, int], Digest] = field(default_factory=dict)

    def run(self, system: str, plan: ScalingPlan) -> None:
        """Measures all of a plan on a system. Raises TreemillError if a query fails."""
        for workers in plan.workers:
            with session_on(system, workers, _TRACE, self.on_host) as session:
                self._warm_up(session)
                for step in plan.steps(workers):
                    self._note(self._step(session, system, step, self.events))

    def baseline(self, plan: ScalingPlan) -> None:
        """Measures the queries on the first file, in one thread of this process."""
        from ...dataset import dataset  # start-up

        first = self.events.chain.locations[0]
        alone = dataset(first.path, first.tree)
        events = min(alone.num_entries, plan.events)
        cycles = max(plan.cycles // max(len(self.events.files), 1), 1)
        with session_on("threads", 1, _TRACE) as session:
            self._warm_up(session)
            for number in range(plan.rounds):
                for query in plan.queries:
                    step = PlannedQuery(1, query, number, cycles if query == "cpu" else events)
                    self._note(self._step(session, "threads", step, alone, baseline=True))

    def _warm_up(self, session: Session) -> None:
        """Workers import what they need, outside of any measurement."""
        session.run(Gaussians(), cycles=session.workers, progress=False)
        report = session.report
        self._hosts = _hosts(None if report is None else report.trace)

    def _step(
        self,
        session: Session,
        system: str,
        step: PlannedQuery,
        events: Dataset,
        baseline: bool = False,
    ) -> Measurement:
        reads = step.query != "cpu"
        caches = page_cache.NO_DATA
        if reads:
            caches = page_cache.drop(
                session, events.files, system, wanted=self.drops, hosts=self._hosts
            )
        began = time.perf_counter()
        results = self._results(session, step, events)
        seconds = time.perf_counter() - began
        report = session.report
        assert report is not None
        if report.missing:
            raise WorkerError(f"{step.query} has lost entries: {report.missing[0]}")
        trace: Any = report.trace
        self._hosts = max(self._hosts, _hosts(trace))
        breakdown = None if trace is None else broken_down(trace, step.workers, seconds)
        if breakdown is not None and not reads:  # the trace's entries are cycles
            breakdown = replace(breakdown, peak=EVENTS * breakdown.peak)
        return Measurement(
            system,
            step.query,
            step.workers,
            step.round,
            seconds,
            step.events if reads else EVENTS * _cycles(step),
            bytes_read=report.bytes_read,
            bytes_from_cache=report.bytes_from_cache,
            caches=caches,
            hosts=self._hosts,
            files=len(report.processed) if reads else 0,
            baseline=baseline,
            agrees=self._agrees(step, digest(results), baseline),
            breakdown=breakdown,
        )

    def _results(self, session: Session, step: PlannedQuery, events: Dataset) -> Sequence[object]:
        if step.query == "cpu":
            output: Any = session.run(Gaussians(), cycles=_cycles(step), seed=1, progress=False)
            return [output[name] for name in sorted(output)]
        bookings = booked(step.query, events, step.events)
        found: Any = session.run(bookings, entries=step.events, progress=False)
        return list(found)

    def _agrees(self, step: PlannedQuery, found: Digest, baseline: bool) -> bool:
        key = (step.query, -step.events if baseline else step.events)
        return same(self._digests.setdefault(key, found), found)

    def _note(self, measured: Measurement) -> None:
        self.measured.append(measured)
        what = "baseline" if measured.baseline else measured.system
        plural = "worker" if measured.workers == 1 else "workers"
        self.say(
            f"{what:12} {measured.query:8} {measured.workers:4} {plural:8} "
            f"{measured.seconds:8.3f} s {measured.rate:14,.0f} events/s "
            f"{measured.megabytes_per_second:9.1f} MB/s"
            + ("" if measured.agrees else "  ANOTHER RESULT")
        )


def _cycles(step: PlannedQuery) -> int:
    """Cycles in which `cpu` makes as many events, or a few more."""
    return -(-step.events // EVENTS)


def _hosts(trace: Any) -> int:
    """Hosts of the workers, as far as they have told."""
    if trace is None:
        return 1
    found = {getattr(record.event, "node", None) for record in trace.records}
    return max(len(found - {None}), 1)
