"""Arrays in memory as columns of a dataset: one value, or one list, for each entry of the whole
chain.

Knows arrays and entry numbers; knows no tree, no friend and no query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..arrays.kinds import Kind
from ..arrays.user_arrays import awkward_array
from ..errors import QueryError, UnsupportedError
from ..tree.foreign import Field, Foreign

__all__ = ["ArrayColumns", "array_columns"]


class ArrayColumns:
    """Columns by name, all of one length. Immutable; goes to other processes as it is."""

    def __init__(self, columns: Mapping[str, Any], alias: str | None) -> None:
        """`columns`: core.Columns. `alias`: what their names begin with; None: nothing, and they
        stand for columns of the same names."""
        self.columns = dict(columns)
        self.alias = alias
        self.length = len(next(iter(self.columns.values())))

    def foreign(self, first: int, bare: frozenset[str]) -> Foreign:
        """For a file whose first entry has this number. `bare`: columns that may go without the
        alias."""
        names = {name: name for name in self.columns if self.alias is None or name in bare}
        if self.alias is not None:
            names |= {f"{self.alias}.{name}": name for name in self.columns}
        return _OfFile(self, first, names)


class _OfFile:
    """Implements foreign.Foreign."""

    def __init__(self, whole: ArrayColumns, first: int, names: Mapping[str, str]) -> None:
        self._whole = whole
        self._first = first
        self._names = dict(names)

    def schema(self) -> Sequence[Field]:
        """See Foreign."""
        made = []
        counters = _counters(self._whole.columns)
        for name, own in self._names.items():
            column, prefix = self._whole.columns[own], name[: len(name) - len(own)]
            counter = prefix + counters[own] if own in counters else None
            empty, nullable = column.slice(0, 0), column.null_count > 0
            made.append(Field(name, empty, nullable, counter, listed=False))
        return made

    def read(self, name: str, start: int, stop: int) -> Any:
        """See Foreign."""
        column = self._whole.columns[self._names[name]]
        return column.slice(self._first + start, stop - start)


def _counters(columns: Mapping[str, Any]) -> dict[str, str]:
    """Of lists whose names begin alike, up to `_`, and whose lengths are equal, the name of a
    counter that they share."""
    import numpy as np

    from ..arrays.columns import kind_of, lengths  # heavy: numpy

    found: dict[str, str] = {}
    leaders: dict[str, Any] = {}
    for name, column in columns.items():
        prefix, mark, _ = name.partition("_")
        if not (mark and prefix and kind_of(column).form == "list"):
            continue
        sizes = lengths(column)
        if np.array_equal(leaders.setdefault(prefix, sizes), sizes):
            found[name] = f"n{prefix}"
    return found


def array_columns(arrays: Mapping[str, Any], alias: str | None) -> ArrayColumns:
    """Columns of NumPy, awkward or Arrow arrays, or Python lists. Raises QueryError for names that
    are no identifiers and lengths that differ, UnsupportedError for what no column can hold."""
    if not arrays:
        raise QueryError("no arrays are given")
    columns: dict[str, Any] = {}
    for name, array in arrays.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise QueryError(f"a column's name is an identifier as Python's, not {name!r}")
        columns[name] = _column(name, array)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise QueryError(f"arrays that go together have one length, and these differ: {shown}")
    return ArrayColumns(columns, alias)


def _column(name: str, array: Any) -> Any:
    from ..arrays.columns import column_of, kind_of  # heavy: numpy

    is_arrow = hasattr(array, "__arrow_c_array__") or hasattr(array, "__arrow_c_stream__")
    try:
        column = column_of(array if is_arrow else awkward_array(name, array))
    except (TypeError, ValueError) as error:
        reason = str(error).strip().split("\n")[0]
        raise UnsupportedError(f"the array {name} is no column: {reason}") from None
    kind = kind_of(column)
    if not _fits(kind):
        raise UnsupportedError(
            f"the array {name} holds {kind}: a column holds numbers, bools, strings, or "
            "lists of these"
        )
    return column


def _fits(kind: Kind) -> bool:
    while kind.has_items:
        kind = kind.item
    return kind.form in ("number", "string") and kind.dtype != "float16"
