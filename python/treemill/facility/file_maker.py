"""Files of made-up events, written by workers: a selector without data, with a cycle for each file
that is missing. Each worker writes to its own disks; what it has written goes into the output.

Knows no session. The sizes of files are estimated from a sample.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .._system.files import new_file, whole_file
from ..errors import QueryError, SourceError, writing
from .generate import TREE, noted, unique, write
from .recipe import Recipe

__all__ = [
    "NAME",
    "FileMaker",
    "FreeSpace",
    "HostFiles",
    "Made",
    "Survey",
    "Sweep",
    "bytes_per_event",
    "check_free",
    "check_room",
    "check_unused",
    "described",
    "kept",
    "spread",
    "unwanted",
    "write_description",
]

# What hosts have of a made-up dataset: its files that are there, and room for more. A survey runs
# in each process that may write; what all of them have found is judged here, too. Knows no
# session, and no cluster.

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
class FreeSpace:
    """The free bytes of the disk that a host would write to."""

    host: str
    disk: str
    """Equal for hosts that share a disk, as far as its size tells."""
    free: int


@dataclass(frozen=True)
class HostFiles:
    """What one process has found on its host."""

    room: FreeSpace
    made: tuple[Made, ...] = ()
    """Files that are there, with the events that are wanted."""
    others: tuple[tuple[str, str], ...] = ()
    """The files that have these names and other events: their paths, and what is unique to them."""


@dataclass(frozen=True)
class Survey:
    """Looks at the folder in the process that calls it."""

    folder: str
    recipe: Recipe

    def __call__(self) -> HostFiles:
        """Returns what is there."""
        host = socket.gethostname()
        events_files, others = [], []
        for index, path in _of_dataset(self.folder, self.recipe):
            if noted(path) == self.recipe.note(index):
                size, events = path.stat().st_size, self.recipe.events_per_file
                events_files.append(Made(index, str(path), host, size, events, True, unique(path)))
            else:
                others.append((str(path), unique(path)))
        return HostFiles(self._room(host), tuple(events_files), tuple(others))

    def _room(self, host: str) -> FreeSpace:
        there = Path(self.folder).absolute()
        while not there.exists():
            there = there.parent
        usage = shutil.disk_usage(there)
        # Hosts that see a disk of the same size with as much free, give or take, share it.
        return FreeSpace(host, f"{usage.total}:{usage.free >> 30}", usage.free)


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


def kept(surveys: Iterable[HostFiles]) -> dict[int, Made]:
    """The files that need not be made, by number. Of copies on several hosts one is taken, always
    the same.

    >>> on = {host: Made(0, "/d/events_000.root", host, 5, 10, True) for host in ("n2", "n1")}
    >>> kept(HostFiles(FreeSpace(host, host, 0), (made,)) for host, made in on.items())[0].host
    'n1'
    """
    every = sorted((file for each in surveys for file in each.made), key=lambda made: made.host)
    return {file.index: file for file in reversed(every)}


def unwanted(
    surveys: Sequence[HostFiles], new: Iterable[int], *, overwritten: bool = False
) -> frozenset[str]:
    """Returns what is unique to the files that are in the way after the files with the numbers
    `new` were made: further copies of these, where two workers have done the same; if files are to
    be `overwritten`, those with other events on other hosts, too. Hosts that share a disk all see
    the same file there.

    >>> made = [Made(0, "/d/events_000.root", host, 5, 10, True, host) for host in ("n1", "n2")]
    >>> unwanted([HostFiles(FreeSpace(each.host, each.host, 0), (each,)) for each in made], [0])
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


def check_free(surveys: Iterable[HostFiles]) -> None:
    """Raises QueryError if a host has a file with other events in the place of one to be made."""
    for each in surveys:
        for path, _ in each.others:
            raise QueryError(
                f"{path} on {each.room.host} exists and has other events; --force overwrites it",
                file=path,
            )


def check_room(rooms: Iterable[FreeSpace], bytes_in_all: int) -> None:
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


# The description of a made-up dataset: a fileset in coffea's form as JSON, which
# `treemill.dataset` and the commands read, with the recipe of its files. Knows no ROOT file.

NAME = "dataset.json"
"""The description's name in the folder of the files."""


def described(
    files: Sequence[Made], recipe: Recipe, url: str | None = None
) -> dict[str, dict[str, object]]:
    """The fileset. `url`: the files' addresses for those that read them, with {host}, {path} and
    {name} in it; None: their paths.

    >>> made = [Made(0, "/d/events_000.root", "n1", 5, 10, False)]
    >>> fileset = described(made, Recipe(files=1), "root://{host}/{path}")
    >>> list(fileset["demo"]["files"])
    ['root://n1//d/events_000.root']
    """
    template = url or "{path}"
    in_order = sorted(files, key=lambda each: each.index)
    try:
        addresses = [
            template.format(host=each.host, path=each.path, name=Path(each.path).name)
            for each in in_order
        ]
    except (KeyError, IndexError, ValueError) as error:
        raise QueryError(
            f"{template!r} is no address of files: {{host}}, {{path}} and {{name}} stand for parts "
            f"of it ({error})"
        ) from None
    return {
        recipe.schema: {
            "files": dict.fromkeys(addresses, TREE),
            "metadata": {
                "recipe": recipe.made_from(),
                "events": sum(each.events for each in files),
                "bytes": sum(each.bytes for each in files),
                "hosts": sorted({each.host for each in files}),
            },
        }
    }


def recipe_of(path: str | Path) -> Mapping[str, object] | None:
    """Returns what the metadata of a description says; None if the file is no description."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        (dataset,) = document.values()
        metadata = dataset["metadata"]
        return metadata if "recipe" in metadata else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def check_unused(path: Path, recipe: Recipe) -> None:
    """Raises QueryError if there is a file at `path` that is no description of files of this
    recipe."""
    if not path.exists():
        return
    known = recipe_of(path)
    if known is None or known["recipe"] != recipe.made_from():
        raise QueryError(
            f"{path} exists and describes something else; --force overwrites it", file=str(path)
        )


def write_description(path: Path, fileset: Mapping[str, object]) -> None:
    """Writes it. It gets its name when it is complete. Raises SourceError if that fails."""
    with writing(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as part:
            Path(part).write_text(json.dumps(fileset, indent=1) + "\n", encoding="utf-8")


_SAMPLE = 400
"""Events from which sizes are estimated, at most."""


class _BlockNumbers(Sized, Protocol):
    """A chunk of cycles."""

    start: int
    stop: int


class FileMaker:
    """Writes the files of the cycles that it is called with. Raises QueryError for a file that is
    there and has something else in it, unless it is told to overwrite."""

    def __init__(
        self,
        folder: str,
        recipe: Recipe,
        missing: Sequence[int],
        *,
        force: bool,
        expected: int,
        suffix: str,
    ) -> None:
        """`missing`: the numbers of the files, by cycle. `expected`: bytes of a file. `suffix`: of
        files that are not complete. Processes that are killed leave them behind, and the caller
        removes them."""
        self.folder = folder
        self.missing = tuple(missing)
        self.suffix = suffix
        self.recipe = recipe
        self.force = force
        self.expected = expected
        self.__name__ = "generate"

    def __call__(self, numbers: _BlockNumbers) -> dict[str, object]:
        """Writes these files."""
        return {"files": [self._make(at) for at in self.missing[numbers.start : numbers.stop]]}

    def _make(self, index: int) -> Made:
        recipe, folder = self.recipe, Path(self.folder)
        path = folder / recipe.name(index)
        note = recipe.note(index)
        kept = False
        if path.exists():
            kept = noted(path) == note
            if not (kept or self.force):
                raise QueryError(
                    f"{path} on {socket.gethostname()} exists and has other events; "
                    "--force overwrites it",
                    file=str(path),
                )
        if not kept:
            kept = self._write(path, index, note)
        size = path.stat().st_size
        return Made(index, str(path), socket.gethostname(), size, recipe.events_per_file, kept)

    def _write(self, path: Path, index: int, note: dict[str, object]) -> bool:
        """True if another worker was faster: two write the same file if the first is late."""
        recipe = self.recipe
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(path.parent).free
        except OSError as error:
            raise SourceError(f"cannot write to {path.parent}: {error}", file=str(path)) from None
        if free < self.expected * MARGIN:
            raise SourceError(
                f"{path.parent} on {socket.gethostname()} has {free / 1e9:.2f} GB left, and a file "
                f"takes {self.expected / 1e9:.2f} GB: free some, or write fewer events",
                file=str(path),
            )
        before = _identity(path)
        try:
            part = Path(new_file(str(path), self.suffix))
        except OSError as error:
            raise SourceError(f"cannot write {path}: {error}", file=str(path)) from error
        try:
            write(
                part,
                events=recipe.events_per_file,
                codec=recipe.codec,
                level=recipe.level,
                seed=recipe.seed,
                index=index,
                cluster=recipe.events_per_cluster,
                schema=recipe.schema,
                kind=recipe.kind,
                note=note,
            )
            # A file that others may be reading already is left alone.
            if _identity(path) != before and noted(path) == note:
                return True
            os.replace(part, path)
            return False
        except OSError as error:
            raise SourceError(f"cannot write {path}: {error}", file=str(path)) from error
        finally:
            part.unlink(missing_ok=True)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def bytes_per_event(recipe: Recipe) -> float:
    """About this many bytes each event takes, from a sample that is written to a temporary file."""
    events = min(_SAMPLE, recipe.events_per_file)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.root"
        write(
            path,
            events=events,
            codec=recipe.codec,
            level=recipe.level,
            seed=recipe.seed,
            cluster=min(recipe.events_per_cluster, events),
            schema=recipe.schema,
            kind=recipe.kind,
        )
        return path.stat().st_size / events
