"""The group `treemill bench`: its commands, which are those of the folder for facilities."""

from __future__ import annotations

import contextlib
import importlib.util
import time
from collections.abc import Iterator, Sequence
from typing import Any

import click

from .._system.files import picture_file, write_text
from ..errors import QueryError, UnsupportedError
from ..facility import commands, compare_storage, load_test, run, scan_storage
from ..facility import generate_command as generate
from ..facility.commands import bench
from ..facility.exerciser import (
    COUNTERS,
    ORDERS,
    SWITCHES,
    Exercise,
    ExerciseOutcome,
    Read,
    Size,
    chosen,
    draw_reads,
    read_lines,
)

__all__ = ["bench", "exercise"]

# `treemill bench io`: reads as CMSSW's IOExerciser does, through the interface of users, and says
# how long it took and what it cost in bytes, requests and waits.

_READABLE = ("number", "list", "array")
"""Kinds of branches of which a sum can be taken."""

_MOST_RECORDED = 1_000_000
"""Ranges that are written and drawn: about 150 MB of memory."""


class _Share(click.ParamType[float]):
    """30% or 0.3."""

    name = "SHARE"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        text = str(value).strip()
        try:
            share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
        except ValueError:
            share = -1.0
        if not 0 < share <= 1:
            self.fail(f"{value!r} is no share: write 30% or 0.3", param, ctx)
        return share


@click.command("io")
@click.argument("files", metavar="FILE[:TREE]…", nargs=-1, required=True)
@click.option(
    "--branches",
    "share",
    type=_Share(),
    default="30%",
    show_default=True,
    help="Share of the branches, by their bytes in the file, to read for every entry.",
)
@click.option(
    "--prescale",
    type=click.IntRange(0),
    default=50,
    show_default=True,
    help="Read all branches of every n-th entry; 0: of no entry.",
)
@click.option(
    "--entries",
    type=click.IntRange(0),
    default=1000,
    show_default=True,
    help="Number of entries to read, from the first one on; 0: all.",
)
@click.option(
    "--order",
    type=click.Choice(ORDERS),
    default=ORDERS[0],
    show_default=True,
    help="Order in which branches are taken until their share is reached.",
)
@click.option(
    "--without",
    multiple=True,
    type=click.Choice(list(SWITCHES)),
    help="Switch off one of the ways in which treemill saves time. You may repeat this option.",
)
@click.option(
    "--workers", type=click.IntRange(1), default=1, show_default=True, help="Number of threads."
)
@click.option(
    "--trace",
    "trace",
    type=click.Path(dir_okay=False, writable=True),
    help="Write the reads of files on servers to this file, as one JSON object on each line.",
)
@click.option(
    "--figure",
    type=click.Path(dir_okay=False, writable=True),
    help="Draw the reads of files on servers: offsets in the files against time, coloured by "
    "server (treemill[plot]).",
)
def command(
    files: tuple[str, ...],
    share: float,
    prescale: int,
    entries: int,
    order: str,
    without: tuple[str, ...],
    workers: int,
    trace: str | None,
    figure: str | None,
) -> None:
    """Measure how fast treemill reads files in the pattern of an analysis, from any storage.

    The command reads some of the branches for every entry, and all branches for every n-th entry,
    as CMSSW's IOExerciser does. It decodes the values and sums them up.
    """
    if figure is not None and importlib.util.find_spec("matplotlib") is None:
        raise UnsupportedError("pictures need matplotlib: pip install 'treemill[plot]'")
    recipe = Exercise(share, prescale, entries, order, frozenset(without))
    with _recorded(trace, figure):
        for line in exercise(files, recipe, workers).lines():
            click.echo(line)


@contextlib.contextmanager
def _recorded(trace: str | None, figure: str | None) -> Iterator[None]:
    """Records what servers are asked for meanwhile, and writes and draws it."""
    if trace is None and figure is None:
        yield
        return
    from .. import _core  # start-up

    _core.record_reads(_MOST_RECORDED)
    try:
        yield
        records, dropped = _core.recorded_reads()
    finally:
        _core.record_reads(0)
    reads_of_servers = [Read(*each) for each in records]
    if dropped:
        click.echo(f"{dropped:,} ranges more were not recorded", err=True)
    if trace is not None:
        text = "".join(f"{line}\n" for line in read_lines(reads_of_servers))
        write_text(trace, text)
    if figure is not None:
        title = f"{len(reads_of_servers):,} ranges of files on servers"
        with picture_file(figure) as (picture, form):
            draw_reads(reads_of_servers, picture, title, form)


def exercise(files: Sequence[str], recipe: Exercise, workers: int = 1) -> ExerciseOutcome:
    """Reads what the recipe says, in one pass; opening the files is in the time. Raises
    QueryError if there is nothing to read."""
    from .. import _core  # start-up
    from ..dataset import dataset  # start-up
    from ..session.api import connect  # start-up

    _core.switch_off(sorted(recipe.without))
    start = time.perf_counter()
    # One alone may be the description of a dataset.
    events = dataset(files[0] if len(files) == 1 else list(files))
    readable = [b for b in events.branches.values() if b.kind in _READABLE and b.dtype]
    if not readable:
        raise QueryError("the tree has no branch of numbers to read", file=events.files[0])
    sizes = [Size(b.name, b.zip_bytes) for b in readable]
    names = chosen(sizes, recipe.share, recipe.order)
    sums = [events.sum(f"`{name}`") for name in names]
    if recipe.prescale:
        triggered = events.filter(recipe.trigger)
        others = [b.name for b in readable if b.name not in set(names)]
        sums += [triggered.sum(f"`{name}`") for name in others]
    with connect(workers=workers) as session:
        options: dict[str, Any] = {"entries": recipe.entries} if recipe.entries else {}
        values = session.run(sums, progress=False, **options)
        report = session.report
    assert report is not None
    assert isinstance(values, list)
    seconds = time.perf_counter() - start
    counters = _counters(report)
    total = float(sum(values))
    return ExerciseOutcome(seconds, report.entries, len(names), len(readable), total, counters)


def _counters(report: Any) -> dict[str, float]:
    """Returns what was counted, of what there is to count."""
    io = report.io
    counters = {name: getattr(io, name, getattr(report, name, None)) for name in COUNTERS}
    return {name: float(value) for name, value in counters.items() if value is not None}


for each in (
    command,
    generate.command,
    run.command,
    commands.command,
    load_test.command,
    scan_storage.command,
    compare_storage.command,
):
    bench.add_command(each)
