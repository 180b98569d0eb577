"""What hosts have of a made-up dataset: its files that are there, and room for more. A survey runs
in each process that may write; what all of them have found is judged here, too.

Knows no session, and no cluster.
"""

from __future__ import annotations

import shutil
import socket
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import QueryError, SourceError
from .event_files import noted, unique
from .recipe import Recipe

__all__ = [
    "MARGIN",
    "Found",
    "Made",
    "Room",
    "Survey",
    "Sweep",
    "check_free",
    "check_room",
    "kept",
    "spread",
    "unwanted",
]

MARGIN = 1.1
"""So much more room is asked for than a sample says."""


@dataclass(frozen=True)
class Made:
    """A file that is there."""

    index: int
    path: str
    host: str
    bytes: int
    events: int
    kept: bool
    """Whether it was there already, with these events."""
    unique: str = ""
    """What it has and no copy of it."""


@dataclass(frozen=True)
class Room:
    """The free bytes of the disk that a host would write to."""

    host: str
    disk: str
    """Equal for hosts that share a disk, as far as its size tells."""
    free: int


@dataclass(frozen=True)
class Found:
    """What one process has found on its host."""

    room: Room
    made: tuple[Made, ...] = ()
    """Files that are there, with the events that are wanted."""
    others: tuple[tuple[str, str], ...] = ()
    """The files that have these names and other events: their paths, and what is unique to them."""


@dataclass(frozen=True)
class Survey:
    """Looks at the folder in the process that calls it."""

    folder: str
    recipe: Recipe

    def __call__(self) -> Found:
        """Returns what is there."""
        host = socket.gethostname()
        events_files, others = [], []
        for index, path in _of_dataset(self.folder, self.recipe):
            if noted(path) == self.recipe.note(index):
                size, events = path.stat().st_size, self.recipe.events_per_file
                events_files.append(Made(index, str(path), host, size, events, True, unique(path)))
            else:
                others.append((str(path), unique(path)))
        return Found(self._room(host), tuple(events_files), tuple(others))

    def _room(self, host: str) -> Room:
        there = Path(self.folder).absolute()
        while not there.exists():
            there = there.parent
        usage = shutil.disk_usage(there)
        # Hosts that see a disk of the same size with as much free, give or take, share it.
        return Room(host, f"{usage.total}:{usage.free >> 30}", usage.free)


@dataclass(frozen=True)
class Sweep:
    """Removes, in the process that calls it, what a run leaves behind: files that are not complete,
    of processes that were killed, and files that are in the way."""

    folder: str
    suffix: str
    """The end of the names of files that are not complete."""
    unwanted: frozenset[str] = frozenset()
    """What is unique to the files that go, too."""

    def __call__(self) -> int:
        """The number of files that are removed."""
        gone = list(Path(self.folder).glob(f"*{self.suffix}"))
        if self.unwanted:
            whole = Path(self.folder).glob("*.root")
            gone += [path for path in whole if unique(path) in self.unwanted]
        for path in gone:
            path.unlink(missing_ok=True)
        return len(gone)


def _of_dataset(folder: str, recipe: Recipe) -> list[tuple[int, Path]]:
    """The files in the folder that have names of the dataset, with their numbers."""
    files = [(recipe.number(path.name), path) for path in Path(folder).glob("*.root")]
    return sorted((index, path) for index, path in files if index is not None)


def kept(surveys: Iterable[Found]) -> dict[int, Made]:
    """The files that need not be made, by number. Of copies on several hosts one is taken, always
    the same.

    >>> on = {host: Made(0, "/d/events_000.root", host, 5, 10, True) for host in ("n2", "n1")}
    >>> kept(Found(Room(host, host, 0), (made,)) for host, made in on.items())[0].host
    'n1'
    """
    every = sorted((file for each in surveys for file in each.made), key=lambda made: made.host)
    return {file.index: file for file in reversed(every)}


def unwanted(
    surveys: Sequence[Found], new: Iterable[int], *, overwritten: bool = False
) -> frozenset[str]:
    """Returns what is unique to the files that are in the way after the files with the numbers
    `new` were made: further copies of these, where two workers have done the same; if files are to
    be `overwritten`, those with other events on other hosts, too. Hosts that share a disk all see
    the same file there.

    >>> made = [Made(0, "/d/events_000.root", host, 5, 10, True, host) for host in ("n1", "n2")]
    >>> unwanted([Found(Room(each.host, each.host, 0), (each,)) for each in made], [0])
    frozenset({'n2'})
    """
    wanted, numbers = kept(surveys), set(new)
    copies = {
        file.unique
        for each in surveys
        for file in each.made
        if file.index in numbers and file.unique != wanted[file.index].unique
    }
    others = {one for each in surveys for _, one in each.others}
    return frozenset(copies | others if overwritten else copies)


def check_free(surveys: Iterable[Found]) -> None:
    """Raises QueryError if a host has a file with other events in the place of one to be made."""
    for each in surveys:
        for path, _ in each.others:
            raise QueryError(
                f"{path} on {each.room.host} is there and has other events; --force overwrites it",
                file=path,
            )


def check_room(rooms: Iterable[Room], bytes_in_all: int) -> None:
    """Raises SourceError if the disks together have too little room for so many bytes."""
    disks = {room.disk: room for room in rooms}
    free = sum(room.free for room in disks.values())
    if bytes_in_all * MARGIN > free:
        where = ", ".join(sorted({room.host for room in disks.values()}))
        raise SourceError(
            f"the files take about {bytes_in_all / 1e9:.2f} GB, and {where} has "
            f"{free / 1e9:.2f} GB left: free some, or write fewer events"
        )


def spread(files: Sequence[Made], hosts: Iterable[str]) -> Mapping[str, int]:
    """Returns how many files each host has, those without any included.

    >>> spread([Made(0, "/d/events_000.root", "n1", 5, 10, False)], ["n1", "n2"])
    {'n1': 1, 'n2': 0}
    """
    number = Counter(each.host for each in files)
    return {host: number[host] for host in sorted({*hosts, *number})}
