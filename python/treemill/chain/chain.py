"""The chain: an ordered list of (file, tree) that is read as one tree, with the friends, arrays and
entry list that go along. It is what workers carry: its pickle is the files' places, and nothing of
what is open here.

Knows no query and no session. What users call is the Dataset above it (dataset.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import QueryError
from ..tree.branch import Branches, branch_list
from ..tree.defaults import ERROR, Missing
from ..tree.file_tree import UNORDERED, FileTree
from ..tree.foreign import Foreign, Table, joined
from ..tree.source import is_same
from .entry_list import Selection, selection
from .filesets import fileset
from .friends import Friends
from .location import Location, expand
from .open_trees import OpenTrees, Remembered

__all__ = ["Chain", "ChainParts", "chain_of"]


@dataclass(frozen=True)
class ChainParts:
    """What makes a chain; all of it can be sent."""

    locations: tuple[Location, ...]
    name: str = "dataset"
    missing: Missing = ERROR
    friends: Friends = field(default_factory=Friends)
    selected: Selection | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    is_pinned: bool = False
    """Whether each file's identity is looked at once only, because it is for one pass."""


class Chain:
    """Files and trees as one. Immutable but for what it remembers; threads may share it."""

    def __init__(self, parts: ChainParts, trees: OpenTrees | None = None) -> None:
        """`trees`: the same files where they are open already."""
        self._parts = parts
        opened = trees or OpenTrees(parts.locations, parts.missing)
        self.trees = opened = opened.pinned() if parts.is_pinned else opened
        self.name = parts.name
        self.metadata = dict(parts.metadata)
        self.friends = parts.friends
        self.selected = parts.selected
        self.sizes = Remembered(opened, "sizes", lambda t: (int(t.num_entries), tuple(t.clusters)))
        """Entries of each file, and where its clusters start."""
        self.unordered = Remembered(opened, "unordered", lambda t: t.core.title == UNORDERED)
        """Whether the entries of a file have no order to go by."""
        self.baskets = Remembered(opened, "baskets", _baskets)
        self.bytes = Remembered(opened, "bytes", _bytes)
        self.plans = Remembered(opened, "plans", _no_plans)
        """Of reading.py, by the names that were asked for."""
        self._branches = Remembered(opened, "branches", lambda t: Branches(branch_list(t)))

    # What there is.

    @property
    def locations(self) -> tuple[Location, ...]:
        """Files and trees."""
        return self._parts.locations

    @property
    def files(self) -> tuple[str, ...]:
        """The files' paths."""
        return tuple(location.path for location in self.locations)

    def has_file(self, path: str) -> bool:
        """Whether one of the files lies at this path, by whatever name."""
        return any(is_same(file, path) for file in self.files)

    @property
    def num_entries(self) -> int:
        """Entries of all files together, or the number of selected ones. Opens every file that was
        not opened yet."""
        return sum(self.entries) if self.selected is None else len(self.selected)

    @property
    def entries(self) -> list[int]:
        """Entries of each file, whatever is selected."""
        return [self.sizes[file][0] for file in range(len(self.locations))]

    @property
    def branches(self) -> Branches:
        """The branches of the first file's tree, whatever other files have, and the columns that it
        has from elsewhere."""
        table = self.table(0)
        return Branches(branch_list(table)) if isinstance(table, Table) else self._branches[0]

    @property
    def aliases(self) -> dict[str, str]:
        """Names and expressions of TTree::SetAlias, of the first file's tree."""
        return dict(self.trees[0].aliases)

    @property
    def index(self) -> tuple[str, str] | None:
        """Names of the major and minor columns of `TTree::BuildIndex`, of the first file's tree;
        None without an index."""
        found: tuple[str, str] | None = self.trees[0].core.index
        return found

    # Others like it.

    def sibling(self, files: Any, tree: str | None = None, name: str = "dataset") -> Chain:
        """A chain of other files, or of other trees of the same ones."""
        return Chain(ChainParts(tuple(expand(files, tree)), name))

    def with_friends(self, friends: Friends) -> Chain:
        """With these friends instead."""
        return Chain(replace(self._parts, friends=friends))

    def selecting(self, entries: Any) -> Chain:
        """Of some of the entries: see `Dataset.select_entries`."""
        if self.selected is not None:
            raise QueryError("entries are selected already; select from the whole dataset")
        return Chain(
            replace(self._parts, selected=selection(self.locations, lambda: self.entries, entries))
        )

    def pinned(self) -> Chain:
        """For one pass: it looks at each file's identity once, and its friends know what takes a
        look at all files."""
        if self._parts.is_pinned:
            return self
        parts = replace(self._parts, friends=self.friends.settled(self), is_pinned=True)
        return Chain(parts, self.trees)

    # What workers read.

    def described(self, file: int) -> dict[str, Any]:
        """What `events.metadata` says of a file's chunks, but for their entries."""
        location = self.locations[file]
        return {
            "dataset": self.name,
            **self.metadata,
            **(location.metadata or {}),
            "filename": location.path,
            "treename": self.trees[file].path_in_file,
        }

    def table(self, file: int) -> Any:
        """core.Tree of this file, with its foreign columns where there are some."""
        foreign, tree = self.beside(file), self.trees[file]
        return tree if foreign is None else Table(tree, foreign)

    def foreign(self, file: int) -> Foreign | None:
        """Columns for the entries of this file that do not come from its tree, for queries; None:
        there are none."""
        flags = None if self.selected is None else self.selected.foreign(file)
        return joined([flags, self.beside(file)])

    def beside(self, file: int) -> Foreign | None:
        """As `foreign`, without what queries use by themselves."""
        return joined([self.friends.foreign(self, file)])

    def first_entry(self, file: int) -> int:
        """The number in the whole chain of this file's first entry. Opens the files before it."""
        return sum(self.sizes[before][0] for before in range(file))

    def __reduce__(self) -> tuple[Any, ...]:
        # To another process goes where the files are, nothing of what is open here.
        return Chain, (self._parts,)

    def __repr__(self) -> str:
        first, *rest = self.locations
        return f"<dataset {first}{f' and {len(rest)} more' if rest else ''}>"


def _baskets(tree: FileTree) -> dict[str, int]:
    """By branch."""
    return {branch["name"]: max(branch["baskets"], 1) for branch in tree.described()}


def _bytes(tree: FileTree) -> dict[str, int]:
    """Uncompressed, by branch."""
    return {branch["name"]: branch["total_bytes"] for branch in tree.described()}


def _no_plans(tree: FileTree) -> dict[Any, Any]:
    return {}


def chain_of(
    files: Any,
    tree: str | None = None,
    name: str = "dataset",
    missing: Missing = ERROR,
    metadata: Mapping[str, Any] | None = None,
) -> Chain:
    """The chain of what users write for a dataset; see `treemill.dataset`."""
    several = fileset(files, tree)
    locations = expand(files, tree) if several is None else tuple(several.locations)
    made = Chain(ChainParts(locations, name, missing, metadata=dict(metadata or {})))
    numbers = None if several is None else several.numbers(lambda file: made.sizes[file][0])
    return made if numbers is None else made.selecting(numbers)
