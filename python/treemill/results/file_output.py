"""Results of selectors that are files. Each worker writes parts of its own. At the end the parts
are put together in the order of the entries that they were made from, all or nothing.

Knows files, no worker and no session.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..data.file_tree import UNORDERED
from ..data.kinds import Kind, Kinds, number
from ..data.rows import Store, Stored
from ..errors import QueryError, SourceError, check_flag, local_path, writing
from ..query.rows import check_tree, compression_of
from .parts import claim, hidden_folder, remove, remove_if_empty

if TYPE_CHECKING:
    import awkward as ak

    from ..data.array_columns import InMemory
    from ..data.columns import Table
    from ..writing.file import RootFile

__all__ = ["FileOutput", "file_outputs", "writing_at", "written"]

Place = tuple[int, int]
"""Number of the file in the dataset, and an entry in the file."""

_local = threading.local()


def writing_at(place: Place | None) -> None:
    """Notes that what this thread writes from now on is made from the entries that begin at
    `place`; None: from no entries in particular."""
    _local.place, _local.written = place, []


def written() -> list[FileOutput]:
    """The files that this thread has written to since `writing_at`, and that have not ended nor
    were merged into others."""
    return [file for file in getattr(_local, "written", ()) if file.is_open]


@dataclass(frozen=True)
class _Piece:
    """What one call of `write` has written."""

    tree: str
    place: Place | None
    number: int
    """The order among the pieces of one worker that have the same place."""
    kinds: Kinds
    lists: Mapping[str, bytes]
    unequal: frozenset[tuple[str, str]]
    stored: Stored

    @property
    def order(self) -> tuple[bool, Place, int]:
        """The piece's place in the file. Pieces without a place come last."""
        return self.place is None, self.place or (0, 0), self.number


@dataclass
class _Part:
    """A ROOT file of a folder of such files."""

    path: str
    order: tuple[bool, Place, int]


@dataclass
class _Open:
    """The pieces that a worker is writing."""

    store: Store | None = None
    ended: list[Store] = field(default_factory=list)
    """Those of other files that were merged into this one."""
    pieces: list[_Piece] = field(default_factory=list)

    @property
    def stores(self) -> list[Store]:
        """All files with pieces."""
        return self.ended if self.store is None else [*self.ended, self.store]

    def discard(self) -> None:
        """Removes these files."""
        for store in self.stores:
            store.discard()


class FileOutput:
    """A ROOT file of trees, written by many workers: a selector makes it in `begin_worker`, puts it
    into `self.output`, and writes to it in `process`.

    Until the query has ended without an error, its parts are in a hidden folder beside the file.
    Then the complete file appears and replaces an older file in the same moment. Its entries have
    the order of the dataset's entries from which they come. If the query ends with an error, no
    file appears.

    Parameters
    ----------
    path
        The file on this machine. All workers must see its folder.
    as_dataset
        If true, `path` is a folder, with a file for each part that a worker has handed over. The
        trees of these files record that they have no order: such a dataset cannot be a friend by
        entry number.
    compression
        As for `snapshot`.

    Raises
    ------
    UnsupportedError
        If `path` is the address of a server.
    QueryError
        If the compression does not exist.

    Examples
    --------
    >>> class Skim(tm.Selector):
    ...     def begin_worker(self, inputs):
    ...         self.output["skim"] = tm.FileOutput("pairs.root", compression="lz4")
    ...     def process(self, events):
    ...         pairs = events[events.nMuon >= 2]
    ...         self.output["skim"].write({"met": pairs.MET_pt})
    >>> output = tm.run(Skim(), events, progress=False)
    >>> tm.dataset("pairs.root").num_entries == events.filter("nMuon >= 2").count().value
    True
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        as_dataset: bool = False,
        compression: str | None = "default",
    ) -> None:
        check_flag("as_dataset", as_dataset)
        self.path = os.path.abspath(local_path(path))
        self.as_dataset = as_dataset
        self._codec = compression_of("ttree", compression)
        self._folder = hidden_folder(self.path)
        self._pieces: list[_Piece] = []
        self._parts: list[_Part] = []
        self._open = _Open()

    def write(self, columns: Mapping[str, InMemory] | ak.Array, tree: str = "Events") -> None:
        """Add entries to a tree of the file.

        Parameters
        ----------
        columns
            A mapping of names to arrays of one length, or an awkward array of records.
        tree
            The tree's name.

        Raises
        ------
        UnsupportedError
            If a tree cannot hold the values of a column, which the message names.
        QueryError
            If the columns do not fit together, or do not fit the columns of earlier calls.
        SourceError
            If the space or the permission is missing.

        Examples
        --------
        >>> class Skim(tm.Selector):
        ...     def begin_worker(self, inputs):
        ...         self.output["skim"] = tm.FileOutput("skim.root")
        ...     def process(self, events):
        ...         self.output["skim"].write({"met": events.MET_pt})
        >>> output = tm.run(Skim(), events, progress=False)
        >>> tm.dataset("skim.root").num_entries == events.num_entries
        True
        """
        from ..writing.tables import (  # heavy: numpy
            lists_of,
            planned,
            table_of,
            unequal_counts,
        )

        check_tree(tree)
        table = table_of(columns)
        if not any(piece.kinds == table.kinds for piece in self._open.pieces):
            planned(_known(table.kinds), {}, {})  # raises for what cannot be written
        if self._open.store is None:
            self._open.store = self._store()
        getattr(_local, "written", []).append(self)
        place, at = getattr(_local, "place", None), len(self._open.pieces)
        stored = self._open.store.add(table)
        unequal = frozenset(unequal_counts(table))
        piece = _Piece(tree, place, at, table.kinds, lists_of(table), unequal, stored)
        self._open.pieces.append(piece)

    def _store(self) -> Store:
        while True:
            if not os.path.isdir(self._folder):
                with writing(self.path):
                    claim(self._folder)
            try:
                return Store(self._folder, self.path)
            except SourceError:
                # Another worker that had nothing to hand over may have removed the empty folder.
                if os.path.isdir(self._folder):
                    remove_if_empty(self._folder)
                    raise

    def close(self) -> None:
        """Ends this part; later writes go into another one. If that fails, the part is gone."""
        ended, self._open = self._open, _Open()
        if not ended.pieces:
            ended.discard()
            return
        with self._or_removed(ended):
            if ended.store is not None:
                ended.store.close()
            if self.as_dataset:
                self._parts.append(self._part(ended))
            else:
                self._pieces += ended.pieces

    def _part(self, ended: _Open) -> _Part:
        """Makes a file of the folder, in place of the files that its pieces were in."""
        part = _Part(f"{ended.pieces[0].stored.path}.root", min(p.order for p in ended.pieces))
        try:
            self._written(part.path, os.path.basename(part.path), ended.pieces, False)
        except BaseException:
            Path(part.path).unlink(missing_ok=True)
            raise
        ended.discard()
        return part

    @contextmanager
    def _or_removed(self, files: _Open) -> Iterator[None]:
        """Removes the files, which belong to no part yet, if the block fails."""
        try:
            yield
        except BaseException:
            files.discard()
            remove_if_empty(self._folder)
            raise

    @property
    def is_open(self) -> bool:
        """True if something was written since the last part has ended."""
        return bool(self._open.stores)

    def discard(self) -> None:
        """Removes parts that were written and not handed over."""
        discarded, self._open = self._open, _Open()
        discarded.discard()
        self._remove_parts()
        remove_if_empty(self._folder)

    def _remove_parts(self) -> None:
        paths = {piece.stored.path for piece in self._pieces} | {part.path for part in self._parts}
        for path in paths:
            Path(path).unlink(missing_ok=True)
        self._pieces, self._parts = [], []

    def merge(self, other: FileOutput) -> None:
        """Takes over the other's parts."""
        if other.path != self.path:
            raise QueryError(f"{other.path} and {self.path} are different files")
        # A file that was made for a chunk, and is not ended, becomes a part of this one's part.
        taken, other._open = other._open, _Open()
        if taken.store is not None:
            with self._or_removed(taken):
                taken.store.close()
        self._open.ended += taken.stores
        self._open.pieces += taken.pieces
        self._pieces += other._pieces
        self._parts += other._parts

    def finish(self) -> None:
        """Makes the file, once all workers have ended. Raises SourceError if it cannot be written;
        then the parts are removed, and an older file stays as it was."""
        try:
            with writing(self.path):
                self._make()
        finally:
            self.drop()

    def _make(self) -> None:
        if self._parts:
            self._make_folder()
        elif self._pieces:
            whole = f"{self._folder}/whole"
            is_ordered = all(piece.place is not None for piece in self._pieces)
            self._written(whole, os.path.basename(self.path), self._pieces, is_ordered)
            os.replace(whole, self.path)

    def drop(self) -> None:
        """Removes the parts."""
        self._remove_parts()
        remove(self._folder)

    def _make_folder(self) -> None:
        whole, old = f"{self._folder}/whole", f"{self._folder}/old"
        os.mkdir(whole)
        for index, part in enumerate(sorted(self._parts, key=lambda part: part.order)):
            os.replace(part.path, f"{whole}/part-{index:05d}.root")
        # A folder that is not empty cannot be replaced, so the older one is moved away first.
        if os.path.isdir(self.path):
            os.replace(self.path, old)
        try:
            os.replace(whole, self.path)
        except BaseException:
            if os.path.isdir(old):
                os.rename(old, self.path)
            raise

    def _written(self, path: str, name: str, pieces: Sequence[_Piece], is_ordered: bool) -> None:
        """Writes a ROOT file of these pieces. `is_ordered`: in the order of the input's entries."""
        from ..writing.file import (
            Codec,  # start-up
            RootFile,  # start-up
        )

        codec, level = self._codec
        with writing(self.path):
            file = RootFile(path, name, Codec(codec, level or 0))
            try:
                for tree in dict.fromkeys(piece.tree for piece in pieces):
                    _write_tree(file, tree, [p for p in pieces if p.tree == tree], is_ordered)
            finally:
                file.close()

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_open": _Open()}

    def __deepcopy__(self, memory: dict[int, object]) -> FileOutput:
        copied = FileOutput(self.path, as_dataset=self.as_dataset)
        copied._codec, copied._folder = self._codec, self._folder
        copied._pieces, copied._parts = list(self._pieces), list(self._parts)
        return copied

    def __repr__(self) -> str:
        return f"FileOutput({self.path!r})"


def _write_tree(file: RootFile, name: str, pieces: Sequence[_Piece], is_ordered: bool) -> None:
    from ..writing.tables import TableTree, chunks, planned  # heavy: numpy

    pieces = sorted(pieces, key=lambda piece: piece.order)
    kinds = _common(name, [piece.kinds for piece in pieces])
    numbers: dict[tuple[bytes | None, ...], int] = {}
    groups: dict[str, Hashable] = {}
    for column in kinds:
        lists = tuple(piece.lists.get(column) for piece in pieces)
        if any(lists):
            groups[column] = numbers.setdefault(lists, len(numbers))
    unequal = {pair for piece in pieces for pair in piece.unequal}
    plan = planned(kinds, groups, {}, unequal=unequal)
    title = "" if is_ordered else UNORDERED
    tree = TableTree(file, name, plan, title, is_reshuffled=not is_ordered)
    tables = (table for piece in pieces for table in piece.stored.tables())
    for table in chunks(_cast(table, kinds) for table in tables):
        tree.write(table)
    tree.close()


def _common(tree: str, pieces: Sequence[Kinds]) -> Kinds:
    """The kinds of all columns, each of which holds the values of all pieces."""
    from ..data.common_type import widest  # heavy: numpy

    names = list(pieces[0])
    if any(set(kinds) != set(names) for kinds in pieces):
        shown = " and ".join(sorted({", ".join(kinds) for kinds in pieces}))
        raise QueryError(f"the tree {tree} was given different columns at different times: {shown}")
    common = {}
    for name in names:
        types = [kinds[name] for kinds in pieces]
        kind = widest(types)
        if kind is None:
            shown = " and ".join(sorted(set(map(str, types))))
            raise QueryError(
                f"{name} of the tree {tree} was given types that no type holds: {shown}",
                branch=name,
            )
        common[name] = kind
    return _known(common)


def _known(kinds: Kinds) -> Kinds:
    """The kinds, with float64 for columns of no values, as awkward has it."""

    def known(kind: Kind) -> Kind:
        if kind.form == "nothing":
            return number("float64")
        return kind.of(known(kind.item)) if kind.form == "list" else kind

    return {name: known(kind) for name, kind in kinds.items()}


def _cast(table: Table, kinds: Kinds) -> Table:
    from ..data.columns import Table  # heavy: numpy
    from ..data.common_type import cast  # heavy: numpy

    return Table({name: cast(table.columns[name], kind) for name, kind in kinds.items()})


def file_outputs(output: object) -> Iterator[FileOutput]:
    """Returns all file outputs in an output."""
    if isinstance(output, FileOutput):
        yield output
    elif isinstance(output, Mapping):
        for value in output.values():
            yield from file_outputs(value)
