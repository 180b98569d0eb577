"""Columns as they are read from a dataset, in one chunk for each file, and what they become:
awkward, NumPy or Arrow arrays. Knows columns and awkward; knows no file and no dataset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import awkward as ak
    import numpy as np
    import pyarrow as pa
    from awkward.contents import Content
    from numpy.typing import NDArray

    from .._core import Column
    from ..arrays.columns import Table

__all__ = ["ChunkedColumn", "ChunkedColumns", "Chunks", "ExpressionColumn", "RecordColumn"]

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


@dataclass(frozen=True)
class ChunkedColumns:
    """Columns of the same length."""

    names: tuple[str, ...]
    columns: tuple[ChunkedColumn, ...]
    optional: frozenset[str] = frozenset()
    """The names of columns that may have missing values."""

    def to_arrow(self) -> pa.Table:
        """The columns as an Arrow table."""
        from ..arrays.arrow import table  # heavy: core

        return table({name: _chunked(column) for name, column in self._named()})

    def to_table(self) -> Table:
        """The columns in one piece each."""
        from ..arrays.columns import Table  # heavy: numpy

        named = self._named()
        return Table({name: _column(each, name in self.optional) for name, each in named})

    def to_awkward(self) -> ak.Array:
        """An awkward array of records with uproot's layout."""
        from ..arrays.from_core import records  # heavy: awkward

        named = self._named()
        layouts = [_layout(column, name in self.optional) for name, column in named]
        return records(self.names, layouts, len(layouts[0]) if layouts else 0)

    def to_numpy(self) -> dict[str, NDArray[np.generic]]:
        """NumPy arrays by name."""
        from ..arrays.from_core import numpy_of  # heavy: awkward

        return {name: numpy_of(_layout(each, False)) for name, each in self._named()}

    def _named(self) -> Iterator[tuple[str, ChunkedColumn]]:
        return zip(self.names, self.columns, strict=True)


def _layout(column: ChunkedColumn, optional: bool) -> Content:
    """The awkward layout of a column; it is an option if `optional`, or if values are missing."""
    from ..arrays.columns import joined  # heavy: numpy
    from ..arrays.from_core import layout, record  # heavy: awkward

    if isinstance(column, RecordColumn):
        return record(column.names, [_layout(member, False) for member in column.members])
    if isinstance(column, ExpressionColumn):
        return column.array.layout
    return layout(joined(column), optional)


def _column(column: ChunkedColumn, optional: bool) -> Column:
    from ..arrays.columns import column_of, joined  # heavy: numpy

    if isinstance(column, (RecordColumn, ExpressionColumn)):
        return column_of(_layout(column, optional))
    return joined(column)


def _chunked(column: ChunkedColumn) -> pa.ChunkedArray:
    from ..arrays.arrow import chunked, record  # heavy: core

    if isinstance(column, RecordColumn):
        return record(column.names, [_chunked(member) for member in column.members])
    if isinstance(column, ExpressionColumn):
        from ..arrays.columns import column_of  # heavy: numpy

        return chunked([column_of(column.array)])
    return chunked(column)
