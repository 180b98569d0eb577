"""What follows from a file's metadata, kept while the file stays as it is: values, and the files'
sizes. Opens files by the trees that it is given."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar, cast

if TYPE_CHECKING:
    from .file_tree import FileTree
    from .open_trees import OpenTrees

__all__ = ["Remembered", "Sizes"]

Value = TypeVar("Value")


class Remembered(Generic[Value]):
    """Values that follow from a file's metadata, kept while the file stays as it is.
    Thread-safe."""

    def __init__(self, trees: OpenTrees, name: str, make: Callable[[FileTree], Value]) -> None:
        """`name`: the key of the values, which chains of the same trees share."""
        self._trees = trees
        self._name = name
        self._make = make

    def peek(self, number: int) -> Value | None:
        """The value if it is known and the file is as it was, else None. Opens nothing."""
        if not self._trees.knows(number):
            return None
        return cast("Value | None", self._trees.remembered(number).get(self._name))

    def __getitem__(self, number: int) -> Value:
        known = self._trees.remembered(number)
        if self._name not in known:
            known[self._name] = self._make(self._trees[number])
        return cast(Value, known[self._name])


class Sizes(Remembered[tuple[int, tuple[int, ...]]]):
    """The entries of each file, and where its clusters start. For files that were verified before
    these are what was found then: if a file has changed since, opening it is an error."""

    _name = "sizes"

    def __init__(self, trees: OpenTrees, *, is_pinned: bool = False) -> None:
        """`is_pinned`: whether the trees are for one pass."""
        self._trees = trees
        self._is_pinned = is_pinned
        self._starts, self._lock = [0], threading.Lock()

    def first_entry(self, number: int) -> int:
        """The number in all files of this file's first entry. Opens the files before it."""
        if not self._is_pinned:  # files may change from call to call
            return sum(self[before][0] for before in range(number))
        with self._lock:
            starts = self._starts
            while len(starts) <= number:
                starts.append(starts[-1] + self[len(starts) - 1][0])
            return starts[number]

    @staticmethod
    def _make(tree: FileTree) -> tuple[int, tuple[int, ...]]:
        return int(tree.num_entries), tuple(tree.clusters)

    def peek(self, number: int) -> tuple[int, tuple[int, ...]] | None:
        """See Remembered."""
        return self._verified(number) or super().peek(number)

    def __getitem__(self, number: int) -> tuple[int, tuple[int, ...]]:
        return self._verified(number) or super().__getitem__(number)

    def _verified(self, number: int) -> tuple[int, tuple[int, ...]] | None:
        verified = self._trees.locations[number].verified
        return None if verified is None else (verified.entries, verified.clusters)
