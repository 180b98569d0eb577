"""The kinds of files that snapshots make: TTrees by our own writer, RNTuples by uproot, Parquet and
Feather by pyarrow. Knows tables of one schema; knows no rows and no query.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ..arrays.columns import Table, empty, made
from ..arrays.kinds import Kinds
from ..errors import UnsupportedError
from ..query.snapshot_target import Target, unfit
from ..writing.codecs import Codec

if TYPE_CHECKING:
    from ..writing.tables import BranchPlan

__all__ = ["FILES", "Columns"]


@dataclass(frozen=True)
class Columns:
    """What a tree holds: its columns' kinds, and by column what goes beside it."""

    kinds: Kinds
    groups: Mapping[str, Hashable] = field(default_factory=dict)
    """Lists of one group are as long as one another."""
    titles: Mapping[str, str] = field(default_factory=dict)
    counters: Mapping[str, str] = field(default_factory=dict)
    """Those that lists have already."""
    unequal: Collection[tuple[str, str]] = frozenset()
    """See `writing.tables.unequal_counts`."""


class _Tree(Protocol):
    """A tree, or all of a file that has no trees."""

    def write(self, table: Table) -> None:
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
        from ..arrays.arrow import schema  # heavy: core

        made = schema(columns.kinds)
        return _Arrow(made, self._open(made, *self._target.codec), self._target.path)

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
    def __init__(self, schema: Any, file: Any, path: str) -> None:
        self._schema = schema
        self._file = file
        self._path = path

    def write(self, table: Table) -> None:
        import pyarrow

        from ..arrays.arrow import chunked  # heavy: core
        from ..arrays.arrow import table as arrow_table  # heavy: core

        made = arrow_table({name: chunked([each]) for name, each in table.columns.items()})
        try:
            self._file.write_table(made.cast(self._schema))
        except pyarrow.ArrowInvalid as error:  # no text
            raise UnsupportedError(
                f"a column does not fit the file: {error}", file=self._path
            ) from error

    def close(self) -> None:
        self._file.close()


class _RNTuples(_File):
    def __init__(self, path: str, target: Target) -> None:
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
        """An RNTuple. The type alone is given: what were written now, nothing, would be a cluster
        without entries, which ROOT does not read."""
        none = {name: made(empty(kind)) for name, kind in columns.kinds.items()}
        form = _records(Table(none)).layout.form
        return _RNTuple(self._file.mkrntuple(name, form))

    def close(self) -> None:
        self._file.close()


class _RNTuple:
    def __init__(self, made: Any) -> None:
        self._made = made

    def write(self, table: Table) -> None:
        if len(table):
            self._made.extend(_records(table))

    def close(self) -> None:
        """Nothing is left to do."""


def _records(table: Table) -> Any:
    from ..arrays.from_core import layout, records  # heavy: awkward

    layouts = [layout(column, False) for column in table.columns.values()]
    return records(list(table.columns), layouts, len(table))


class _TTrees(_File):
    def __init__(self, path: str, target: Target) -> None:
        from ..writing.file import RootFile  # start-up

        super().__init__(path, target)
        name, level = target.codec
        self._file = RootFile(path, os.path.basename(target.path), Codec(name, level or 0))

    @classmethod
    def check(cls, columns: Columns) -> None:
        _planned(columns)

    def tree(self, name: str, columns: Columns) -> _Tree:
        from ..writing.tables import TableTree  # heavy: numpy

        return TableTree(self._file, name, _planned(columns))

    def close(self) -> None:
        self._file.close()


def _planned(columns: Columns) -> BranchPlan:
    from ..writing.tables import planned  # heavy: numpy

    return planned(columns.kinds, columns.groups, columns.titles, columns.counters, columns.unequal)


FILES: Mapping[str, type[_File]] = {
    "ttree": _TTrees,
    "rntuple": _RNTuples,
    "parquet": _Parquet,
    "feather": _Feather,
}
"""By the name that `snapshot_format` has for them."""
