"""Pieces of rows in a file that one worker writes: tables one after another, read again in any
order. Knows columns; does not know what the rows are for.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Iterator
from pathlib import Path

from ..errors import writing
from ..frozen import frozen
from .columns import Column, Table

__all__ = ["Store", "Stored"]

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
