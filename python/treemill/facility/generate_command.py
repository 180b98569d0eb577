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
@click.option(
    "--files", default=4, show_default=True, type=click.IntRange(1), help="Number of files."
)
@click.option(
    "--events",
    type=click.IntRange(1),
    help="Events in each file; default: 10,000 with the schema event, 500,000 with the others.",
)
@click.option(
    "--schema",
    default="event",
    show_default=True,
    help="event: ROOT's test class with about 600 tracks per event; demo: a small NanoAOD; "
    "opendata: the branches of CMS's Run2012B_SingleMu.",
)
@click.option("--kind", default="ttree", show_default=True, help="The format: ttree or rntuple.")
@click.option(
    "--codec",
    default="zstd",
    show_default=True,
    help="The compression: zstd, lz4, zlib, lzma or none.",
)
@click.option(
    "--level",
    type=click.IntRange(0),
    help="Level of the compression; the default depends on the codec.",
)
@click.option(
    "--cluster",
    type=click.IntRange(1),
    help="Events in a cluster of the tree; default: 1,000 with the schema event, 100,000 with "
    "the others.",
)
@click.option("--seed", default=1, show_default=True, help="Equal seeds give equal events.")
@click.option(
    "--on",
    "system",
    default="processes",
    show_default=True,
    metavar="SYSTEM",
    help="Where workers run: processes, threads or dask on this machine, or the address of a "
    "Dask scheduler.",
)
@click.option(
    "--workers", type=click.IntRange(1), help="Number of workers; default: one for each core."
)
@click.option(
    "--url",
    metavar="URL",
    help="The address by which workers read a file, with {host}, {path} and {name}, such as "
    "root://{host}/{path}; default: the path of the file.",
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

    The events depend only on the options, not on the workers. FOLDER/dataset.json describes the
    files for other commands. The command keeps files that already have these events, and overwrites
    other files only with --force.
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
