"""Which names the syntax trees of expressions mention, and which columns these may mean.

Pure: standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set

from .tree_node import Json, Tree

__all__ = ["mentions", "names", "words"]


_NAMED = {"name": "id", "attribute": "name"}
"""The part that has the name, by kind of node."""


def words(tree: Tree) -> frozenset[str]:
    """Returns all names and attributes in a syntax tree."""
    return frozenset(_named(tree, _NAMED))


def names(tree: Tree) -> frozenset[str]:
    """Returns all names in a syntax tree, without attributes."""
    return frozenset(_named(tree, {"name": "id"}))


def _named(tree: Tree, keys: Mapping[str, str]) -> Iterator[str]:
    pending: list[Json] = [tree]
    while pending:
        each = pending.pop()
        if isinstance(each, Mapping):
            key = keys.get(str(each.get("kind")))
            if key is not None:
                yield str(each[key])
            pending += each.values()
        elif isinstance(each, list):
            pending += each


def mentions(known: Set[str], name: str) -> bool:
    """True if expressions of these words can mean the column `name`: by its name, or as a member
    of the collection that it belongs to (`Jet.pt` means `Jet_pt`). If in doubt, they can."""
    if name in known:
        return True
    return any(
        name[sign.end() :] in known and mentions(known, name[: sign.start()])
        for sign in re.finditer(r"[._]", name)
    )
