"""Rows that bookings collect, in pieces. Each piece has its place in the dataset, so that the
result is in the order of entries, whatever the packets were. Rows of a snapshot go to files that
the worker writes, rows of arrays stay in memory.

Knows columns; knows no session and no format of files that users read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ..errors import QueryError
from .columns import Table, empty, made
from .kinds import Kinds
from .row_types import RowColumn, RowTypes, types_of
from .stored import Stored

if TYPE_CHECKING:
    from .._core import Column
    from .varied_rows import VariedRows

__all__ = ["CollectedRows", "Order", "Sink"]

Order = tuple[int, int]
"""The number of the file in the dataset, and of a piece's first entry in the file."""


@dataclass(frozen=True)
class Sink:
    """The destination of one booking's rows: a folder, or memory up to a number of bytes."""

    limit: int
    folder: str | None = None
    varied: VariedRows | None = None
    """How rows of variations are joined with them."""
    uncounted: frozenset[str] = frozenset()
    """Columns of lists that no column counts."""


@dataclass
class CollectedRows:
    """The rows of one booking so far."""

    sink: Sink
    pieces: list[tuple[Order, Table | Stored]] = field(default_factory=list)
    bytes: int = 0
    files: list[tuple[RowColumn, ...]] = field(default_factory=list)
    """The types of the columns in each file; files with equal types are there once."""
    unequal: set[tuple[str, str]] = field(default_factory=set)
    """See `writing.tables.unequal_counts` and `unequal_lists`. Only for rows in files."""

    @cached_property
    def types(self) -> RowTypes:
        """The types of all columns over all files."""
        return RowTypes(tuple(self.files))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return self.types.names

    @property
    def optional(self) -> frozenset[str]:
        """The columns that may have missing values."""
        return self.types.optional

    @property
    def kinds(self) -> Kinds:
        """The kind of each column. Raises UnsupportedError if no kind holds what all files
        have."""
        return self.types.kinds

    @property
    def groups(self) -> Mapping[str, int]:
        """A number for each column of lists. Columns with equal numbers have the same lists."""
        return self.types.groups

    @property
    def too_much(self) -> bool:
        """True if there were more rows than the limit allows; then they were dropped."""
        return self.sink.folder is None and self.bytes > self.sink.limit

    def describe(self, columns: Sequence[Column]) -> None:
        """Note the types of the columns in one file."""
        self.note(types_of(columns))

    def note(self, columns: tuple[RowColumn, ...]) -> None:
        """Note these types of the columns in one file."""
        if columns not in self.files:
            self.files.append(columns)

    def check(self) -> None:
        """Raise QueryError if there were more rows than the limit allows."""
        if self.too_much:
            raise QueryError(
                f"the values take more than {self.sink.limit / 2**30:.3g} GiB of memory: filter "
                "before, raise limit=, or write them with snapshot()"
            )

    def merge(self, other: CollectedRows) -> None:
        """Take over the other's pieces."""
        self.pieces += other.pieces
        self.bytes += other.bytes
        self.unequal |= other.unequal
        for columns in other.files:
            self.note(columns)
        if self.too_much:
            self.pieces = []

    def tables(self) -> Iterator[Table]:
        """Tables of `kinds`, in the order of entries. Raises UnsupportedError if a value does not
        fit."""
        for _, piece in sorted(self.pieces, key=lambda pair: pair[0]):
            for table in piece.tables() if isinstance(piece, Stored) else [piece]:
                yield self.types.uniform(table)

    def whole(self) -> Table:
        """Returns all rows as one table."""
        tables = list(self.tables())
        if tables:
            return Table.joined(tables)
        return Table({name: made(empty(kind), name) for name, kind in self.kinds.items()})
