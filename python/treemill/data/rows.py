"""Rows that bookings collect, in pieces. Each piece has its place in the dataset, so that the
result is in the order of entries, whatever the packets were. Rows of a snapshot go to files that
the worker writes, rows of arrays stay in memory.

Knows columns; knows no session and no format of files that users read.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import QueryError, UnsupportedError, quoted, writing
from ..frozen import frozen, replaced
from .columns import Column, Table, column_of, empty, joined, kind_of, made, numbers, picked
from .common_type import cast, fitted, widest
from .kinds import Kind, Kinds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .column_source import Node
    from .columns import Column
    from .kinds import Kind

__all__ = [
    "CollectedRows",
    "Order",
    "RowColumn",
    "RowTypes",
    "Sink",
    "Store",
    "Stored",
    "VariedRows",
]

# The types of the columns of rows that come from several files: one type for each column, missing
# values if any file may have them, lists that belong together if they do in every file. Knows
# kinds and the core's columns; knows no rows and no format of files.


@dataclass(frozen=True)
class RowColumn:
    """The type of a column in one file."""

    name: str
    kind: Kind
    """Its kind without missing values."""
    optional: bool
    """Whether values may be missing."""
    group: int | None
    """Columns with the same number have the same lists in this file."""


def types_of(columns: Sequence[Column]) -> tuple[RowColumn, ...]:
    """The types of the core's columns."""
    return tuple(RowColumn(c.name, kind_of(c).given(), c.optional, c.group) for c in columns)


@dataclass(frozen=True)
class RowTypes:
    """The types of the columns over all files."""

    files: tuple[tuple[RowColumn, ...], ...]
    """The columns of each file, at least one; files with equal columns are there once."""
    instead: str = "write float({0}) or int({0})"
    """What errors advise for the column {0}."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(column.name for column in self.files[0])

    @cached_property
    def optional(self) -> frozenset[str]:
        """The columns that may have missing values in some file."""
        return frozenset(each.name for columns in self.files for each in columns if each.optional)

    @cached_property
    def kinds(self) -> Kinds:
        """The kind of each column. Raises UnsupportedError if no kind holds the values of all
        files."""
        pairs = zip(self.names, zip(*self.files, strict=True), strict=True)
        return {name: self._kind(name, each).given(name in self.optional) for name, each in pairs}

    @cached_property
    def groups(self) -> dict[str, int]:
        """A number for each column of lists. Columns with equal numbers have the same lists in
        every file."""
        numbers: dict[tuple[int | None, ...], int] = {}
        groups = {}
        for kind, columns in zip(self.kinds.values(), zip(*self.files, strict=True), strict=True):
            if kind.form == "list":
                key = tuple(column.group for column in columns)
                groups[columns[0].name] = numbers.setdefault(key, len(numbers))
        return groups

    def uniform(self, table: Table) -> Table:
        """A file's table converted to these kinds. Raises UnsupportedError if a value does not
        fit."""
        if table.kinds == self.kinds:
            return table
        pairs = self.kinds.items()
        return Table({name: self._cast(name, table.columns[name], kind) for name, kind in pairs})

    def _advice(self, name: str) -> str:
        return self.instead.replace("{0}", name)

    def _kind(self, name: str, columns: Sequence[RowColumn]) -> Kind:
        kinds = sorted(dict.fromkeys(column.kind for column in columns), key=str)
        kind = widest(kinds) or fitted(kinds)
        if kind is None:
            shown = " and ".join(map(str, kinds))
            raise UnsupportedError(
                f"{name} has different types in different files, and no type holds all: {shown}; "
                f"{self._advice(name)}",
                branch=name,
            )
        return kind

    def _cast(self, name: str, column: Column, kind: Kind) -> Column:
        try:
            return cast(column, kind)
        except ValueError as error:
            raise UnsupportedError(
                f"{name} is {kind_of(column)} in one file and {kind} in all files together, which "
                f"does not hold a value of it exactly ({error}): {self._advice(name)}",
                branch=name,
            ) from None


# Pieces of rows in a file that one worker writes: tables one after another, read again in any
# order. Knows columns; does not know what the rows are for.

_SLICE_BYTES = 40 << 20
"""About the bytes of a larger table that are in memory a second time when it is written or read."""


@frozen
class Stored:
    """A table in such a file, as slices one after another."""

    path: str
    start: int
    rows: int
    slices: int

    def tables(self) -> Iterator[Table]:
        """Read the table, slice by slice."""
        with open(self.path, "rb") as file:
            file.seek(self.start)
            for _ in range(self.slices):
                sizes = json.loads(file.readline())
                yield Table({name: Column.loads(file.read(size)) for name, size in sizes})


class Store:
    """A file of pieces in an existing folder. Errors are SourceErrors that name `target`, the file
    that the pieces are for."""

    def __init__(self, folder: str, target: str) -> None:
        self._target = target
        with writing(target):
            self._file = open(f"{folder}/{uuid.uuid4().hex}.part", "wb")  # noqa: SIM115

    def add(self, table: Table) -> Stored:
        """Write a table at the end."""
        with writing(self._target):
            start = self._file.tell()
            slices = 0
            for each in table.slices(_SLICE_BYTES):
                parts = {name: column.dumps() for name, column in each.columns.items()}
                sizes = [(name, len(part)) for name, part in parts.items()]
                self._file.writelines([json.dumps(sizes).encode(), b"\n", *parts.values()])
                slices += 1
            return Stored(self._file.name, start, len(table), slices)

    def close(self) -> None:
        """Close the file."""
        with writing(self._target):
            self._file.close()

    def discard(self) -> None:
        """Remove the file."""
        with contextlib.suppress(OSError):
            self._file.close()
        Path(self._file.name).unlink(missing_ok=True)


# Rows of a booking and of its variations as one table: a row for each entry that is selected in
# any of them, columns for the values that a variation changes, and bits that say which selected
# it. The layout is that of RDataFrame's snapshots with variations. Knows columns; knows no query.

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
                f"{' and '.join(which)} would both be called {twice}: give one of the variations "
                "another name",
                branch=twice,
            )
        raise QueryError(
            f"{twice} is the name of {which[0] if which else 'a column of bits'} in the file: "
            "give the other column of this name another name",
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


Order = tuple[int, int]
"""The number of the file in the dataset, and of a piece's first entry in the file."""


@dataclass(frozen=True)
class Sink:
    """The destination of one booking's rows: a folder, or memory up to a number of bytes."""

    limit: int
    folder: str | None = None
    varied: VariedRows | None = None
    """How rows of variations are joined with them."""
    uncounted: frozenset[str] = frozenset()
    """Columns of lists that no column counts."""


@dataclass
class CollectedRows:
    """The rows of one booking so far."""

    sink: Sink
    pieces: list[tuple[Order, Table | Stored]] = field(default_factory=list)
    bytes: int = 0
    files: list[tuple[RowColumn, ...]] = field(default_factory=list)
    """The types of the columns in each file with entries; files with equal types are there once."""
    empty: tuple[RowColumn, ...] = ()
    """The types in a file that may have no entries. They count if no file is known to have any."""
    unequal: set[tuple[str, str]] = field(default_factory=set)
    """See `writing.tables.unequal_counts` and `unequal_lists`. Only for rows in files."""

    @cached_property
    def types(self) -> RowTypes:
        """The types of all columns over all files."""
        return RowTypes(tuple(self.files) or (self.empty,))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return self.types.names

    @property
    def optional(self) -> frozenset[str]:
        """The columns that may have missing values."""
        return self.types.optional

    @property
    def kinds(self) -> Kinds:
        """The kind of each column. Raises UnsupportedError if no kind holds what all files
        have."""
        return self.types.kinds

    @property
    def groups(self) -> Mapping[str, int]:
        """A number for each column of lists. Columns with equal numbers have the same lists."""
        return self.types.groups

    @property
    def too_much(self) -> bool:
        """True if there were more rows than the limit allows; then they were dropped."""
        return self.sink.folder is None and self.bytes > self.sink.limit

    def note(self, columns: tuple[RowColumn, ...]) -> None:
        """Note these types of the columns in a file with entries."""
        if columns not in self.files:
            self.files.append(columns)

    def check(self) -> None:
        """Raise QueryError if there were more rows than the limit allows."""
        if self.too_much:
            raise QueryError(
                f"the values take more than {self.sink.limit / 2**30:.3g} GiB of memory: filter "
                "before, raise limit=, or write them with snapshot()"
            )

    def merge(self, other: CollectedRows) -> None:
        """Take over the other's pieces."""
        self.pieces += other.pieces
        self.bytes += other.bytes
        self.unequal |= other.unequal
        self.empty = self.empty or other.empty
        for columns in other.files:
            self.note(columns)
        if self.too_much:
            self.pieces = []

    def tables(self) -> Iterator[Table]:
        """Tables of `kinds`, in the order of entries. Raises UnsupportedError if a value does not
        fit."""
        for _, piece in sorted(self.pieces, key=lambda pair: pair[0]):
            for table in piece.tables() if isinstance(piece, Stored) else [piece]:
                yield self.types.uniform(table)

    def whole(self) -> Table:
        """Returns all rows as one table."""
        tables = list(self.tables())
        if tables:
            return Table.joined(tables)
        return Table({name: made(empty(kind), name) for name, kind in self.kinds.items()})
