"""`treemill bench run`: the standard queries with rising numbers of workers, into one file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import TreemillError
from .generate_command import generate
from .options import Numbers
from .page_cache import DROPPED, NO_DATA
from .recipe import Recipe
from .scaling.limit_diagnosis import conclusion
from .scaling.measurements import ResultsFile, save
from .scaling.plan import BASELINES, QUERIES, SCALINGS, ScalingPlan, rising
from .systems import HERE, describe, has_dask, is_here, there_are

if TYPE_CHECKING:
    from ..dataset import Dataset

__all__ = ["command"]

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
    help="threads (default), processes or dask of this machine, or the address of a Dask "
    "scheduler. May be given several times.",
)
@click.option(
    "--workers",
    type=Numbers(),
    help="Default: 1, 2, 4 … up to the number of cores, or of the cluster's workers.",
)
@click.option(
    "--per-node",
    type=Numbers(),
    help="Workers on each host of a cluster, at most: all that is measured with each number.",
)
@click.option(
    "--query",
    "queries",
    multiple=True,
    type=click.Choice([*QUERIES]),
    help="May be given several times; default: all.",
)
@click.option("--repeat", "rounds", type=click.IntRange(1), help="Runs of each; default: 4.")
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
    help="What one process of this machine reads alone, to compare: "
    + "; ".join(f"{name}: {words}" for name, words in BASELINES.items())
    + ".",
)
@click.option(
    "--events-cpu",
    "made",
    type=click.IntRange(1),
    help="Thousands of events that the query cpu makes; default: 10,000.",
)
@click.option("--warm", is_flag=True, help="Leave the operating system's cache of files as it is.")
@click.option(
    "--quick",
    is_flag=True,
    help="Less than two minutes on two cores: two rounds, a small dataset that is made if none is "
    "given, and threads, processes and Dask if no system is given.",
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=_FOLDER,
    show_default=True,
    help="Where files are made if no DATASET is given.",
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
    """Run the standard queries with more and more workers, and write down what they took.

    DATASET is what `bench generate` has described (FOLDER/dataset.json), or any files, as
    FILE[:TREE]. `treemill bench report` makes figures of the results.

    \b
    none     files are opened, no column is read: the overhead
    full     all columns are read: the load on the storage
    partial  a fifth of the bytes is read, as nearly as whole columns can be, and histogrammed: an
             analysis
    cpu      no data, 16 histograms of Gaussian random numbers

    Exit status 1 if a query had another result with other workers.
    """
    from ..dataset import dataset as opened  # start-up
    from .measure import Benchmark  # heavy: numpy

    far = [system for system in systems if not is_here(system)]
    if per_node and not far:
        raise click.UsageError("--per-node is for the address of a cluster (--on tcp://…)")
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
    from .measure import Benchmark  # heavy: numpy

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
