"""Columns that a query wants and the core does not find in a file, or cannot read: defaults of
branches that it lacks, and branches that uproot reads for it. Decides which; file_tree.py reads."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from ..language.mentions import mentions
from ..tree.file_tree import FileTree
from ..tree.foreign import Field

__all__ = ["Rescue", "Supplied", "supplied"]


class Supplied:
    """Some columns of a file's tree, for the core. Implements foreign.Foreign."""

    def __init__(self, tree: FileTree, names: list[str]) -> None:
        self._tree = tree
        self._names = names

    def schema(self) -> Sequence[Field]:
        """Kinds, whether values may be missing, and which columns count items."""
        return [self._field(name) for name in self._names]

    def _field(self, name: str) -> Field:
        empty = self.read(name, 0, 0)
        own = self._tree.by_name.get(name)
        if own is not None:
            return Field(name, empty, nullable=True, counter=own["counter"])
        is_none = self._tree.missing[name] is None
        return Field(name, empty, is_none, self._tree.counter_of_default(name))

    def read(self, name: str, start: int, stop: int) -> Any:
        """Entries `[start, stop)` as a core.Column."""
        (column,) = self._tree.read([name], start, stop)
        return column


class Rescue:
    """For the core: values of branches that it finds out it cannot read while it reads them."""

    def __init__(self, tree: FileTree) -> None:
        self._tree = tree

    def read(self, path: str, start: int, stop: int) -> Any:
        """Entries `[start, stop)` of the branch as a core.Column, by uproot. Raises
        UnsupportedError where that cannot read it either."""
        return self._tree.read_instead(self._tree.by_name[path], start, stop)


def supplied(tree: FileTree, words: Set[str]) -> Supplied | None:
    """The columns that expressions of these words may mean and that the core does not find in the
    tree; None where there are none. May look into other files for the types of defaults."""
    missing = tree.missing
    names = [name for name in tree.lacking() if mentions(words, name)]
    # A glob may mean a branch that only files behind the first have.
    names += [
        word
        for word in sorted(words)
        if word not in names
        and word not in tree.by_name
        and missing.has(word)
        and tree.sample(word) is not None
    ]
    names += [
        name
        for name, branch in tree.by_name.items()
        if not branch["supported"] and mentions(words, name) and tree.how(branch) == "uproot"
    ]
    return Supplied(tree, list(dict.fromkeys(names))) if names else None
