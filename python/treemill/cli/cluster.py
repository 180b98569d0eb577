"""`treemill cluster`: checks of a cluster, and its queries for those who run it. Exit status 0: all
is well; 1: it is not, or it does not answer."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import click

from ..errors import QueryError, TreemillError
from ..facility.cluster_checks import CHECKS, CheckResult, check_results
from ..facility.options import Commands

__all__ = ["cluster", "lines"]

_MOST = 200
"""Files that are asked for, at most."""
_WORKERS = 30
"""Workers that `top` shows, at most."""


@click.group(cls=Commands)
def cluster() -> None:
    """Check and manage a Dask cluster and the queries on it."""


@cluster.command()
@click.argument("address")
@click.argument("files", metavar="[FILE[:TREE]]…", nargs=-1)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    help="Seconds to wait for the scheduler, for the first worker, and for each answer.",
)
@click.option(
    "--package", "packages", multiple=True, help="Also compare the versions of this package."
)
@click.option(
    "--ignore",
    type=click.Choice([*CHECKS]),
    multiple=True,
    help="Show the findings of this check, but do not count them as failures.",
)
def check(
    address: str,
    files: tuple[str, ...],
    timeout: float,
    packages: tuple[str, ...],
    ignore: tuple[str, ...],
) -> None:
    """Check the workers of a Dask cluster before you run a query on it.

    ADDRESS is the address of the scheduler, such as tcp://host:8786. The command compares the
    workers with this process and with each other: the versions of Python, treemill and other
    packages, clocks, users, credentials, environment variables, memory, and the space for temporary
    files. Every worker must see each FILE with the same size and be able to read it; workers open
    it as a ROOT file, and open TREE in it.
    """
    from ..facility.cluster_facts import gathered  # start-up

    results = check_results(gathered(address, _located(files), packages, timeout))
    for line in lines(results):
        click.echo(line)
    wrong = [result for result in results if not result.well and result.check not in ignore]
    if wrong:
        click.echo(f"{len(wrong)} to be put right")
        sys.exit(1)
    click.echo("all workers agree")


def _timeout(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--timeout",
        type=click.FloatRange(0, min_open=True),
        default=30.0,
        show_default=True,
        help="Seconds to wait for the scheduler.",
    )(command)


@cluster.command()
@click.argument("address")
@_timeout
def queries(address: str, timeout: float) -> None:
    """List the queries on a cluster, and the results that wait for their users.

    You see your own queries. An operator sees the queries of all users, and the number of bytes
    that workers hold of each result. The column "asked for" is the time since a session last asked
    for the query.
    """
    from ..facility import cluster_queries  # start-up
    from ..pictures.tables import plain  # start-up

    with cluster_queries.opened(address, timeout) as there:
        found = there.queries()
        held: dict[str, int] | None = None
        with suppress(QueryError):  # who is no operator may not ask the workers
            held = {}
            for each in there.activity(held=True) if found else ():
                for work, count in each.held.items():
                    held[work] = held.get(work, 0) + count
    click.echo(plain(cluster_queries.QUERY_HEAD, cluster_queries.query_rows(found, held)))


@cluster.command()
@click.argument("address")
@click.argument("names", metavar="QUERY…", nargs=-1, required=True)
@click.option(
    "--reason",
    default="by an operator's command",
    help="The reason that the user of the query sees.",
)
@_timeout
def stop(address: str, names: tuple[str, ...], reason: str, timeout: float) -> None:
    """End queries soon, and keep their results so far."""
    from ..facility.cluster_queries import opened  # start-up

    with opened(address, timeout) as there:
        for name in names:
            click.echo(f"stopped {name}: {there.stop(name, reason)}")


@cluster.command()
@click.argument("address")
@click.argument("names", metavar="QUERY…", nargs=-1, required=True)
@_timeout
def drop(address: str, names: tuple[str, ...], timeout: float) -> None:
    """End queries at once and drop their results, which frees the memory of workers."""
    from ..facility.cluster_queries import opened  # start-up

    with opened(address, timeout) as there:
        for name in names:
            click.echo(f"dropped {name}: {there.drop(name)}")


@cluster.command()
@click.argument("address")
@click.argument("workers", metavar="[WORKER]…", nargs=-1)
@click.option("--off", is_flag=True, help="Let new queries begin again.")
@_timeout
def drain(address: str, workers: tuple[str, ...], off: bool, timeout: float) -> None:
    """Retire workers when their work is saved; without WORKER, let no new query begin.

    WORKER is an address, a name or a host. The workers complete their packets and hand the partials
    that they have merged to other workers, so no work is repeated. This command is for operators.
    """
    from ..facility.cluster_queries import opened  # start-up

    with opened(address, timeout) as there:
        if workers:
            for each in there.retire(workers):
                click.echo(f"{each} is gone")
        else:
            running = there.drain(not off)
            said = "new queries begin again" if off else "no new query begins"
            click.echo(f"{said}; {running} running")


@cluster.command()
@click.argument("address")
@click.option(
    "--seconds", default=5.0, show_default=True, help="Seconds to wait for the answer of a worker."
)
@_timeout
def dump(address: str, seconds: float, timeout: float) -> None:
    """Print what each worker of a cluster is doing, with the lines of its code (for operators)."""
    from ..facility.cluster_queries import dump_lines, opened  # start-up

    with opened(address, timeout) as there:
        for line in dump_lines(there.activity(held=True, seconds=seconds), there.queries()):
            click.echo(line)


@cluster.command()
@click.argument("address")
@click.option("--interval", default=2.0, show_default=True, help="Seconds between two updates.")
@click.option("--looks", type=click.IntRange(1), help="End after this number of updates.")
@_timeout
def top(address: str, interval: float, looks: int | None, timeout: float) -> None:
    """Show the queries and the workers of a cluster while they run. Ctrl-C ends the command."""
    from ..facility import cluster_queries  # start-up
    from ..pictures.tables import plain  # start-up

    with cluster_queries.opened(address, timeout) as there:
        while True:
            workers = sorted(there.workers(), key=lambda each: -each.memory)
            text = [
                plain(
                    cluster_queries.QUERY_HEAD, cluster_queries.query_rows(there.queries(), None)
                ),
                "",
                plain(cluster_queries.WORKER_HEAD, cluster_queries.worker_rows(workers[:_WORKERS])),
            ]
            if len(workers) > _WORKERS:
                text.append(f"and {len(workers) - _WORKERS:,} workers that take less memory")
            click.clear()
            click.echo("\n".join(text))
            looks = None if looks is None else looks - 1
            if looks == 0:
                return
            time.sleep(interval)


def _located(files: Sequence[str]) -> list[tuple[str, str | None]]:
    """The paths of files as users write them, and their trees. Those that this process cannot find
    are asked for by their names: workers may find them."""
    from ..data.location import expand, split_tree  # start-up

    found: list[tuple[str, str | None]] = []
    for file in files:
        try:
            found += [(location.path, location.tree) for location in expand([file])]
        except TreemillError:
            found.append(split_tree(file))
    if len(found) > _MOST:
        click.echo(f"of {len(found):,} files the first {_MOST} are looked at", err=True)
    return found[:_MOST]


def lines(results: Sequence[CheckResult]) -> Iterator[str]:
    """The table: a line for each check, and one with what to do where something is wrong."""
    width = max((len(result.check) for result in results), default=0)
    for result in results:
        sign = "ok" if result.well else "WRONG"
        yield f"{sign:5}  {result.check:{width}}  {result.found}"
        margin = " " * (9 + width)
        if result.where:
            shown = [*result.where[:5], "…"] if len(result.where) > 5 else result.where
            yield f"{margin}on {', '.join(shown)}"
        if result.todo is not None:
            yield f"{margin}{result.todo}"
