"""The branches of the files of `kinds.C` that are measured."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import treemill._core as core

__all__ = ["SEPARATOR", "Place", "places"]

SEPARATOR = " · "
"""Between the tree and the branch in a key."""

_ALIKE = ("n", "id", "x.index", "fUniqueID", "fBits", "pair", "second", "pairs.first")
"""Ends of the names of branches that are like others that are measured."""


@dataclass(frozen=True)
class Place:
    """A branch to be measured."""

    tree: str
    path: str
    cpp_type: str

    @property
    def name(self) -> str:
        """Without those of its parents."""
        return self.path.split("/")[-1]

    @property
    def key(self) -> str:
        """The tree and the branch, for readers."""
        return f"{self.tree}{SEPARATOR}{self.name}"

    @property
    def kind(self) -> str:
        """What the table calls it."""
        return self.tree if "/" not in self.path else f"{self.tree}: {self.name}"


def places(path: Path) -> Iterator[Place]:
    """The branches of a file that have data of their own, one for each kind."""
    file = core.File(str(path))
    # A tree may have been saved more than once while it was filled.
    for tree in dict.fromkeys(tree["path"] for tree in file.trees()):
        branches = file.tree(tree).branches()
        parents = {b["path"].rpartition("/")[0] for b in branches}
        for b in branches:
            if b["path"] not in parents and not b["name"].endswith(_ALIKE):
                yield Place(tree, b["path"], b["cpp_type"])
