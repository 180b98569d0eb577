"""Arrays in memory as columns of a dataset: one value, or one list, for each entry of the whole
chain.

Knows arrays and entry numbers; knows no tree, no friend and no query.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ..errors import QueryError, UnsupportedError
from .foreign import Field, Foreign
from .kinds import Kind

if TYPE_CHECKING:
    import awkward as ak
    import numpy as np
    from numpy.typing import NDArray

    from .._core import Column

    class SupportsArray(Protocol):
        """An array of NumPy, awkward, Arrow or pandas."""

        def __array__(self) -> NDArray[np.generic]: ...

    InMemory: TypeAlias = Sequence[float | None] | Sequence[Sequence[float | None]] | SupportsArray
    """What users give as a column."""

__all__ = ["ArrayColumns", "array_columns", "awkward_array"]

# Columns that users give, as NumPy arrays of any kind or as lists, turned into awkward arrays.
# Knows no tree and no file.

_NUMBERS = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8)}
"""The sizes that columns have of NumPy's kinds of numbers."""
_TEXTS = "USM"


def awkward_array(name: str, value: object) -> ak.Array:
    """The values of a column. Big-endian numbers become native ones, masked values missing ones,
    structured arrays records; object arrays and lists become arrays of their items. Raises
    QueryError if the value is no array, UnsupportedError if no column holds its items."""
    import awkward as ak
    import numpy as np

    if isinstance(value, ak.Array):
        return value
    if not isinstance(value, np.ndarray) and hasattr(value, "__array__"):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.ndim:
        return _of_records(name, value) if value.dtype.names else _of_numpy(name, value)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return _of_items(name, value)
    raise QueryError(
        f"{name} is no array: a NumPy, awkward or Arrow array, or a list, and not "
        f"{type(value).__name__}"
    )


def _of_records(name: str, array: NDArray[np.void]) -> ak.Array:
    import awkward as ak

    fields = array.dtype.names or ()
    members = {each: awkward_array(f"{name}.{each}", array[each]) for each in fields}
    return ak.zip(members, depth_limit=1)


def _of_numpy(name: str, array: NDArray[np.generic]) -> ak.Array:
    import awkward as ak
    import numpy as np

    kind = array.dtype
    if kind.kind == "O":
        return _of_items(name, array.tolist())
    if kind.kind not in _TEXTS and kind.itemsize not in _NUMBERS.get(kind.kind, ()):
        raise UnsupportedError(f"the array {name} holds {kind}, which no column can hold")
    native = array.astype(kind.newbyteorder("="), order="C", copy=False)
    return ak.from_numpy(np.asanyarray(native), regulararray=True)


def _of_items(name: str, items: Iterable[object]) -> ak.Array:
    import awkward as ak
    import numpy as np

    items = list(items)
    arrays = [each for each in items if isinstance(each, np.ndarray) and each.ndim]
    if items and len(arrays) == len(items):
        lengths = [len(each) for each in arrays]
        return ak.unflatten(awkward_array(name, np.concatenate(arrays)), lengths)
    try:
        return ak.Array(items)
    except (TypeError, ValueError) as error:
        reason = str(error).strip().split("\n")[0]
        raise UnsupportedError(f"the array {name} cannot be a column: {reason}") from None


class ArrayColumns:
    """Columns by name, all of one length. Immutable; its pickle has the values."""

    def __init__(self, columns: Mapping[str, Column], alias: str | None) -> None:
        """`alias`: what the names begin with, as a friend's. None: they have no such beginning, and
        hide columns of the same names."""
        self.columns = dict(columns)
        self.alias = alias
        self.length = len(next(iter(self.columns.values())))

    def __reduce__(self) -> tuple[object, ...]:
        return ArrayColumns, (self.columns, self.alias)

    @cached_property
    def counters(self) -> dict[str, str]:
        """The columns that count the items of columns of lists."""
        return _counters(self.columns)

    def foreign(self, first: int, bare: frozenset[str]) -> Foreign:
        """The columns for a file whose first entry has this number in the chain. `bare`: columns
        whose names may be used without the alias too."""
        names = {name: name for name in self.columns if self.alias is None or name in bare}
        if self.alias is not None:
            names |= {f"{self.alias}.{name}": name for name in self.columns}
        return _OfFile(self, first, names)


class _OfFile:
    """The part of the arrays that belongs to one file. Implements Foreign."""

    def __init__(self, whole: ArrayColumns, first: int, names: Mapping[str, str]) -> None:
        self._whole = whole
        self._first = first
        self._names = dict(names)

    def schema(self) -> Sequence[Field]:
        """See Foreign."""
        fields, counters = [], self._whole.counters
        for name, own in self._names.items():
            column, prefix = self._whole.columns[own], name[: len(name) - len(own)]
            counter = prefix + counters[own] if own in counters else None
            empty, nullable = column.slice(0, 0), column.null_count > 0
            fields.append(Field(name, empty, nullable, counter, listed=False))
        return fields

    def read(self, name: str, start: int, stop: int) -> Column:
        """See Foreign."""
        column = self._whole.columns[self._names[name]]
        return column.slice(self._first + start, stop - start)


def _counters(columns: Mapping[str, Column]) -> dict[str, str]:
    """The counters of columns of lists. Columns share one if their names are alike up to `_` and
    their lists have the same lengths."""
    import numpy as np

    from .columns import kind_of, lengths  # heavy: numpy

    counters: dict[str, str] = {}
    leaders: dict[str, NDArray[np.int64]] = {}
    for name, column in columns.items():
        prefix, mark, _ = name.partition("_")
        if not (mark and prefix and kind_of(column).form == "list"):
            continue
        sizes = lengths(column)
        if np.array_equal(leaders.setdefault(prefix, sizes), sizes):
            counters[name] = f"n{prefix}"
    return counters


def array_columns(arrays: Mapping[str, object], alias: str | None) -> ArrayColumns:
    """Columns of NumPy, awkward or Arrow arrays, or Python lists. Raises QueryError if a name is no
    identifier or lengths differ, UnsupportedError if no column can hold the values."""
    if not arrays:
        raise QueryError("no arrays are given")
    columns: dict[str, Column] = {}
    for name, array in arrays.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise QueryError(
                f"{name!r} is not a name for a column of an array: write letters, digits and _"
            )
        columns[name] = _column(name, array)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise QueryError(f"arrays that go together have one length, and these differ: {shown}")
    return ArrayColumns(columns, alias)


def _column(name: str, array: object) -> Column:
    from .columns import column_of, kind_of  # heavy: numpy

    is_arrow = hasattr(array, "__arrow_c_array__") or hasattr(array, "__arrow_c_stream__")
    try:
        column = column_of(array if is_arrow else awkward_array(name, array))
    except (TypeError, ValueError) as error:
        reason = str(error).strip().split("\n")[0]
        raise UnsupportedError(f"the array {name} cannot be a column: {reason}") from None
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
