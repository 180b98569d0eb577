"""What follows from a file's metadata, kept while the file stays as it is: values, and the files'
sizes. Opens files by the trees that it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar, cast

if TYPE_CHECKING:
    from ..tree.file_tree import FileTree
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

    def __init__(self, trees: OpenTrees) -> None:
        self._trees = trees

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
