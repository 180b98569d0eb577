"""Trees that are open in this process, shared by all datasets that have the same tree of the same
file: parsing a file's metadata takes longer than a short query. The table of open trees holds weak
references, so that it keeps no file open. Files that were opened for their size are kept open for a
moment. Knows files by their addresses; knows no dataset.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from ..errors import ChangedError, SourceError, TreemillError
from . import source
from .source import Identity

if TYPE_CHECKING:
    from .._core import File, Tree
    from .column_source import BranchDescription
    from .location import Location

__all__ = ["OpenTree", "ReadyFiles", "changed", "shared"]

# Files with replicas that were opened when their size was asked for, until they are wanted: to
# open one again costs as many round trips as to open it. Knows no core: it is told how files are
# opened.

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


_SETTLED = 2.0
"""Seconds after a change from which on the next change is sure to give the file another identity,
however slowly the clock of its file system ticks."""


class OpenTree:
    """A tree, or an RNTuple, of an open file, with what follows from its metadata alone.
    Thread-safe."""

    def __init__(self, core: Tree, name: str, file: File | None = None) -> None:
        """`name`: the tree's name with directories, and with a cycle if one was asked for.
        `file`: the one that it is in."""
        self.core = core
        self.name = name
        self.file = file

    @property
    def uuid(self) -> str | None:
        """The UUID in the file's header; None if it has none."""
        return None if self.file is None else self.file.uuid

    @cached_property
    def key(self) -> str:
        """The tree's path with its cycle, as its key has it: `/dir/Events;1`."""
        path, _, cycle = self.name.lstrip("/").partition(";")
        if not cycle and self.file is not None:
            cycles = [tree["cycle"] for tree in self.file.trees() if tree["path"] == path]
            cycle = str(max(cycles, default=1))
        return f"/{path};{cycle or 1}"

    def described(self) -> list[BranchDescription]:
        """The branches in the file, as the core describes them."""
        return list(self._descriptions)

    @cached_property
    def _descriptions(self) -> tuple[BranchDescription, ...]:
        # A tree may have thousands of branches, which are asked for by name and in a row.
        return tuple(self.core.branches())

    @cached_property
    def by_name(self) -> dict[str, BranchDescription]:
        """The descriptions by all names that mean the branch, and by path."""
        branches: dict[str, BranchDescription] = {}
        described = self.described()
        for branch in described:
            branches.setdefault(branch["name"], branch)
        for branch in described:
            for name in (*branch["also"], branch["path"]):
                branches.setdefault(name, branch)
        return branches

    def sharing(self, name: str) -> list[str]:
        """The names of the branches that have this name in the file, if by itself it means none of
        them because several have it."""
        if name in self.by_name:
            return []
        several = (b for b in self._descriptions if f"/{b['path']}".endswith(f"/{name}"))
        return [branch["name"] for branch in several]


_open: WeakValueDictionary[tuple[object, ...], OpenTree] = WeakValueDictionary()
_lock = threading.Lock()


def changed(path: str) -> ChangedError:
    """The error for a file that is not what a pass has seen."""
    return ChangedError(f"{path} was written to while it was read: run again", file=path)


def shared(
    path: str,
    tree: str | None,
    now: Identity,
    make: Callable[[], OpenTree],
    *,
    known_as: Sequence[str | None] = (),
    strict: bool = False,
) -> OpenTree:
    """The tree of the file that has this identity now: one that is open already, or a new one as
    `make` gives it. A tree of a file that has just been written is not shared.

    `known_as`: the logical name and the addresses of a file with replicas. An open tree keeps to
    the addresses that it was opened with, so it is shared only where all of them are the same.

    A new one is looked at once more, because the file may be another one since `now` was seen:
    then the tree is not shared and, if `strict`, ChangedError is raised."""
    key = path, tree, now, *known_as
    with _lock:
        known = _open.get(key)
    if known is not None:
        return known
    # Made outside the lock: another thread may do the same at the same time, once.
    opened = make()
    is_settled = time.time_ns() - now.changed > _SETTLED * 1e9
    # A file on a server has said its identity when it was opened.
    is_same = source.is_far(path) or ((is_settled or strict) and source.identity(path) == now)
    if strict and not is_same:
        raise changed(path)
    if is_settled and is_same:
        with _lock:
            _open[key] = opened
    return opened
