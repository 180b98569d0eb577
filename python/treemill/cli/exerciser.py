"""`treemill bench io`: reads as CMSSW's IOExerciser does, through the interface of users, and
says how long it took and what it cost in bytes, requests and waits.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click

from ..bench.exerciser import COUNTERS, ORDERS, SWITCHES, Exercise, Outcome, Size, chosen
from ..errors import QueryError

__all__ = ["command", "exercise"]

_READABLE = ("number", "list", "array")
"""Kinds of branches of which a sum can be taken."""


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
            self.fail(f"{value!r} is no share: 30% or 0.3", param, ctx)
        return share


@click.command("io")
@click.argument("files", metavar="FILE[:TREE]…", nargs=-1, required=True)
@click.option(
    "--branches",
    "share",
    type=_Share(),
    default="30%",
    show_default=True,
    help="Share of all branches, by their bytes in the file, that is read for every entry.",
)
@click.option(
    "--prescale",
    type=click.IntRange(0),
    default=50,
    show_default=True,
    help="Read all branches of each so manyth entry; 0: of none.",
)
@click.option(
    "--entries",
    type=click.IntRange(0),
    default=1000,
    show_default=True,
    help="How many entries, from the first on; 0: all.",
)
@click.option(
    "--order",
    type=click.Choice(ORDERS),
    default=ORDERS[0],
    show_default=True,
    help="Which branches come first, until there are enough.",
)
@click.option(
    "--without",
    multiple=True,
    type=click.Choice(list(SWITCHES)),
    help="Switch one of the ways to save time off. May be given several times.",
)
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True)
def command(
    files: tuple[str, ...],
    share: float,
    prescale: int,
    entries: int,
    order: str,
    without: tuple[str, ...],
    workers: int,
) -> None:
    """Measure how fast files are read as analyses read them, on whatever storage they are.

    Some of the branches are read for every entry, and all branches for each so manyth entry, as
    CMSSW's IOExerciser does. What is read is decoded and summed up.
    """
    recipe = Exercise(share, prescale, entries, order, frozenset(without))
    for line in exercise(files, recipe, workers).lines():
        click.echo(line)


def exercise(files: Sequence[str], recipe: Exercise, workers: int = 1) -> Outcome:
    """Reads what the recipe says, in one pass; opening the files is in the time. Raises
    QueryError if there is nothing to read."""
    from .. import _core  # start-up
    from ..dataset import dataset  # start-up
    from ..session.front import connect  # start-up

    _core.switch_off(sorted(recipe.without))
    start = time.perf_counter()
    events = dataset(list(files))
    readable = [b for b in events.branches.values() if b.kind in _READABLE and b.dtype]
    if not readable:
        raise QueryError("there is no branch of numbers to read", file=events.files[0])
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
    return Outcome(seconds, report.entries, len(names), len(readable), total, counters)


def _counters(report: Any) -> dict[str, float]:
    """What was counted, of what there is to count."""
    told = report.io
    found = {name: getattr(told, name, getattr(report, name, None)) for name in COUNTERS}
    return {name: float(value) for name, value in found.items() if value is not None}
