"""`treemill trace`: what a trace's file tells. Prints; the numbers are trace/'s."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import click

from .._system.files import picture_file, write_text
from ..errors import FormatError, QueryError, SourceError, UnsupportedError
from ..facility.options import Commands
from ..monitoring.recorded import About, Recorded, of_columns

__all__ = ["load", "trace"]


@click.group(cls=Commands)
def trace() -> None:
    """Read the trace of a query, which run(…, trace="FILE") has written."""


@trace.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.option(
    "--most",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Most lines in a table.",
)
@click.option(
    "--figure",
    type=click.Path(dir_okay=False, writable=True),
    help="Draw rates, workers and latencies against time (.png, .svg, .pdf; treemill[plot]).",
)
@click.option(
    "--page",
    "html",
    type=click.Path(dir_okay=False, writable=True),
    help="Write figures and tables as one HTML page that works offline (treemill[plot]).",
)
def report(file: str, most: int, figure: str | None, html: str | None) -> None:
    """Print how a query spent its time: by worker, by file and against time.

    FILE is the .root, .parquet or .json file of a trace.
    """
    from ..monitoring.summary import summary  # start-up
    from ..monitoring.text import lines  # start-up

    if (figure or html) and importlib.util.find_spec("matplotlib") is None:
        raise UnsupportedError("pictures need matplotlib: pip install 'treemill[plot]'")
    measured = summary(load(file))
    for line in lines(measured, most):
        click.echo(line)
    if figure is not None:
        from ..monitoring.offline_page import figures  # start-up
        from ..pictures.line_charts import save  # start-up

        with picture_file(figure) as (picture, form):
            save(figures(measured), picture, form)
    if html is not None:
        from ..monitoring.offline_page import page  # start-up

        write_text(html, page(measured))


class _Workers(click.ParamType[tuple[float, bool]]):
    """N or Nx: a number, and whether it is a factor."""

    name = "N|Nx"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, bool]:
        text = str(value)
        try:
            number = float(text.removesuffix("x"))
            if number <= 0 or not (text.endswith("x") or number.is_integer()):
                raise ValueError
        except ValueError:
            self.fail(f"{value!r} is no number of workers: 40, or 10x for ten times as many")
        return number, text.endswith("x")


@trace.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.option(
    "--workers",
    "wanted",
    type=_Workers(),
    multiple=True,
    help="Number of workers, or 10x for ten times the number in the trace. You may repeat this "
    "option.",
)
@click.option(
    "--storage",
    type=click.FloatRange(0, min_open=True),
    help="MB/s that the storage delivers to all workers together; without this option, the "
    "storage is no limit.",
)
def replay(file: str, wanted: tuple[tuple[float, bool], ...], storage: float | None) -> None:
    """Predict the time of the query with other numbers of workers.

    The packetizer hands out the files of the trace again, to simulated workers with the measured
    rates and delays.
    """
    from ..facility.replay import replay as replayed  # start-up
    from ..monitoring.summary import summary  # start-up

    recorded = load(file)
    try:
        own = replayed(recorded, None, storage)
        replays = [own]
        for number, is_factor in wanted:
            workers = max(round(number * own.workers if is_factor else number), 1)
            replays.append(replayed(recorded, workers, storage))
    except ValueError as error:
        raise QueryError(str(error), file=file) from error
    measured = summary(recorded).seconds
    click.echo(f"measured: {measured:.3f} s with {own.workers} workers")
    click.echo(
        f"{'workers':>8} {'seconds':>9} {'speed-up':>8} {'entries/s':>14} {'idle at end':>11}"
    )
    for each in replays:
        rate = each.entries / each.seconds if each.seconds > 0 else 0.0
        click.echo(
            f"{each.workers:8,} {each.seconds:9.3f} {own.seconds / each.seconds:8.2f} "
            f"{rate:14,.0f} {each.timeline.idle_at_end:9.3f} s"
        )


def load(path: str) -> Recorded:
    """The trace in a file. Raises FormatError if it is none."""
    from ..monitoring.file import read_chrome, read_parquet  # start-up

    readers = {".root": _root, ".parquet": read_parquet, ".json": read_chrome}
    read = readers.get(Path(path).suffix)
    if read is None:
        raise QueryError(f"a trace is a file that ends in {', '.join(readers)}, not {path!r}")
    try:
        return read(path)
    except FileNotFoundError:
        raise SourceError("no such file", file=path) from None
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(f"it is no trace of a query: {error}", file=path) from error


def _root(path: str) -> Recorded:
    from ..dataset import dataset  # start-up
    from ..monitoring.file import ABOUT, TREE  # start-up

    try:
        facts = dataset(path, tree=ABOUT).arrays().to_list()
    except QueryError as error:  # the file has other trees
        text = f"it is no trace of a query: {error.message}; run(…, trace=) writes traces"
        raise FormatError(text, file=path) from error
    about = About.of_json({each["name"]: json.loads(each["value"]) for each in facts})
    rows = dataset(path, tree=TREE).arrays()
    return of_columns({name: rows[name].to_list() for name in rows.fields}, about)
