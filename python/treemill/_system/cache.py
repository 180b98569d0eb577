"""`treemill.cache`: the decompressed columns that this process keeps, and the limit of their size.

A query takes columns that earlier queries have read from memory. The process has one cache for all
sessions and datasets. The cache itself is in the core (treemill-read's cache.rs); this module sets
its limit, from the user's word or by default.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress

from ..errors import QueryError, SourceError, TreemillError, local_path
from .memory import available

__all__ = ["Cache", "cache", "prepare", "size_of", "turn_off"]

_SHARE = 16
_MOST = 2 << 30
"""The default limit: a sixteenth of the memory that the process may use, at most 2 GiB."""
_VARIABLE = "TREEMILL_CACHE"
_DIRECTORY = "TREEMILL_CACHE_DIRECTORY"
_DISK_LIMIT = "TREEMILL_CACHE_DISK_LIMIT"
_DISK = "10 GB"
_METADATA_LIMIT = "TREEMILL_CACHE_METADATA_LIMIT"
_METADATA = "256 MB"
_READERS = "TREEMILL_CACHE_READERS"
_SHARED = "TREEMILL_CACHE_SHARED"
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {f"{prefix}i": 1 << 10 * power for power, prefix in enumerate("kmgt", 1)}
_SIZE = re.compile(r"\s*([0-9.]+)\s*([kmgt]?i?)b?\s*", re.IGNORECASE)

_is_set = False
_is_disk_set = False


class Cache:
    """Decompressed columns that this process keeps in memory for later queries.

    `cache.limit = "500 MB"` sets the limit; it may also be a number of bytes, and 0 switches the
    cache off. The limit is at first the value of the environment variable TREEMILL_CACHE, in the
    same form. Without that variable it is a sixteenth of the memory that the process may use, at
    most 2 GiB. `cache.held` is the size of what is held, and `cache.clear()` frees it.

    `cache.directory = "~/.cache/treemill"` keeps bytes of files on servers on disk, too, up to
    `cache.disk_limit`: later runs and other processes read them there. `cache.shared` names a
    folder that an account of the site has filled, and `cache.readers` is how that account lets
    others read what it keeps.

    What opening files on servers reads (headers, keys, trees) is kept in memory, too, within the
    same limit. Of distant servers it is also kept on disk without being told, up to
    `cache.metadata_limit`; 0 switches that off."""

    __slots__ = ()

    @property
    def limit(self) -> int:
        """The number of bytes that the cache may hold."""
        from treemill import _core  # heavy: core

        prepare()
        return _core.cache_limit()

    @limit.setter
    def limit(self, size: int | str) -> None:
        _set(size_of(size))

    @property
    def held(self) -> int:
        """The number of bytes that the cache holds now."""
        from treemill import _core  # heavy: core

        return _core.cache_held()

    @property
    def directory(self) -> str | None:
        """The folder in which bytes of files on servers are kept for later runs and other
        processes; None: they are not kept. At first the value of the environment variable
        TREEMILL_CACHE_DIRECTORY. Worker processes that are started later use the same folder. It
        must be yours, and closed to others' writing: what is there is taken for files' bytes."""
        return os.environ.get(_DIRECTORY) or None

    @directory.setter
    def directory(self, folder: str | os.PathLike[str] | None) -> None:
        if folder is not None and not isinstance(folder, (str, os.PathLike)):
            raise QueryError(f"cache.directory is the path of a folder, or None, not {folder!r}")
        path = local_path(folder or "")
        # An empty path switches the cache off, as the empty variable does.
        _set_disk(os.path.abspath(os.path.expanduser(path)) if path else None, None)

    @property
    def disk_limit(self) -> int:
        """The number of bytes that the folder may hold: 10 GB, or the value of the environment
        variable TREEMILL_CACHE_DISK_LIMIT. What was used longest ago is removed first."""
        return _said(_DISK_LIMIT, _DISK)

    @disk_limit.setter
    def disk_limit(self, size: int | str) -> None:
        _set_disk(self.directory, size_of(size))

    @property
    def readers(self) -> str | None:
        """Who else may read what is kept in `directory` from now on: "group" (the folder's group,
        if the folder has the bit that hands its group on), "all" users of the machine, or None:
        nobody. At first the value of the environment variable TREEMILL_CACHE_READERS. Whoever can
        read the folder has what is in it without asking a server. No one else ever writes there."""
        return os.environ.get(_READERS) or None

    @readers.setter
    def readers(self, who: str | None) -> None:
        before = os.environ.get(_READERS)
        os.environ[_READERS] = _checked_readers(who) or ""
        _use_changed({_READERS: before})

    @property
    def shared(self) -> str | None:
        """The folder that another account keeps bytes of files on servers in (its `directory`),
        and lets this user read; None: there is none. At first the value of the environment variable
        TREEMILL_CACHE_SHARED. What is found there is not asked of servers, once they have opened
        the file for this user. Nothing is written there. Only the folder's owner and root may be
        able to write to it: you trust them to have kept the bytes that the servers gave. On a node
        that does not have the folder nothing is found."""
        return os.environ.get(_SHARED) or None

    @shared.setter
    def shared(self, folder: str | os.PathLike[str] | None) -> None:
        if folder is not None and not isinstance(folder, (str, os.PathLike)):
            raise QueryError(f"cache.shared is the path of a folder, or None, not {folder!r}")
        path, before = local_path(folder or ""), os.environ.get(_SHARED)
        os.environ[_SHARED] = os.path.abspath(os.path.expanduser(path)) if path else ""
        _use_changed({_SHARED: before})

    @property
    def metadata_limit(self) -> int:
        """The number of bytes that may be kept on disk of what opening files on distant servers
        reads, so that a file is opened in one round trip the next time: 256 MB, or the value of the
        environment variable TREEMILL_CACHE_METADATA_LIMIT; 0: nothing is kept there. They lie in
        `metadata_directory`. Files that are less than 2 ms away are not kept. Worker processes that
        are started later have the same limit."""
        return _said(_METADATA_LIMIT, _METADATA)

    @metadata_limit.setter
    def metadata_limit(self, size: int | str) -> None:
        os.environ[_METADATA_LIMIT] = str(size_of(size))
        _use_metadata()

    @property
    def metadata_directory(self) -> str | None:
        """The folder that `metadata_limit` is for: `metadata` in `directory` if that is named, else
        `treemill/metadata` in the user's cache folder (XDG_CACHE_HOME, or ~/.cache). It is made
        when something is kept. If it cannot be made or written to, nothing is kept. None: the user
        has no home, and names no other folder."""
        if self.directory is not None:
            return _metadata_in(self.directory)
        caches, home = os.environ.get("XDG_CACHE_HOME"), os.path.expanduser("~")
        if not caches and os.path.isdir(home):  # a home that is missing is not ours to make
            caches = os.path.join(home, ".cache")
        if not caches or not os.path.isabs(caches):
            return None
        return os.path.join(caches, "treemill", "metadata")

    def clear(self) -> None:
        """Frees all that is held in memory. The limit stays, and so does the folder."""
        from treemill import _core  # heavy: core

        _core.clear_cache()

    def __repr__(self) -> str:
        return f"<cache: {self.held / 1e6:,.0f} of {self.limit / 1e6:,.0f} MB>"


cache = Cache()


def size_of(size: object, what: str = "a size", least: int = 0) -> int:
    """A size in bytes, from a number or from a text such as "500 MB" or "1.5 GiB".

    Raises QueryError, which begins with `what`, for anything else and for less than `least`.

    >>> size_of("2 GB"), size_of("1.5GiB"), size_of(".5k"), size_of(100)
    (2000000000, 1610612736, 500, 100)
    """
    number = size if isinstance(size, int) and not isinstance(size, bool) else None
    match = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if match is not None:
        digits, unit = match.groups()
        with suppress(KeyError, ValueError):  # 1 ib, 1.2.3
            number = int(float(digits) * _UNITS[unit.lower()])
    if number is None or number < least:
        raise QueryError(
            f'{what} is a number of bytes, or "500 MB", or "1.5 GiB", not {size!r:.60}'
        )
    return number


def prepare() -> None:
    """Sets the default limits if none were set. Called before the first file is opened."""
    global _is_disk_set
    if not _is_set:
        _set(_default())
    if not _is_disk_set:
        _use_disk()
        _is_disk_set = True


def turn_off() -> None:
    """Switches the cache off, for a process that makes one pass and ends."""
    _set(0)


def _default() -> int:
    if _VARIABLE in os.environ:
        return _said(_VARIABLE)
    return min((available() or 0) // _SHARE, _MOST)


def _said(variable: str, default: str = "") -> int:
    """The size that a variable of the environment says."""
    try:
        return size_of(os.environ.get(variable) or default)
    except QueryError as error:
        raise QueryError(f"environment variable {variable}: {error}") from None


def _set_disk(folder: str | None, limit: int | None) -> None:
    """Notes the folder and its limit in the environment, where worker processes find them."""
    before = {name: os.environ.get(name) for name in (_DIRECTORY, _DISK_LIMIT)}
    os.environ[_DIRECTORY] = folder or ""
    if limit is not None:
        os.environ[_DISK_LIMIT] = str(limit)
    _use_changed(before)


def _use_changed(before: Mapping[str, str | None]) -> None:
    """Takes what the environment says now; if that cannot be, it says what it said `before`."""
    global _is_disk_set
    try:
        _use_disk()
    except TreemillError:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        with suppress(TreemillError):  # a part of the change may have been made
            _use_disk()
        raise
    _is_disk_set = True


def _use_disk() -> None:
    from treemill import _core  # heavy: core

    folder, shared = cache.directory, cache.shared
    try:
        _core.set_disk_cache(folder, cache.disk_limit, _readers())
    except OSError as error:
        raise SourceError(f"cannot keep bytes in {folder}: {error}", file=folder) from error
    try:
        _core.set_shared_cache(None if shared is None else (shared, _metadata_in(shared)))
    except OSError as error:
        advice = f"name another folder as treemill.cache.shared, or unset {_SHARED}"
        raise SourceError(f"cannot trust {shared}: {error}: {advice}", file=shared) from error
    _use_metadata()


def _use_metadata() -> None:
    from treemill import _core  # heavy: core

    # In the user's own cache folder they are for nobody else.
    readers = _readers() if cache.directory is not None else None
    _core.set_metadata_cache(cache.metadata_directory, cache.metadata_limit, readers)


def _metadata_in(folder: str) -> str:
    return os.path.join(folder, "metadata")


def _readers() -> str | None:
    try:
        return _checked_readers(cache.readers)
    except QueryError as error:
        raise QueryError(f"environment variable {_READERS}: {error}") from None


def _checked_readers(who: object) -> str | None:
    if who not in (None, "group", "all"):
        raise QueryError(f'cache.readers is "group", "all" or None, not {who!r:.60}')
    return None if who is None else str(who)


def _set(limit: int) -> None:
    global _is_set
    from treemill import _core  # heavy: core

    _core.set_cache_limit(limit)
    _is_set = True
