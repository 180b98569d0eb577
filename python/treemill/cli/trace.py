"""`treemill trace`: what a trace's file tells. Prints; the numbers are trace/'s."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ..errors import FormatError, QueryError, SourceError
from ..trace.recorded import About, Recorded, of_columns

__all__ = ["load", "trace"]


@click.group()
def trace() -> None:
    """Look at the trace of a query, which run(…, trace="FILE") has written."""


@trace.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--most", type=click.IntRange(1), default=20, show_default=True)
def report(file: str, most: int) -> None:
    """Tell where the time of a query went: by worker, by file, against time.

    FILE is the .root, .parquet or .json file of a trace. Of the longer tables, --most lines are
    shown.
    """
    from ..trace.summary import summary  # start-up
    from ..trace.text import lines  # start-up

    for line in lines(summary(load(file)), most):
        click.echo(line)


def load(path: str) -> Recorded:
    """The trace in a file. Raises FormatError if it is none."""
    readers = {".root": _root, ".parquet": _parquet, ".json": _chrome}
    read = readers.get(Path(path).suffix)
    if read is None:
        raise QueryError(f"a trace is a file that ends in {', '.join(readers)}, not {path!r}")
    try:
        return read(path)
    except FileNotFoundError:
        raise SourceError("there is no such file", file=path) from None
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(f"it is no trace of a query: {error}", file=path) from error


def _root(path: str) -> Recorded:
    from ..dataset import dataset  # start-up
    from ..trace.root_file import ABOUT, TREE  # start-up

    told = dataset(path, tree=ABOUT).arrays().to_list()
    about = About.of_json({each["name"]: json.loads(each["value"]) for each in told})
    rows = dataset(path, tree=TREE).arrays()
    return of_columns({name: rows[name].to_list() for name in rows.fields}, about)


def _parquet(path: str) -> Recorded:
    from ..trace.parquet_file import read  # heavy: pyarrow

    return read(path)


def _chrome(path: str) -> Recorded:
    from ..trace.chrome_file import read  # start-up

    return read(path)
