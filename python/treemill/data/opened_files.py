"""Files with replicas that were opened when their size was asked for, until they are wanted: to
open one again costs as many round trips as to open it. Knows no core: it is told how files are
opened.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..errors import SourceError, TreemillError
from . import source

if TYPE_CHECKING:
    from .._core import File
    from .location import Location

__all__ = ["ReadyFiles"]

_FOR = 20.0
"""Seconds for which a file stays open without being wanted."""
_MOST = 16
"""Files that are open so, at most."""


class ReadyFiles:
    """Thread-safe. A forked process leaves alone what its parent has opened: it has not the threads
    that read it."""

    def __init__(self, open_file: Callable[[Location], File]) -> None:
        self._open_file = open_file
        self._files: dict[tuple[object, ...], tuple[float, File]] = {}
        self._seen: set[int] = set()
        self._lock = threading.Lock()

    def size(self, location: Location) -> int | None:
        """The bytes of a far file that is looked at first, which is open then. None of others, and
        of one that is no ROOT file: opening it tells what is wrong. Raises SourceError."""
        if not any(map(source.is_far, location.replicas)):
            return None
        key = _key(location)
        with self._lock:
            self._forget()
            if hash(key) in self._seen or len(self._files) >= _MOST:
                return None
            self._seen.add(hash(key))
        try:
            file = self._open_file(location)
        except SourceError:
            raise
        except TreemillError:
            return None
        with self._lock:
            self._files[key] = time.monotonic(), file
        return file.state[0]

    def take(self, location: Location) -> File | None:
        """The file, if it is open."""
        with self._lock:
            self._forget()
            timed_file = self._files.pop(_key(location), None)
        return None if timed_file is None else timed_file[1]

    def _forget(self) -> None:
        own, until = os.getpid(), time.monotonic() - _FOR
        late = [k for k, (since, _) in self._files.items() if k[0] == own and since < until]
        for key in late:
            del self._files[key]


def _key(location: Location) -> tuple[object, ...]:
    return os.getpid(), location.logical or location.path, *location.replicas
