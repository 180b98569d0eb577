"""Columns of values, `core.Column`: how Python makes them from arrays of NumPy, awkward and Arrow,
turns them into NumPy's, and asks for their kinds; and tables of them.

Everything that reads gives such columns; the core slices, takes and joins them. Knows no file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from .._core import Column
from .arrow import unpacked
from .kinds import Kind, Kinds, of_node

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .column_source import BitsNode, Leaf, Node

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


def kind_of(column: Column) -> Kind:
    """The kind of a column's values."""
    return of_node(column.slice(0, 0).nodes())


def column_of(array: object) -> Column:
    """A column of an array of NumPy, awkward or Arrow; a column stays as it is. Raises TypeError
    for values that no column holds."""
    if isinstance(array, Column):
        return array
    if isinstance(array, np.ndarray):
        return made(_of_numpy(np.ascontiguousarray(array)))
    if hasattr(array, "__arrow_c_array__") or hasattr(array, "__arrow_c_stream__"):
        from .arrow import column_from  # heavy: core

        return column_from(array)
    from .from_core import node_of  # heavy: awkward

    return made(node_of(array))


def _of_numpy(array: NDArray[np.generic]) -> Node:
    return array if array.ndim == 1 else _regular(array)


def _regular(array: NDArray[np.generic]) -> Node:
    items = array.reshape(len(array) * array.shape[1], *array.shape[2:])
    return "regular", array.shape[1], len(array), _of_numpy(items)


def made(node: Node, name: str = "") -> Column:
    """A column of a node. Its leaves may be arrays of NumPy."""
    return Column(name, _plain(node))


# A node in the form that the core takes: numbers and offsets are bytes (crates/treemill-py,
# building.rs).


def _plain(node: Node) -> object:
    if not isinstance(node, tuple):
        return _plain_numbers(np.asarray(node))
    word, *parts = node
    if word not in _PLAIN:
        raise TypeError(f"no column is made of a {word}")
    return _PLAIN[word](*parts)


def _plain_numbers(array: NDArray[np.generic]) -> object:
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise TypeError(f"no column holds {array.dtype}")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    return "numbers", array.dtype.name, _bytes(array)


def _plain_record(names: Sequence[str] | None, members: Sequence[Node], length: int) -> object:
    names = names or [str(i) for i in range(len(members))]
    return "record", list(names), [_plain(member) for member in members], length


def _plain_option(bits: BitsNode | None, values: Node, length: int) -> object:
    if bits is None:
        return "option", None, _plain(values)
    return _plain_places(np.where(values_of_node(bits), np.arange(length), -1), values)


def _plain_places(places: Leaf, values: Node) -> object:
    return "option", _integers(places), _plain(values)


_PLAIN: dict[str, Callable[..., object]] = {
    "bits": lambda *bits: _plain_numbers(_bools(*bits)),
    "list": lambda ends, items: ("list", _integers(ends), _plain(items)),
    "string": lambda ends, letters: ("string", _integers(ends), _bytes(np.asarray(letters))),
    "regular": lambda size, length, items: ("regular", size, length, _plain(items)),
    "record": _plain_record,
    "option": _plain_option,
    "places": _plain_places,
    "nothing": lambda length: ("nothing", length),
}


def _integers(leaf: Leaf) -> NDArray[np.uint8]:
    return _bytes(np.asarray(leaf, np.int64))


def _bytes(array: NDArray[np.generic]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).view(np.uint8)


def values_of_node(node: Node) -> NDArray[np.generic]:
    """The numbers or bools of a node that holds nothing else, as a NumPy array. Raises TypeError
    for other nodes."""
    if not isinstance(node, tuple):
        return np.asarray(node)
    if node[0] == "bits":
        return _bools(*node[1:])
    if node[0] == "option" and node[1] is None:
        return values_of_node(node[2])
    raise TypeError(f"these are no numbers but {of_node(node)}")


def _bools(packed: Leaf, first: int, length: int) -> NDArray[np.bool_]:
    return unpacked(np.asarray(packed), first, length)


def numbers(column: Column) -> NDArray[np.generic]:
    """A column's numbers as a NumPy array, on the same memory; bools are copied. Raises TypeError
    if the column holds other values, or if values are missing."""
    return values_of_node(column.nodes())


def lengths(column: Column) -> NDArray[np.int64]:
    """The lengths of a column's lists. Raises TypeError if it holds other values."""
    node = column.nodes()
    while isinstance(node, tuple) and node[0] == "option":
        node = node[2]
    if not isinstance(node, tuple) or node[0] not in ("list", "string"):
        raise TypeError(f"these are no lists but {of_node(node)}")
    return np.diff(np.asarray(node[1]))


def picked(column: Column, places: NDArray[np.integer]) -> Column:
    """The values at these places; a negative place gives a missing value."""
    return column.take(np.ascontiguousarray(places, np.int64))


def joined(columns: Sequence[Column]) -> Column:
    """Columns of one kind, one after another, as one column."""
    if len(columns) == 1:
        return columns[0]
    try:
        return Column.joined(list(columns))
    except TypeError:  # lists of one kind may have offsets of 32 or 64 bits
        return Column.joined([made(column.nodes(), column.name) for column in columns])


def empty(kind: Kind) -> Node:
    """The node of no values of this kind."""
    if kind.form == "number":
        node: Node = np.zeros(0, kind.dtype)
    else:
        node = _EMPTY[kind.form](kind, [empty(part) for part in kind.parts])
    return ("option", None, node, 0) if kind.optional and kind.form != "union" else node


_EMPTY: dict[str, Callable[[Kind, list[Node]], Node]] = {
    "list": lambda kind, parts: ("list", np.zeros(1, np.int64), parts[0]),
    "string": lambda kind, parts: ("string", np.zeros(1, np.int64), np.zeros(0, np.uint8)),
    "array": lambda kind, parts: ("regular", kind.size, 0, parts[0]),
    "record": lambda kind, parts: ("record", kind.names, parts, 0),
    "union": lambda kind, parts: ("union", np.zeros(0, np.int8), np.zeros(0, np.int64), parts),
    "nothing": lambda kind, parts: ("nothing", 0),
}


def has_missing(node: Node) -> bool:
    """True if anything is missing in a node, or in lists and arrays of it."""
    if not isinstance(node, tuple):
        return False
    if node[0] == "option":
        return node[1] is not None or has_missing(node[2])
    if node[0] == "nothing":
        return bool(node[1])
    if node[0] == "list":
        return has_missing(node[2])
    return node[0] == "regular" and has_missing(node[3])


@dataclass(frozen=True)
class Table:
    """Columns of one length, by name."""

    columns: dict[str, Column]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def nbytes(self) -> int:
        """The bytes of all values."""
        return sum(column.nbytes for column in self.columns.values())

    @cached_property
    def kinds(self) -> Kinds:
        """The kind of each column."""
        return {name: kind_of(column) for name, column in self.columns.items()}

    def slices(self, size: int) -> Iterator[Table]:
        """The table in slices of about `size` bytes or twice that, on the same memory; at least
        one. A slice has at least one row."""
        rows = len(self)
        count = max(min(self.nbytes // size, rows), 1)
        ends = [rows * i // count for i in range(count + 1)]
        for start, stop in pairwise(ends):
            columns = self.columns.items()
            yield Table({name: each.slice(start, stop - start) for name, each in columns})

    @staticmethod
    def joined(tables: Iterable[Table]) -> Table:
        """Tables with the same columns, one after another, as one table."""
        tables = list(tables)
        names = tables[0].columns
        return Table({name: joined([t.columns[name] for t in tables]) for name in names})
