"""The columns of one friend for one file of a dataset: which of the friend's entries go with the
file's, and their values. Knows what a friend is like, not how it came to the dataset.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import QueryError, UnsupportedError
from ..tree.foreign import Field

if TYPE_CHECKING:
    from ..arrays.kinds import Kind
    from .location import Location
    from .matching import Index

__all__ = [
    "Align",
    "Alignment",
    "Friend",
    "FriendChain",
    "FriendColumns",
    "Names",
    "integers",
    "is_number",
]

Names = tuple[str, str]
"""A major and a minor column of an index, or numbers instead."""
_SEVERAL = 8
"""Blocks whose matches are remembered: a block's columns come one after another."""


@dataclass(frozen=True)
class Alignment:
    """Which entries of a friend go with those of a tree or chain."""

    starts: tuple[int, ...]
    """Of the chain's files, as the friend counts."""
    theirs: tuple[int, ...]
    """Of the friend's files."""
    names: Names | None = None
    index: Index | None = None


Align = Callable[[], Alignment]
"""Works it out when it is needed: that may open files."""


class FriendChain(Protocol):
    """A chain as friends see it: the one that they go along, and their own."""

    trees: Any
    sizes: Any
    unordered: Any
    selected: Any

    @property
    def locations(self) -> tuple[Location, ...]:
        """Files and trees."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files' paths."""

    @property
    def entries(self) -> list[int]:
        """Entries of each file."""

    @property
    def branches(self) -> Mapping[str, Any]:
        """Of the first file."""

    @property
    def index(self) -> tuple[str, str] | None:
        """Columns of the first file's own index."""

    def table(self, file: int) -> Any:
        """What reads a file's columns."""

    def first_entry(self, file: int) -> int:
        """The number in the chain of this file's first entry."""

    def sibling(self, files: Any, tree: str | None = None, name: str = "dataset") -> FriendChain:
        """A chain of other files."""

    def pinned(self) -> FriendChain:
        """For one pass."""


@dataclass(frozen=True)
class Friend:
    """Another chain, and how it goes along."""

    chain: FriendChain
    alias: str
    index: Names | bool | None = None
    """Names of two columns; None: those of the friend's own index if it has one and the tree has
    the columns; False: by entry."""
    alignment: Alignment | None = None
    """Once it was worked out."""

    def index_names(self, columns: set[str]) -> Names | None:
        """The columns that entries of a tree with these columns are matched by; None: by number."""
        if isinstance(self.index, tuple):
            return self.index
        own = None if self.index is False else self.chain.index
        if own is None or not all(is_number(name) or name in columns for name in own):
            return None
        return own

    def index_columns(self, names: Names) -> list[Any]:
        """The values of these columns in the whole chain, as int64."""
        import numpy as np

        wanted = [name for name in names if not is_number(name)]
        parts: list[list[Any]] = [[] for _ in names]
        for file, entries in enumerate(self.chain.entries):
            read = self.chain.table(file).read(wanted, 0, entries)
            columns = dict(zip(wanted, read, strict=True))
            for name, part in zip(names, parts, strict=True):
                part.append(integers(name, columns, entries))
        return [np.concatenate(part) for part in parts]


def is_number(name: str) -> bool:
    """Whether what an index names is a number that stands for itself."""
    return name.strip().lstrip("+-").isdigit()


def integers(name: str, columns: Any, length: int) -> Any:
    """A column as int64, cut off as ROOT does; the same number everywhere where `name` is one."""
    import numpy as np

    from ..arrays.columns import numbers  # heavy: numpy

    if is_number(name):
        return np.full(length, int(name), np.int64)
    try:
        return numbers(columns[name]).astype(np.int64)
    except TypeError:
        raise QueryError(
            f"an index needs one number per entry, and {name} is no such column"
        ) from None


class FriendColumns:
    """Implements foreign.Foreign for one friend and one file of the dataset."""

    def __init__(
        self,
        friend: Friend,
        align: Align,
        file: int,
        tree: Any,
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
        self._kinds: dict[str, Kind] = {}
        """By the branch's name, of the friend's first file."""
        self._alignment: Alignment | None = None
        self._matches: dict[tuple[int, int], Any] = {}

    def schema(self) -> Sequence[Field]:
        """See Foreign."""
        with self._lock:
            if self._schema is None:
                self._schema = self._look()
            return self._schema

    def _look(self) -> Sequence[Field]:
        from ..arrays.columns import kind_of  # heavy: numpy

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
            # One that counts a single list ties it to none, under whichever of its names.
            ties = branch.counter is not None and counted[branch.counter] > 1
            counter = f"{friend.alias}.{branch.counter}" if ties else None
            nullable = by_index or branch.kind == "optional"
            names = [f"{friend.alias}.{branch.name}"]
            names += [branch.name] if branch.name in self._bare else []
            for name in names:
                self._names[name] = branch.name
                fields.append(Field(name, column, nullable, counter, listed=False))
        return fields

    def read(self, name: str, start: int, stop: int) -> Any:
        """See Foreign."""
        self.schema()
        column = self._names[name]
        with self._lock:
            alignment = self._alignment = self._alignment or self._align()
        if alignment.index is not None:
            return self._matched(column, start, stop, alignment)
        from .matching import pieces  # heavy: numpy

        begin = alignment.starts[self._file]
        found = pieces(alignment.theirs, begin + start, begin + stop)
        return self._united(column, found or [(0, 0, 0)])

    def _united(self, column: str, parts: list[tuple[int, int, int]]) -> Any:
        from ..arrays.columns import joined  # heavy: numpy

        return joined([self._part(column, *part) for part in parts])

    def _part(self, column: str, file: int, first: int, last: int) -> Any:
        """Of one of the friend's files, of the kind that its first file has."""
        from ..arrays.columns import kind_of  # heavy: numpy
        from ..arrays.common_type import cast, widest  # heavy: numpy

        chain = self._friend.chain
        (found,) = chain.table(file).read([column], first, last)
        own, kind = kind_of(found), self._kinds[column]
        if own.given() == kind:
            return found
        if widest([own.given(), kind]) != kind:
            raise UnsupportedError(
                f"the friend {self._friend.alias} has {column} as {kind} in {chain.files[0]}, and "
                f"as {own} in {chain.files[file]}, whose values that does not hold exactly: make "
                "its files alike",
                branch=column,
                file=chain.files[file],
            )
        return cast(found, kind.given(own.optional or found.null_count > 0))

    def _matched(self, column: str, start: int, stop: int, alignment: Alignment) -> Any:
        import numpy as np

        from ..arrays.columns import picked  # heavy: numpy
        from .matching import pieces, runs  # heavy: numpy

        entries = self._entries(start, stop, alignment)
        wanted = np.unique(entries[entries >= 0])
        parts, numbers = [], []
        whole = int(wanted[-1]) + 1 if len(wanted) else 0
        for file, first, last in pieces(alignment.theirs, 0, whole):
            begin = alignment.theirs[file]
            inside = wanted[(wanted >= begin + first) & (wanted < begin + last)] - begin
            size, clusters = self._friend.chain.sizes[file]
            for low, high in runs(inside, clusters, size):
                parts.append((file, low, high))
                numbers.append(np.arange(begin + low, begin + high))
        values = self._united(column, parts or [(0, 0, 0)])
        known = np.concatenate(numbers) if numbers else np.zeros(0, np.int64)
        place = np.searchsorted(known, entries)
        return picked(values, np.where(entries < 0, -1, place))

    def _entries(self, start: int, stop: int, alignment: Alignment) -> Any:
        """The friend's entries for these of the file, -1 where there is none."""
        with self._lock:
            known = self._matches.get((start, stop))
        if known is not None:
            return known
        assert alignment.names is not None
        assert alignment.index is not None
        wanted = [name for name in alignment.names if not is_number(name)]
        read = self._tree.read(wanted, start, stop)
        columns = dict(zip(wanted, read, strict=True))
        made = alignment.index.find(
            *(integers(name, columns, stop - start) for name in alignment.names)
        )
        with self._lock:
            while len(self._matches) >= _SEVERAL:
                self._matches.pop(next(iter(self._matches)))
            self._matches[start, stop] = made
        return made
