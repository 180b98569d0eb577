"""The kinds of files that snapshots make: TTrees by our own writer, RNTuples by uproot, Parquet and
Feather by pyarrow. Knows tables of one schema; knows no rows and no query.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from .snapshot_format import Target
from .writing.codecs import Codec

if TYPE_CHECKING:
    from .writing.tables import Plan

__all__ = ["FILES", "Columns"]


@dataclass(frozen=True)
class Columns:
    """What a tree holds: an Arrow schema, and by column what goes beside it."""

    schema: Any
    groups: Mapping[str, Hashable] = field(default_factory=dict)
    """Lists of one group are as long as one another."""
    titles: Mapping[str, str] = field(default_factory=dict)
    counters: Mapping[str, str] = field(default_factory=dict)
    """Those that lists have already."""
    unequal: Collection[tuple[str, str]] = frozenset()
    """See `writing.tables.unequal_counts`."""


class _Tree(Protocol):
    """A tree, or all of a file that has no trees."""

    def write(self, table: Any) -> None:
        """Adds entries."""

    def close(self) -> None:
        """There are no more."""


class _File:
    """A file being written."""

    def __init__(self, path: str, target: Target) -> None:
        self._path = path
        self._target = target

    @classmethod
    def check(cls, columns: Columns) -> None:
        """Raises UnsupportedError where it cannot hold a column."""

    def tree(self, name: str, columns: Columns) -> _Tree:
        """Begins a tree."""
        raise NotImplementedError

    def close(self) -> None:
        """Ends the file."""


class _Parquet(_File):
    """Columns as they are, strings as text."""

    def tree(self, name: str, columns: Columns) -> _Tree:
        """All of the file."""
        texts = _with_texts(columns.schema)
        return _Arrow(texts, self._open(texts, *self._target.codec))

    def _open(self, schema: Any, codec: str | None, level: int | None) -> Any:
        import pyarrow.parquet

        name = {"zlib": "gzip", None: "none"}.get(codec, codec)
        return pyarrow.parquet.ParquetWriter(
            self._path, schema, compression=name, compression_level=level
        )


class _Feather(_Parquet):
    def _open(self, schema: Any, codec: str | None, level: int | None) -> Any:
        import pyarrow
        import pyarrow.ipc

        made = None if codec is None else pyarrow.Codec(codec, level)
        options = pyarrow.ipc.IpcWriteOptions(compression=made)
        return pyarrow.ipc.new_file(self._path, schema, options=options)


class _Arrow:
    def __init__(self, schema: Any, file: Any) -> None:
        self._schema = schema
        self._file = file

    def write(self, table: Any) -> None:
        self._file.write_table(table.cast(self._schema))

    def close(self) -> None:
        self._file.close()


def _with_texts(schema: Any) -> Any:
    import pyarrow

    return pyarrow.schema([each.with_type(_text(each.type)) for each in schema])


def _text(kind: Any) -> Any:
    """The type with strings for bytes."""
    import pyarrow
    import pyarrow.types as types

    if types.is_large_binary(kind) or types.is_binary(kind):
        return pyarrow.large_string()
    if types.is_large_list(kind):
        field = kind.value_field
        return pyarrow.large_list(field.with_type(_text(field.type)))
    if types.is_fixed_size_list(kind):
        field = kind.value_field
        return pyarrow.list_(field.with_type(_text(field.type)), kind.list_size)
    return kind


class _RNTuples(_File):
    def __init__(self, path: str, target: Target) -> None:
        import uproot

        super().__init__(path, target)
        name, level = target.codec
        self._file = uproot.recreate(path, compression=Codec(name, level or 0).uproots)

    def tree(self, name: str, columns: Columns) -> _Tree:
        """An RNTuple. The type alone is given: what were written now, nothing, would be a cluster
        without entries, which ROOT does not read."""
        form = _records(columns.schema.empty_table()).layout.form
        return _RNTuple(self._file.mkrntuple(name, form))

    def close(self) -> None:
        self._file.close()


class _RNTuple:
    def __init__(self, made: Any) -> None:
        self._made = made

    def write(self, table: Any) -> None:
        if len(table):
            self._made.extend(_records(table))

    def close(self) -> None:
        """Nothing is left to do."""


def _records(table: Any) -> Any:
    from .arrow_awkward import records

    return records(table.column_names, table.columns)


class _TTrees(_File):
    def __init__(self, path: str, target: Target) -> None:
        from .writing.file import RootFile

        super().__init__(path, target)
        name, level = target.codec
        self._file = RootFile(path, os.path.basename(target.path), Codec(name, level or 0))

    @classmethod
    def check(cls, columns: Columns) -> None:
        _planned(columns)

    def tree(self, name: str, columns: Columns) -> _Tree:
        from .writing.tables import TableTree

        return TableTree(self._file, name, _planned(columns))

    def close(self) -> None:
        self._file.close()


def _planned(columns: Columns) -> Plan:
    from .writing.tables import planned

    return planned(
        columns.schema, columns.groups, columns.titles, columns.counters, columns.unequal
    )


FILES: Mapping[str, type[_File]] = {
    "ttree": _TTrees,
    "rntuple": _RNTuples,
    "parquet": _Parquet,
    "feather": _Feather,
}
"""By the name that `snapshot_format` has for them."""
