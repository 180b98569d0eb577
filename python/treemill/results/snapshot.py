"""Writes rows to the files that users read, in order, with a value for missing ones. A file appears
under its name when it is complete.

Knows pieces of rows as tables; knows no worker and no session.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from ..data.columns import Table, empty, has_missing, joined, made, picked, values_of_node
from ..data.common_type import cast
from ..data.defaults import column
from ..data.file_tree import RESHUFFLED
from ..data.kinds import Kind, Kinds
from ..data.rows import CollectedRows
from ..errors import QueryError, UnsupportedError, writing
from ..frozen import replaced
from ..query.rows import Fill, Number, SnapshotFile, SnapshotTarget, unfit
from ..writing.file import Codec, string
from ..writing.tables import chunks

if TYPE_CHECKING:
    import awkward
    import pyarrow
    from uproot.writing.writable import WritableNTuple

    from ..data.column_source import BitsNode, Node
    from ..data.columns import Column
    from ..writing.tables import BranchPlan

__all__ = ["Copied", "check", "unfit_columns", "write"]

# The kinds of files that snapshots make: TTrees by treemill's own writer, RNTuples by uproot,
# Parquet and Feather by pyarrow. Knows tables of one schema; knows no rows and no query.

# Checksums of the pages of an RNTuple that uproot writes: without them ROOT copies no page, and
# its `hadd` joins no such files. Knows blobs of bytes only.

_CHECKSUM = struct.Struct("<Q")
_FRAME = struct.Struct("<qI")
"""What a list begins with: its length in bytes, which is negative, and its items."""
_HEAD = 16
"""Bytes before a page list's first frame: the envelope's type and length, the header's checksum."""
_PAGE_LIST = 3
_PAGE = 16
"""Bytes of a page in a page list."""
_COUNT = struct.Struct("<i")


def add_page_checksums(ntuple: WritableNTuple) -> None:
    """Has all pages that are written from now on followed by their checksums, and page lists say
    so."""
    written = ntuple._cascading
    written.add_rblob = _checked(written.add_rblob)


def _checked(add: Callable[..., object]) -> Callable[..., object]:
    def checked(sink: object, data: object, *more: object) -> object:
        blob = bytes(data)  # type: ignore[call-overload]
        if not _is_envelope(blob):
            blob += _checksum(blob)
        elif blob[0] == _PAGE_LIST:
            blob = _with_checked_pages(blob)
        return add(sink, blob, *more)

    return checked


def _checksum(data: bytes) -> bytes:
    import xxhash  # uproot needs it

    return _CHECKSUM.pack(xxhash.xxh3_64_intdigest(data))


def _is_envelope(blob: bytes) -> bool:
    """Page lists and footers end with their own checksum; pages of uproot's do not."""
    return blob[-8:] == _checksum(blob[:-8])


def _with_checked_pages(page_list: bytes) -> bytes:
    """A page list in which the number of each page's values is negative: a checksum follows it."""
    made = bytearray(page_list[:-8])
    at = _HEAD
    at -= _FRAME.unpack_from(made, at)[0]  # the clusters' summaries
    clusters = _FRAME.unpack_from(made, at)[1]
    at += _FRAME.size
    for _ in range(clusters):
        columns = _FRAME.unpack_from(made, at)[1]
        at += _FRAME.size
        for _ in range(columns):
            length, pages = _FRAME.unpack_from(made, at)
            for page in range(pages):
                place = at + _FRAME.size + page * _PAGE
                _COUNT.pack_into(made, place, -_COUNT.unpack_from(made, place)[0])
            at -= length
    return bytes(made) + _checksum(bytes(made))


# Which bit of which column says whether a column's values are valid, in the form in which
# RDataFrame looks for it beside a tree: it takes other values for missing. Knows names only.

MASKS_KIND = "unordered_map<string,pair<string,unsigned int> >"
_PAIR = 0xA90BBCD8
"""The checksum of ROOT's pair<string,unsigned int>, which stands for its version."""
_STRING = 10
_HAS_COUNT = 0x40000000


def masks_name(tree: str) -> str:
    """The name of the object for a tree."""
    return f"R_rdf_column_to_bitmask_mapping_{tree}"


def masks(bits: Mapping[str, tuple[str, int]]) -> bytes:
    """The object. `bits`: the column with the bits, and the bit's number, by column."""
    buffer = bytearray(struct.pack(">I", len(bits)))
    for name, (mask, bit) in bits.items():
        text = string(mask)
        first = struct.pack(">IH", (len(text) + 2) | _HAS_COUNT, _STRING) + text
        pair = struct.pack(">HI", 0, _PAIR) + first + struct.pack(">I", bit)
        buffer += string(name) + struct.pack(">I", len(pair) | _HAS_COUNT) + pair
    return bytes(buffer)


@dataclass(frozen=True)
class Columns:
    """The columns of a tree: their kinds and, by column, their other properties."""

    kinds: Kinds
    groups: Mapping[str, Hashable] = field(default_factory=dict)
    """Lists of one group have equal lengths."""
    titles: Mapping[str, str] = field(default_factory=dict)
    counters: Mapping[str, str] = field(default_factory=dict)
    """The columns that count the items of lists, if there are such."""
    unequal: Collection[tuple[str, str]] = frozenset()
    """See `writing.tables.unequal_counts`."""
    uncounted: Collection[str] = frozenset()
    """See `writing.tables.planned`."""
    is_reshuffled: bool = False
    """Whether the entries are in another order than those that they come from."""
    masks: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """The column and its bit that say where a column's values are valid, by column."""


class _Tree(Protocol):
    """A tree, or the whole file for formats without trees."""

    def write(self, table: Table) -> None:
        """Adds entries."""

    def close(self) -> None:
        """Ends the tree."""


class _ArrowFile(Protocol):
    """A file that pyarrow writes."""

    def write_table(self, table: pyarrow.Table) -> None:
        """Adds entries."""

    def close(self) -> None:
        """Ends the file."""


class _Extensible(Protocol):
    """An RNTuple that uproot writes."""

    def extend(self, data: awkward.Array) -> object:
        """Adds entries."""


class _SnapshotFile:
    """A file being written."""

    def __init__(self, path: str, target: SnapshotTarget) -> None:
        self._path = path
        self._target = target

    @classmethod
    def unfit(cls, kinds: Kinds) -> dict[str, str]:
        """The columns of kinds that no such file can hold, whatever they are called, and what they
        are."""
        return {}

    @classmethod
    def check(cls, columns: Columns) -> None:
        """Raises UnsupportedError if it cannot hold a column."""

    def tree(self, name: str, columns: Columns) -> _Tree:
        """Begins a tree."""
        raise NotImplementedError

    def close(self) -> None:
        """Ends the file."""


class _Parquet(_SnapshotFile):
    """Columns as they are, strings as text."""

    def tree(self, name: str, columns: Columns) -> _Tree:
        """Begins the only table of the file."""
        from ..data.arrow import schema  # heavy: core

        arrow_schema = schema(columns.kinds)
        return _Arrow(
            arrow_schema, self._open(arrow_schema, *self._target.codec), self._target.path
        )

    def _open(self, schema: pyarrow.Schema, codec: str | None, level: int | None) -> _ArrowFile:
        import pyarrow.parquet

        name = {"zlib": "gzip", None: "none"}.get(codec, codec)
        writer: _ArrowFile = pyarrow.parquet.ParquetWriter(
            self._path, schema, compression=name, compression_level=level
        )
        return writer


class _Feather(_Parquet):
    def _open(self, schema: pyarrow.Schema, codec: str | None, level: int | None) -> _ArrowFile:
        import pyarrow
        import pyarrow.ipc

        options = pyarrow.ipc.IpcWriteOptions(
            compression=None if codec is None else pyarrow.Codec(codec, level)
        )
        writer: _ArrowFile = pyarrow.ipc.new_file(self._path, schema, options=options)
        return writer


class _Arrow:
    def __init__(self, schema: pyarrow.Schema, file: _ArrowFile, path: str) -> None:
        self._schema = schema
        self._file = file
        self._path = path
        self._is_empty = True

    def write(self, table: Table) -> None:
        import pyarrow

        from ..data.arrow import chunked  # heavy: core
        from ..data.arrow import table as arrow_table  # heavy: core

        arrow = arrow_table({name: chunked([each]) for name, each in table.columns.items()})
        try:
            self._file.write_table(arrow.cast(self._schema))
        except pyarrow.ArrowInvalid as error:  # no text
            raise UnsupportedError(
                f"a column does not fit the file: {error}", file=self._path
            ) from error
        self._is_empty = False

    def close(self) -> None:
        if self._is_empty:  # awkward reads no Parquet file without a group of rows
            self._file.write_table(self._schema.empty_table())
        self._file.close()


class _RNTuples(_SnapshotFile):
    def __init__(self, path: str, target: SnapshotTarget) -> None:
        import uproot

        super().__init__(path, target)
        name, level = target.codec
        self._file = uproot.recreate(path, compression=Codec(name, level or 0).uproots)

    @classmethod
    def check(cls, columns: Columns) -> None:
        for name in columns.kinds:
            sign = unfit(name)
            if sign is not None:
                raise UnsupportedError(
                    f"an RNTuple's field cannot be called {name}, because of {sign!r}: give it "
                    'another name, {"new": "old"}, or write a TTree',
                    branch=name,
                )

    def tree(self, name: str, columns: Columns) -> _Tree:
        """Begins an RNTuple from its type alone. Writing no entries would make an empty cluster,
        which ROOT does not read."""

        none = {name: made(empty(kind)) for name, kind in columns.kinds.items()}
        form = _records(Table(none)).layout.form
        # An RNTuple has no bit for it, as a TTree has.
        written = self._file.mkrntuple(name, form, RESHUFFLED if columns.is_reshuffled else "")
        add_page_checksums(written)
        return _RNTuple(written)

    def close(self) -> None:
        self._file.close()


class _RNTuple:
    def __init__(self, rntuple: _Extensible) -> None:
        self._rntuple = rntuple

    def write(self, table: Table) -> None:
        if len(table):
            self._rntuple.extend(_records(table))

    def close(self) -> None:
        """Does nothing: the file ends it."""


def _records(table: Table) -> awkward.Array:
    from ..data.from_core import layout, records  # heavy: awkward

    layouts = [layout(column, False) for column in table.columns.values()]
    return records(list(table.columns), layouts, len(table))


class _TTrees(_SnapshotFile):
    def __init__(self, path: str, target: SnapshotTarget) -> None:
        from ..writing.file import RootFile  # start-up

        super().__init__(path, target)
        name, level = target.codec
        self._file = RootFile(path, os.path.basename(target.path), Codec(name, level or 0))

    @classmethod
    def unfit(cls, kinds: Kinds) -> dict[str, str]:
        from ..writing.branches import described, has_branch  # heavy: numpy

        return {name: described(kind) for name, kind in kinds.items() if not has_branch(kind)}

    @classmethod
    def check(cls, columns: Columns) -> None:
        _planned(columns)

    def tree(self, name: str, columns: Columns) -> _Tree:
        from ..writing.tables import TableTree  # heavy: numpy

        if columns.masks:
            data = masks(columns.masks)
            self._file.add(MASKS_KIND, masks_name(name), "", data)
        plan = _planned(columns)
        return TableTree(self._file, name, plan, is_reshuffled=columns.is_reshuffled)

    def close(self) -> None:
        self._file.close()


def _planned(columns: Columns) -> BranchPlan:
    from ..writing.tables import planned  # heavy: numpy

    # RDataFrame finds no bits for lists that have counters, but for those that are vectors.
    return planned(
        columns.kinds,
        columns.groups,
        columns.titles,
        columns.counters,
        columns.unequal,
        columns.masks.keys(),
        columns.uncounted,
    )


FILES: Mapping[str, type[_SnapshotFile]] = {
    "ttree": _TTrees,
    "rntuple": _RNTuples,
    "parquet": _Parquet,
    "feather": _Feather,
}
"""Writers by the kind that `snapshot_format` gives."""


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

    @property
    def is_reshuffled(self) -> bool:
        """Whether its entries are in another order than those that they come from."""

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


def unfit_columns(rows: CollectedRows, target: SnapshotTarget) -> dict[str, str]:
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
    return Columns(
        other.kinds,
        titles=other.titles,
        counters=other.counters,
        is_reshuffled=other.is_reshuffled,
    )


def _filled(rows: CollectedRows, target: SnapshotTarget) -> Filled:
    return Filled(rows.kinds, target.fill, always=not target.has_missing)
