"""Columns that were read from a dataset, in one chunk for each file, and what they become:
awkward, NumPy or Arrow arrays. Knows columns and awkward; knows no file and no dataset.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .chunked_column import ChunkedColumn, ExpressionColumn, RecordColumn
from .columns import Table, column_of, joined

if TYPE_CHECKING:
    import awkward as ak
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from .._core import Column

__all__ = ["ChunkedColumns"]


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
        from .awkward_layouts import records_of  # heavy: awkward

        return records_of(self.names, self.columns, self.optional)

    def to_numpy(self) -> dict[str, NDArray[np.generic]]:
        """NumPy arrays by name."""
        from .awkward_layouts import layout_of  # heavy: awkward
        from .from_core import numpy_of  # heavy: awkward

        return {name: numpy_of(layout_of(each, False)) for name, each in self._named()}

    def _named(self) -> Iterator[tuple[str, ChunkedColumn]]:
        return zip(self.names, self.columns, strict=True)


def _column(column: ChunkedColumn, optional: bool) -> Column:
    if isinstance(column, (RecordColumn, ExpressionColumn)):
        from .awkward_layouts import layout_of  # heavy: awkward

        return column_of(layout_of(column, optional))
    return joined(column)


def _chunked(column: ChunkedColumn) -> pa.ChunkedArray:
    from .arrow import chunked, record  # heavy: core

    if isinstance(column, RecordColumn):
        return record(column.names, [_chunked(member) for member in column.members])
    if isinstance(column, ExpressionColumn):
        return chunked([column_of(column.array)])
    return chunked(column)
