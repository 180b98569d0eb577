"""The chain: an ordered list of (file, tree) that is read as one tree, with its friends, arrays and
entry list. Workers carry it: its pickle has the files' addresses and nothing that is open here.

Knows no query and no session. Users call the Dataset above it (dataset.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from .._system.files import working_folder
from ..errors import FormatError, QueryError, SourceError, TreemillError, check_text
from ..frozen import frozen, replaced
from .branch import Branches, branch_list
from .chain_trees import ChainTrees, Remembered, Sizes
from .defaults import ERROR, MissingDefaults
from .entry_list import Selection, selection
from .entry_ranges import Part, parts_of
from .file_constants import DataFile, FileConstants, PerFile
from .file_tree import FileTree
from .filesets import FilesetFiles, fileset, metadata_of
from .foreign import ExtendedTree, Foreign, joined
from .friends import Friends
from .location import Location, as_seen_from, expand, require_present
from .source import is_same

if TYPE_CHECKING:
    from .column_source import FileState, Identity, TreeColumns
    from .object_schemas import ObjectSchema

__all__ = ["Chain", "ChainParts", "chain_from", "chain_of"]


@frozen
class ChainParts:
    """The parts of a chain, all of which can be sent to workers."""

    locations: tuple[Location, ...]
    name: str = "dataset"
    missing: MissingDefaults = ERROR
    friends: Friends = field(default_factory=Friends)
    selected: Selection | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    per_file: tuple[PerFile, ...] = ()
    """Columns with one value a file."""
    is_fileset: bool = False
    """Whether the results of the locations' samples are wanted apart."""
    schema: ObjectSchema | None = None
    """How objects are arranged, where the user has said it."""


class Chain:
    """Files read as one tree. Immutable but for what it remembers; threads may share it."""

    def __init__(
        self,
        parts: ChainParts,
        trees: ChainTrees | None = None,
        constants: FileConstants | None = None,
        *,
        is_pinned: bool = False,
    ) -> None:
        """`trees`, `constants`: of the same files, if there are some already. `is_pinned`: whether
        the chain is for one pass, which looks at each file's identity once."""
        self._parts = parts
        self._is_pinned = is_pinned
        opened = trees or ChainTrees(parts.locations, parts.missing)
        self.trees = opened = opened.pinned() if is_pinned else opened
        self.name = parts.name
        self.locations = parts.locations
        """The files and their trees."""
        self.is_fileset = parts.is_fileset
        """Whether the results of its samples are wanted apart."""
        self.metadata = dict(parts.metadata)
        self.schema = parts.schema
        self.friends = parts.friends
        self.selected = parts.selected
        self.constants = constants or FileConstants(
            parts.locations, parts.name, parts.metadata, parts.per_file
        )
        self.sizes = Sizes(opened, is_pinned=is_pinned)
        """The entries of each file, and where its clusters start."""

    # What is remembered of each file. A query has two chains and wants little of this.

    @cached_property
    def unordered(self) -> Remembered[bool]:
        """Whether the entries of a file are in no order."""
        return Remembered(self.trees, "unordered", lambda t: t.is_unordered)

    @cached_property
    def reshuffled(self) -> Remembered[bool]:
        """Whether the entries of a file are in another order than those that they come from."""
        return Remembered(self.trees, "reshuffled", lambda t: t.is_reshuffled)

    @cached_property
    def baskets(self) -> Remembered[dict[str, int]]:
        """The number of baskets of each file's branches."""
        return Remembered(self.trees, "baskets", _baskets)

    @cached_property
    def bytes(self) -> Remembered[dict[str, int]]:
        """The uncompressed bytes of each file's branches."""
        return Remembered(self.trees, "bytes", _bytes)

    @cached_property
    def _branches(self) -> Remembered[Branches]:
        return Remembered(self.trees, "branches", _branches)

    # What there is.

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The files' paths."""
        return tuple(location.path for location in self.locations)

    @cached_property
    def replicas(self) -> dict[str, tuple[str, ...]]:
        """All addresses of each file that lies at several, by its path."""
        return {each.path: each.replicas for each in self.locations if each.replicas}

    def has_file(self, path: str) -> bool:
        """True if one of the files lies at this path, by whatever name."""
        return any(is_same(file, path) for file in self.files)

    @property
    def num_entries(self) -> int:
        """The entries of all files together, or the number of selected ones. Opens every file that
        was not opened yet."""
        return sum(self.entries) if self.selected is None else len(self.selected)

    @property
    def entries(self) -> list[int]:
        """The entries of each file, selected or not."""
        return self.looked_into(listed=False)

    def looked_into(self, threads: int = 1, *, listed: bool = True) -> list[int]:
        """The entries of each file, after one look into all of them: see
        ChainTrees.look_at_all."""
        self.trees.look_at_all(threads, listed=listed)
        if self.trees.is_listed:  # which says the entries of some
            return [self.sizes[file][0] for file in range(len(self.locations))]
        found, _ = self.trees.near.tables()
        return [self.sizes[file][0] if n is None else n for file, n in enumerate(found)]

    @property
    def first(self) -> int:
        """The number of the first file that was there when the chain was made, which says what
        columns there are; 0 if there was none. See `skip_damaged`."""
        there = (number for number, each in enumerate(self.locations) if each.absence is None)
        return next((number for number in there if number not in self.trees.damaged), 0)

    def skip_damaged(self) -> None:
        """Files that are damaged do not say what columns there are, as long as others can: for a
        run that leaves such files out. Files on servers are not looked at: one that is silent would
        be waited for twice."""
        trees = self.trees
        while (number := self.first) not in trees.damaged and number not in trees.far:
            try:
                trees[number]
            except FormatError:
                trees.damaged.add(number)
            except TreemillError:  # what wants the file says what is wrong with it
                return
            else:
                return

    def decider(self, file: int) -> FileTree:
        """The tree that says, when this file is read, which names mean the dataset's own columns:
        the first file's, so that a name means the same in all files; this file's, if that one
        cannot be read."""
        with suppress(TreemillError):
            return self.trees[self.first]
        return self.trees[file]

    @property
    def branches(self) -> Branches:
        """The branches of the first file's tree and its foreign columns. Other files may have other
        branches."""
        first = self.first
        table = self.table(first)
        if isinstance(table, ExtendedTree):
            return Branches(branch_list(table.described(), table.reader_of))
        return self._branches[first]

    def referred(self, members: frozenset[str]) -> list[str]:
        """The collections that members of these names may refer to, by the columns of the first
        file and those that it lacks and that have defaults."""
        return self.branches.referred(members, self.trees[self.first].lacking())

    def has_default(self, column: str) -> bool:
        """True if there is a default for files that lack the column."""
        return self._parts.missing.has(column)

    def hint(self, column: str, file: int | None = None) -> str:
        """What to add to the message that a file, the first one if none is given, has no such
        column: which other files have it, and what to do. Empty if none has it."""
        number = self.first if file is None else file
        return self.constants.hint(number, column) or self.trees[number].hint(column)

    def called(self, column: str) -> list[str]:
        """The names that expressions may give to the collection that a column is of, if the format
        shortens them: `Electrons` for `AnalysisElectronsAuxDyn.pt`."""
        from .._core import called  # heavy: core

        return called(column)

    @property
    def aliases(self) -> dict[str, str]:
        """The names and expressions of TTree::SetAlias in the first file's tree."""
        return dict(self.trees[self.first].aliases)

    @property
    def tree_name(self) -> str:
        """The name of the first file's tree, without directories and cycle."""
        return self.trees[self.first].name

    @property
    def tree_weight(self) -> float:
        """What TTree::SetWeight has set for the first file's tree."""
        return self.trees[self.first].weight

    def is_reshuffled(self, dataset: str | None = None) -> bool:
        """True if the entries of a file are in another order than those that they come from.
        `dataset`: of the files of this sample. Files that cannot be read are not looked at."""
        for number in range(len(self.locations)):
            if dataset is None or self.dataset_of(number) == dataset:
                with suppress(SourceError, FormatError):
                    if self.reshuffled[number]:
                        return True
        return False

    @property
    def index(self) -> tuple[str, str] | None:
        """The major and the minor column of `TTree::BuildIndex` in the first file's tree; None
        without an index."""
        return self.trees[self.first].core.index

    @property
    def per_file(self) -> tuple[PerFile, ...]:
        """Columns with one value a file."""
        return self._parts.per_file

    @property
    def datasets(self) -> dict[str, dict[str, object]]:
        """The names of the samples that the files belong to, in order, with their metadata."""
        return self.constants.datasets

    @property
    def constant_names(self) -> frozenset[str]:
        """The columns with one value a file, of all files."""
        return self.constants.all_names

    def is_closed(self, file: int) -> bool:
        """True if a file is not open, and opening it asks a server or would be the first look into
        it: it is known from a list alone."""
        if file in self.trees.far:
            return not self.trees.is_open(file)
        return self.locations[file].verified is not None and not self.trees.knows(file)

    def dataset_of(self, file: int) -> str:
        """The name of the sample that a file belongs to."""
        return self.constants.file(file).dataset

    # Chains made from this one.

    def sibling(self, files: object, tree: str | None = None, name: str = "dataset") -> Chain:
        """A chain of other files, or of other trees of the same files."""
        return Chain(ChainParts(tuple(expand(files, tree)), name))

    def with_friends(self, friends: Friends) -> Chain:
        """The chain with these friends instead."""
        return Chain(replaced(self._parts, friends=friends))

    def selecting(self, entries: object) -> Chain:
        """The chain of some of the entries: see `Dataset.select_entries`."""
        if self.selected is not None:
            raise QueryError("entries are selected already; select from the whole dataset")
        selected = selection(self.locations, lambda: self.current().entries, entries)
        return Chain(replaced(self._parts, selected=selected))

    def with_constant(self, name: str, function: Callable[[DataFile], object]) -> Chain:
        """The chain with one more column that has one value a file. Raises QueryError for a name
        that is taken."""
        if not isinstance(name, str) or not name.isidentifier():
            raise QueryError(f"the name of a column of files is an identifier, not {name!r}")
        if not callable(function):
            raise QueryError(f"define_per_file({name!r}, …) takes a function of a file")
        if name in self.constant_names:
            raise QueryError(f"{name} is in the metadata, or defined per file, already")
        return Chain(replaced(self._parts, per_file=(*self._parts.per_file, (name, function))))

    def pinned(self, soon: Iterable[int] = (), *, assume: bool = False, threads: int = 1) -> Chain:
        """The chain for one pass: it looks at each file's identity once, and its friends know
        already what takes a look at all files, on so many threads. `soon`, `assume`: see
        ChainTrees.pinned."""
        if self._is_pinned:
            return self
        trees = self.trees.pinned(soon, assume=assume)
        now = pinned = Chain(self._parts, trees, self.constants, is_pinned=True)
        if self.friends and self.trees.far:
            now = self.current()
            now = pinned if now is self else now
        friends = self.friends.settled(now, threads)
        trees.sees(now.trees)  # what friends are matched with is what the pass reads
        parts = replaced(self._parts, friends=friends)
        return Chain(parts, trees, self.constants, is_pinned=True)

    def changed(self, files: Iterable[int] | None = None, threads: int = 1) -> SourceError | None:
        """The error for the first of these files, None: of all and of friends', that is not what
        the pass has seen of it; None if there is none. See ChainTrees.changed."""
        changed = self.trees.changed(files, threads)
        return changed or (self.friends.changed(threads) if files is None else None)

    def states(self, files: Iterable[int] | None = None) -> Mapping[str, FileState]:
        """The states, by path, of those of these near files that the pass has opened, None: of all,
        and of friends' files: see ChainTrees.states."""
        return {**self.friends.states(), **self.trees.states(files)}

    @contextmanager
    def one_state(self, files: Iterable[int] | None = None) -> Iterator[None]:
        """What is read within is of one state of these files: else the error of `changed` is raised
        at its end, and instead of what reading bytes of two states has raised."""
        try:
            yield
        finally:
            if (changed := self.changed(files)) is not None:
                raise changed

    def current(self, files: Iterable[int] | None = None) -> Chain:
        """The chain for one question of the user's, about these files or all: servers are asked for
        the state of all of them at once, unless they were a moment ago."""
        trees = self.trees.current(range(len(self.locations)) if files is None else files)
        friends = self.friends.current(files)
        if trees is self.trees and friends is self.friends:
            return self
        parts = replaced(self._parts, friends=friends)
        return Chain(parts, trees, self.constants, is_pinned=True)

    # What workers read.

    def described(self, file: int) -> dict[str, object]:
        """The `events.metadata` of a file's chunks without their entries."""
        location = self.locations[file]
        return {
            "dataset": self.name,
            **self.metadata,
            **(location.metadata or {}),
            **self.constants.given(file),
            "filename": location.path,
            "treename": self.trees[file].path_in_file,
        }

    def table(self, file: int) -> TreeColumns:
        """Returns all columns of this file: those of its tree, and foreign ones."""
        tree = self.trees[file]
        foreign = self.friend_columns(file, tree)
        return tree if foreign is None else ExtendedTree(tree, foreign)

    def foreign(self, file: int) -> Foreign | None:
        """The columns for a query on this file that do not come from its tree; None without
        any."""
        friends = self.friend_columns(file, self.trees[file])
        if self.selected is None:
            return friends
        return joined([self.selected.foreign(file), friends])

    def friend_columns(self, file: int, tree: FileTree) -> Foreign | None:
        """The columns for the entries of this file that do not come from its tree, `tree`, without
        those that only queries use; None without any."""
        return self.friends.foreign(self, file, tree)

    def first_entry(self, file: int) -> int:
        """The number in the whole chain of this file's first entry. Opens the files before it."""
        return self.sizes.first_entry(file)

    def first_number(self, file: int) -> int:
        """The number that expressions give to this file's first entry. A fileset's samples have
        numbers of their own, so that their results do not depend on the other samples. Opens the
        files that are counted."""
        return self.sizes.first_entry(file, self.numbered_from[file])

    @cached_property
    def numbered_from(self) -> Sequence[int]:
        """The file from which the entries of each file are numbered in expressions."""
        count = len(self.locations)
        if not self.is_fileset:
            return [0] * count
        begins, last = list[int](), None
        for file in range(count):
            sample = self.dataset_of(file)
            begins.append(begins[-1] if begins and sample == last else file)
            last = sample
        return begins

    def parts(self, start: int | None, stop: int | None) -> Iterator[Part]:
        """The parts of files that entries `[start, stop)` of the whole chain lie in, at least one;
        negative numbers count from its end. Opens no file after `stop` unless one is negative."""
        if start is None and stop is None and len(self.locations) == 1:
            return iter([(0, 0, self.sizes[0][0])])
        if (start or 0) < 0 or (stop is not None and stop < 0):
            start, stop, _ = slice(start, stop).indices(sum(self.entries))
        sizes = (self.sizes[file][0] for file in range(len(self.locations)))
        return parts_of(sizes, start or 0, stop)

    def __reduce__(self) -> tuple[object, ...]:
        # Another process gets the files' addresses, and what was seen of those on servers when they
        # were matched with others; nothing that is open here.
        seen = self.trees.matched()
        return _received, (self._parts, self._is_pinned, working_folder(), seen)

    def __repr__(self) -> str:
        first, *rest = self.locations
        return f"<dataset {first.shown}{f' and {len(rest)} more' if rest else ''}>"


def _received(
    parts: ChainParts, is_pinned: bool, folder: str | None, seen: Mapping[int, Identity]
) -> Chain:
    """The chain in another process than the one with this working folder."""
    locations = as_seen_from(folder, parts.locations)
    chain = Chain(replaced(parts, locations=locations), is_pinned=is_pinned)
    chain.trees.match(seen)
    return chain


def _branches(tree: FileTree) -> Branches:
    """The branches. They do not hold the tree, which closes without them."""
    return Branches(branch_list(tree.described(), tree.opened.readers.reader_of))


def _baskets(tree: FileTree) -> dict[str, int]:
    """The number of baskets by branch."""
    return {branch["name"]: max(branch["baskets"], 1) for branch in tree.described()}


def _bytes(tree: FileTree) -> dict[str, int]:
    """The uncompressed bytes by branch."""
    return {branch["name"]: branch["total_bytes"] for branch in tree.described()}


def chain_of(
    files: object,
    tree: str | None = None,
    name: str = "dataset",
    missing: MissingDefaults = ERROR,
    metadata: Mapping[str, object] | None = None,
    *,
    schema: object = "auto",
    with_missing: bool = False,
) -> Chain:
    """The chain of the files that a user writes for a dataset; see `treemill.dataset`.
    `with_missing`: a file of a fileset that is not there is an error only when it is opened."""
    check_text("name", name)
    known, about = None, metadata_of(metadata, f"dataset {name!r}")
    if not isinstance(schema, str) or schema != "auto":
        from .object_schemas import object_schema  # start-up

        known = object_schema(schema)
    several = fileset(files, tree)
    if several is None:
        locations = expand(files, tree)
        return Chain(ChainParts(locations, name, missing, metadata=about, schema=known))
    parts = ChainParts((), name, missing, metadata=about, schema=known)
    return chain_from(several, parts, with_missing=with_missing)


def chain_from(files: FilesetFiles, parts: ChainParts, *, with_missing: bool = False) -> Chain:
    """The chain of a fileset's files, with these parts besides. `with_missing`: as for
    `chain_of`."""
    if not with_missing:
        require_present(files.locations)
    chain = Chain(replaced(parts, locations=tuple(files.locations)))
    numbers = files.numbers(lambda file: chain.sizes[file][0])
    return chain if numbers is None else chain.selecting(numbers)
