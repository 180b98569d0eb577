"""Rows of a booking and of its variations as one table: a row for each entry that is selected in
any of them, columns for the values that a variation changes, and bits that say which selected it.

The layout is that of RDataFrame's snapshots with variations. Knows columns; knows no query.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import QueryError, quoted
from ..frozen import replaced
from .columns import Table, column_of, joined, kind_of, made, numbers, picked
from .common_type import cast
from .row_types import RowColumn, types_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._core import Column
    from .kinds import Kind
    from .node import Node

__all__ = ["ENTRY", "VariedRows", "column_name", "mask_names"]

ENTRY = "entry@"
"""The column with the number of the entry in its file, which rows have in addition."""
_BITS = 64


def column_name(column: str, variation: str) -> str:
    """Returns what a column is called in a variation, as RDataFrame has it."""
    return f"{column}__{variation.replace(':', '_')}"


def mask_names(tree: str, variations: int) -> list[str]:
    """The columns of bits for this many variations, the nominal one included."""
    return [f"R_rdf_mask_{tree}_{i}" for i in range(-(-variations // _BITS))]


@dataclass(frozen=True)
class VariedRows:
    """How results of the core are joined. The nominal one is first, and its result has the rows."""

    results: tuple[int, ...]
    """Indices of the core's results."""
    names: tuple[str, ...]
    """Names of the variations."""
    changed: tuple[frozenset[str], ...]
    """The columns that each changes; none for the nominal one."""
    tree: str

    def _varies(self) -> frozenset[str]:
        return frozenset().union(*self.changed)

    def masks(self) -> dict[str, tuple[str, int]]:
        """The column and its bit that say where a column's values are valid, by column. Columns
        that no variation changes always are."""
        words = mask_names(self.tree, len(self.names))
        nominal = dict.fromkeys(sorted(self._varies()), (words[0], 0))
        return nominal | {
            column_name(column, name): (words[number // _BITS], number % _BITS)
            for number, (name, changed) in enumerate(zip(self.names, self.changed, strict=True))
            for column in sorted(changed)
        }

    def types(self, columns: Mapping[int, Sequence[Column]]) -> tuple[RowColumn, ...]:
        """The types of all columns. `columns`: those of each result, without rows."""
        made_of = [types_of(columns[index]) for index in self.results]
        bits = [
            RowColumn(n, _BITS_KIND, False, None) for n in mask_names(self.tree, len(self.names))
        ]
        varies = self._varies()
        nominal = [
            replace(each, optional=each.optional or _may_miss(each), group=_group(each, 0))
            if each.name in varies
            else each
            for each in made_of[0]
            if each.name != ENTRY
        ]
        kinds = {each.name: each.kind for each in made_of[0]}
        varied = [
            replace(
                each,
                name=column_name(each.name, name),
                kind=_as_nominal(each.kind, kinds[each.name]),
                optional=each.optional or _may_miss(each),
                group=_group(each, number),
            )
            for number, (name, changed) in enumerate(zip(self.names, self.changed, strict=True))
            for each in made_of[number]
            if each.name in changed
        ]
        columns_of_rows = (*bits, *nominal, *varied)
        self._check([each.name for each in columns_of_rows])
        return columns_of_rows

    def _check(self, names: Sequence[str]) -> None:
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is None:
            return
        which = [
            f"{column} in the variation {variation}"
            for variation, changed in zip(self.names, self.changed, strict=True)
            for column in sorted(changed)
            if column_name(column, variation) == twice
        ]
        if len(which) > 1:
            raise QueryError(
                f"{twice} is what {' and '.join(which)} would both be called: give one of the "
                "variations another name",
                branch=twice,
            )
        raise QueryError(
            f"{twice} is what {which[0] if which else 'a column of bits'} is called: give the "
            "other column of this name another one",
            branch=twice,
        )

    def table(self, rows: Mapping[int, Table], none: Mapping[int, Table]) -> Table:
        """The joined rows of one range of entries. `rows`: those of the results that have some;
        `none`: tables of all results, without rows."""
        entries = [self._entries(rows.get(index)) for index in self.results]
        union = np.unique(np.concatenate(entries))
        places = [np.searchsorted(union, each) for each in entries]
        columns: dict[str, Column] = {}
        for word, name in enumerate(mask_names(self.tree, len(self.names))):
            bits = np.zeros(len(union), np.uint64)
            for bit, place in enumerate(places[word * _BITS : (word + 1) * _BITS]):
                bits[place] |= np.uint64(1 << bit)
            columns[name] = made(bits, name)
        tables = [rows.get(index, none[index]) for index in self.results]
        for name in none[self.results[0]].columns:
            if name == ENTRY:
                continue
            # A variation that does not change the column has its nominal values.
            same = [i for i, changed in enumerate(self.changed) if name not in changed]
            values = joined([tables[i].columns[name] for i in same])
            columns[name] = _spread(values, _first([places[i] for i in same], len(union)))
        for number, (variation, changed) in enumerate(zip(self.names, self.changed, strict=True)):
            for name in none[self.results[number]].columns:
                if name in changed:
                    nominal = none[self.results[0]].columns[name]
                    column = _cast(tables[number].columns[name], nominal, name, variation)
                    own = column_name(name, variation)
                    columns[own] = _spread(column, _first([places[number]], len(union)))
        return Table(columns)

    @staticmethod
    def _entries(table: Table | None) -> NDArray[np.int64]:
        if table is None:
            return np.zeros(0, np.int64)
        return numbers(table.columns[ENTRY]).astype(np.int64)


_BITS_KIND = types_of([column_of(np.zeros(0, np.uint64))])[0].kind


def _as_nominal(kind: Kind, nominal: Kind) -> Kind:
    """The kind in which a variation's values are written: floats have the size of the nominal ones,
    as in ROOT, although expressions compute in double precision."""
    if kind.has_items and kind.form == nominal.form:
        return kind.of(_as_nominal(kind.item, nominal.item))
    is_cast = kind.is_float and nominal.is_float
    return replaced(kind, dtype=nominal.dtype) if is_cast else kind


def _cast(column: Column, nominal: Column, name: str, variation: str) -> Column:
    kind = kind_of(nominal)
    try:
        with np.errstate(over="raise"):
            return cast(column, _as_nominal(kind_of(column), kind))
    except FloatingPointError:
        raise QueryError(
            f"{name} is of type {kind.given()}, which does not hold values of the variation "
            f"{variation}: give it double precision before, "
            f"""define({name!r}, "{quoted(name)} * 1")""",
            branch=name,
        ) from None


def _first(places: Iterable[NDArray[np.integer]], length: int) -> NDArray[np.int64]:
    """Returns where the tables, one after another, have each row first; -1 if none has it."""
    positions, offset = np.full(length, -1, np.int64), 0
    for place in places:
        fresh = positions[place] < 0
        positions[place[fresh]] = offset + np.flatnonzero(fresh)
        offset += len(place)
    return positions


def _spread(column: Column, first: NDArray[np.int64]) -> Column:
    """The values at their rows. Other rows have an empty list, False, or a missing value."""
    if (first >= 0).all():
        return picked(column, first)
    neutral = _neutral(column.slice(0, 0).nodes())
    if neutral is None:
        return picked(column, first)
    filled = np.where(first < 0, len(column), first)
    return picked(joined([column, made(neutral)]), filled)


def _may_miss(column: RowColumn) -> bool:
    kind = column.kind
    return not (kind.has_items or kind.dtype == "bool")


def _neutral(node: Node) -> Node | None:
    """One value that stands for none in files that cannot have missing ones; None if a value can be
    missing there. `node`: of no values."""
    if isinstance(node, tuple) and node[0] == "option":
        return _neutral(node[2])
    if isinstance(node, tuple) and node[0] == "list":
        return "list", np.zeros(2, np.int64), node[2]
    if isinstance(node, tuple) and node[0] == "regular":
        inner = _zero(node[3])
        return "regular", node[1], 1, picked(made(inner), np.zeros(node[1], np.int64)).nodes()
    return np.zeros(1, bool) if isinstance(node, tuple) and node[0] == "bits" else None


def _zero(node: Node) -> Node:
    """One zero, or what there is instead."""
    neutral = _neutral(node)
    if neutral is not None:
        return neutral
    if isinstance(node, tuple):
        return "string", np.zeros(2, np.int64), np.zeros(0, np.uint8)
    return np.zeros(1, np.asarray(node).dtype)


def _group(column: RowColumn, variation: int) -> int | None:
    """Lists of a variation have lengths of their own."""
    return None if column.group is None else (column.group + 1) << 16 | variation + 1
