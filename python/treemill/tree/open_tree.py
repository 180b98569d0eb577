"""Trees that are open in this process, for all datasets that mean the same tree of the same file:
to parse a file's metadata again takes longer than a short query does. Nothing is kept open by this
alone. Knows files by their paths; knows no dataset.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

from ..errors import SourceError

__all__ = ["OpenTree", "Stamp", "shared", "stamp"]

Stamp = tuple[int, int, int, int, int]
"""Device, inode, size, and when content and inode were changed last; another one means another
file, or one that was written to."""

_SETTLED = 2.0
"""So many seconds after a change another one gives a file another stamp for certain, however slowly
its file system's clock ticks."""


class OpenTree:
    """A tree, or an RNTuple, of an open file, and what was worked out from its metadata alone.
    Thread-safe, as the core's."""

    def __init__(self, core: Any, name: str) -> None:
        """`core` is core.Tree; `name` its name with directories and cycle."""
        self.core = core
        self.name = name

    def described(self) -> list[dict[str, Any]]:
        """What is in the file, as the core describes it."""
        return list(self.core.branches())

    @cached_property
    def by_name(self) -> dict[str, dict[str, Any]]:
        """The core's descriptions by name, and by path where that is another. Of branches with
        one name the outermost is meant, which comes first."""
        found: dict[str, dict[str, Any]] = {}
        described = self.described()
        for branch in described:
            found.setdefault(branch["name"], branch)
        for branch in described:
            found.setdefault(branch["name"].rstrip("."), branch)
            found.setdefault(branch["path"], branch)
        return found


_open: WeakValueDictionary[tuple[str, str | None, Stamp], OpenTree] = WeakValueDictionary()
_lock = threading.Lock()


def stamp(path: str) -> Stamp:
    """Of the file as it is now. Raises SourceError where it is gone."""
    try:
        found = os.stat(path)
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise SourceError(f"{reason}: {path}", file=path) from None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def shared(path: str, tree: str | None, now: Stamp, make: Callable[[], OpenTree]) -> OpenTree:
    """The tree of the file that has this stamp now: one that somebody has open, or a new one as
    `make` gives it. Of files that have just been written everybody gets one of their own."""
    key = path, tree, now
    with _lock:
        known = _open.get(key)
    if known is not None:
        return known
    # Made outside the lock: another thread may do the same at the same time, once.
    made = make()
    *_, content, inode = now
    if time.time_ns() - max(content, inode) > _SETTLED * 1e9 and stamp(path) == now:
        with _lock:
            _open[key] = made
    return made
