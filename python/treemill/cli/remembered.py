"""`treemill remembered`: what is remembered of results, how large it is, and its removal."""

from __future__ import annotations

import time
from datetime import datetime

import click

from .._system.cache import size_of
from ..errors import QueryError
from ..session.results_folder import results_folder, results_in

__all__ = ["command"]

_DAY = 86400.0


@click.command("remembered")
@click.argument("folder", required=False, type=click.Path(file_okay=False))
@click.option(
    "--limit",
    metavar="SIZE",
    help='Remove what was used least recently, until no more is left: "5 GB", 0 for all.',
)
@click.option("--unused", metavar="DAYS", type=float, help="Remove what was not used for so long.")
def command(folder: str | None, limit: str | None, unused: float | None) -> None:
    """List what is remembered of results, and remove what is not used.

    FOLDER is what treemill.remember was given; the default is that of TREEMILL_REMEMBER. Results
    lie there in segments, one or more for each run that has computed something.
    """
    results = results_folder() if folder is None else results_in(folder)
    if results is None:
        raise QueryError("name the folder, or set TREEMILL_REMEMBER")
    if limit is not None or unused is not None:
        before = None if unused is None else time.time() - unused * _DAY
        most = None if limit is None else size_of(limit)
        removed = results.prune(most, before)
        click.echo(f"removed {removed / 1e6:,.1f} MB")
    segments = results.segments()
    for each in segments:
        used = datetime.fromtimestamp(each.used).strftime("%Y-%m-%d %H:%M")
        click.echo(f"{each.size / 1e6:>12,.1f} MB  used {used}  {each.path.name}")
    total = sum(each.size for each in segments)
    click.echo(f"{total / 1e6:>12,.1f} MB in {len(segments)} segments of {results.path}")
