"""Runs the plan of a benchmark on one system after the other, and notes what each run took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..errors import WorkerError
from . import page_cache
from .scaling.breakdown import Breakdown, broken_down, counted
from .scaling.measurements import Measurement
from .scaling.plan import PlannedQuery, ScalingPlan
from .standard import EVENTS, Digest, Gaussians, booked, digest, same
from .systems import session_on

if TYPE_CHECKING:
    from ..dataset import Dataset
    from ..session.session import Session

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
    measured: list[Measurement] = field(default_factory=list)
    _hosts: int = 1  # of the workers of the session
    _digests: dict[tuple[str, int], Digest] = field(default_factory=dict)

    def run(self, system: str, plan: ScalingPlan, on_host: int | None = None) -> None:
        """Measures all of a plan on a system, with so many workers on each host at most. Raises
        TreemillError if a query fails."""
        for workers in plan.workers:
            with session_on(system, workers, _TRACE, on_host) as session:
                self._warm_up(session)
                for step in plan.steps(workers):
                    measured = self._step(session, system, step, self.events)
                    self._note(replace(measured, on_host=on_host))

    def baseline(self, plan: ScalingPlan, what: str) -> None:
        """Measures the queries in one thread of this process; `what`: one of BASELINES."""
        from ..dataset import dataset  # start-up

        first = self.events.chain.locations[0]
        alone = dataset(first.path, first.tree)
        sets = [alone] if what == "file" or len(self.events.files) == 1 else [alone, self.events]
        if what == "none":
            return
        with session_on("threads", 1, _TRACE) as session:
            self._warm_up(session)
            for step in self._alone(plan, alone, 1):  # until all that queries need is there
                self._step(session, "threads", step, alone, baseline=True)
            for events in sets:
                for step in self._alone(plan, events, plan.rounds):
                    if step.query != "cpu" or events is sets[-1]:  # which has no files
                        measured = self._step(session, "threads", step, events, baseline=True)
                        self._note(measured)

    def _alone(self, plan: ScalingPlan, events: Dataset, rounds: int) -> Iterator[PlannedQuery]:
        """Returns what one process does alone: all of it, also in weak scaling."""
        entries = min(events.num_entries, plan.events)
        whole = replace(plan, workers=[1], events=entries, scaling="strong", rounds=rounds)
        yield from whole.steps(1)

    def _warm_up(self, session: Session) -> None:
        """Workers import what they need, outside of any measurement."""
        session.run(Gaussians(), cycles=session.workers, progress=False)
        self._hosts = _hosts(session)

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
        self._hosts = max(self._hosts, _hosts(session))
        breakdown = _breakdown(report, step.workers, seconds)
        if breakdown is not None and not reads:  # the entries of packets are cycles
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
            agrees=self._agrees(step, digest(results)),
            breakdown=breakdown,
        )

    def _results(self, session: Session, step: PlannedQuery, events: Dataset) -> Sequence[object]:
        if step.query == "cpu":
            output = session.run(Gaussians(), cycles=_cycles(step), seed=1, progress=False)
            return [output[name] for name in sorted(output)]
        bookings = booked(step.query, events, step.events)
        results = session.run(bookings, entries=step.events, progress=False)
        return list(results)

    def _agrees(self, step: PlannedQuery, digest: Digest) -> bool:
        # The first so many events are the same ones in any number of files.
        return same(self._digests.setdefault((step.query, step.events), digest), digest)

    def _note(self, measured: Measurement) -> None:
        self.measured.append(measured)
        what = f"alone, {_files(measured)}" if measured.baseline else measured.system
        plural = "worker" if measured.workers == 1 else "workers"
        if measured.on_host is not None:
            plural += f", {measured.on_host} a node,"
        self.say(
            f"{what:15} {measured.query:8} {measured.workers:4} {plural:8} "
            f"{measured.seconds:8.3f} s {measured.rate:14,.0f} events/s "
            f"{measured.megabytes_per_second:9.1f} MB/s"
            + ("" if measured.agrees else "  ANOTHER RESULT")
        )


def _files(measured: Measurement) -> str:
    if not measured.files:
        return "no file"
    return f"{measured.files} file" + "s" * (measured.files > 1)


def _cycles(step: PlannedQuery) -> int:
    """Cycles in which `cpu` makes as many events, or a few more."""
    return -(-step.events // EVENTS)


def _breakdown(report: Any, workers: int, seconds: float) -> Breakdown | None:
    """Returns where the workers' time went: by the trace, or by what was counted if there is
    none."""
    parts = None if report.trace is None else broken_down(report.trace, workers, seconds)
    if parts is None and report.measured is not None:
        parts = counted(report.measured.counts, workers, seconds)
    return parts


def _hosts(session: Session) -> int:
    """Hosts of the workers that had a part in the last query, as far as they have told."""
    report = session.report
    if report is None or report.measured is None:
        return 1
    hosts = {worker.host for worker in report.measured.counts.workers.values()}
    return max(len(hosts - {""}), 1)
