"""Writes rows to the files that users read, in order, with a value for missing ones. A file appears
under its name when it is complete.

Knows pieces of rows as tables; knows no worker and no session.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from ..data.columns import Table, has_missing, joined, made, picked, values_of_node
from ..data.common_type import cast
from ..data.defaults import column
from ..data.kinds import Kind, Kinds
from ..data.rows import CollectedRows
from ..errors import QueryError, UnsupportedError, writing
from ..frozen import replaced
from ..query.snapshot_target import Fill, Number, SnapshotFile, SnapshotTarget
from ..writing.tables import chunks
from .snapshot_files import FILES, Columns

if TYPE_CHECKING:
    from ..data.column_source import BitsNode, Node
    from ..data.columns import Column

__all__ = ["Copied", "check", "unfit", "write"]

# Replaces missing values for files that cannot hold them: by a value for each kind, or by the
# user's value. Knows kinds and columns; knows no file.


def may_miss(kind: Kind) -> bool:
    """True if a value of this kind, or an item of its lists, may be missing."""
    return kind.optional or (kind.has_items and may_miss(kind.item))


class Filled:
    """Replaces the missing values of columns. `fill`: see `snapshot_target.Fill`. `always`: whether
    to replace them if `fill` gives no value."""

    def __init__(self, kinds: Kinds, fill: Fill, *, always: bool) -> None:
        """Raises QueryError or UnsupportedError if a column may have missing values and no value
        can replace them."""
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
        """The kinds of the columns after that."""
        if isinstance(fill, Mapping):
            unknown = next((name for name in fill if name not in kinds), None)
            if unknown is not None:
                raise QueryError(
                    f"fill= names {unknown}, which is not written", suggestions=list(kinds)
                )

    def table(self, table: Table) -> Table:
        """The columns, with missing values replaced."""
        pairs = zip(table.columns.values(), self.kinds.items(), strict=True)
        return Table({name: self._column(name, each, kind) for each, (name, kind) in pairs})

    def _column(self, name: str, column: Column, kind: Kind) -> Column:
        if not (self._always or name in self._values):
            return column
        node = column.nodes()
        if has_missing(node):
            if name not in self._values:  # no value is missing in the first file
                self._values[name] = _value(name, kind, self._fill)
            column = made(_without_missing(node, self._values[name]), name)
        return cast(column, kind)


def _never(kind: Kind) -> Kind:
    """The same kind without missing values."""
    parts = (_never(kind.item),) if kind.has_items else kind.parts
    return replaced(kind, parts=parts, optional=False)


def _given(name: str, fill: Fill) -> Number | None:
    return fill.get(name) if isinstance(fill, Mapping) else fill


def _value(name: str, kind: Kind, fill: Fill) -> Column:
    """A column of the one value."""
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


def _own(name: str, kind: Kind) -> Number:
    """The value by which a kind replaces missing ones: NaN, the lowest signed integer, the highest
    unsigned one, the empty string."""
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


def _without_missing(node: Node, value: Column) -> Node:
    """A node with the value in place of missing ones."""
    match node:
        case ("list", offsets, items):
            return "list", offsets, _without_missing(items, value)
        case ("regular", size, length, items):
            return "regular", size, length, _without_missing(items, value)
        case ("option", bits, values, length):
            return _replaced(bits, _without_missing(values, value), length, value)
    return node


def _replaced(bits: BitsNode | None, values: Node, length: int, value: Column) -> Node:
    """The values, with the value where a bit is 0."""
    if bits is None:
        return values
    import numpy as np

    places = np.where(values_of_node(bits), np.arange(length), length)
    return picked(joined([made(values), value]), places).nodes()


class Copied(Protocol):
    """Another tree that is copied whole."""

    @property
    def name(self) -> str:
        """The name of the tree."""

    @property
    def kinds(self) -> Kinds:
        """The kinds of its columns."""

    @property
    def titles(self) -> Mapping[str, str]:
        """The titles of the columns that have one."""

    @property
    def counters(self) -> Mapping[str, str]:
        """The columns that count the items of lists."""

    def tables(self) -> Iterator[Table]:
        """Gives its entries."""


def write(
    rows: CollectedRows, target: SnapshotTarget, folder: str, others: Sequence[Copied] = ()
) -> SnapshotFile:
    """Makes the file from all rows and from other trees. `folder` has the parts. Raises SourceError
    if it cannot be written; then an older file stays as it was."""
    whole = f"{folder}/whole"
    with writing(target.path):
        entries = _write(rows, target, whole, others)
        os.replace(whole, target.path)
    named = target.tree if target.kind in ("ttree", "rntuple") else None
    return SnapshotFile(target.path, target.kind, entries, rows.names, named)


def _write(rows: CollectedRows, target: SnapshotTarget, path: str, others: Sequence[Copied]) -> int:
    """Returns the number of entries."""
    entries = 0
    filled = _filled(rows, target)
    file = FILES[target.kind](path, target)
    try:
        columns = replace(_columns(rows, target), unequal=rows.unequal)
        tree = file.tree(target.tree, columns)
        for table in chunks(rows.tables()):
            entries += len(table)
            tree.write(filled.table(table))
        tree.close()
        for other in others:
            copied = file.tree(other.name, _copied(other))
            for table in other.tables():
                copied.write(table)
            copied.close()
    finally:
        file.close()
    return entries


def unfit(rows: CollectedRows, target: SnapshotTarget) -> dict[str, str]:
    """The columns of kinds that no file of this kind can hold, and what they are."""
    return FILES[target.kind].unfit(rows.kinds)


def check(rows: CollectedRows, target: SnapshotTarget, others: Sequence[Copied] = ()) -> None:
    """Raises UnsupportedError or QueryError, which name the column, if a file of this kind cannot
    hold the columns that `rows` describe."""
    kind = FILES[target.kind]
    kind.check(_columns(rows, target))
    for other in others:
        kind.check(_copied(other))


def _columns(rows: CollectedRows, target: SnapshotTarget) -> Columns:
    varied = rows.sink.varied
    masks = {} if varied is None else varied.masks()
    return Columns(
        _filled(rows, target).kinds,
        rows.groups,
        target.titles or {},
        uncounted=target.uncounted,
        is_reshuffled=target.is_reshuffled,
        masks=masks,
    )


def _copied(other: Copied) -> Columns:
    return Columns(other.kinds, titles=other.titles, counters=other.counters)


def _filled(rows: CollectedRows, target: SnapshotTarget) -> Filled:
    return Filled(rows.kinds, target.fill, always=not target.has_missing)
