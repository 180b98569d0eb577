"""Totals over files: which are remembered, which are made of others, and what is lacking.

The files of a dataset are the leaves of a tree whose inner nodes are totals over runs of files.
Where a run ends is decided by the files in it, not by their number, so that a file more or less
changes the nodes above it alone. Totals are merged in the tree's order: the same parts give the
same sums, to the bit. Pure: a value is bytes, and the caller says how values are added.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["AT_ONCE", "Gathered", "Node", "Record", "Remembered", "gathered", "tree_of"]

Key = bytes
"""16 bytes that stand for data, or for what is computed of them."""

_BITS = 3
"""A node has eight children on average."""


@dataclass(frozen=True)
class Node:
    """A file, or a run of files."""

    key: Key
    first: int
    """The place of the first file."""
    count: int
    children: tuple[Node, ...] = ()
    """None: it is a file."""


def tree_of(keys: Sequence[Key]) -> Node:
    """The tree over files with these keys, of which there is one at least."""
    nodes = [Node(key, place, 1) for place, key in enumerate(keys)]
    level = 1
    while len(nodes) > 1:
        nodes = _runs(nodes, keys, level)
        level += 1
    return nodes[0]


def _runs(nodes: Sequence[Node], keys: Sequence[Key], level: int) -> list[Node]:
    """The nodes of the next level. A run ends after a file of this level; above all levels that
    files have, there is one run."""
    runs: list[Node] = []
    run: list[Node] = []
    for node in nodes:
        run.append(node)
        if _level(keys[node.first + node.count - 1]) >= level:
            runs.append(_joined(run))
            run = []
    return [*runs, _joined(run)] if run else runs


def _joined(run: Sequence[Node]) -> Node:
    if len(run) == 1:
        return run[0]
    hasher = hashlib.blake2b(digest_size=16, person=b"treemill totals")
    for node in run:
        hasher.update(node.key)
    count = sum(node.count for node in run)
    return Node(hasher.digest(), run[0].first, count, tuple(run))


def _level(key: Key) -> int:
    """Of eight files, one has level 1 or more, of 64 files one has level 2 or more, and so on."""
    number = int.from_bytes(key[:8], "little") | 1 << 45  # there is a highest level
    return ((number & -number).bit_length() - 1) // _BITS


class Remembered(Protocol):
    """Values that are kept somewhere."""

    def may_have(self, value: Key) -> bool:
        """False if there is no value with this key, of whatever data."""

    def find(self, data: Key, wanted: Sequence[Key]) -> tuple[dict[Key, bytes], list[int]]:
        """Those of the wanted values of these data that are there; and the entries of each file of
        the data, none if nothing is there."""

    def add(self, records: Iterable[Record]) -> None:
        """Keeps values."""


Record = tuple[Key, Sequence[int], Mapping[Key, bytes]]
"""The key of data, the entries of each file of the data, and values by their keys."""
Added = Callable[[Sequence[Sequence[bytes]]], list[bytes]]
"""Adds rows of values up, column by column, from the first row to the last one."""


@dataclass
class Gathered:
    """What there is for some values of some files."""

    complete: dict[Key, bytes] = field(default_factory=dict)
    """Totals over all files."""
    pieces: list[dict[Key, bytes]] = field(default_factory=list)
    """Totals over some files, for values that have none over all; each file is in one piece."""
    missing: dict[int, list[Key]] = field(default_factory=dict)
    """The values that are nowhere, by the place of their file."""
    entries: dict[int, int] = field(default_factory=dict)
    """The entries of files of which anything is there."""


AT_ONCE = 1 << 22
"""Bytes of records that are kept at once, before more are made: each by itself takes longer to
write than to make."""


class _Made:
    """Totals that are new, until there are enough of them to be kept."""

    def __init__(self, there: Remembered) -> None:
        self._there = there
        self._records: list[Record] = []
        self._bytes = 0

    def add(self, record: Record) -> None:
        self._records.append(record)
        self._bytes += sum(map(len, record[2].values()))
        if self._bytes > AT_ONCE:
            self.keep()

    def keep(self) -> None:
        self._there.add(self._records)
        self._records, self._bytes = [], 0


def gathered(node: Node, wanted: Sequence[Key], there: Remembered, add: Added) -> Gathered:
    """Looks for values of all files of a node, from the whole to the parts, and keeps the totals
    that it makes on the way."""
    found = Gathered()
    may_be_there = {key: there.may_have(key) for key in wanted}
    known = [key for key, may_be in may_be_there.items() if may_be]
    made = _Made(there)
    found.complete = _gather(node, known, there, add, found, made)
    made.keep()
    # What is new is looked for nowhere: there may be many files.
    if new := [key for key, may_be in may_be_there.items() if not may_be]:
        for place in range(node.first, node.first + node.count):
            found.missing[place] = [*found.missing.get(place, ()), *new]
    return found


def _gather(
    node: Node,
    wanted: list[Key],
    there: Remembered,
    add: Added,
    to: Gathered,
    made: _Made,
) -> dict[Key, bytes]:
    """The totals over all files of the node. Those that were not there go to `made`."""
    found, entries = there.find(node.key, wanted)
    if len(entries) == node.count:
        to.entries.update(zip(range(node.first, node.first + node.count), entries, strict=True))
    if len(found) == len(wanted):
        return found
    rest = [key for key in wanted if key not in found]
    if not node.children:
        to.missing[node.first] = rest
        return found
    below = [_gather(child, rest, there, add, to, made) for child in node.children]
    whole = [key for key in rest if all(key in each for each in below)]
    if whole:
        totals = add([[each[key] for key in whole] for each in below])
        new = dict(zip(whole, totals, strict=True))
        places = range(node.first, node.first + node.count)
        made.add((node.key, [to.entries[place] for place in places], new))
        found |= new
    if len(whole) < len(rest):
        for each in below:
            if piece := {key: each[key] for key in rest if key in each and key not in found}:
                to.pieces.append(piece)
    return found
