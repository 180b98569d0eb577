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
    cache off. At first, the environment variable TREEMILL_CACHE gives the limit, in the same form.
    Without this variable, the limit is a sixteenth of the memory that the process may use, at most
    2 GiB. `cache.held` is the present size of the cache, and `cache.clear()` empties it.

    `cache.directory = "~/.cache/treemill"` also keeps bytes of files on servers on disk, up to
    `cache.disk_limit`, so that later runs and other processes find them there. `cache.shared` names
    a folder that an account of the site has filled. With `cache.readers` this account lets others
    read its folder.

    The cache also keeps the metadata that treemill reads to open a file on a server (headers, keys,
    trees), within the same limit. For distant servers, treemill also keeps them on disk, up to
    `cache.metadata_limit`; 0 switches this off. See docs/remote.md.

    Examples
    --------
    >>> tm.cache.clear()
    >>> tm.cache.held
    0
    """

    __slots__ = ()

    @property
    def limit(self) -> int:
        """The largest size of the cache in bytes. You may set it as a text, such as "500 MB"."""
        from treemill import _core  # heavy: core

        prepare()
        return _core.cache_limit()

    @limit.setter
    def limit(self, size: int | str) -> None:
        _set(size_of(size))

    @property
    def held(self) -> int:
        """The present size of the cache in bytes."""
        from treemill import _core  # heavy: core

        return _core.cache_held()

    @property
    def directory(self) -> str | None:
        """The folder in which treemill keeps bytes of files on servers for later runs and other
        processes; None: it keeps none. At first, the environment variable TREEMILL_CACHE_DIRECTORY
        names the folder. Worker processes that start later use the same folder. The folder must
        belong to you, and other users must not be able to write to it, because treemill takes its
        content for the bytes of the files."""
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
        """The largest size of the folder in bytes: 10 GB, or the value of the environment variable
        TREEMILL_CACHE_DISK_LIMIT. treemill removes the least recently used data first."""
        return _said(_DISK_LIMIT, _DISK)

    @disk_limit.setter
    def disk_limit(self, size: int | str) -> None:
        _set_disk(self.directory, size_of(size))

    @property
    def readers(self) -> str | None:
        """Who else may read what treemill writes to `directory` from now on: "group" (the folder's
        group, if the folder has the setgid bit), "all" (all users of the machine), or None
        (nobody). At first, the environment variable TREEMILL_CACHE_READERS says it. Whoever can
        read the folder gets its content without asking a server. Other users can never write to
        it."""
        return os.environ.get(_READERS) or None

    @readers.setter
    def readers(self, who: str | None) -> None:
        before = os.environ.get(_READERS)
        os.environ[_READERS] = _checked_readers(who) or ""
        _use_changed({_READERS: before})

    @property
    def shared(self) -> str | None:
        """The folder in which another account keeps bytes of files on servers (its `directory`),
        and which you may read; None: no such folder. At first, the environment variable
        TREEMILL_CACHE_SHARED names it. When a server has opened a file for you, treemill reads from
        this folder what is in it, and the rest from the server. It writes nothing to the folder.
        Only the folder's owner and root may be able to write to it, and you trust them to have kept
        the bytes of the servers. If a node does not have the folder, nothing changes."""
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
        """The largest size in bytes of `metadata_directory`: 256 MB, or the value of the
        environment variable TREEMILL_CACHE_METADATA_LIMIT; 0: treemill keeps no metadata on disk.
        It keeps the metadata of files that are 2 ms away or more, so that it opens these files in
        one round trip the next time. Worker processes that start later have the same limit."""
        return _said(_METADATA_LIMIT, _METADATA)

    @metadata_limit.setter
    def metadata_limit(self, size: int | str) -> None:
        os.environ[_METADATA_LIMIT] = str(size_of(size))
        _use_metadata()

    @property
    def metadata_directory(self) -> str | None:
        """The folder for the metadata of files on distant servers: `metadata` in `directory` if you
        have named that, else `treemill/metadata` in your cache folder (XDG_CACHE_HOME, or
        ~/.cache). treemill makes the folder when it needs it. If it cannot make it or write to it,
        it keeps no metadata on disk. None: you have no home folder, and have named no other one."""
        if self.directory is not None:
            return _metadata_in(self.directory)
        caches, home = os.environ.get("XDG_CACHE_HOME"), os.path.expanduser("~")
        if not caches and os.path.isdir(home):  # a home that is missing is not ours to make
            caches = os.path.join(home, ".cache")
        if not caches or not os.path.isabs(caches):
            return None
        return os.path.join(caches, "treemill", "metadata")

    def clear(self) -> None:
        """Empty the cache in memory. The limit and the folder on disk stay as they are."""
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
