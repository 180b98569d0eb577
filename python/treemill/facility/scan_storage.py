"""`treemill bench scan-storage`: how many bytes the storage gives to more and more readers."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Sequence, Sized
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

from .._system.processor import available_cores
from .options import Numbers
from .scaling.limit_diagnosis import conclusion
from .scaling.measurements import ResultsFile, StorageScan, rising, save
from .systems import DROPPED, describe, drop_caches, is_here, session_on

if TYPE_CHECKING:
    from ..session.session import Session

__all__ = ["BlockReader", "command", "scan"]

# Reads the bytes of files in blocks, wherever they lie, and makes nothing of them: a selector
# without data, whose cycles are numbers of blocks. Knows no ROOT file and no session.


class _Numbers(Sized, Protocol):
    """A chunk of numbers of blocks."""

    start: int
    stop: int


class BlockReader:
    """Reads blocks of files one after the other, as they are numbered over all files."""

    def __init__(self, files: Sequence[tuple[str, int]], block: int) -> None:
        """`files`: addresses and sizes in bytes. `block`: bytes of a block."""
        self.files = list(files)
        self.block = block
        self._ends = list(accumulate(-(-size // block) for _, size in files))
        self.__name__ = "scan-storage"

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def place(self, number: int) -> tuple[str, int, int]:
        """The file of a block, and where it starts and ends there.

        >>> BlockReader([("a", 10), ("b", 5)], 4).place(3)
        ('b', 0, 4)
        """
        file = bisect_right(self._ends, number)
        path, size = self.files[file]
        start = (number - (self._ends[file - 1] if file else 0)) * self.block
        return path, start, min(start + self.block, size)

    def spans(self, start: int, stop: int) -> list[tuple[str, int, int]]:
        """Returns what these blocks are of each file, in order.

        >>> BlockReader([("a", 10), ("b", 5)], 4).spans(1, 4)
        [('a', 4, 10), ('b', 0, 4)]
        """
        ranges: list[tuple[str, int, int]] = []
        for number in range(start, stop):
            path, first, last = self.place(number)
            if ranges and ranges[-1][0] == path and ranges[-1][2] == first:
                first = ranges.pop()[1]
            ranges.append((path, first, last))
        return ranges

    def __call__(self, numbers: _Numbers) -> dict[str, object]:
        """Reads these blocks. Raises SourceError if a file cannot be read, or is shorter now."""
        from treemill import _core  # heavy: core

        done = 0
        for path, start, stop in self.spans(numbers.start, numbers.stop):
            read, _ = _core.Stored(path).drain(start, stop, self.block)
            done += read
        return {"bytes": done}


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
    help="Where readers run: threads, processes or dask on this machine, or the address of a "
    "Dask scheduler.",
)
@click.option(
    "--readers",
    type=Numbers(),
    help="Numbers of readers; default: 1, 2, 4 … up to four for each core.",
)
@click.option(
    "--repeat",
    "rounds",
    type=click.IntRange(1),
    default=4,
    show_default=True,
    help="Number of measurements of each number of readers.",
)
@click.option(
    "--block", type=click.IntRange(1), default=4, show_default=True, help="Size of a read in MiB."
)
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
    """Read all bytes of files with an increasing number of readers, without decoding them.

    DATASET is a description that `bench generate` has written, or any files. If more readers do not
    raise the rate, the storage has reached its limit. `treemill bench storage` compares storages,
    and reads branches, too.
    """
    from ..dataset import dataset as opened  # start-up

    is_here(system)
    opened_files = opened(dataset[0] if len(dataset) == 1 else list(dataset))
    files = [(path, _size(path)) for path in opened_files.files]
    reader = BlockReader(files, block << 20)
    about = describe()
    scans = scan(
        reader,
        system,
        readers or rising(_MANY * available_cores()),
        rounds,
        click.echo,
        drops=not warm,
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
        notes=sorted({f"caches: {each.caches}" for each in scans if each.caches != DROPPED}),
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
                caches = drop_caches(session, paths, system, wanted=drops)
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
