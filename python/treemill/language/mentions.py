"""Which names the syntax trees of expressions mention, and which columns these may mean.

Pure: standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Any

__all__ = ["mentions", "words"]


def words(tree: Any) -> frozenset[str]:
    """All names and attributes in a syntax tree."""
    found: set[str] = set()
    pending = [tree]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            kind = each.get("kind")
            found |= {each["id"]} if kind == "name" else set()
            found |= {each["name"]} if kind == "attribute" else set()
            pending += each.values()
        elif isinstance(each, list):
            pending += each
    return frozenset(found)


def mentions(known: Set[str], name: str) -> bool:
    """Whether expressions of these words can mean the column `name`: by its name, or as a member
    of the collection that it belongs to (`Jet.pt` of `Jet_pt`). True too often rather than not."""
    if name in known:
        return True
    return any(
        name[sign.end() :] in known and mentions(known, name[: sign.start()])
        for sign in re.finditer(r"[._]", name)
    )
