"""Columns as users have them, awkward and numpy arrays, as tables that a tree can hold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from ..arrays.columns import Table, column_of, has_missing, kind_of, lengths
from ..arrays.common_type import cast
from ..arrays.kinds import Kind
from ..arrays.user_arrays import awkward_array
from ..errors import QueryError, UnsupportedError

__all__ = ["lists_of", "table_of"]


def table_of(columns: Any) -> Table:
    """A table of a mapping of names to arrays, or of an awkward array of records, a
    structured NumPy array, a DataFrame or an Arrow table; records in it are columns name_field.
    Raises QueryError where a value is missing, and for names and lengths that do not fit."""
    made: dict[str, Any] = {}
    for given, value in _named(columns):
        for name, array in _arrays(given, value):
            if name in made:
                raise QueryError(f"two columns would be called {name}: give one another name")
            made[name] = _never_missing(name, array)
    sizes = {name: len(array) for name, array in made.items()}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{name} {length}" for name, length in sizes.items())
        raise QueryError(f"columns of a tree have one length, and these differ: {shown}")
    return Table(made)


def _named(columns: Any) -> Iterator[tuple[str, Any]]:
    names = _names(columns)
    if names is None:
        raise QueryError(
            "columns are a mapping of names to arrays, or an awkward array of records, and not "
            f"{type(columns).__name__}"
        )
    for name in names:
        if not isinstance(name, str) or not name:
            raise QueryError(f"a column's name is a text, not {name!r}")
        yield name, columns[name]


def _names(columns: Any) -> Iterable[Any] | None:
    """Of a mapping's, a DataFrame's, a table's columns, or of an array's fields."""
    kind = type(columns)  # an array's own attributes may be its fields
    if hasattr(kind, "keys"):
        return list(columns.keys())
    if hasattr(kind, "column_names"):
        return list(columns.column_names)
    if hasattr(kind, "fields"):
        return columns.fields or None
    return getattr(getattr(columns, "dtype", None), "names", None)


def lists_of(table: Table) -> dict[str, bytes]:
    """What tells the lists of a column from others: columns with the same have the same lists."""
    return {
        name: hashlib.blake2b(lengths(table.columns[name]).tobytes()).digest()
        for name, kind in table.kinds.items()
        if kind.form == "list"
    }


def _arrays(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__"):
        yield name, value
        return
    value = awkward_array(name, value)
    if value.fields:
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
