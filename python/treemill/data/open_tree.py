"""Trees that are open in this process: how the file of a location is opened, what reads each of its
branches, and which trees stay open. Chains share a tree of the same file, because parsing a file's
metadata takes longer than a short query; the table of shared trees holds weak references. Each
chain keeps its own trees open (`KeptTrees`), and a process only so many for all of them. Knows
files by their addresses; knows no dataset.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from itertools import count
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary, ref

from .._system.cache import prepare
from ..errors import ChangedError, QueryError, SourceError, TreemillError, UnsupportedError
from . import source
from .location import Location, nearest_first
from .source import Identity
from .uproot_fallback import Fallback, Known, cannot_read

if TYPE_CHECKING:
    from .._core import Column, File, Tree
    from .column_source import BranchDescription, Reader

__all__ = [
    "KeptTrees",
    "OpenTree",
    "changed",
    "identity_of_any",
    "is_near",
    "look_near",
    "opened",
    "shared",
    "tree_names",
]

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


class BranchReaders:
    """What reads each branch of a tree: the core, or uproot if the core cannot. Branches have it,
    which users may hold for longer than the file is open: it keeps no file open. Thread-safe."""

    def __init__(self, tree: OpenTree, again: Callable[[], OpenTree] | None) -> None:
        """`again` opens the tree if it is not open any more."""
        self._tree = ref(tree)
        self._again = again
        self.refused: set[str] = set()
        """The paths of branches that the core has failed to read."""
        self.unreadable: set[str] = set()
        """The paths of those that uproot has failed to read too."""

    def reader_of(self, path: str, cpp_type: str, supported: bool) -> Reader:
        """Returns what reads the branch at this path. `supported`: whether the core says that it
        does; it may have failed to read the values all the same."""
        if path in self.unreadable:
            return "no"
        if supported and path not in self.refused:
            return "core"
        tree = self._tree()
        if tree is None and self._again is not None:
            tree = self._again()
        return "uproot" if tree is not None and tree.fallback.can(path, cpp_type) else "no"


class OpenTree:
    """A tree, or an RNTuple, of an open file, with what follows from its metadata alone.
    Thread-safe."""

    def __init__(
        self,
        core: Tree,
        name: str,
        path: str = "",
        file: File | None = None,
        known: Known | None = None,
        again: Callable[[], OpenTree] | None = None,
    ) -> None:
        """`name`: the tree's name with directories, and with a cycle if one was asked for.
        `file`: the one that it is in, at `path`. `known`: see Fallback; `again`: see
        BranchReaders."""
        self.core = core
        self.name = name
        self.path = path
        self.file = file
        self._known = known
        self.readers = BranchReaders(self, again)

    @cached_property
    def fallback(self) -> Fallback:
        """The tree as uproot reads it."""
        return Fallback(self.path, self.name, self._known, self.file)

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

    def read_instead(self, branch: BranchDescription, start: int, stop: int) -> Column:
        """Read with uproot a branch that the core cannot read, or has failed to read."""
        path, cpp_type = branch["path"], branch["cpp_type"]
        try:
            if not self.fallback.can(path, cpp_type):
                raise cannot_read(branch["name"], cpp_type, branch["reason"], self.path)
            if branch["supported"]:
                self.readers.refused.add(path)
            return self.fallback.read(path, cpp_type, start, stop)
        except UnsupportedError:
            self.readers.unreadable.add(path)
            raise


class _Kept(NamedTuple):
    """A tree that a chain keeps open."""

    identity: Identity
    """What the file was when it was opened."""
    tree: OpenTree
    mark: int
    """Its number in `_recent`."""


class KeptTrees:
    """The trees that a chain keeps open, by the numbers of their files. They close when the chain
    goes, and those that were wanted least recently when the process has too many: a process may
    have many chains, and friends that each of many files records. Thread-safe."""

    def __init__(self) -> None:
        self._kept: dict[int, _Kept] = {}

    def __contains__(self, number: int) -> bool:
        return number in self._kept

    def numbers(self) -> list[int]:
        """The numbers of the files that are open."""
        return [*self._kept]

    def get(self, number: int, now: Identity) -> OpenTree | None:
        """The tree of a file that has this identity now; None if it is not open."""
        kept = self._kept.get(number)
        if kept is None or kept.identity != now:
            return None
        with _lock:
            if kept.mark in _recent:
                _recent.move_to_end(kept.mark)
        return kept.tree

    def keep(self, number: int, now: Identity, tree: OpenTree) -> None:
        """Keeps the tree of a file that has this identity."""
        closed: list[_Kept | None] = []  # outside the lock: to close a file may take a while
        with _lock:
            before = self._kept.get(number)
            if before is not None:
                closed.append(before)
                _recent.pop(before.mark, None)
            kept = self._kept[number] = _Kept(now, tree, next(_marks))
            _recent[kept.mark] = ref(self), number
            while len(_recent) > _most_kept():
                _, (chain, oldest) = _recent.popitem(last=False)
                others = chain()
                if others is not None:
                    closed.append(others._kept.pop(oldest, None))

    def __del__(self) -> None:
        # Without the lock, which this thread may hold: the collector of garbage runs at any time.
        # Another thread may close some of these meanwhile.
        for kept in [*self._kept.values()]:
            _recent.pop(kept.mark, None)


_recent: OrderedDict[int, tuple[ref[KeptTrees], int]] = OrderedDict()
"""The trees that chains keep open, those that were wanted last at the end."""
_marks = count()
_LEAST_KEPT, _MOST_KEPT = 16, 256
"""Bounds of how many trees chains keep open."""


@cache
def _most_kept() -> int:
    """How many trees stay open in this process: some of the files that the system lets it have,
    which are 256 or 1,024 on many machines."""
    import resource

    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY:
        return _MOST_KEPT
    return min(max(allowed // 4, _LEAST_KEPT), _MOST_KEPT)


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


# How a file is opened, by its location.


def opened(location: Location, expected: Identity, known: Known | None = None) -> OpenTree:
    """Opens the tree of a location, whose file has this identity: another one is a ChangedError.
    `known`: see Fallback."""
    from treemill import _core  # heavy: core

    if location.replicas:
        file = _ready.take(location) or _file_of(location)
        if file.state[0] != expected.size:
            raise changed(location.path)
        return _tree(file, location, expected, known)
    is_far = source.is_far(location.path)
    if not is_far and source.is_directory(location.path):
        raise SourceError(
            f"{location.path} is a directory; its files are {location.path}/*.root",
            file=location.path,
        )
    prepare()
    words = "files whose names are not UTF-8 cannot be read: give it another name, or make a link"
    _require_text(location.path, words, location.path)
    # What this process has had open in this state, and is kept, needs no connection.
    is_known = is_far and source.assumed(location.path) == expected
    file = _core.File(location.path, assumed=is_known)
    if is_far:
        size, marks = file.state
        # A server that says little of a file has said its size at least. One that did when it was
        # asked before may say more now, which is then nothing to compare with.
        now = expected.marks if marks is None or expected.changed else tuple(marks)
        if size != expected.size or now != expected.marks:
            raise changed(location.path)
    return _tree(file, location, expected, known)


def _file_of(location: Location) -> File:
    """A file that lies at several addresses, open. One at this host is read first."""
    from treemill import _core  # heavy: core

    prepare()
    replicas = nearest_first(location.replicas)
    return _core.File(location.logical or location.path, replicas=replicas)


_ready = ReadyFiles(_file_of)


def identity_of_any(location: Location) -> Identity:
    """The identity of a file that lies at several addresses, which may be open then."""
    near = source.identity_of_near(location.replicas)
    size = _ready.size(location)
    if size is None:
        return source.identity_of_any(location.replicas, location.logical)
    source.has_size(location.replicas, size)
    return near._replace(size=size)


def is_near(location: Location) -> bool:
    """True if it, or one of its replicas, is not on a server."""
    return not all(map(source.is_far, location.replicas or (location.path,)))


def look_near(location: Location, size: int) -> Identity:
    """The identity as far as it is known without a server, which says `size`."""
    if location.replicas:
        return source.identity_of_near(location.replicas)._replace(size=size)
    return source.identity(location.path)


def _tree(file: File, location: Location, expected: Identity, known: Known | None) -> OpenTree:
    name = location.tree
    if name is None:
        name = _only_tree(location.path, tree_names(file))
    _require_text(name, "no tree has a name that is not UTF-8", location.path)
    again = partial(opened, location, expected, known)
    return OpenTree(file.tree(name), name, location.path, file, known, again)


def _require_text(name: str, words: str, path: str) -> None:
    """Raises QueryError for a name with bytes that the core cannot be given."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise QueryError(f"{words}: {name!r}", file=path) from None


def tree_names(file: File) -> list[str]:
    """The names of a file's trees with their directories. Several cycles of a tree count once."""
    return list(dict.fromkeys(tree["path"] for tree in file.trees()))


def _only_tree(path: str, names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    if not names:
        raise QueryError(f"{path} has no tree", file=path)
    shown = ", ".join(names[:10]) + (" …" if len(names) > 10 else "")
    raise QueryError(
        f"{path} has {len(names)} trees; say which: {shown}", file=path, suggestions=names[:10]
    )
