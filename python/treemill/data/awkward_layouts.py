"""The awkward layouts of columns that were read in chunks. Importing it imports awkward."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .chunked_column import ChunkedColumn, ExpressionColumn, RecordColumn
from .columns import joined
from .from_core import layout, record, records

if TYPE_CHECKING:
    import awkward as ak
    from awkward.contents import Content

__all__ = ["layout_of", "records_of"]


def records_of(
    names: tuple[str, ...], columns: tuple[ChunkedColumn, ...], optional: frozenset[str]
) -> ak.Array:
    """An awkward array of records from columns; those whose names are in `optional` are options."""
    layouts = [
        layout_of(column, name in optional) for name, column in zip(names, columns, strict=True)
    ]
    return records(names, layouts, None if layouts else 0)


def layout_of(column: ChunkedColumn, optional: bool) -> Content:
    """The awkward layout of a column; it is an option if `optional`, or if values are missing."""
    if isinstance(column, RecordColumn):
        return record(column.names, [layout_of(member, False) for member in column.members])
    if isinstance(column, ExpressionColumn):
        return column.array.layout
    return layout(joined(column), optional)
