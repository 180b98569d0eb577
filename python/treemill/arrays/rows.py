"""Values themselves, piece by piece, each with its place in the dataset, so that the result has the
order of entries whatever the packets were.

Knows columns; knows no session and no format of files that users read. Rows of a snapshot go to
files of the worker's own, those of arrays stay in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..errors import QueryError
from .columns import Table, empty, made
from .kinds import Kinds
from .row_types import RowColumn, RowTypes, types_of
from .stored import Stored

__all__ = ["Collected", "Order", "Sink"]

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
