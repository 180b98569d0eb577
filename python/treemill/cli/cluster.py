"""`treemill cluster`: checks of a cluster. Exit status 0: all is well; 1: it is not, or it
does not answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import click

from ..errors import TreemillError
from ..facility.cluster_checks import CHECKS, CheckResult, check_results

__all__ = ["cluster", "lines"]

_MOST = 200
"""Files that are asked for, at most."""


@click.group()
def cluster() -> None:
    """Look after the cluster that sessions run on."""


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
@click.option("--package", "packages", multiple=True, help="Compare this package's versions, too.")
@click.option(
    "--ignore",
    type=click.Choice([*CHECKS]),
    multiple=True,
    help="Show what this check finds, and do not count it.",
)
def check(
    address: str,
    files: tuple[str, ...],
    timeout: float,
    packages: tuple[str, ...],
    ignore: tuple[str, ...],
) -> None:
    """Tell whether the workers of a Dask cluster agree, before a query fails an hour in.

    ADDRESS is the scheduler's, tcp://host:8786. Compared with this process and with one another are
    versions of Python, treemill and other packages, clocks, users, credentials, variables of the
    environment, memory, and the space for temporary files. Each FILE must be there for every
    worker, have the same size, and be readable; workers open it as a ROOT file, and TREE in it.
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
