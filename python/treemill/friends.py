"""Friends: other trees whose columns are seen beside a dataset's own, entry by entry or matched by
an index, as TTree::AddFriend. Those that a user adds go along the whole chain; those that a file
records go with the tree of that file.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .errors import QueryError, SourceError
from .foreign import Foreign, field, joined

if TYPE_CHECKING:
    from .dataset import Dataset
    from .matching import Index

__all__ = ["Friend", "Friends", "index_names"]

Names = tuple[str, str]
_SEVERAL = 8
"""Blocks whose matches are remembered: a block's columns come one after another."""


def index_names(given: Any) -> Names | bool | None:
    """What a user gives for an index: a major column, and perhaps a minor one."""
    if given is None or given is False:
        return given
    names = (given,) if isinstance(given, str) else tuple(given)
    if len(names) not in (1, 2) or not all(isinstance(name, str) for name in names):
        raise QueryError(f"an index is a column's name or two, not {given!r}")
    return (names[0], names[1] if len(names) == 2 else "0")


@dataclass(frozen=True)
class Alignment:
    """Which entries of a friend go with those of a tree or chain."""

    starts: tuple[int, ...]
    """Of the chain's files, as the friend counts."""
    theirs: tuple[int, ...]
    """Of the friend's files."""
    names: Names | None = None
    index: Index | None = None


@dataclass(frozen=True)
class Friend:
    """Another dataset, and how it goes along."""

    dataset: Dataset
    alias: str
    index: Names | bool | None = None
    """Names of two columns; None: those of the friend's own index if it has one and the tree has
    the columns; False: by entry."""
    alignment: Alignment | None = None
    """Once it was worked out."""

    def aligned(self, sizes: Iterable[int], title: str, columns: Iterable[str]) -> Friend:
        """With its alignment to a chain of files of these sizes and columns. `title`: the chain,
        for messages."""
        from .matching import starts

        ours, others = starts(sizes), self.dataset
        theirs = starts(others.sizes[i][0] for i in range(len(others.files)))
        names = self._names(set(columns))
        if names is not None:
            return replace(self, alignment=Alignment(ours, theirs, names, self._built(names)))
        if ours[-1] != theirs[-1]:
            raise QueryError(
                f"{title} has {ours[-1]} entries and its friend {self.alias} ({others!r}) has "
                f"{theirs[-1]}: entry by entry they do not fit; give add_friend an index=",
                file=others.files[0],
            )
        return replace(self, alignment=Alignment(ours, theirs))

    def _names(self, columns: set[str]) -> Names | None:
        if isinstance(self.index, tuple):
            return self.index
        own = None if self.index is False else self.dataset.index
        if own is None or not all(_is_number(name) or name in columns for name in own):
            return None
        return own

    def _built(self, names: Names) -> Index:
        from .matching import Index

        wanted = [name for name in names if not _is_number(name)]
        columns = self.dataset.read(wanted).to_arrow()
        length = self.dataset.num_entries
        return Index(*(_integers(name, columns, length) for name in names))

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)


def _is_number(name: str) -> bool:
    return name.strip().lstrip("+-").isdigit()


def _integers(name: str, columns: Any, length: int) -> Any:
    """A column as int64, cut off as ROOT does; the same number everywhere where `name` is one."""
    import numpy as np

    if _is_number(name):
        return np.full(length, int(name), np.int64)
    values = columns[name]
    values = values.combine_chunks() if hasattr(values, "combine_chunks") else values
    made = np.asarray(values)
    if made.ndim != 1 or made.dtype.kind not in "biuf":
        raise QueryError(f"an index needs one number per entry, and {name} is no such column")
    return made.astype(np.int64)


class Friends:
    """The friends of a dataset. Immutable but for what it remembers; threads may share it."""

    def __init__(self, given: tuple[Friend, ...] = ()) -> None:
        self.given = given
        self._lock = threading.Lock()
        self._recorded: dict[int, tuple[Any, list[Friend]]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Friends, (self.given,)

    def __bool__(self) -> bool:
        return bool(self.given)

    def plus(self, friend: Friend) -> Friends:
        """With one more."""
        if friend.dataset.selected is not None:
            raise QueryError(f"the friend {friend.alias} is a selection of entries; give it whole")
        if any(friend.alias == each.alias for each in self.given):
            raise QueryError(f"there is a friend {friend.alias} already; give another alias=")
        return Friends((*self.given, friend))

    def settled(self, dataset: Dataset) -> Friends:
        """With all that one pass has to know of the whole chain, so that workers need not find it
        out. Opens every file."""
        if not self.given:
            return self
        sizes = [dataset.sizes[i][0] for i in range(len(dataset.files))]
        columns = [branch["name"] for branch in dataset.trees[0].branches()]
        return Friends(tuple(each.aligned(sizes, repr(dataset), columns) for each in self.given))

    def foreign(self, dataset: Dataset, file: int) -> Foreign | None:
        """The friends' columns for the entries of one file; None where it has no friends."""
        tree = dataset.trees[file]
        recorded = self._of_file(dataset, file, tree) if tree.core.friends else []
        if not self.given and not recorded:
            return None
        own = {branch["name"] for branch in tree.branches()}
        path = dataset.files[file]

        def whole(friend: Friend) -> Callable[[], Alignment]:
            def align() -> Alignment:
                if friend.alignment is not None:
                    return friend.alignment
                sizes = [dataset.sizes[i][0] for i in range(len(dataset.files))]
                made = friend.aligned(sizes, repr(dataset), own).alignment
                assert made is not None
                return made

            return align

        def alone(friend: Friend) -> Callable[[], Alignment]:
            def align() -> Alignment:
                made = friend.aligned([tree.num_entries], path, own).alignment
                assert made is not None
                return made

            return align

        several = [(each, whole(each), file) for each in self.given]
        several += [(each, alone(each), 0) for each in recorded]
        bare = _bare([each for each, _, _ in several], own)
        return joined(
            [
                FriendColumns(each, align, number, tree, bare.get(each.alias, frozenset()))
                for each, align, number in several
            ]
        )

    def _of_file(self, dataset: Dataset, file: int, tree: Any) -> list[Friend]:
        """The friends that the file's tree records, but for those that are not there."""
        with self._lock:
            known = self._recorded.get(file)
        if known is not None and known[0] is tree:
            return known[1]
        from .dataset import dataset as opened

        found = []
        location = dataset.trees.locations[file]
        for alias, name, given in tree.core.friends:
            path = _resolved(given, location.path)
            try:
                friend = opened({path: name}, name=alias)
                _ = friend.sizes[0]
            except (SourceError, QueryError) as error:
                message = f"{location}: its friend {alias} is left out: {error}"
                warnings.warn(message, stacklevel=2)
                continue
            found.append(Friend(friend, alias))
        with self._lock:
            self._recorded[file] = tree, found
        return found


def _resolved(given: str, main: str) -> str:
    """Where the file of a recorded friend is: the tree's own file, or from that file's folder, or
    from here."""
    if not given:
        return main
    beside = os.path.join(os.path.dirname(main), given)
    return given if "://" in given or not os.path.lexists(beside) else beside


def _bare(friends: list[Friend], own: set[str]) -> dict[str, frozenset[str]]:
    """By friend the columns that may go without its name: neither the tree nor another friend has
    one of that name."""
    owners: dict[str, list[str]] = {}
    for friend in friends:
        for branch in friend.dataset.branches.values():
            owners.setdefault(branch.name, []).append(friend.alias)
    found: dict[str, set[str]] = {}
    for name, aliases in owners.items():
        if len(aliases) == 1 and name not in own:
            found.setdefault(aliases[0], set()).add(name)
    return {alias: frozenset(names) for alias, names in found.items()}


class FriendColumns:
    """Implements foreign.Foreign for one friend and one file of the dataset."""

    def __init__(
        self,
        friend: Friend,
        align: Callable[[], Alignment],
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
        self._schema: Any = None
        self._names: dict[str, str] = {}
        self._alignment: Alignment | None = None
        self._matches: dict[tuple[int, int], Any] = {}

    def schema(self) -> Any:
        """See Foreign."""
        with self._lock:
            if self._schema is None:
                self._schema = self._look()
            return self._schema

    def _look(self) -> Any:
        import pyarrow

        friend = self._friend
        branches = [b for b in friend.dataset.branches.values() if b.readable]
        columns = friend.dataset.table(0).read([b.name for b in branches], 0, 0)
        by_index = isinstance(friend.index, tuple) or (
            friend.index is None and friend.dataset.index is not None
        )
        fields = []
        for branch, column in zip(branches, columns, strict=True):
            dtype = pyarrow.array(column).type
            counter = None if branch.counter is None else f"{friend.alias}.{branch.counter}"
            nullable = by_index or branch.kind == "optional"
            names = [f"{friend.alias}.{branch.name}"]
            names += [branch.name] if branch.name in self._bare else []
            for name in names:
                self._names[name] = branch.name
                made = field(name, dtype, nullable=nullable, counter=counter, listed=False)
                fields.append(made)
        return pyarrow.schema(fields)

    def read(self, name: str, start: int, stop: int) -> Any:
        """See Foreign."""
        self.schema()
        column = self._names[name]
        with self._lock:
            alignment = self._alignment = self._alignment or self._align()
        if alignment.index is not None:
            return self._matched(column, start, stop, alignment)
        from .matching import pieces

        begin = alignment.starts[self._file]
        found = pieces(alignment.theirs, begin + start, begin + stop)
        return self._united(column, found or [(0, 0, 0)])

    def _united(self, column: str, parts: list[tuple[int, int, int]]) -> Any:
        import pyarrow

        tables = self._friend.dataset.table
        read = [tables(file).read([column], first, last)[0] for file, first, last in parts]
        if len(read) == 1:
            return read[0]
        return pyarrow.concat_arrays([pyarrow.array(each) for each in read])

    def _matched(self, column: str, start: int, stop: int, alignment: Alignment) -> Any:
        import numpy as np
        import pyarrow

        from .matching import pieces, runs

        entries = self._entries(start, stop, alignment)
        wanted = np.unique(entries[entries >= 0])
        parts, numbers = [], []
        whole = int(wanted[-1]) + 1 if len(wanted) else 0
        for file, first, last in pieces(alignment.theirs, 0, whole):
            begin = alignment.theirs[file]
            inside = wanted[(wanted >= begin + first) & (wanted < begin + last)] - begin
            size, clusters = self._friend.dataset.sizes[file]
            for low, high in runs(inside, clusters, size):
                parts.append((file, low, high))
                numbers.append(np.arange(begin + low, begin + high))
        values = pyarrow.array(self._united(column, parts or [(0, 0, 0)]))
        known = np.concatenate(numbers) if numbers else np.zeros(0, np.int64)
        place = np.searchsorted(known, entries)
        return values.take(pyarrow.array(place, mask=entries < 0))

    def _entries(self, start: int, stop: int, alignment: Alignment) -> Any:
        """The friend's entries for these of the file, -1 where there is none."""
        with self._lock:
            known = self._matches.get((start, stop))
        if known is not None:
            return known
        import pyarrow

        assert alignment.names is not None
        assert alignment.index is not None
        wanted = [name for name in alignment.names if not _is_number(name)]
        read = self._tree.read(wanted, start, stop)
        columns = {name: pyarrow.array(c) for name, c in zip(wanted, read, strict=True)}
        made = alignment.index.find(
            *(_integers(name, columns, stop - start) for name in alignment.names)
        )
        with self._lock:
            while len(self._matches) >= _SEVERAL:
                self._matches.pop(next(iter(self._matches)))
            self._matches[start, stop] = made
        return made
