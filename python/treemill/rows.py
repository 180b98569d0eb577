"""Partials with rows: what workers keep of values themselves, with the place of each piece in the
dataset, so that the result has the order of entries whatever the packets were.

Knows the core's partial and columns; knows no session and no format of files that users read. Rows
of a snapshot go to files of the worker's own, those of arrays stay in memory.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .columns import Table, empty, made
from .errors import QueryError
from .kinds import Kinds
from .row_types import RowColumn, RowTypes, types_of
from .stored import Store, Stored
from .worker.workload import Forwarding, Workload

__all__ = ["Collected", "Collecting", "CollectingWorkload", "Sink", "load"]

Order = tuple[int, int]
"""Number of the file in the dataset, and of the first entry in the file."""


@dataclass(frozen=True)
class Sink:
    """Where the rows of one booking go: a folder, or memory up to a number of bytes."""

    limit: int
    folder: str | None = None


@dataclass
class Collected:
    """The rows of one booking so far."""

    sink: Sink
    pieces: list[tuple[Order, Any]] = field(default_factory=list)
    bytes: int = 0
    files: list[tuple[RowColumn, ...]] = field(default_factory=list)
    """What each file that was begun makes of the columns; equal ones are there once."""
    unequal: set[tuple[str, str]] = field(default_factory=set)
    """See `writing.tables.unequal_counts`; of rows in files alone."""

    @cached_property
    def types(self) -> RowTypes:
        """Of all columns in all files."""
        return RowTypes(tuple(self.files))

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns, in order."""
        return self.types.names

    @property
    def optional(self) -> frozenset[str]:
        """Columns that may have missing values."""
        return self.types.optional

    @property
    def kinds(self) -> Kinds:
        """By column. Raises UnsupportedError where files' kinds do not go together."""
        return self.types.kinds

    @property
    def groups(self) -> Mapping[str, int]:
        """Of columns of lists: those with the same number have the same lists."""
        return self.types.groups

    @property
    def too_much(self) -> bool:
        """Whether there was more than the limit; then it was thrown away."""
        return self.sink.folder is None and self.bytes > self.sink.limit

    def describe(self, columns: Sequence[Any]) -> None:
        """Notes what a file makes of the columns, from the core's."""
        self._note(types_of(columns))

    def _note(self, columns: tuple[RowColumn, ...]) -> None:
        if columns not in self.files:
            self.files.append(columns)

    def check(self) -> None:
        """Raises QueryError where there is more than the limit."""
        if self.too_much:
            raise QueryError(
                f"the values take more than {self.sink.limit / 2**30:.3g} GiB of memory: filter "
                "before, raise limit=, or write them with snapshot()"
            )

    def merge(self, other: Collected) -> None:
        """Takes over the other's pieces."""
        self.pieces += other.pieces
        self.bytes += other.bytes
        self.unequal |= other.unequal
        for columns in other.files:
            self._note(columns)
        if self.too_much:
            self.pieces = []

    def tables(self) -> Iterator[Table]:
        """columns.Tables in the order of entries, all of `kinds`. Raises UnsupportedError where a
        value does not fit those."""
        for _, piece in sorted(self.pieces, key=lambda pair: pair[0]):
            yield self.types.uniform(piece.table() if isinstance(piece, Stored) else piece)

    def whole(self) -> Table:
        """All rows as one table."""
        tables = list(self.tables())
        if tables:
            return Table.joined(tables)
        return Table({name: made(empty(kind), name) for name, kind in self.kinds.items()})


class _RowsPartial:
    """A core partial and, for some of its bookings, rows."""

    def __init__(self, core: Any, sinks: Mapping[int, Sink], made_for: Any = None) -> None:
        """`made_for`: the core.Bound that made `core`, where it is to be filled."""
        self.core = core
        self._made_for = made_for
        self.rows = {index: Collected(sink) for index, sink in sinks.items()}
        self._stores: dict[int, Store] = {}
        if made_for is not None:
            self._describe(core)

    def _describe(self, core: Any) -> None:
        """Notes the types in the file that a core partial was made for."""
        for index, columns in core.row_types():
            self.rows[index].describe(columns)

    def as_of(self, bound: Any) -> None:
        """Goes on with rows of the types that this file's columns have: a core partial keeps those
        that it was made with, and would squeeze other values into them."""
        if self._made_for is not bound:
            if self._made_for is not None:
                fresh = bound.partial()
                self._describe(fresh)
                fresh.merge(self.core)
                self.core = fresh
            self._made_for = bound

    def take(self, order: Order) -> None:
        """Moves the core's rows here; they begin at this place."""
        for index, columns in self.core.take_rows():
            collected = self.rows[index]
            table = Table({column.name: column for column in columns})
            collected.bytes += table.nbytes
            collected.check()
            piece: Table | Stored = table
            if collected.sink.folder is not None:
                from .writing.tables import unequal_counts

                piece = self._store(index, collected.sink.folder, table)
                collected.unequal |= unequal_counts(table)
            collected.pieces.append((order, piece))

    def _store(self, index: int, folder: str, table: Any) -> Stored:
        if index not in self._stores:  # where the folder is gone, so is who wanted the rows
            self._stores[index] = Store(folder, folder)
        return self._stores[index].add(table)

    def close(self) -> None:
        """Ends this worker's files; later pieces go to others."""
        stores, self._stores = self._stores, {}
        for store in stores.values():
            store.close()

    def discard(self) -> None:
        """Removes what was written and not handed over."""
        stores, self._stores = self._stores, {}
        for store in stores.values():
            store.discard()

    def merge(self, other: _RowsPartial) -> None:
        self.core.merge(other.core)
        for index, rows in self.rows.items():
            rows.merge(other.rows[index])

    def dumps(self) -> bytes:
        return pickle.dumps((self.core.dumps(), self.rows))

    def results(self) -> list[Any]:
        """The core's, with `Collected` for rows."""
        found = self.core.results()
        for index, rows in self.rows.items():
            found[index] = Collected(
                rows.sink, list(rows.pieces), rows.bytes, list(rows.files), set(rows.unequal)
            )
        return list(found)


def load(data: bytes, loads: Callable[[bytes], Any]) -> Any:
    """The partial that `dumps` of one wrote; `loads` is the core's."""
    core, rows = pickle.loads(data)
    made = _RowsPartial(loads(core), {})
    made.rows = rows
    return made


class CollectingWorkload(Forwarding["_RowsPartial"]):
    """A workload with rows around one whose partials are the core's."""

    def __init__(self, inner: Workload[Any], sinks: Mapping[int, Sink]) -> None:
        super().__init__(inner)
        self._sinks = sinks

    def bound(self, file: int) -> Collecting:
        """See Workload."""
        return Collecting(self.inner.bound(file), file, self._sinks)

    def finish(self, partial: _RowsPartial) -> _RowsPartial:
        """The partial, its files complete."""
        partial.close()
        return partial

    def discard(self, partial: _RowsPartial) -> None:
        """Removes its files."""
        partial.discard()


class Collecting:
    """The core's query of one file, with rows."""

    def __init__(self, bound: Any, file: int, sinks: Mapping[int, Sink]) -> None:
        self._bound = bound
        self._file = file
        self._sinks = sinks

    @property
    def columns(self) -> list[str]:
        """Those that the query reads."""
        columns: list[str] = self._bound.columns
        return columns

    def partial(self) -> _RowsPartial:
        """See Bound."""
        return _RowsPartial(self._bound.partial(), self._sinks, self._bound)

    def run(self, start: int, stop: int, partial: _RowsPartial, control: Any) -> int:
        """The core ends early where its rows have filled their room: they are moved, it goes on."""
        at = start
        partial.as_of(self._bound)
        while True:
            ended = self._bound.run(at, stop, partial.core, control)
            reached = stop if ended is None else int(ended)
            partial.take((self._file, at))
            if reached >= stop or reached == at or control.stopped:
                return reached
            at = reached
