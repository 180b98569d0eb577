"""`treemill bench run`: the standard queries with rising numbers of workers, into one file."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import TreemillError, WorkerError
from .generate_command import generate
from .options import Numbers
from .recipe import Recipe
from .scaling.breakdown import Breakdown, broken_down, counted
from .scaling.limit_diagnosis import conclusion
from .scaling.measurements import (
    BASELINES,
    QUERIES,
    SCALINGS,
    Measurement,
    PlannedQuery,
    ResultsFile,
    ScalingPlan,
    rising,
    save,
)
from .standard import EVENTS, Digest, Gaussians, booked, digest, same
from .systems import (
    DROPPED,
    HERE,
    NO_DATA,
    describe,
    drop_caches,
    has_dask,
    is_here,
    session_on,
    there_are,
)

if TYPE_CHECKING:
    from ..dataset import Dataset
    from ..session.session import Session

__all__ = ["command"]

# Runs the plan of a benchmark on one system after the other, and notes what each run took.

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
        caches = NO_DATA
        if reads:
            caches = drop_caches(
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


_QUICK = Recipe(4, 1_500, 250, schema="event")
_QUICK_ROUNDS = 2
_QUICK_EVENTS = 400_000
_EVENTS = 10_000_000
"""The number of events that the query `cpu` makes."""
_FOLDER = Path("treemill-benchmark")


@click.command("run")
@click.argument("dataset", nargs=-1, metavar="[DATASET]…")
@click.option(
    "--on",
    "systems",
    multiple=True,
    metavar="SYSTEM",
    help="Where workers run: threads (default), processes or dask on this machine, or the "
    "address of a Dask scheduler. You may repeat this option.",
)
@click.option(
    "--workers",
    type=Numbers(),
    help="Numbers of workers; default: 1, 2, 4 … up to the number of cores, or of the cluster's "
    "workers.",
)
@click.option(
    "--per-node",
    type=Numbers(),
    help="The largest numbers of workers on each host of a cluster; the command measures "
    "everything with each of them.",
)
@click.option(
    "--query",
    "queries",
    multiple=True,
    type=click.Choice([*QUERIES]),
    help="The query to measure; default: all. You may repeat this option.",
)
@click.option(
    "--repeat", "rounds", type=click.IntRange(1), help="Number of runs of each query; default: 4."
)
@click.option(
    "--scaling",
    type=click.Choice([*SCALINGS]),
    default="strong",
    show_default=True,
    help="; ".join(f"{name}: {words}" for name, words in SCALINGS.items()) + ".",
)
@click.option(
    "--baseline",
    type=click.Choice([*BASELINES]),
    default="all",
    show_default=True,
    help="The files that one process of this machine reads alone, for comparison: "
    + "; ".join(f"{name}: {words}" for name, words in BASELINES.items())
    + ".",
)
@click.option(
    "--events-cpu",
    "made",
    type=click.IntRange(1),
    help="Events that the query cpu makes, in thousands; default: 10,000.",
)
@click.option("--warm", is_flag=True, help="Leave the operating system's cache of files as it is.")
@click.option(
    "--quick",
    is_flag=True,
    help="Take less than two minutes on two cores: measure two rounds, make a small dataset if "
    "you give none, and use threads, processes and Dask if you give no system.",
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=_FOLDER,
    show_default=True,
    help="The folder for the files that the command makes if you give no DATASET.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file of results; default: benchmark-DATE.json.",
)
def command(
    dataset: tuple[str, ...],
    systems: tuple[str, ...],
    workers: tuple[int, ...] | None,
    per_node: tuple[int, ...] | None,
    queries: tuple[str, ...],
    rounds: int | None,
    scaling: str,
    baseline: str,
    made: int | None,
    warm: bool,
    quick: bool,
    folder: Path,
    output: Path | None,
) -> None:
    """Run the standard queries with an increasing number of workers, and write their times to a
    file.

    DATASET is a description that `bench generate` has written (FOLDER/dataset.json), or any files,
    as FILE[:TREE]. `treemill bench report` makes figures of the results.

    \b
    none     open the files and read no column: the overhead
    full     read all columns: the load on the storage
    partial  read about a fifth of the bytes, in whole columns, into histograms: an analysis
    cpu      read no data, and fill 16 histograms with Gaussian random numbers

    The exit status is 1 if a query has other results with other numbers of workers.
    """
    from ..dataset import dataset as opened  # start-up

    far = [system for system in systems if not is_here(system)]
    if per_node and not far:
        raise click.UsageError("--per-node is for the address of a cluster (--on tcp://…)")
    for system in far:
        there_are(system, None)  # a wrong address is an error before the first measurement
    if not dataset:
        if not quick:
            raise click.UsageError(
                "which DATASET? `treemill bench generate` makes one, and --quick a small one"
            )
        for line in generate(folder, _QUICK):
            click.echo(line)
        dataset = (str(folder / "dataset.json"),)
    if not systems:
        systems = HERE if quick else HERE[:1]
        systems = tuple(each for each in systems if each != "dask" or has_dask())
    data = opened(dataset[0] if len(dataset) == 1 else list(dataset))
    plan = ScalingPlan(
        workers or [1],
        [query for query in QUERIES if query in (queries or QUERIES)],
        rounds or (_QUICK_ROUNDS if quick else 4),
        data.num_entries,
        1000 * made if made else (_QUICK_EVENTS if quick else _EVENTS),
        scaling,
    )
    facts = describe()  # before: the load is that of others
    benchmark = Benchmark(data, click.echo, drops=not warm)
    ended: BaseException | None = None
    try:
        benchmark.baseline(plan, baseline)
        for system in systems:
            for on_host in (per_node if system in far else None) or (None,):
                numbers = _numbers(system, workers, on_host)
                benchmark.run(system, replace(plan, workers=numbers), on_host)
    except (TreemillError, KeyboardInterrupt) as error:
        if not benchmark.measured:
            raise
        ended = error  # what was measured is kept
    results = ResultsFile(
        datetime.now(UTC).isoformat(timespec="seconds"),
        facts,
        {
            "systems": list(systems),
            "queries": list(plan.queries),
            "rounds": plan.rounds,
            "workers on a node": per_node or "any",
            "scaling": plan.scaling,
            "baseline": baseline,
            **dict(_extras(data, plan)),
            "events of cpu": plan.cycles,
            "quick": quick,
        },
        {
            "files": len(data.files),
            "events": data.num_entries,
            "bytes": _bytes(data),
            "remote": any("://" in file for file in data.files),
            "metadata": dict(data.chain.locations[0].metadata or {}),
        },
        benchmark.measured,
        notes=[*_notes(benchmark), *_words(ended)],
    )
    path = output or Path(f"benchmark-{results.date[:19].replace(':', '')}.json")
    save(results, path)
    click.echo()
    for line in conclusion(results):
        click.echo(line)
    click.echo(f"results: {path}; figures: treemill bench report {path}")
    if ended is not None:
        raise ended
    if not all(each.agrees for each in benchmark.measured):
        click.echo("a query had another result with other workers", err=True)
        sys.exit(1)


def _numbers(system: str, workers: tuple[int, ...] | None, on_host: int | None) -> Sequence[int]:
    """Rising numbers of workers, as many as there can be with so many on each host."""
    if workers and on_host is None:
        return workers
    there = there_are(system, on_host)
    return sorted({min(each, there) for each in workers}) if workers else rising(there)


def _extras(data: Dataset, plan: ScalingPlan) -> Iterator[tuple[str, object]]:
    """Settings that only some runs have."""
    from .standard import partial_share  # heavy: numpy

    if "partial" in plan.queries:
        yield "partial reads", f"{partial_share(data):.1%} of the bytes"


def _bytes(data: Dataset) -> int:
    """About so many bytes the columns have: all files as dense as the first one."""
    of_first = sum(branch.zip_bytes for branch in data.branches.values())
    first = data.chain.first_entry(1) if len(data.files) > 1 else data.num_entries
    return of_first * data.num_entries // max(first, 1)


def _words(ended: BaseException | None) -> list[str]:
    if ended is None:
        return []
    why = "interrupted" if isinstance(ended, KeyboardInterrupt) else str(ended).splitlines()[0]
    return [f"it ended before all was measured: {why}"]


def _notes(benchmark: object) -> list[str]:
    """Returns what was not as it should be."""

    assert isinstance(benchmark, Benchmark)
    systems: dict[str, set[str]] = {}
    for each in benchmark.measured:
        if each.caches not in (DROPPED, NO_DATA):
            systems.setdefault(each.caches, set()).add(each.system)
    notes = [f"caches on {', '.join(sorted(who))}: {what}" for what, who in systems.items()]
    if any(each.bytes_from_cache for each in benchmark.measured):
        notes.append("some bytes came from treemill's own cache in memory")
    if not all(each.agrees for each in benchmark.measured):
        notes.append("a query had another result with other workers")
    return notes
