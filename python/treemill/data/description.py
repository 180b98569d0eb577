"""The dicts in which the core describes a file's trees and a tree's branches, as types for type
checkers. crates/treemill-py makes them in file.rs and listing.rs.
"""

from __future__ import annotations

from typing import TypedDict

__all__ = ["BranchDescription", "TreeDescription"]

TreeDescription = TypedDict(
    "TreeDescription", {"path": str, "cycle": int, "class": str, "title": str}
)
"""A tree or an RNTuple of a file. `path`: its directories and its name."""


class BranchDescription(TypedDict):
    """A branch of a tree, or a field of an RNTuple: what `Branch` has for users, by the names that
    the core gives."""

    name: str
    also: tuple[str, ...]
    path: str
    parent: str | None
    title: str
    cpp_type: str
    supported: bool
    reason: str | None
    kind: str
    dtype: str | None
    item: str | None
    len: int | None
    usable: tuple[str, ...]
    unusable: tuple[str, ...]
    counter: str | None
    is_member: bool
    total_bytes: int
    zip_bytes: int
    baskets: int
