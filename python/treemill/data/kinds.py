"""The kinds of values that columns hold: numbers, strings, lists, arrays and records of these.

Pure: knows no column, no library of arrays and no file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..frozen import frozen, replaced

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .._core import Values
    from .column_source import Node

__all__ = ["NOTHING", "STRING", "Kind", "Kinds", "in_words", "number", "of_node"]


@frozen
class Kind:
    """The kind of a column's values, or of the items and members in them."""

    form: str
    """number, string, list (of any lengths), array (of one length), record, union; nothing if there
    has been no value to tell."""
    dtype: str = ""
    """NumPy's name of the numbers' type."""
    parts: tuple[Kind, ...] = ()
    """The kinds of a list's or array's items, of a record's members, of a union's alternatives."""
    names: tuple[str, ...] = ()
    """The names of a record's members; those of a tuple are numbers."""
    size: int = 0
    """The length of arrays."""
    optional: bool = False
    """Whether values may be missing."""

    @property
    def item(self) -> Kind:
        """The kind of a list's or array's items."""
        return self.parts[0]

    @property
    def has_items(self) -> bool:
        """True if these are lists or arrays."""
        return self.form in ("list", "array")

    @property
    def is_float(self) -> bool:
        """True if these are floating-point numbers."""
        return self.dtype.startswith("float")

    @property
    def is_integer(self) -> bool:
        """True if these are integers."""
        return "int" in self.dtype

    @property
    def is_signed(self) -> bool:
        """True if these are integers with a sign."""
        return self.dtype.startswith("int")

    @property
    def bits(self) -> int:
        """The size of a number that is not a bool."""
        return int(self.dtype.lstrip("uintfloa"))

    def given(self, optional: bool = False) -> Kind:
        """Returns this kind with or without missing values."""
        return self if self.optional == optional else replaced(self, optional=optional)

    def of(self, *parts: Kind) -> Kind:
        """Returns this kind with other parts."""
        return replaced(self, parts=parts)

    def __str__(self) -> str:
        if self.has_items:
            return in_words(self.form, str(self.item), self.size)
        if self.form == "record":
            pairs = zip(self.names, self.parts, strict=True)
            return f"record[{', '.join(f'{name}: {part}' for name, part in pairs)}]"
        return self.dtype or self.form


Kinds = Mapping[str, Kind]
"""The kinds of a table's columns by name, in their order."""

STRING = Kind("string")
NOTHING = Kind("nothing")


def number(dtype: str) -> Kind:
    """The kind of numbers of a type, by NumPy's name."""
    return Kind("number", dtype)


def in_words(kind: str, item: str | None, length: int | None) -> str:
    """Write a kind as `float32`, `list[float32]`, `float32[3]`, `string` …"""
    item = item or "?"
    forms = {"number": item, "list": f"list[{item}]", "array": f"{item}[{length}]"}
    return forms.get(kind, kind)


def of_node(node: Node) -> Kind:
    """The kind of a node's values."""
    if not isinstance(node, tuple):
        return _of_leaf(node)
    word, *parts = node
    return _OF_NODES[word](*parts)


def _of_leaf(leaf: Values | NDArray[np.generic]) -> Kind:
    return number(_TYPES[leaf.__array_interface__["typestr"].lstrip("=<|")])


def _record(names: Sequence[str] | None, members: Sequence[Node], length: int) -> Kind:
    named = names or [str(number) for number in range(len(members))]
    return Kind("record", parts=tuple(map(of_node, members)), names=tuple(named))


_OF_NODES: dict[str, Callable[..., Kind]] = {
    "bits": lambda *bits: number("bool"),
    "list": lambda ends, items: Kind("list", parts=(of_node(items),)),
    "string": lambda ends, letters: STRING,
    "regular": lambda size, length, items: Kind("array", parts=(of_node(items),), size=size),
    "record": _record,
    "option": lambda there, values, length: of_node(values).given(True),
    "union": lambda tags, places, parts: Kind("union", parts=tuple(map(of_node, parts))),
    "nothing": lambda length: NOTHING,
}
_TYPES = {"b1": "bool", "f2": "float16", "f4": "float32", "f8": "float64"}
_TYPES |= {f"i{size}": f"int{8 * size}" for size in (1, 2, 4, 8)}
_TYPES |= {f"u{size}": f"uint{8 * size}" for size in (1, 2, 4, 8)}
