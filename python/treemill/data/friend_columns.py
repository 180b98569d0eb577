"""The columns of one friend for one file of a dataset: which of the friend's entries belong to the
file's entries, and their values. Does not know where the friend comes from.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from ..errors import QueryError, SourceError, UnsupportedError
from ..frozen import frozen
from .defaults import one_entry
from .entry_ranges import Part, parts_between, ranges_of_clusters
from .foreign import Field

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .._core import Column, NearFiles
    from .branch import Branch, Branches
    from .chain_trees import ChainTrees, Remembered
    from .column_source import ColumnSource, FileState
    from .entry_list import Selection
    from .file_tree import FileTree
    from .kinds import Kind
    from .location import Location

    Integers: TypeAlias = NDArray[np.int64]

__all__ = [
    "Align",
    "Alignment",
    "Friend",
    "FriendChain",
    "FriendColumns",
    "Index",
    "IndexNames",
    "JoinedFriend",
    "integers",
    "is_number",
    "names_here",
]

JoinedFriend: TypeAlias = (
    "tuple[list[tuple[str, str, Column, bool, str | None, tuple[Column, str | None] | None]],"
    " NearFiles, tuple[int, ...], tuple[int, ...]]"
)
"""A friend as the core takes it: see `FriendColumns.described`."""
IndexNames = tuple[str, str]
"""The major and the minor column of an index; a number stands for a constant column."""
_SEVERAL = 8
"""Blocks of entries whose matches are remembered, as the columns of a block are read one after
another."""


@frozen
class Alignment:
    """Which entries of a friend belong to which entries of a tree or chain."""

    starts: tuple[int, ...]
    """The first entries of the chain's files in the friend."""
    theirs: tuple[int, ...]
    """The first entries of the friend's files."""
    names: IndexNames | None = None
    """The columns of the chain that the index is searched by; None: by entry number."""
    index: Index | None = None
    """The friend's entries by the values of its own columns."""


Align = Callable[[], Alignment]
"""Makes the alignment when it is needed, which may open files."""


class FriendChain(Protocol):
    """A chain as friends see it: the one that they join, and their own."""

    @property
    def trees(self) -> ChainTrees:
        """The files' trees."""

    @property
    def sizes(self) -> Remembered[tuple[int, tuple[int, ...]]]:
        """The entries of each file, and where its clusters start."""

    @property
    def unordered(self) -> Remembered[bool]:
        """Whether the entries of a file are in no order."""

    @property
    def reshuffled(self) -> Remembered[bool]:
        """Whether the entries of a file are in another order than those that they come from."""

    @property
    def friends(self) -> object:
        """The chain's own friends; false without any."""

    @property
    def selected(self) -> Selection | None:
        """The selected entries; None: all."""

    @property
    def locations(self) -> tuple[Location, ...]:
        """The files and their trees."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files' paths."""

    @property
    def entries(self) -> list[int]:
        """The entries of each file."""

    def looked_into(self, threads: int = 1) -> list[int]:
        """The entries of each file, after one look into all of them."""

    @property
    def branches(self) -> Branches:
        """The branches of the first file."""

    @property
    def first(self) -> int:
        """The file that says what columns there are: see Chain.first."""

    @property
    def index(self) -> tuple[str, str] | None:
        """The columns of the index that the first file has."""

    def decider(self, file: int) -> FileTree:
        """The tree that says which names mean the chain's own columns: see Chain.decider."""

    def table(self, file: int) -> ColumnSource:
        """Returns all columns of a file."""

    def first_entry(self, file: int) -> int:
        """The number in the chain of this file's first entry."""

    def sibling(self, files: object, tree: str | None = None, name: str = "dataset") -> FriendChain:
        """A chain of other files."""

    def current(self, files: Iterable[int] | None = None) -> FriendChain:
        """The chain for one question of the user's: see Chain.current."""

    def pinned(self, *, threads: int = 1) -> FriendChain:
        """The chain for one pass: see Chain.pinned."""

    def changed(self, files: Iterable[int] | None = None, threads: int = 1) -> SourceError | None:
        """The error for a file that is not what the pass has seen: see Chain.changed."""

    def states(self, files: Iterable[int] | None = None) -> Mapping[str, FileState]:
        """The states of the files that the pass has opened: see Chain.states."""

    def one_state(self, files: Iterable[int] | None = None) -> AbstractContextManager[None]:
        """What is read within is of one state of these files: see Chain.one_state."""


@frozen
class Friend:
    """Another chain, and how it is joined."""

    chain: FriendChain
    alias: str
    index: IndexNames | bool | None = None
    """The names of two columns. None: the columns of the friend's own index, if it has one and the
    tree has the columns. False: the friend is joined entry by entry."""
    alignment: Alignment | None = None
    """The alignment to the chain, if it is known already."""

    def index_names(self, columns: set[str]) -> IndexNames | None:
        """The columns by which entries are matched if the tree has these columns; None: entries are
        matched by number."""
        if isinstance(self.index, tuple):
            return self.index
        own = None if self.index is False else self.chain.index
        if own is None or not all(is_number(name) or name in columns for name in own):
            return None
        return own

    def index_columns(self, names: IndexNames) -> list[NDArray[np.int64]]:
        """The values of these columns in the whole chain."""
        import numpy as np

        wanted = [name for name in names if not is_number(name)]
        parts: list[list[NDArray[np.int64]]] = [[] for _ in names]
        for file, entries in enumerate(self.chain.entries):
            read = self.read(file, wanted, 0, entries)
            columns = dict(zip(wanted, read, strict=True))
            for name, part in zip(names, parts, strict=True):
                part.append(integers(name, columns, entries))
        return [np.concatenate(part) for part in parts]

    def read(self, file: int, names: Sequence[str], start: int, stop: int) -> list[Column]:
        """Columns of one file. Raises ChangedError if it is not what the pass has seen of it."""
        with self.chain.one_state((file,)):
            return self.chain.table(file).read(names, start, stop)


def names_here(branch: Branch, alias: str, bare: Set[str]) -> list[str]:
    """The names that a friend's column has in a dataset; `bare`: the columns that may be named
    without the alias."""
    names = [f"{alias}.{name}" for name in (branch.name, *branch.also)]
    return [*names, branch.name] if branch.name in bare else names


def is_number(name: str) -> bool:
    """True if a name of an index is a number, which stands for a constant column."""
    return name.strip().lstrip("+-").isdigit()


def integers(name: str, columns: Mapping[str, Column], length: int) -> NDArray[np.int64]:
    """A column as integers, truncated as ROOT does; or `length` times the number `name`."""
    import numpy as np

    from .columns import numbers  # heavy: numpy

    if is_number(name):
        return np.full(length, int(name), np.int64)
    try:
        return numbers(columns[name]).astype(np.int64)
    except TypeError:
        raise QueryError(
            f"an index needs one number per entry, and {name} is no such column"
        ) from None


class FriendColumns:
    """The columns of one friend for one file of the dataset. Implements Foreign."""

    def __init__(
        self,
        friend: Friend,
        align: Align,
        file: int,
        tree: ColumnSource,
        bare: frozenset[str],
    ) -> None:
        self._friend = friend
        self._align = align
        self._file = file
        self._tree = tree
        self._bare = bare
        self._lock = threading.Lock()
        self._schema: Sequence[Field] | None = None
        self._names: dict[str, str] = {}
        """The friend's columns by the names that they have here."""
        self._kinds: dict[str, Kind] = {}
        """The kinds of the branches in the friend's first file."""
        self._alignment: Alignment | None = None
        self._matches: dict[tuple[int, int], NDArray[np.int64]] = {}

    def schema(self) -> Sequence[Field]:
        """See Foreign."""
        with self._lock:
            if self._schema is None:
                self._schema = self._look()
            return self._schema

    def _look(self) -> Sequence[Field]:
        from .columns import kind_of  # heavy: numpy

        friend = self._friend
        branches = [b for b in friend.chain.branches.values() if b.readable]
        columns = friend.chain.table(0).read([b.name for b in branches], 0, 0)
        by_index = isinstance(friend.index, tuple) or (
            friend.index is None and friend.chain.index is not None
        )
        fields = []
        counted = Counter(branch.counter for branch in branches)
        for branch, column in zip(branches, columns, strict=True):
            self._kinds[branch.name] = kind_of(column).given()
            # A counter of a single list connects it with no other list.
            ties = branch.counter is not None and counted[branch.counter] > 1
            counter = f"{friend.alias}.{branch.counter}" if ties else None
            missing = friend.chain.trees.missing
            is_lost = missing.has(branch.name) and missing[branch.name] is None
            nullable = by_index or branch.kind == "optional" or is_lost
            for name in names_here(branch, friend.alias, self._bare):
                self._names[name] = branch.name
                fields.append(Field(name, column, nullable, counter, listed=False))
        return fields

    def described(self) -> JoinedFriend:
        """The friend as the core takes it, to read it beside other files by itself. Of each column:
        the name here and in the friend, no values of it, whether some may be missing, its counter,
        and the default for files that lack it, with the counter there. Then the friend's files, and
        where the entries of the chain's files and of these begin."""
        columns = []
        for field in self.schema():
            name, empty = self._names[field.name], cast("Column", field.empty)
            about = field.name, name, empty, field.nullable, field.counter
            columns.append((*about, self._default(name)))
        alignment = self._align()
        files = self._friend.chain.trees.to_open()
        return columns, files, alignment.starts, alignment.theirs

    def _default(self, name: str) -> tuple[Column, str | None] | None:
        chain = self._friend.chain
        missing = chain.trees.missing
        if name not in missing.names or missing[name] is None:
            return None
        return one_entry(name, missing[name], self._kinds[name], chain.branches[name].counter)

    def read(self, name: str, start: int, stop: int) -> Column:
        """See Foreign."""
        self.schema()
        column = self._names[name]
        with self._lock:
            alignment = self._alignment = self._alignment or self._align()
        if alignment.index is not None:
            return self._matched(column, start, stop, alignment)
        begin = alignment.starts[self._file]
        ranges = parts_between(alignment.theirs, begin + start, begin + stop)
        return self._united(column, ranges or [(0, 0, 0)])

    def _united(self, column: str, parts: Sequence[Part]) -> Column:
        from .columns import joined  # heavy: numpy

        return joined([self._part(column, *part) for part in parts])

    def _part(self, column: str, file: int, first: int, last: int) -> Column:
        """Some entries of one of the friend's files, of the kind that its first file has."""
        from .columns import kind_of  # heavy: numpy
        from .common_type import cast, widest  # heavy: numpy

        chain = self._friend.chain
        (values,) = self._friend.read(file, [column], first, last)
        own, kind = kind_of(values), self._kinds[column]
        if own.given() == kind:
            return values
        if widest([own.given(), kind]) != kind:
            raise UnsupportedError(
                f"the friend {self._friend.alias} has {column} as {kind} in {chain.files[0]}, and "
                f"as {own} in {chain.files[file]}, whose values that does not hold exactly: make "
                "its files alike",
                branch=column,
                file=chain.files[file],
            )
        return cast(values, kind.given(own.optional or values.null_count > 0))

    def _matched(self, column: str, start: int, stop: int, alignment: Alignment) -> Column:
        import numpy as np

        from .columns import picked  # heavy: numpy

        entries = self._entries(start, stop, alignment)
        wanted = np.unique(entries[entries >= 0])
        parts, numbers = [], []
        whole = int(wanted[-1]) + 1 if len(wanted) else 0
        for file, first, last in parts_between(alignment.theirs, 0, whole):
            begin = alignment.theirs[file]
            inside = wanted[(wanted >= begin + first) & (wanted < begin + last)] - begin
            size, clusters = self._friend.chain.sizes[file]
            for low, high in ranges_of_clusters(inside, clusters, size):
                parts.append((file, low, high))
                numbers.append(np.arange(begin + low, begin + high))
        values = self._united(column, parts or [(0, 0, 0)])
        known = np.concatenate(numbers) if numbers else np.zeros(0, np.int64)
        place = np.searchsorted(known, entries)
        return picked(values, np.where(entries < 0, -1, place))

    def _entries(self, start: int, stop: int, alignment: Alignment) -> NDArray[np.int64]:
        """The friend's entry for each of these entries of the file, -1 if it has none."""
        with self._lock:
            known = self._matches.get((start, stop))
        if known is not None:
            return known
        assert alignment.names is not None
        assert alignment.index is not None
        wanted = [name for name in alignment.names if not is_number(name)]
        read = self._tree.read(wanted, start, stop)
        columns = dict(zip(wanted, read, strict=True))
        entries = alignment.index.find(
            *(integers(name, columns, stop - start) for name in alignment.names)
        )
        with self._lock:
            while len(self._matches) >= _SEVERAL:
                self._matches.pop(next(iter(self._matches)))
            self._matches[start, stop] = entries
        return entries


# An index of entries by the values of two integer columns, as ROOT's TTreeIndex. Pure: numpy arrays
# only.


class Index:
    """Entries by the values of two integer columns."""

    def __init__(self, majors: Integers, minors: Integers) -> None:
        """One value per entry each. If entries have the same values the first one is found."""
        import numpy as np

        majors, minors = np.asarray(majors, np.int64), np.asarray(minors, np.int64)
        # Each pair becomes one number: by the ranks of its two values among all values.
        self._majors, major = np.unique(majors, return_inverse=True)
        self._minors, minor = np.unique(minors, return_inverse=True)
        keys = major * max(len(self._minors), 1) + minor
        self._keys, self._entries = np.unique(keys, return_index=True)

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, majors: Integers, minors: Integers) -> Integers:
        """The entry of each pair of values, -1 for a pair that no entry has."""
        import numpy as np

        major, has_major = _ranks(self._majors, np.asarray(majors, np.int64))
        minor, has_minor = _ranks(self._minors, np.asarray(minors, np.int64))
        rank, is_found = _ranks(self._keys, major * max(len(self._minors), 1) + minor)
        is_found &= has_major & has_minor
        entries = np.full(len(major), -1, np.int64)
        entries[is_found] = self._entries[rank[is_found]]
        return entries


def _ranks(ordered: Integers, values: Integers) -> tuple[Integers, NDArray[np.bool_]]:
    """Returns where values stand in an ascending array, and whether they are in it."""
    import numpy as np

    if len(ordered) == 0:
        return np.zeros(len(values), np.int64), np.zeros(len(values), np.bool_)
    rank = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return rank, ordered[rank] == values
