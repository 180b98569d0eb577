"""`treemill bench`: commands that measure. Loaded when they are called."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["bench"]


@click.group()
def bench() -> None:
    """Measure this machine and treemill on it."""


@bench.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--files", default=4, show_default=True, type=click.IntRange(1))
@click.option(
    "--events", default=500_000, show_default=True, type=click.IntRange(1), help="Per file."
)
@click.option("--codec", default="zstd", show_default=True, help="zstd, lz4, zlib, lzma or none.")
@click.option("--seed", default=1, show_default=True)
def generate(folder: Path, files: int, events: int, codec: str, seed: int) -> None:
    """Write the NanoAOD-like dataset into FOLDER; what is there already is kept."""
    from .generate import Recipe, write_dataset

    for line in write_dataset(folder, Recipe(files, events, codec=codec, seed=seed)):
        click.echo(line)
