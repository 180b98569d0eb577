"""Writes rows to the files that users read: ROOT trees and RNTuples by uproot, Parquet and Feather
by pyarrow. A file appears under its name when it is complete.

Knows pieces of rows as pyarrow tables in their order; knows no worker and no session.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from .errors import SourceError, UnsupportedError
from .rows import Collected

__all__ = ["SnapshotFile", "write"]

_CHUNK_BYTES = 32 << 20
"""Pieces are put together to about so much before they are written: baskets and row groups of
useful sizes, however few entries a packet kept."""


@dataclass(frozen=True)
class SnapshotFile:
    """A file that was written."""

    path: str
    kind: str
    """ttree, rntuple, parquet or feather."""
    entries: int
    columns: tuple[str, ...]
    tree: str | None
    """The name of the tree or RNTuple in it."""

    def __fspath__(self) -> str:
        return self.path


class _Writer(Protocol):
    def write(self, table: Any) -> None:
        """Adds entries."""

    def close(self) -> None:
        """Ends the file."""


def write(rows: Collected, path: str, kind: str, tree: str, folder: str) -> SnapshotFile:
    """Makes the file from all rows, and removes the folder of parts. Raises SourceError where the
    disk does not let it: then an older file is as it was."""
    import pyarrow

    made = f"{folder}/whole"
    try:
        os.makedirs(folder, exist_ok=True)
        entries = 0
        writer = _WRITERS[kind](made, tree, rows)
        try:
            for table in _chunks(rows.tables()):
                entries += len(table)
                writer.write(table)
        finally:
            writer.close()
        os.replace(made, path)
    except OSError as error:
        raise SourceError(f"cannot write: {error.strerror or error}", file=path) from error
    except pyarrow.ArrowInvalid as error:  # no text
        raise UnsupportedError(f"a column does not fit the file: {error}", file=path) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    named = tree if kind in ("ttree", "rntuple") else None
    return SnapshotFile(path, kind, entries, rows.names, named)


def _chunks(tables: Iterable[Any]) -> Iterator[Any]:
    import pyarrow

    waiting: list[Any] = []
    for table in tables:
        waiting.append(table)
        if sum(each.nbytes for each in waiting) >= _CHUNK_BYTES:
            yield pyarrow.concat_tables(waiting).combine_chunks()
            waiting = []
    if waiting:
        yield pyarrow.concat_tables(waiting).combine_chunks()


def _schema(rows: Collected, text: Any) -> Any:
    import pyarrow

    pairs = zip(rows.names, rows.none, strict=True)
    fields = [
        pyarrow.field(name, text if _is_bytes(none.type) else none.type, name in rows.optional)
        for name, none in pairs
    ]
    return pyarrow.schema(fields)


def _is_bytes(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_large_binary(kind) or types.is_binary(kind))


class _Arrow:
    """Parquet and Feather: columns as they are, strings as text."""

    def __init__(self, path: str, tree: str, rows: Collected) -> None:
        import pyarrow

        self._schema = _schema(rows, pyarrow.large_string())
        self._file = self.open(path)

    def open(self, path: str) -> Any:
        raise NotImplementedError

    def write(self, table: Any) -> None:
        self._file.write_table(table.cast(self._schema))

    def close(self) -> None:
        self._file.close()


class _Parquet(_Arrow):
    def open(self, path: str) -> Any:
        import pyarrow.parquet

        return pyarrow.parquet.ParquetWriter(path, self._schema, compression="zstd")


class _Feather(_Arrow):
    def open(self, path: str) -> Any:
        import pyarrow
        import pyarrow.ipc

        options = pyarrow.ipc.IpcWriteOptions(compression="lz4")
        return pyarrow.ipc.new_file(path, self._schema, options=options)


class _Root:
    """By uproot. Subclasses make the tree."""

    def __init__(self, path: str, tree: str, rows: Collected) -> None:
        import uproot

        if rows.optional:
            names = ", ".join(sorted(rows.optional))
            raise UnsupportedError(
                f"a ROOT file has no missing values, and there may be some in {names}: use "
                "fill_missing(…), or write Parquet"
            )
        self._rows = rows
        self._file: Any = uproot.recreate(path, compression=uproot.ZSTD(5))
        empty = self._records(rows.none)
        self._tree = self.make(tree, empty)

    def make(self, tree: str, empty: Any) -> Any:
        raise NotImplementedError

    def columns(self, records: Any) -> Any:
        return records

    def _records(self, columns: Any) -> Any:
        import pyarrow

        from .arrow_awkward import records

        chunked = [
            column if isinstance(column, pyarrow.ChunkedArray) else pyarrow.chunked_array([column])
            for column in columns
        ]
        return records(self._rows.names, chunked)

    def write(self, table: Any) -> None:
        self._tree.extend(self.columns(self._records(table.columns)))

    def close(self) -> None:
        self._file.close()


class _RNTuple(_Root):
    def make(self, tree: str, empty: Any) -> Any:
        return self._file.mkrntuple(tree, empty)


class _TTree(_Root):
    """Columns of the same lists whose names have a prefix in common share a counter, as in NanoAOD:
    Muon_pt and Muon_eta are counted by nMuon."""

    def make(self, tree: str, empty: Any) -> Any:
        import awkward as ak

        self._collections = _collections(self._rows)
        made = {name: ak.type(array).content for name, array in self.columns(empty).items()}
        return self._file.mktree(tree, made)

    def columns(self, records: Any) -> Any:
        import awkward as ak

        counters = {f"n{prefix}" for prefix in self._collections}
        inside = {name for names in self._collections.values() for name in names}
        made = {
            name: records[name]
            for name in records.fields
            if name not in inside and name not in counters
        }
        for prefix, names in self._collections.items():
            members = {name.removeprefix(f"{prefix}_"): records[name] for name in names}
            made[prefix] = ak.zip(members, depth_limit=2)
        return made


def _collections(rows: Collected) -> dict[str, list[str]]:
    """Columns of lists by prefix; a prefix that two kinds of lists would claim is nobody's."""
    found: dict[str, dict[int, list[str]]] = {}
    for name, group in rows.groups.items():
        prefix, sign, rest = name.partition("_")
        if sign and prefix and rest:
            found.setdefault(prefix, {}).setdefault(group, []).append(name)
    taken = set(rows.names)
    return {
        prefix: next(iter(groups.values()))
        for prefix, groups in found.items()
        if len(groups) == 1 and prefix not in taken
    }


_WRITERS: dict[str, Any] = {
    "ttree": _TTree,
    "rntuple": _RNTuple,
    "parquet": _Parquet,
    "feather": _Feather,
}
