"""Pieces of rows in files of a worker's own: tables one behind the other, to be read again in any
order. Knows columns; knows neither whose rows they are nor what they become.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SourceError
from .columns import Column, Table

__all__ = ["Store", "Stored"]


@dataclass(frozen=True)
class Stored:
    """A piece."""

    path: str
    start: int
    rows: int

    def table(self) -> Any:
        """The columns.Table."""
        with open(self.path, "rb") as file:
            file.seek(self.start)
            sizes = json.loads(file.readline())
            return Table({name: Column.loads(file.read(size)) for name, size in sizes})


class Store:
    """A file in this folder, which must be there. What goes wrong is a SourceError that names
    `target`, for which it is done."""

    def __init__(self, folder: str, target: str) -> None:
        self._target = target
        try:
            self._file = open(f"{folder}/{uuid.uuid4().hex}.part", "wb")  # noqa: SIM115
        except OSError as error:
            raise self._failed(error) from error

    def add(self, table: Any) -> Stored:
        """Writes a table."""
        try:
            start = self._file.tell()
            parts = {name: column.dumps() for name, column in table.columns.items()}
            sizes = [(name, len(part)) for name, part in parts.items()]
            self._file.writelines([json.dumps(sizes).encode(), b"\n", *parts.values()])
            return Stored(self._file.name, start, len(table))
        except OSError as error:
            raise self._failed(error) from error

    def close(self) -> None:
        """Ends the file."""
        try:
            self._file.close()
        except OSError as error:
            raise self._failed(error) from error

    def discard(self) -> None:
        """Removes the file."""
        with contextlib.suppress(OSError):
            self._file.close()
        Path(self._file.name).unlink(missing_ok=True)

    def _failed(self, error: OSError) -> SourceError:
        return SourceError(f"cannot write: {error.strerror or error}", file=self._target)
