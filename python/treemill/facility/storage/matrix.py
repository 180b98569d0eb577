"""What `treemill bench storage` measures, and in which order. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from ...errors import QueryError
from ..exerciser import Size

__all__ = [
    "STEP",
    "WAYS",
    "WHATS",
    "Cell",
    "Matrix",
    "Target",
    "ahead",
    "branches",
    "fresh",
    "layout",
    "steps",
    "window_of",
]

# The steps in which a reader goes through a tree, the branches that it reads, and how the baskets
# lie. Pure: knows numbers of entries and bytes, no file.

STEP = 4 << 20
"""Stored bytes of a step, about, at most: a reader ends between steps."""


def layout(clusters: Sequence[int], baskets: Sequence[int]) -> str:
    """ "flushed" if each branch with data has a basket in each cluster, as ROOT writes since
    TTree::AutoFlush; else "unordered". `clusters`: their first entries; `baskets`: how many each
    branch has.

    >>> layout([0, 100], [2, 4, 2, 0]), layout([0, 50, 100], [3, 1])
    ('flushed', 'unordered')
    """
    ordered = all(number >= len(clusters) for number in baskets if number)
    return "flushed" if ordered else "unordered"


def branches(sizes: Sequence[Size], what: str) -> tuple[str, ...]:
    """The branches that are read. Raises QueryError if there are none."""
    if what == "whole":
        return ()
    if not sizes:
        raise QueryError("the tree has no branch of numbers to read")
    if what == "all":
        return tuple(size.branch for size in sizes)
    ordered = sorted(sizes, key=lambda size: (size.zip_bytes, size.branch))
    both = (ordered[-1].branch, ordered[(len(ordered) - 1) // 2].branch)
    return tuple(dict.fromkeys(both))


def steps(
    clusters: Sequence[int], entries: int, stored: int, lies: str = "flushed"
) -> list[tuple[int, int]]:
    """Ranges of entries, one after the other: clusters, cut into equal parts where they have more
    than STEP of the `stored` bytes of all entries. A tree that `lies` "unordered" has no clusters,
    whatever the ends of its baskets look like: it is one.

    >>> steps([0, 60], 100, 1000), steps([0, 60], 100, 1000, "unordered")
    ([(0, 60), (60, 100)], [(0, 100)])
    """
    starts = clusters if lies == "flushed" else ()
    edges = sorted({0, *(start for start in starts if 0 < start < entries)})
    ranges: list[tuple[int, int]] = []
    for start, stop in zip(edges, [*edges[1:], entries], strict=True):
        length = stop - start
        if length <= 0:
            continue
        parts = min(max(-(-stored * length // max(entries, 1) // STEP), 1), length)
        cuts = [start + length * part // parts for part in range(parts + 1)]
        ranges += pairwise(cuts)
    return ranges


def ahead(sizes: Sequence[int], window: int) -> Iterator[int]:
    """Before each step: up to which step the bytes should have been asked for, so that those that
    are not used yet are at most `window`; at least the step itself, if there is a window.

    >>> list(ahead([10, 10, 10, 10], 25))
    [2, 3, 4, 4]
    """
    until = held = 0
    for number, size in enumerate(sizes):
        while until < len(sizes) and (until <= number or held + sizes[until] <= window):
            held += sizes[until]
            until += 1
        yield until
        held -= size


def fresh(bytes_of: Callable[[int, int], int], ranges: Sequence[tuple[int, int]]) -> Iterator[int]:
    """The bytes of each step without those of baskets that the step before has, too: together, all
    baskets once. `bytes_of`: the bytes of the baskets that have entries of a range.

    >>> tens = lambda start, stop: 100 * (-(-stop // 10) - start // 10)
    >>> list(fresh(tens, [(0, 5), (5, 12), (12, 20)]))
    [100, 100, 0]
    """
    for start, stop in ranges:
        shared = 0
        if start:
            beside = bytes_of(start - 1, start) + bytes_of(start, start + 1)
            shared = beside - bytes_of(start - 1, start + 1)
        yield bytes_of(start, stop) - shared


WAYS: Mapping[str, str] = {
    "processes": "each reader is a process, with connections of its own",
    "streams": "all readers are threads of one process, which share its connections",
}
"""What a reader is."""

WHATS: Mapping[str, str] = {
    "whole": "all bytes of the files, without decoding",
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
