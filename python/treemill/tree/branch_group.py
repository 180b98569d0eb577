"""Branches that only hold others together, as records of these: split objects and collections.

Pure: knows branches' descriptions. Field names are the branches' own, as in uproot, with
what they have of their parents' names in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .branch import Branch

__all__ = ["Group", "counts_items", "group_of", "is_group", "leaves"]


# C++ collections that ROOT splits. A split TClonesArray is called by the class of its items.
_COLLECTION = re.compile(r"(std::|ROOT::VecOps::)?(vector|list|deque|\w*set|\w*map|RVec)\s*<")


@dataclass(frozen=True)
class Group:
    """A branch and what it holds together: branches with data, and groups."""

    branch: Branch
    members: tuple[Group | Branch, ...]


def counts_items(kind: str, cpp_type: str) -> bool:
    """Whether what a branch has of its own are the numbers of items of a collection that ROOT has
    split, which its members have too."""
    return kind == "number" and _COLLECTION.match(cpp_type) is not None


def is_group(branch: Branch, children: Sequence[Branch]) -> bool:
    """Whether the branch has no data of its own but its children's. That of a split collection are
    the numbers of items, which its members have too; those of a TClonesArray, as Delphes has them,
    count as data, as they do in uproot."""
    if branch.kind == "group":
        return True
    return bool(children) and counts_items(branch.kind, branch.cpp_type)


def group_of(branch: Branch, children: dict[str, list[Branch]]) -> Group:
    """The branch with all below it that has data. `children` are those of each path."""
    members: list[Group | Branch] = []
    for child in children.get(branch.path, []):
        if not is_group(child, children.get(child.path, [])):
            members.append(child)
            continue
        inner = group_of(child, children)
        if inner.members:
            members.append(inner)
    return Group(branch, tuple(members))


def leaves(group: Group) -> Iterator[Branch]:
    """The branches with data, in their order."""
    for member in group.members:
        if isinstance(member, Group):
            yield from leaves(member)
        else:
            yield member
