"""Pieces of rows in a file that one worker writes: tables one after another, read again in any
order. Knows columns; does not know what the rows are for.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from pathlib import Path

from ..errors import writing
from ..frozen import frozen
from .columns import Column, Table

__all__ = ["Store", "Stored"]


@frozen
class Stored:
    """A table in such a file."""

    path: str
    start: int
    rows: int

    def table(self) -> Table:
        """Read the table."""
        with open(self.path, "rb") as file:
            file.seek(self.start)
            sizes = json.loads(file.readline())
            return Table({name: Column.loads(file.read(size)) for name, size in sizes})


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
            parts = {name: column.dumps() for name, column in table.columns.items()}
            sizes = [(name, len(part)) for name, part in parts.items()]
            self._file.writelines([json.dumps(sizes).encode(), b"\n", *parts.values()])
            return Stored(self._file.name, start, len(table))

    def close(self) -> None:
        """Close the file."""
        with writing(self._target):
            self._file.close()

    def discard(self) -> None:
        """Remove the file."""
        with contextlib.suppress(OSError):
            self._file.close()
        Path(self._file.name).unlink(missing_ok=True)
