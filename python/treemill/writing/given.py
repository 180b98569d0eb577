"""Columns as users have them, awkward and numpy arrays, as Arrow tables that a tree can hold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import QueryError
from .columns import is_list
from .tables import lengths

__all__ = ["lists_of", "table_of"]


def table_of(columns: Any) -> Any:
    """A pyarrow.Table of a mapping of names to arrays, or of an awkward array of records; records
    in it are columns name_field. Raises QueryError where a value is missing."""
    import pyarrow

    if not isinstance(columns, Mapping):
        columns = {name: columns[name] for name in columns.fields}
    arrays = {
        name: array for given, value in columns.items() for name, array in _arrays(given, value)
    }
    return pyarrow.table({name: _never_missing(name, array) for name, array in arrays.items()})


def lists_of(table: Any) -> dict[str, bytes]:
    """What tells the lists of a column from others: columns with the same have the same lists."""
    return {
        each.name: hashlib.blake2b(lengths(table.column(each.name)).tobytes()).digest()
        for each in table.schema
        if is_list(each.type)
    }


def _arrays(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    import awkward as ak
    import numpy as np

    if not isinstance(value, ak.Array):
        array = np.asarray(value)
        is_plain = array.dtype.kind in "biuf"
        value = ak.from_numpy(array, regulararray=True) if is_plain else ak.Array(value)
    if value.fields:
        for field in value.fields:
            yield from _arrays(f"{name}_{field}", value[field])
        return
    yield (
        name,
        ak.to_arrow(
            ak.to_packed(value),
            list_to32=False,
            string_to32=False,
            bytestring_to32=False,
            extensionarray=False,
        ),
    )


def _never_missing(name: str, array: Any) -> Any:
    import pyarrow

    if isinstance(array, pyarrow.ChunkedArray):
        array = array.combine_chunks()
    kind = _without_missing(array.type)
    if _has_missing(array):
        raise QueryError(f"{name} has missing values, which a tree cannot hold: use ak.fill_none")
    return array if array.type == kind else array.cast(kind)


def _has_missing(array: Any) -> bool:
    import pyarrow.types as types

    if types.is_null(array.type):
        return len(array) > 0
    if array.null_count:
        return True
    return hasattr(array.type, "value_type") and _has_missing(array.flatten())


def _without_missing(kind: Any) -> Any:
    import pyarrow
    import pyarrow.types as types

    if not hasattr(kind, "value_type"):
        return kind
    inner = _without_missing(kind.value_type)
    item = pyarrow.field("item", inner, nullable=types.is_null(inner))
    if types.is_fixed_size_list(kind):
        return pyarrow.list_(item, kind.list_size)
    return pyarrow.large_list(item)
