"""Columns as users have them, awkward and numpy arrays, as tables that a tree can hold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..columns import Table, column_of, has_missing, kind_of, lengths
from ..errors import QueryError, UnsupportedError
from ..kinds import Kind
from ..schemas import cast

__all__ = ["lists_of", "table_of"]


def table_of(columns: Any) -> Table:
    """A table of a mapping of names to arrays, or of an awkward array of records; records in it are
    columns name_field. Raises QueryError where a value is missing."""
    if not isinstance(columns, Mapping):
        columns = {name: columns[name] for name in columns.fields}
    return Table(
        {
            name: _never_missing(name, array)
            for given, value in columns.items()
            for name, array in _arrays(given, value)
        }
    )


def lists_of(table: Table) -> dict[str, bytes]:
    """What tells the lists of a column from others: columns with the same have the same lists."""
    return {
        name: hashlib.blake2b(lengths(table.columns[name]).tobytes()).digest()
        for name, kind in table.kinds.items()
        if kind.form == "list"
    }


def _arrays(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    import awkward as ak
    import numpy as np

    if not isinstance(value, ak.Array):
        array = np.asarray(value)
        is_plain = array.dtype.kind in "biuf"
        value = array if is_plain else ak.Array(value)
    if isinstance(value, ak.Array) and value.fields:
        for field in value.fields:
            yield from _arrays(f"{name}_{field}", value[field])
        return
    yield name, value


def _never_missing(name: str, array: Any) -> Any:
    try:
        column = column_of(array)
    except TypeError as error:
        raise UnsupportedError(f"{name} is no column: {error}", branch=name) from None
    if has_missing(column.nodes()):
        raise QueryError(f"{name} has missing values, which a tree cannot hold: use ak.fill_none")
    return cast(column, _without_missing(kind_of(column)))


def _without_missing(kind: Kind) -> Kind:
    parts = (_without_missing(kind.item),) if kind.has_items else kind.parts
    return replace(kind, parts=parts, optional=False)
