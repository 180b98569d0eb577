"""Columns that were read from a dataset, in one chunk for each file, and what they become:
awkward, NumPy or Arrow arrays. Knows columns and awkward; knows no file and no dataset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from .columns import Table, column_of, joined

if TYPE_CHECKING:
    import awkward as ak
    import numpy as np
    import pyarrow as pa
    from awkward.contents import Content
    from numpy.typing import NDArray

    from .._core import Column

__all__ = ["ChunkedColumn", "ChunkedColumns", "Chunks", "ExpressionColumn", "RecordColumn"]

# A column as it is read from a dataset, in one chunk for each file. Knows no file, no dataset.

Chunks: TypeAlias = "Sequence[Column]"
"""Columns of one kind, one for each file."""


@dataclass(frozen=True)
class RecordColumn:
    """A column of records."""

    names: tuple[str, ...]
    members: tuple[Chunks | RecordColumn, ...]


@dataclass(frozen=True)
class ExpressionColumn:
    """A column that was computed for all files at once."""

    array: ak.Array


ChunkedColumn: TypeAlias = "Chunks | RecordColumn | ExpressionColumn"


# The awkward layouts of columns that were read in chunks.


def records_of(
    names: tuple[str, ...], columns: tuple[ChunkedColumn, ...], optional: frozenset[str]
) -> ak.Array:
    """An awkward array of records from columns; those whose names are in `optional` are options."""
    from .from_core import records  # heavy: awkward

    layouts = [
        layout_of(column, name in optional) for name, column in zip(names, columns, strict=True)
    ]
    return records(names, layouts, None if layouts else 0)


def layout_of(column: ChunkedColumn, optional: bool) -> Content:
    """The awkward layout of a column; it is an option if `optional`, or if values are missing."""
    from .from_core import layout, record  # heavy: awkward

    if isinstance(column, RecordColumn):
        return record(column.names, [layout_of(member, False) for member in column.members])
    if isinstance(column, ExpressionColumn):
        return column.array.layout
    return layout(joined(column), optional)


@dataclass(frozen=True)
class ChunkedColumns:
    """Columns of the same length."""

    names: tuple[str, ...]
    columns: tuple[ChunkedColumn, ...]
    optional: frozenset[str] = frozenset()
    """The names of columns that may have missing values."""

    def to_arrow(self) -> pa.Table:
        """The columns as an Arrow table."""
        from .arrow import table  # heavy: core

        return table({name: _chunked(column) for name, column in self._named()})

    def to_table(self) -> Table:
        """The columns in one piece each."""
        named = self._named()
        return Table({name: _column(each, name in self.optional) for name, each in named})

    def to_awkward(self) -> ak.Array:
        """An awkward array of records with uproot's layout."""

        return records_of(self.names, self.columns, self.optional)

    def to_numpy(self) -> dict[str, NDArray[np.generic]]:
        """NumPy arrays by name."""
        from .from_core import numpy_of  # heavy: awkward

        return {name: numpy_of(layout_of(each, False)) for name, each in self._named()}

    def _named(self) -> Iterator[tuple[str, ChunkedColumn]]:
        return zip(self.names, self.columns, strict=True)


def _column(column: ChunkedColumn, optional: bool) -> Column:
    if isinstance(column, (RecordColumn, ExpressionColumn)):
        return column_of(layout_of(column, optional))
    return joined(column)


def _chunked(column: ChunkedColumn) -> pa.ChunkedArray:
    from .arrow import chunked, record  # heavy: core

    if isinstance(column, RecordColumn):
        return record(column.names, [_chunked(member) for member in column.members])
    if isinstance(column, ExpressionColumn):
        return chunked([column_of(column.array)])
    return chunked(column)
