"""Columns of values, `core.Column`, as Python makes and looks at them: from arrays of NumPy,
awkward and Arrow, to NumPy's, of which kind they are, tables of them.

Everything that reads gives such columns; the core cuts, picks and joins them. Knows no file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._core import Column
from .bits import unpacked
from .kinds import Kind, Kinds, of_node

__all__ = [
    "Column",
    "Table",
    "column_of",
    "empty",
    "has_missing",
    "joined",
    "kind_of",
    "lengths",
    "made",
    "numbers",
    "picked",
    "values_of_node",
]


def kind_of(column: Any) -> Kind:
    """Of a core.Column."""
    return of_node(column.slice(0, 0).nodes())


def column_of(array: Any) -> Any:
    """A core.Column of one, or of an array of NumPy's, awkward's or Arrow's. Raises TypeError for
    what no column holds."""
    if type(array) is Column:
        return array
    if isinstance(array, np.ndarray):
        return made(_of_numpy(np.ascontiguousarray(array)))
    if hasattr(array, "__arrow_c_array__") or hasattr(array, "__arrow_c_stream__"):
        from .arrow import column_from  # heavy: core

        return column_from(array)
    from .from_core import node_of  # heavy: awkward

    return made(node_of(array))


def _of_numpy(array: Any) -> Any:
    return array if array.ndim == 1 else _regular(array)


def _regular(array: Any) -> Any:
    items = array.reshape(len(array) * array.shape[1], *array.shape[2:])
    return "regular", array.shape[1], len(array), _of_numpy(items)


def made(node: Any, name: str = "") -> Any:
    """A core.Column of a node, as core.Column.nodes gives them; its leaves may be NumPy's arrays,
    and an option may be "places", in its values (negative: missing), values."""
    return Column(name, _plain(node))


def _plain(node: Any) -> Any:
    """In the form that the core takes (crates/treemill-py, building.rs)."""
    if type(node) is not tuple:
        return _plain_numbers(np.asarray(node))
    word, *parts = node
    if word not in _PLAIN:
        raise TypeError(f"no column is made of a {word}")
    return _PLAIN[word](*parts)


def _plain_numbers(array: Any) -> Any:
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise TypeError(f"no column holds {array.dtype}")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    return "numbers", array.dtype.name, _bytes(array)


def _plain_record(names: Any, members: Sequence[Any], length: int) -> Any:
    names = names or [str(i) for i in range(len(members))]
    return "record", list(names), [_plain(member) for member in members], length


def _plain_option(bits: Any, values: Any, length: int) -> Any:
    if bits is None:
        return "option", None, _plain(values)
    return _plain_places(np.where(values_of_node(bits), np.arange(length), -1), values)


def _plain_places(places: Any, values: Any) -> Any:
    return "option", _bytes(places, np.int64), _plain(values)


_PLAIN: dict[str, Callable[..., Any]] = {
    "bits": lambda *bits: _plain_numbers(values_of_node(("bits", *bits))),
    "list": lambda ends, items: ("list", _bytes(ends, np.int64), _plain(items)),
    "string": lambda ends, letters: ("string", _bytes(ends, np.int64), _bytes(letters)),
    "regular": lambda size, length, items: ("regular", size, length, _plain(items)),
    "record": _plain_record,
    "option": _plain_option,
    "places": _plain_places,
    "nothing": lambda length: ("nothing", length),
}


def _bytes(array: Any, dtype: Any = None) -> Any:
    return np.ascontiguousarray(array, dtype).view(np.uint8)


def values_of_node(node: Any) -> Any:
    """The numbers of a node that has nothing else, as NumPy's; bools as such. Raises TypeError for
    other nodes."""
    if type(node) is not tuple:
        return np.asarray(node)
    if node[0] == "bits":
        return unpacked(np.asarray(node[1]), *node[2:])
    if node[0] == "option" and node[1] is None:
        return values_of_node(node[2])
    raise TypeError(f"these are no numbers but {of_node(node)}")


def numbers(column: Any) -> Any:
    """A column's numbers as NumPy's, on the same memory but for bools. Raises TypeError for columns
    of others, or where values are missing."""
    return values_of_node(column.nodes())


def lengths(column: Any) -> Any:
    """Of a column's lists."""
    node = column.nodes()
    while node[0] == "option":
        node = node[2]
    return np.diff(np.asarray(node[1]))


def picked(column: Any, places: Any) -> Any:
    """The values at these places, missing ones at negative ones."""
    return column.take(np.ascontiguousarray(places, np.int64))


def joined(columns: Sequence[Any]) -> Any:
    """Columns of one kind behind one another."""
    if len(columns) == 1:
        return columns[0]
    try:
        return Column.joined(list(columns))
    except TypeError:  # lists of one kind may have offsets of 32 or 64 bits
        return Column.joined([made(column.nodes(), column.name) for column in columns])


def empty(kind: Kind) -> Any:
    """The node of no values of this kind."""
    if kind.form == "number":
        node: Any = np.zeros(0, kind.dtype)
    else:
        node = _EMPTY[kind.form](kind, [empty(part) for part in kind.parts])
    return ("option", None, node, 0) if kind.optional and kind.form != "union" else node


_EMPTY: dict[str, Callable[[Kind, list[Any]], Any]] = {
    "list": lambda kind, parts: ("list", np.zeros(1, np.int64), *parts),
    "string": lambda kind, parts: ("string", np.zeros(1, np.int64), np.zeros(0, np.uint8)),
    "array": lambda kind, parts: ("regular", kind.size, 0, *parts),
    "record": lambda kind, parts: ("record", kind.names, parts, 0),
    "union": lambda kind, parts: ("union", np.zeros(0, np.int8), np.zeros(0, np.int64), parts),
    "nothing": lambda kind, parts: ("nothing", 0),
}


def has_missing(node: Any) -> bool:
    """Whether anything is missing in a node, or in lists and arrays of it."""
    if type(node) is not tuple:
        return False
    word, *parts = node
    if word == "option":
        return parts[0] is not None or has_missing(parts[1])
    if word == "nothing":
        return bool(parts[0])
    return word in ("list", "regular") and has_missing(parts[-1])


@dataclass(frozen=True)
class Table:
    """Columns of one length, by name."""

    columns: dict[str, Any]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def nbytes(self) -> int:
        """The bytes of its values."""
        return sum(column.nbytes for column in self.columns.values())

    @cached_property
    def kinds(self) -> Kinds:
        """Of its columns."""
        return {name: kind_of(column) for name, column in self.columns.items()}

    @staticmethod
    def joined(tables: Iterable[Table]) -> Table:
        """Tables of the same columns behind one another."""
        tables = list(tables)
        names = tables[0].columns
        return Table({name: joined([t.columns[name] for t in tables]) for name in names})
