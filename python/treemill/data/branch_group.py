"""Branches that only hold other branches together, as split objects and collections do: they are
read as records of these. The fields have the branches' full names, as in uproot.

Pure: knows branches' descriptions only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from ..frozen import frozen

__all__ = ["BranchGroup", "counts_items", "group_of", "is_group", "leaves"]


class _Described(Protocol):
    """A description of a branch."""

    @property
    def path(self) -> str:
        """Its parents' names and its own."""

    @property
    def kind(self) -> str:
        """See Branch."""

    @property
    def cpp_type(self) -> str:
        """The type in the file."""


_Branch = TypeVar("_Branch", bound=_Described)


# C++ collections that ROOT splits. A split TClonesArray has the name of its items' class.
_COLLECTION = re.compile(r"(std::|ROOT::VecOps::)?(vector|list|deque|\w*set|\w*map|RVec)\s*<")


@frozen
class BranchGroup(Generic[_Branch]):
    """A branch and its members: branches with data, and groups."""

    branch: _Branch
    members: tuple[BranchGroup[_Branch] | _Branch, ...]


def counts_items(kind: str, cpp_type: str) -> bool:
    """True if the branch itself holds only the lengths of a collection that ROOT has split. Its
    members have the same lengths."""
    return kind == "number" and _COLLECTION.match(cpp_type) is not None


def is_group(branch: _Branch, children: Sequence[_Branch]) -> bool:
    """True if the branch has no data but its children's. The lengths of a split collection do not
    count as data, because its members have them too; the lengths of a TClonesArray, as in
    Delphes' files, do, because they do in uproot."""
    if branch.kind == "group":
        return True
    return bool(children) and counts_items(branch.kind, branch.cpp_type)


def group_of(branch: _Branch, children: Mapping[str, Sequence[_Branch]]) -> BranchGroup[_Branch]:
    """The branch with all branches below it that have data. `children`: the branches directly
    below each path."""
    members: list[BranchGroup[_Branch] | _Branch] = []
    for child in children.get(branch.path, []):
        if not is_group(child, children.get(child.path, [])):
            members.append(child)
            continue
        inner = group_of(child, children)
        if inner.members:
            members.append(inner)
    return BranchGroup(branch, tuple(members))


def leaves(group: BranchGroup[_Branch]) -> Iterator[_Branch]:
    """The group's branches with data, in the tree's order."""
    for member in group.members:
        if isinstance(member, BranchGroup):
            yield from leaves(member)
        else:
            yield member
