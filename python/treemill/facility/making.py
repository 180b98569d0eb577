"""Files of made-up events, written by workers: a selector without data, with a cycle for each file
that is missing. Each worker writes to its own disks; what it has written goes into the output.

Knows no session. The sizes of files are estimated from a sample.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Sequence, Sized
from pathlib import Path
from typing import Protocol

from .._system.whole_file import new_file
from ..errors import QueryError, SourceError
from .event_files import noted, write
from .recipe import Recipe
from .survey import MARGIN, Made

__all__ = ["FileMaker", "bytes_per_event"]

_SAMPLE = 400
"""Events from which sizes are estimated, at most."""


class _BlockNumbers(Sized, Protocol):
    """A chunk of cycles."""

    start: int
    stop: int


class FileMaker:
    """Writes the files of the cycles that it is called with. Raises QueryError for a file that is
    there and has something else in it, unless it is told to overwrite."""

    def __init__(
        self,
        folder: str,
        recipe: Recipe,
        missing: Sequence[int],
        *,
        force: bool,
        expected: int,
        suffix: str,
    ) -> None:
        """`missing`: the numbers of the files, by cycle. `expected`: bytes of a file. `suffix`: of
        files that are not complete. Processes that are killed leave them behind, and the caller
        removes them."""
        self.folder = folder
        self.missing = tuple(missing)
        self.suffix = suffix
        self.recipe = recipe
        self.force = force
        self.expected = expected
        self.__name__ = "generate"

    def __call__(self, numbers: _BlockNumbers) -> dict[str, object]:
        """Writes these files."""
        return {"files": [self._make(at) for at in self.missing[numbers.start : numbers.stop]]}

    def _make(self, index: int) -> Made:
        recipe, folder = self.recipe, Path(self.folder)
        path = folder / recipe.name(index)
        note = recipe.note(index)
        kept = False
        if path.exists():
            kept = noted(path) == note
            if not (kept or self.force):
                raise QueryError(
                    f"{path} on {socket.gethostname()} is there and has other events; "
                    "--force overwrites it",
                    file=str(path),
                )
        if not kept:
            kept = self._write(path, index, note)
        size = path.stat().st_size
        return Made(index, str(path), socket.gethostname(), size, recipe.events_per_file, kept)

    def _write(self, path: Path, index: int, note: dict[str, object]) -> bool:
        """True if another worker was faster: two write the same file if the first is late."""
        recipe = self.recipe
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(path.parent).free
        except OSError as error:
            raise SourceError(f"cannot write to {path.parent}: {error}", file=str(path)) from None
        if free < self.expected * MARGIN:
            raise SourceError(
                f"{path.parent} on {socket.gethostname()} has {free / 1e9:.2f} GB left, and a file "
                f"takes {self.expected / 1e9:.2f} GB: free some, or write fewer events",
                file=str(path),
            )
        before = _identity(path)
        try:
            part = Path(new_file(str(path), self.suffix))
        except OSError as error:
            raise SourceError(f"cannot write {path}: {error}", file=str(path)) from error
        try:
            write(
                part,
                events=recipe.events_per_file,
                codec=recipe.codec,
                level=recipe.level,
                seed=recipe.seed,
                index=index,
                cluster=recipe.events_per_cluster,
                schema=recipe.schema,
                kind=recipe.kind,
                note=note,
            )
            # A file that others may be reading already is left alone.
            if _identity(path) != before and noted(path) == note:
                return True
            os.replace(part, path)
            return False
        except OSError as error:
            raise SourceError(f"cannot write {path}: {error}", file=str(path)) from error
        finally:
            part.unlink(missing_ok=True)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def bytes_per_event(recipe: Recipe) -> float:
    """About this many bytes each event takes, from a sample that is written to a temporary file."""
    events = min(_SAMPLE, recipe.events_per_file)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.root"
        write(
            path,
            events=events,
            codec=recipe.codec,
            level=recipe.level,
            seed=recipe.seed,
            cluster=min(recipe.events_per_cluster, events),
            schema=recipe.schema,
            kind=recipe.kind,
        )
        return path.stat().st_size / events
