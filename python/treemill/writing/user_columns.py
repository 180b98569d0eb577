"""Columns that users give, as awkward and NumPy arrays, made into tables that a tree can hold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..data.columns import Table, column_of, has_missing, kind_of, lengths
from ..data.common_type import cast
from ..data.kinds import Kind
from ..data.user_arrays import awkward_array
from ..errors import QueryError, UnsupportedError
from ..frozen import replaced

if TYPE_CHECKING:
    from .._core import Column

__all__ = ["lists_of", "table_of"]


def table_of(columns: object) -> Table:
    """A table of a mapping of names to arrays, or of an awkward array of records, a structured
    NumPy array, a DataFrame or an Arrow table. Records become columns name_field. Raises QueryError
    if a value is missing, a name is no text or used twice, or lengths differ."""
    table: dict[str, Column] = {}
    for name_of_user, value in _named(columns):
        for name, array in _arrays(name_of_user, value):
            if name in table:
                raise QueryError(f"two columns would be called {name}: give one another name")
            table[name] = _never_missing(name, array)
    sizes = {name: len(array) for name, array in table.items()}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{name} {length}" for name, length in sizes.items())
        raise QueryError(f"columns of a tree have one length, and these differ: {shown}")
    return Table(table)


def _named(columns: object) -> Iterator[tuple[str, object]]:
    names = _names(columns)
    if names is None or not hasattr(columns, "__getitem__"):
        raise QueryError(
            "columns are a mapping of names to arrays, or an awkward array of records, and not "
            f"{type(columns).__name__}"
        )
    for name in names:
        if not isinstance(name, str) or not name:
            raise QueryError(f"a column's name is a text, not {name!r}")
        yield name, columns[name]


def _names(columns: object) -> Iterable[object] | None:
    """The names of the columns of a mapping, a DataFrame or a table, or of the fields of an array;
    None for other objects, which have none."""
    kind = type(columns)  # the attributes of an awkward array may be its fields
    if hasattr(kind, "keys") and hasattr(columns, "keys"):
        return list(columns.keys())
    if hasattr(kind, "column_names") and hasattr(columns, "column_names"):
        return list(columns.column_names)
    if hasattr(kind, "fields") and hasattr(columns, "fields"):
        return list(columns.fields) or None
    names: tuple[str, ...] | None = getattr(getattr(columns, "dtype", None), "names", None)
    return names


def lists_of(table: Table) -> dict[str, bytes]:
    """A digest of the lengths of each column's lists. Columns with equal digests have lists of the
    same lengths."""
    return {
        name: hashlib.blake2b(lengths(table.columns[name]).tobytes()).digest()
        for name, kind in table.kinds.items()
        if kind.form == "list"
    }


def _arrays(name: str, value: object) -> Iterator[tuple[str, object]]:
    if hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__"):
        yield name, value
        return
    array = awkward_array(name, value)
    for field in array.fields:
        yield from _arrays(f"{name}_{field}", array[field])
    if not array.fields:
        yield name, array


def _never_missing(name: str, array: object) -> Column:
    try:
        column = column_of(array)
    except TypeError as error:
        raise UnsupportedError(f"{name} is no column: {error}", branch=name) from None
    if has_missing(column.nodes()):
        raise QueryError(f"{name} has missing values, which a tree cannot hold: use ak.fill_none")
    return cast(column, _without_missing(kind_of(column)))


def _without_missing(kind: Kind) -> Kind:
    parts = (_without_missing(kind.item),) if kind.has_items else kind.parts
    return replaced(kind, parts=parts, optional=False)
