"""A tree's branches as users see them: one immutable record each, and all of them by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar, overload

from ..errors import UnknownBranchError, near
from ..frozen import frozen
from ..migration_hints import BRANCH
from ..public_api import missing_attribute
from .kinds import in_words

if TYPE_CHECKING:
    from .column_source import BranchDescription, Reader

__all__ = [
    "Branch",
    "BranchGroup",
    "Branches",
    "branch_list",
    "counts_items",
    "group_of",
    "is_group",
    "leaves",
    "name_in",
]

# Branches that only hold other branches together, as split objects and collections do: they are
# read as records of these. The fields have the branches' full names, as in uproot. Pure: knows
# branches' descriptions only.


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


def name_in(parent: str | None, path: str) -> str:
    """The name of a branch in the branch that it is below, if it is below one."""
    return path if parent is None else path[len(parent) + 1 :]


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


Other = TypeVar("Other")


def _by_core(_path: str, _cpp_type: str, _supported: bool) -> Reader:
    return "core"


@missing_attribute(BRANCH)
class Branch(NamedTuple):
    """A branch, or a leaf of a branch."""

    name: str
    """The name in the file; if another branch has it too, with the object before it,
    `mu2.fCoordinates.fPt`."""
    also: tuple[str, ...]
    """Other names that mean it."""
    path: str
    """Its parents' names and its own, `parent/child`. No two branches have the same path."""
    parent: str | None
    """The path of the branch that it lies in."""
    title: str
    cpp_type: str
    kind: str
    """number, list, array, string, record, optional, variant, group (no data of its own) or
    unsupported."""
    dtype: str | None
    """NumPy's name of the type of its numbers."""
    item: str | None
    """The items of lists and arrays in words, if they are not numbers."""
    usable: tuple[str, ...]
    """What expressions can use, as its name goes on: an empty text for its own values, `.fX` for a
    member of its records. Members of an RNTuple's records are fields of their own."""
    unusable: tuple[str, ...]
    """What they cannot use, in the same form, such as members behind pointers."""
    counter: str | None
    """The branch that counts its items, if there is one."""
    length: int | None
    """Items per entry of a fixed-size array."""
    supported: bool
    """Whether the core can read it."""
    reason: str | None
    """Why the core cannot read it."""
    total_bytes: int
    """Bytes before compression, with headers."""
    zip_bytes: int
    """Bytes in the file."""
    baskets: int
    """The number of baskets, or of an RNTuple's pages."""
    is_member: bool = False
    """Whether another branch has its values too, as the record of an RNTuple has its members'."""
    ask: Callable[[str, str, bool], Reader] = _by_core
    """Says what reads it, by `path`, `cpp_type` and `supported`."""

    @property
    def own_name(self) -> str:
        """Its name in the file, which other branches may have too."""
        return name_in(self.parent, self.path)

    @property
    def how(self) -> Reader:
        """What reads it: "core"; "uproot", which is slower, if the core cannot; "no" if neither
        can. This opens the file with uproot if the core cannot read the branch."""
        if self.kind == "group":
            return "core"
        return self.ask(self.path, self.cpp_type, self.supported)

    @property
    def reads_as(self) -> str:
        """The type of its values, `float32`, `list[float32]`, `float32[3]`, `string` …, or why it
        cannot be read."""
        if self.how == "uproot":
            return "as uproot reads it"
        if not self.supported:
            return f"unsupported: {self.reason}" if self.reason else "unsupported"
        return in_words(self.kind, self.item or self.dtype, self.length)

    @property
    def readable(self) -> bool:
        """True if it has data that the core or uproot can read."""
        return self.kind != "group" and self.how != "no"


# A file may have thousands of branches.
_VALUES = itemgetter(*("len" if name == "length" else name for name in Branch._fields[:-1]))


def branch_list(
    described: Iterable[BranchDescription], ask: Callable[[str, str, bool], Reader]
) -> tuple[Branch, ...]:
    """The branches of a file's tree in its order, parents before their children. `ask`: see
    Branch."""
    # Does what Branch._make does but for its check of the number of values.
    new = tuple.__new__
    return tuple([new(Branch, (*_VALUES(b), ask)) for b in described])


class Branches(Mapping[str, Branch]):
    """The branches of a tree by name, in the tree's order. Their other names and their paths find
    them too."""

    def __init__(self, branches: Sequence[Branch]) -> None:
        self._by_name: dict[str, Branch] = {}
        self._meant: dict[str, Branch] = {}
        self.paths: dict[str, Branch] = {}
        self.children: dict[str, list[Branch]] = {}
        """The branches directly below each branch, by its path."""
        for branch in branches:
            self._by_name.setdefault(branch.name, branch)
            for name in branch.also:
                self._meant.setdefault(name, branch)
            self.paths.setdefault(branch.path, branch)
            if branch.parent is not None:
                self.children.setdefault(branch.parent, []).append(branch)

    def __getitem__(self, name: str) -> Branch:
        """Raises UnknownBranchError, which is a KeyError, if there is no such branch."""
        if not isinstance(name, str):
            raise UnknownBranchError(
                f"branches are found by their names, not by {name!r:.60}: "
                "list(events.branches)[:30] has the first names"
            )
        branch = self.get(name)
        if branch is None:
            message = f"there is no branch {name}"
            meant = near(str(name), self._by_name)
            raise UnknownBranchError(message, branch=str(name), suggestions=meant)
        return branch

    def __contains__(self, name: object) -> bool:
        return name in self._by_name or name in self._meant or name in self.paths

    @overload
    def get(self, name: str, default: None = None) -> Branch | None: ...
    @overload
    def get(self, name: str, default: Branch) -> Branch: ...
    @overload
    def get(self, name: str, default: Other) -> Branch | Other: ...
    def get(self, name: str, default: object = None) -> object:
        """The branch of this name or path, or the default."""
        for known in (self._by_name, self._meant, self.paths):
            if name in known:
                return known[name]
        return default

    def referred(self, members: frozenset[str], others: Iterable[str] = ()) -> list[str]:
        """The collections that members of these names may refer to, as formats write references.
        `others`: names of columns that the tree has in addition."""
        from .._core import referred  # heavy: core

        return referred([*self._by_name, *others], [*members])

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"<{len(self)} branches: {', '.join(self)}>"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def _repr_html_(self) -> str:
        from ..pictures.html import of_branches  # start-up

        return of_branches(f"{len(self)} branches", self.values())
