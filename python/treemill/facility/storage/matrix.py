"""What `treemill bench storage` measures, and in which order. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from ...errors import QueryError

__all__ = ["WAYS", "WHATS", "Cell", "Matrix", "Target", "window_of"]

WAYS: Mapping[str, str] = {
    "processes": "each reader is a process, with connections of its own",
    "streams": "all readers are threads of one process, which share its connections",
}
"""What a reader is."""

WHATS: Mapping[str, str] = {
    "whole": "all bytes of the files, of which nothing is made",
    "all": "all branches of numbers, decoded",
    "two": "two branches of numbers, decoded: the largest one and the middle one",
}
"""What is read."""


@dataclass(frozen=True)
class Target:
    """Files that are compared with those of other targets."""

    storage: str
    """Scheme, host and port, or a folder; without credentials."""
    protocol: str
    """The scheme; "file" for paths."""
    layout: str
    """How the trees' baskets lie: "flushed" or "unordered"."""
    files: tuple[tuple[str, str], ...]
    """Addresses and names of trees."""
    names: Mapping[str, tuple[str, ...]]
    """Branches to be read, by what is read; none for whole files."""


@dataclass(frozen=True)
class Cell:
    """One measurement."""

    target: Target
    way: str
    readers: int
    what: str
    window: int
    """Bytes that a reader may ask for before it needs them."""
    round: int


@dataclass(frozen=True)
class Matrix:
    """The measurements: each combination, in each round."""

    targets: Sequence[Target]
    ways: Sequence[str]
    readers: Sequence[int]
    whats: Sequence[str]
    windows: Sequence[int]
    rounds: int

    def __post_init__(self) -> None:
        for given, known in ((self.ways, WAYS), (self.whats, WHATS)):
            for each in given:
                if each not in known:
                    raise QueryError(f"no {each!r} in {', '.join(known)}", suggestions=[*known])
        if not self.readers or min(self.readers) < 1:
            raise QueryError(f"numbers of readers are 1 or more, not {list(self.readers)}")
        if not self.windows or min(self.windows) < 0:
            raise QueryError(f"windows are 0 bytes or more, not {list(self.windows)}")

    def __len__(self) -> int:
        axes = (self.targets, self.ways, self.readers, self.whats, self.windows)
        number = self.rounds
        for axis in axes:
            number *= len(axis)
        return number

    def cells(self) -> Iterator[Cell]:
        """All cells, in the order of measuring. Storages follow one another within each
        combination, so that what disturbs the machine hits all alike, and take turns at coming
        first. Rounds go over everything, every second one backwards."""
        combinations = [*product(self.readers, self.whats, self.windows, self.ways)]
        for number in range(self.rounds):
            ordered = combinations if number % 2 == 0 else combinations[::-1]
            for place, (readers, what, window, way) in enumerate(ordered):
                for shift in range(len(self.targets)):
                    target = self.targets[(place + shift) % len(self.targets)]
                    yield Cell(target, way, readers, what, window, number)


def window_of(window: int, readers: int, room: int) -> int:
    """The window of each reader where all readers together may hold `room` bytes: the wanted one
    if there is room.

    >>> window_of(60, 2, 1000), window_of(60, 100, 1000)
    (60, 10)
    """
    return min(window, room // max(readers, 1))
