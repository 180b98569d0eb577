"""`treemill bench scan-storage`: how many bytes the storage gives to more and more readers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import machine, page_cache
from .blocks import BlockReader
from .options import Numbers
from .scaling.conclusions import conclusion
from .scaling.measurements import ResultsFile, StorageScan, save
from .scaling.plan import rising
from .systems import cores, is_here, session_on

if TYPE_CHECKING:
    from ..session.session import Session

__all__ = ["command", "scan"]

_MANY = 4
"""Readers for each core, at most, if nothing else is said."""


@click.command("scan-storage")
@click.argument("dataset", nargs=-1, required=True, metavar="DATASET…")
@click.option(
    "--on",
    "system",
    default="threads",
    show_default=True,
    metavar="SYSTEM",
    help="threads, processes or dask of this machine, or the address of a Dask scheduler.",
)
@click.option("--readers", type=Numbers(), help="Default: 1, 2, 4 … up to four for each core.")
@click.option("--repeat", "rounds", type=click.IntRange(1), default=4, show_default=True)
@click.option("--block", type=click.IntRange(1), default=4, show_default=True, help="In MiB.")
@click.option("--warm", is_flag=True, help="Leave the operating system's cache of files as it is.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file of results; default: storage-DATE.json.",
)
def command(
    dataset: tuple[str, ...],
    system: str,
    readers: tuple[int, ...] | None,
    rounds: int,
    block: int,
    warm: bool,
    output: Path | None,
) -> None:
    """Read all bytes of files with more and more readers at once, and make nothing of them.

    DATASET is what `bench generate` has described, or any files. The rate that more readers do not
    raise is what the storage can give. `treemill bench storage` compares storages, and reads
    branches, too.
    """
    from ..dataset import dataset as opened  # start-up

    is_here(system)
    opened_files = opened(dataset[0] if len(dataset) == 1 else list(dataset))
    files = [(path, _size(path)) for path in opened_files.files]
    reader = BlockReader(files, block << 20)
    about = machine.describe()
    scans = scan(
        reader, system, readers or rising(_MANY * cores()), rounds, click.echo, drops=not warm
    )
    date = datetime.now(UTC).isoformat(timespec="seconds")
    results = ResultsFile(
        date,
        about,
        {"systems": [system], "rounds": rounds, "block in MiB": block},
        {
            "files": len(files),
            "bytes": sum(size for _, size in files),
            "remote": any("://" in path for path, _ in files),
        },
        storage=scans,
        notes=sorted(
            {f"caches: {each.caches}" for each in scans if each.caches != page_cache.DROPPED}
        ),
    )
    path = output or Path(f"storage-{date[:19].replace(':', '')}.json")
    save(results, path)
    for line in conclusion(results):
        click.echo(line)
    click.echo(f"results: {path}; figures: treemill bench report {path}")


def scan(
    reader: BlockReader,
    system: str,
    readers: Sequence[int],
    rounds: int,
    say: Callable[[str], None],
    *,
    drops: bool = True,
) -> list[StorageScan]:
    """Reads all blocks with each number of readers, and says how fast."""
    scans = []
    for number in readers:
        with session_on(system, number) as session:
            for count in range(rounds):
                paths = [path for path, _ in reader.files]
                caches = page_cache.drop(session, paths, system, wanted=drops)
                seconds, done = _run(session, reader)
                measured = StorageScan(system, number, count, seconds, done, caches)
                scans.append(measured)
                say(
                    f"{system:12} {number:4} {'reader ' if number == 1 else 'readers'} "
                    f"{seconds:8.3f} s {measured.megabytes_per_second:10.1f} MB/s  caches {caches}"
                )
    return scans


def _run(session: Session, reader: BlockReader) -> tuple[float, int]:
    began = time.perf_counter()
    output = session.run(reader, cycles=len(reader), progress=False)
    return time.perf_counter() - began, output["bytes"]


def _size(path: str) -> int:
    from treemill import _core  # heavy: core

    return _core.Stored(path).size
