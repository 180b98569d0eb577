"""What a tree's branches are like, for people: one immutable record each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..arrays.kinds import in_words
from ..errors import UnknownBranchError

if TYPE_CHECKING:
    from .file_tree import FileTree
    from .foreign import Table

__all__ = ["Branch", "Branches", "branch_list"]


def _by_core(_path: str, _cpp_type: str, _supported: bool) -> str:
    return "core"


_KINDS = ("number", "list", "array", "string")
_ITEMS = re.compile(r"list|string|bool|u?int\d+|float\d+")


class Branch(NamedTuple):
    """A branch, or a leaf of a branch."""

    name: str
    path: str
    """Its parents' names and its own, `parent/child`: what no two branches share."""
    title: str
    cpp_type: str
    kind: str
    """number, list, array, string, record, optional, variant, group (no data of its own) or
    unsupported."""
    dtype: str | None
    """numpy's name of its numbers."""
    item: str | None
    """Of lists and arrays of what is no number: how the items read."""
    counter: str | None
    """The branch that counts its items, where one does."""
    length: int | None
    """Items per entry of a fixed-size array."""
    supported: bool
    """Whether the core reads it."""
    reason: str | None
    """Why it does not."""
    total_bytes: int
    """Uncompressed, with headers."""
    zip_bytes: int
    """In the file."""
    baskets: int
    """An RNTuple's pages."""
    is_member: bool = False
    """Whether its values are those of another branch too: members of an RNTuple's records."""
    ask: Callable[[str, str, bool], str] = _by_core
    """Says who reads it, by `path`, `cpp_type` and `supported`."""

    @property
    def has_values(self) -> bool:
        """Whether it holds numbers or strings, or lists of them: no records, and no group."""
        words = re.findall(r"[^\W\d]\w*", self.item or "")
        return self.kind in _KINDS and all(map(_ITEMS.fullmatch, words))

    @property
    def how(self) -> str:
        """Who reads it: "core"; "uproot", which is slower, where the core cannot, or could not when
        it was read; or "no". Asking opens the file with uproot where the core cannot read the
        branch."""
        if self.kind == "group":
            return "core"
        return self.ask(self.path, self.cpp_type, self.supported)

    @property
    def reads_as(self) -> str:
        """How it arrives: `float32`, `list[float32]`, `float32[3]`, `string` …, or why it does
        not."""
        if self.how == "uproot":
            return "as uproot reads it"
        if not self.supported:
            return f"unsupported: {self.reason}" if self.reason else "unsupported"
        return in_words(self.kind, self.item or self.dtype, self.length)

    @property
    def readable(self) -> bool:
        """Whether it has data that can be read, by the core or by uproot."""
        return self.kind != "group" and self.how != "no"


# A file may have thousands of branches.
_VALUES = itemgetter(*("len" if name == "length" else name for name in Branch._fields[:-1]))


def branch_list(tree: FileTree | Table) -> tuple[Branch, ...]:
    """Of a file's tree, in its order, parents before their children."""
    # As Branch._make, without its check: _VALUES has as many.
    new, ask = tuple.__new__, tree.reader_of
    return tuple([new(Branch, (*_VALUES(b), ask)) for b in tree.described()])


class Branches(Mapping[str, Branch]):
    """The branches of a tree by name, in the tree's order; they are found by their paths, too."""

    def __init__(self, branches: Sequence[Branch]) -> None:
        self._by_name: dict[str, Branch] = {}
        self.paths: dict[str, Branch] = {}
        self.children: dict[str, list[Branch]] = {}
        """Those of each branch, by its path."""
        for branch in branches:
            # Of branches with one name the outermost is meant, which comes first.
            self._by_name.setdefault(branch.name, branch)
            self.paths.setdefault(branch.path, branch)
            parent = branch.path[: -len(branch.name) - 1]
            if parent:
                self.children.setdefault(parent, []).append(branch)

    def __getitem__(self, name: str) -> Branch:
        """Raises UnknownBranchError, which is a KeyError, where there is none."""
        found = self.get(name)
        if found is None:
            near = get_close_matches(str(name)[:200], self._by_name, 3)
            message = f"there is no branch {name}"
            raise UnknownBranchError(message, branch=str(name), suggestions=near)
        return found  # type: ignore[no-any-return]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name or name in self.paths

    def get(self, name: str, default: Any = None) -> Any:
        """The branch, or the default."""
        found = self._by_name.get(name)
        return self.paths.get(name, default) if found is None else found

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"<{len(self)} branches: {', '.join(self)}>"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def _repr_html_(self) -> str:
        from ..monitor.html import of_branches  # start-up

        return of_branches(f"{len(self)} branches", self.values())
