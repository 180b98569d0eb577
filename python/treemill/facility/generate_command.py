"""`treemill bench generate`: workers write made-up events, each to its own disks."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import TreemillError
from .options import NewFolder
from .systems import is_here, on_each_process, session_on

if TYPE_CHECKING:
    from .file_maker import Made
    from .recipe import Recipe

__all__ = ["command", "generate"]

_EVENTS = {"event": 10_000}
"""Events of a file by schema, where they are large."""
_USUAL_EVENTS = 500_000
_CLUSTERS = {"event": 1_000}
_USUAL_CLUSTER = 100_000


@click.command("generate")
@click.argument("folder", type=NewFolder())
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
    from .recipe import Recipe  # heavy: numpy

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
    from .file_maker import (  # heavy: numpy  # heavy: numpy
        NAME,
        Survey,
        bytes_per_event,  # heavy: numpy
        check_free,
        check_room,
        check_unused,
        described,
        kept,
        spread,
        write_description,
    )

    recipe.check()
    # On a cluster the folder is the workers'.
    place = str(folder.absolute() if is_here(system) else folder)
    description = folder / NAME
    if not force:
        check_unused(description, recipe)
    expected = int(bytes_per_event(recipe) * recipe.events_per_file)
    surveys = on_each_process(system, Survey(place, recipe))
    if not force:
        check_free(surveys)
    there = kept(surveys)
    check_room([each.room for each in surveys], (recipe.files - len(there)) * expected)
    missing = [index for index in range(recipe.files) if index not in there]
    files = [*there.values()]
    if missing:
        files += _made(place, recipe, missing, system, workers, expected=expected, force=force)
    write_description(description, described(files, recipe, url))
    before = sum(each.kept for each in files)
    on = spread(files, [each.room.host for each in surveys])
    lines = [
        f"{folder}: {len(files)} files on {_places(on)}, {sum(each.events for each in files):,} "
        f"events, {sum(each.bytes for each in files) / 1e6:,.0f} MB"
        + (f" ({before} were there already)" if before else "")
    ]
    if without := [host for host, number in on.items() if not number]:
        lines.append(f"no file is on {', '.join(without)}: more files would be on more hosts")
    return [*lines, f"described in {description}"]


def _places(on: Mapping[str, int]) -> str:
    hosts = {host: number for host, number in on.items() if number}
    if len(hosts) == 1:
        return next(iter(hosts))
    least, most = min(hosts.values()), max(hosts.values())
    each = str(most) if least == most else f"{least} to {most}"
    return f"{len(hosts)} hosts, {each} on each"


def _made(
    place: str,
    recipe: Recipe,
    missing: Sequence[int],
    system: str,
    workers: int | None,
    *,
    expected: int,
    force: bool,
) -> list[Made]:
    """Lets workers make the files. Afterwards each is on one host, and nothing else is left."""
    from .file_maker import (  # heavy: numpy
        FileMaker,  # heavy: numpy
        Survey,
        Sweep,
        kept,
        unwanted,
    )

    suffix = f".{uuid.uuid4().hex[:12]}.tmp"
    maker = FileMaker(place, recipe, missing, force=force, expected=expected, suffix=suffix)
    sweep = Sweep(place, suffix)
    try:
        with session_on(system, workers) as session:
            output = session.run(maker, cycles=len(missing))
        surveys = on_each_process(system, Survey(place, recipe))
        sweep = Sweep(place, suffix, unwanted(surveys, missing, overwritten=force))
        written = {each.index: each for each in output["files"]}
        present = kept(surveys)  # a host may have left the cluster, with what it has made
        return [
            replace(present.get(index, file), kept=False) for index, file in sorted(written.items())
        ]
    finally:
        with contextlib.suppress(TreemillError):  # the cluster may be what has failed
            on_each_process(system, sweep)
