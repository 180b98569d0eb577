"""Decides which columns of a query the core does not find in a file, or cannot read: those get the
defaults of missing branches, or are read by uproot. file_tree.py reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from treemill import _core

from ..data.file_tree import FileTree
from ..data.foreign import Field
from ..language.mentions import mentions

if TYPE_CHECKING:
    from treemill._core import Column

__all__ = ["Rescue", "Supplied", "supplied"]


class Supplied:
    """Gives the core some columns of a file's tree. Implements foreign.Foreign."""

    def __init__(self, tree: FileTree, names: list[str]) -> None:
        self._tree = tree
        self._names = names

    def schema(self) -> Sequence[Field]:
        """The columns' kinds, whether values may be missing, and which columns count items."""
        return [self._field(name) for name in self._names]

    def _field(self, name: str) -> Field:
        empty = self.read(name, 0, 0)
        own = self._tree.by_name.get(name)
        if own is not None:
            return Field(name, empty, nullable=True, counter=own["counter"])
        is_none = self._tree.missing[name] is None
        return Field(name, empty, is_none, self._tree.counter_of_default(name))

    def read(self, name: str, start: int, stop: int) -> Column:
        """The values of the entries `[start, stop)`."""
        (column,) = self._tree.read([name], start, stop)
        return column


class Rescue:
    """Reads branches for the core that it cannot read, if it notices that only while it reads."""

    def __init__(self, tree: FileTree) -> None:
        self._tree = tree

    def read(self, path: str, start: int, stop: int) -> Column:
        """The branch's entries `[start, stop)`, by uproot. Raises UnsupportedError if uproot cannot
        read it either."""
        return self._tree.read_instead(self._tree.by_name[path], start, stop)


_NUMBER = re.compile("[0-9]+$")


def _is_index(name: str, words: Set[str]) -> bool:
    """True if a reference that one of the words names has its indices in the column: `Muon.jet` has
    them in `Muon_jetIdx`."""
    first = _NUMBER.sub("1", name)  # Jet_muonIdx2 is one of several, which begin with 1
    return bool(_core.referred([first], [*words]))


def supplied(tree: FileTree, words: Set[str]) -> Supplied | None:
    """The columns that expressions of these words may mean and that the core does not find in the
    tree; None if there are none. May look into other files for the types of defaults."""
    missing = tree.missing
    names = [name for name in tree.lacking() if mentions(words, name) or _is_index(name, words)]
    # A glob may mean a branch that the first file lacks.
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
