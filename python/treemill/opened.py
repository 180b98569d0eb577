"""Open trees of a dataset: opens files when needed, keeps the most recent ones, notices when a file
was written anew. The only module besides `bindings` that asks the core for files.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from .errors import QueryError, SourceError
from .location import Location

__all__ = ["OpenTrees", "tree_names"]

_KEPT = 64
"""Open files at most: below the number that systems allow, above any number of workers."""

Stamp = tuple[int, int]
"""Modification time and size; another one means another file."""


class OpenTrees:
    """The dataset's trees by their number. Thread-safe."""

    def __init__(self, locations: Sequence[Location], kept: int = _KEPT) -> None:
        self.locations = tuple(locations)
        self._kept = kept
        self._open: OrderedDict[int, tuple[Stamp, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def __getitem__(self, number: int) -> Any:
        """core.Tree of file `number`."""
        location = self.locations[number]
        stamp = self.stamp(number)
        with self._lock:
            known = self._open.get(number)
            if known is not None and known[0] == stamp:
                self._open.move_to_end(number)
                return known[1]
        # Opened outside the lock: another thread may do the same at the same time, once.
        tree = _open(location)
        with self._lock:
            self._open[number] = (stamp, tree)
            self._open.move_to_end(number)
            while len(self._open) > self._kept:
                self._open.popitem(last=False)
        return tree

    def stamp(self, number: int) -> Stamp:
        """Of the file as it is now. Raises SourceError where it is gone."""
        path = self.locations[number].path
        try:
            status = os.stat(path)
        except OSError as error:
            reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
            raise SourceError(f"{reason}: {path}", file=path) from None
        return status.st_mtime_ns, status.st_size


def _open(location: Location) -> Any:
    from . import _core

    if os.path.isdir(location.path):
        raise SourceError(
            f"{location.path} is a directory; its files are {location.path}/*.root",
            file=location.path,
        )
    file = _core.File(location.path)
    if location.tree is not None:
        return file.tree(location.tree)
    return file.tree(_only_tree(location.path, tree_names(file)))


def tree_names(file: Any) -> list[str]:
    """Names of the file's trees, with their directories; cycles of one tree count once."""
    return list(dict.fromkeys(str(tree["path"]) for tree in file.trees()))


def _only_tree(path: str, names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    if not names:
        raise QueryError(f"{path} has no tree", file=path)
    shown = ", ".join(names[:10]) + (" …" if len(names) > 10 else "")
    raise QueryError(
        f"{path} has {len(names)} trees; say which: {shown}", file=path, suggestions=names[:10]
    )


class Remembered:
    """Values worked out from a file's metadata, kept while the file stays as it is. Thread-safe."""

    def __init__(self, trees: OpenTrees, make: Callable[[Any], Any]) -> None:
        self._trees = trees
        self._make = make
        self._known: dict[int, tuple[Stamp, Any]] = {}

    def peek(self, number: int) -> Any:
        """The value if it is known and still true, else None; opens nothing."""
        known = self._known.get(number)
        if known is None or known[0] != self._trees.stamp(number):
            return None
        return known[1]

    def __getitem__(self, number: int) -> Any:
        value = self.peek(number)
        if value is None:
            stamp = self._trees.stamp(number)
            value = self._make(self._trees[number])
            self._known[number] = (stamp, value)
        return value
