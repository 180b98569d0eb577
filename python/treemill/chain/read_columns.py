"""Columns as they were read, file by file, and what they become: awkward, numpy or Arrow arrays.
Knows columns and awkward; knows no file and no dataset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Columns", "Parts", "Record"]

Parts = Sequence[Any]
"""A column: core.Columns of one kind, one for each file."""


@dataclass(frozen=True)
class Record:
    """A column of records."""

    names: tuple[str, ...]
    members: tuple[Parts | Record, ...]


@dataclass(frozen=True)
class Columns:
    """Columns of the same length."""

    names: tuple[str, ...]
    columns: tuple[Any, ...]
    """Each Parts, a Record, or an awkward array of what was computed."""
    optional: frozenset[str] = frozenset()
    """Names of those that may have missing values."""

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        from ..arrays.arrow import table  # heavy: core

        named = zip(self.names, self.columns, strict=True)
        return table({name: _chunked(column) for name, column in named})

    def to_table(self) -> Any:
        """A columns.Table."""
        from ..arrays.columns import Table  # heavy: numpy

        named = zip(self.names, self.columns, strict=True)
        return Table({name: _column(each, name in self.optional) for name, each in named})

    def to_awkward(self) -> Any:
        """An awkward array of records, laid out as uproot's `tree.arrays`."""
        from ..arrays.from_core import records  # heavy: awkward

        named = zip(self.names, self.columns, strict=True)
        layouts = [_layout(column, name in self.optional) for name, column in named]
        return records(self.names, layouts, len(layouts[0]) if layouts else 0)

    def to_numpy(self) -> dict[str, Any]:
        """numpy arrays by name."""
        from ..arrays.from_core import numpy_of  # heavy: awkward

        named = zip(self.names, self.columns, strict=True)
        return {name: numpy_of(_layout(column, False)) for name, column in named}


def _layout(column: Any, optional: bool) -> Any:
    """The awkward layout of a column; an option also where values are missing."""
    from ..arrays.columns import joined  # heavy: numpy
    from ..arrays.from_core import layout, record  # heavy: awkward

    if isinstance(column, Record):
        return record(column.names, [_layout(member, False) for member in column.members])
    if is_computed(column):
        return column.layout
    return layout(joined(column), optional)


def _column(column: Any, optional: bool) -> Any:
    from ..arrays.columns import column_of, joined  # heavy: numpy

    if isinstance(column, Record) or is_computed(column):
        return column_of(_layout(column, optional))
    return joined(column)


def _chunked(column: Any) -> Any:
    from ..arrays.arrow import chunked, record  # heavy: core

    if isinstance(column, Record):
        return record(column.names, [_chunked(member) for member in column.members])
    if is_computed(column):
        from ..arrays.columns import column_of  # heavy: numpy

        return chunked([column_of(column)])
    return chunked(column)


def is_computed(column: Any) -> bool:
    """Whether it is an awkward array."""
    return type(column).__module__.startswith("awkward.")
