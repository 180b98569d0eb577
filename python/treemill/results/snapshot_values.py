"""What stands for missing values in files that have none: a value for each kind, or what the user
gives. Knows kinds and columns; knows no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..arrays.columns import Table, has_missing, joined, made, picked, values_of_node
from ..arrays.common_type import cast
from ..arrays.kinds import Kind, Kinds
from ..errors import QueryError, UnsupportedError
from ..query.snapshot_target import Fill
from ..tree.defaults import column

__all__ = ["Filled", "may_miss"]


def may_miss(kind: Kind) -> bool:
    """Whether a value of this kind, or an item of its lists, may be missing."""
    return kind.optional or (kind.has_items and may_miss(kind.item))


class Filled:
    """Columns with a value for each that is missing. `fill`: see `snapshot_format.Fill`;
    `always`: also without `fill`."""

    def __init__(self, kinds: Kinds, fill: Fill, *, always: bool) -> None:
        """Raises QueryError or UnsupportedError where a column may have missing values and none can
        stand for them."""
        self._values = {
            name: _value(name, kind, fill)
            for name, kind in kinds.items()
            if may_miss(kind) and (always or _given(name, fill) is not None)
        }
        self._always = always
        self._fill = fill
        self.kinds: Kinds = {
            name: _never(kind) if always or name in self._values else kind
            for name, kind in kinds.items()
        }
        """Of the columns as they are then."""
        if isinstance(fill, Mapping):
            unknown = next((name for name in fill if name not in kinds), None)
            if unknown is not None:
                raise QueryError(
                    f"fill= names {unknown}, which is not written", suggestions=list(kinds)
                )

    def table(self, table: Table) -> Table:
        """The same columns, filled."""
        pairs = zip(table.columns.values(), self.kinds.items(), strict=True)
        return Table({name: self._column(name, each, kind) for each, (name, kind) in pairs})

    def _column(self, name: str, column: Any, kind: Kind) -> Any:
        if not (self._always or name in self._values):
            return column
        node = column.nodes()
        if has_missing(node):
            if name not in self._values:  # one of another file: the first one's has none missing
                self._values[name] = _value(name, kind, self._fill)
            column = made(_filled(node, self._values[name]), name)
        return cast(column, kind)


def _never(kind: Kind) -> Kind:
    """The kind of which nothing is missing."""
    parts = (_never(kind.item),) if kind.has_items else kind.parts
    return replace(kind, parts=parts, optional=False)


def _given(name: str, fill: Fill) -> Any:
    return fill.get(name) if isinstance(fill, Mapping) else fill


def _value(name: str, kind: Kind, fill: Fill) -> Any:
    """A core.Column of the value alone."""
    while kind.has_items:
        kind = kind.item
    given = _given(name, fill)
    if given is None:
        given = _own(name, kind)
    try:
        return column(name, given, kind, 1)
    except QueryError:
        raise QueryError(
            f"{name} is of type {kind}, which {given!r} of fill= is no value of: give fill= a "
            f"mapping of columns to values, {{{name!r}: …}}",
            branch=name,
        ) from None


def _own(name: str, kind: Kind) -> Any:
    """The value that a kind has for what is missing: NaN, the lowest of signed integers, the
    highest of unsigned ones, the empty string."""
    if kind.is_float:
        return float("nan")
    if kind.is_signed:
        return -(1 << (kind.bits - 1))
    if kind.is_integer:
        return (1 << kind.bits) - 1
    if kind.dtype == "bool":
        raise UnsupportedError(
            f"{name} may be missing, for which a bool has no value: give "
            f"fill={{{name!r}: False}}, use fill_missing({name}, False), or write Parquet",
            branch=name,
        )
    return ""


def _filled(node: Any, value: Any) -> Any:
    """A node with the value in the place of what is missing."""
    if type(node) is not tuple:
        return node
    word, *parts = node
    if word in ("list", "regular"):
        return word, *parts[:-1], _filled(parts[-1], value)
    if word != "option":
        return node
    bits, values, length = parts
    values = _filled(values, value)
    if bits is None:
        return values
    import numpy as np

    places = np.where(values_of_node(bits), np.arange(length), length)
    return picked(joined([made(values), value]), places).nodes()
