"""`treemill bench generate`: workers write made-up events, each to its own disks."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .systems import is_here, session_on

if TYPE_CHECKING:
    from ...bench.recipe import Recipe
    from ...session.session import Session

__all__ = ["command", "generate"]

_EVENTS = {"event": 10_000}
"""Events of a file by schema, where they are large."""
_USUAL_EVENTS = 500_000
_CLUSTERS = {"event": 1_000}
_USUAL_CLUSTER = 100_000
_SURVEYED = 4
"""How often each worker of a cluster is asked for its room, on average: some get no question."""


@click.command("generate")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--files", default=4, show_default=True, type=click.IntRange(1))
@click.option(
    "--events",
    type=click.IntRange(1),
    help="Per file; default: 10,000 of the schema event, 500,000 of others.",
)
@click.option(
    "--schema",
    default="event",
    show_default=True,
    help="event: ROOT's test class, about 600 tracks an event; demo: a small NanoAOD; opendata: "
    "CMS's Run2012B_SingleMu.",
)
@click.option("--kind", default="ttree", show_default=True, help="ttree or rntuple.")
@click.option("--codec", default="zstd", show_default=True, help="zstd, lz4, zlib, lzma or none.")
@click.option("--level", type=click.IntRange(0), help="Of the compression; default: the usual one.")
@click.option(
    "--cluster",
    type=click.IntRange(1),
    help="Events that are compressed together; default: 1,000 of the schema event, else 100,000.",
)
@click.option("--seed", default=1, show_default=True)
@click.option(
    "--on",
    "system",
    default="processes",
    show_default=True,
    metavar="SYSTEM",
    help="processes, threads or dask of this machine, or the address of a Dask scheduler.",
)
@click.option("--workers", type=click.IntRange(1), help="Default: one per core.")
@click.option(
    "--url",
    metavar="URL",
    help="How files are addressed when they are read, with {host}, {path} and {name}, such as "
    "root://{host}/{path}; default: their paths.",
)
@click.option("--force", is_flag=True, help="Overwrite files that have other events.")
def command(
    folder: Path,
    files: int,
    events: int | None,
    schema: str,
    kind: str,
    codec: str,
    level: int | None,
    cluster: int | None,
    seed: int,
    system: str,
    workers: int | None,
    url: str | None,
    force: bool,
) -> None:
    """Write files of made-up events into FOLDER, on each worker's own disk.

    The events depend on the options only, not on who writes them. FOLDER/dataset.json describes the
    files for other commands. Files that have these events already are kept; others are not
    overwritten without --force.
    """
    from ...bench.recipe import Recipe  # heavy: numpy

    recipe = Recipe(
        files,
        events or _EVENTS.get(schema, _USUAL_EVENTS),
        cluster or _CLUSTERS.get(schema, _USUAL_CLUSTER),
        codec,
        seed,
        schema,
        level,
        kind,
    )
    for line in generate(folder, recipe, system, workers, url, force=force):
        click.echo(line)


def generate(
    folder: Path,
    recipe: Recipe,
    system: str = "processes",
    workers: int | None = None,
    url: str | None = None,
    *,
    force: bool = False,
) -> list[str]:
    """Writes the files of a recipe, and their description. Returns lines for the user."""
    from ...bench.dataset_file import (  # heavy: numpy
        NAME,
        check_unused,
        described,
        write_description,
    )
    from ...bench.making import FileMaker, bytes_per_event  # heavy: numpy

    recipe.check()
    # On a cluster the folder is the workers'.
    place = str(folder.absolute() if is_here(system) else folder)
    description = folder / NAME
    if not force:
        check_unused(description, recipe)
    expected = int(bytes_per_event(recipe) * recipe.events_per_file)
    suffix = f".{uuid.uuid4().hex[:12]}.tmp"
    try:
        with session_on(system, workers) as session:
            _check_room(session, place, recipe.files * expected)
            maker = FileMaker(place, recipe, force=force, expected=expected, suffix=suffix)
            output: Any = session.run(maker, cycles=recipe.files)
    finally:
        for part in folder.glob(f"*{suffix}"):
            part.unlink(missing_ok=True)
    made = output["files"]
    write_description(description, described(made, recipe, url))
    kept = sum(each.kept for each in made)
    hosts = sorted({each.host for each in made})
    total = sum(each.bytes for each in made)
    where = hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts"
    lines = [
        f"{folder}: {len(made)} files on {where}, {sum(each.events for each in made):,} events, "
        f"{total / 1e6:,.0f} MB" + (f" ({kept} were there already)" if kept else "")
    ]
    return [*lines, f"described in {description}"]


def _check_room(session: Session, place: str, bytes_in_all: int) -> None:
    from ...bench.making import RoomSurvey, check_room  # heavy: numpy

    asked = _SURVEYED * session.workers
    output: Any = session.run(RoomSurvey(place), cycles=asked, progress=False)
    check_room(output["rooms"], bytes_in_all)
