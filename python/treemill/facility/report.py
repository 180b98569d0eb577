"""`treemill bench report`: figures and one page of what `bench run` and `bench scan-storage` have
measured."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import click

from .._system.files import picture_file, write_text
from ..errors import SourceError, UnsupportedError
from .scaling.limit_diagnosis import conclusion
from .scaling.measurements import load

__all__ = ["command"]


@click.command("report")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page; default: the first FILE with the suffix .html.",
)
@click.option(
    "--figures",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the figures into this folder, too, as PNG.",
)
def command(files: tuple[Path, ...], output: Path | None, figures: Path | None) -> None:
    """Make one HTML page of results: figures, tables, and what limits.

    The page needs no internet. Several FILEs are compared with the first one. Needs
    treemill[plot].
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise UnsupportedError("figures need matplotlib: pip install 'treemill[plot]'")
    from ..pictures.line_charts import save  # start-up
    from .scaling.charts import figures as drawn  # start-up
    from .scaling.page import page  # start-up

    results = [(path.stem, load(path)) for path in files]
    target = output or files[0].with_suffix(".html")
    try:
        write_text(target, page(results))
        click.echo(f"page: {target}")
        if figures is not None:
            figures.mkdir(parents=True, exist_ok=True)
            for name, each in results:
                for number, (title, rows) in enumerate(drawn(each), 1):
                    path = figures / f"{name}-{number}.png"
                    with picture_file(path) as (picture, form):
                        save(rows, picture, form)
                    click.echo(f"{path}: {title}")
    except OSError as error:
        raise SourceError(f"cannot write the report: {error}") from None
    for name, each in results:
        for line in conclusion(each):
            click.echo(f"{name}: {line}" if len(results) > 1 else line)
