"""`treemill.cache`: the decompressed columns that this process keeps, and the limit of their size.

A query takes columns that earlier queries have read from memory. The process has one cache for all
sessions and datasets. The cache itself is in the core (treemill-read's cache.rs); this module sets
its limit, from the user's word or by default.
"""

from __future__ import annotations

import os
import re

from ..errors import QueryError
from .memory import available

__all__ = ["Cache", "cache", "prepare", "size_of", "turn_off"]

_SHARE = 16
_MOST = 2 << 30
"""The default limit: a sixteenth of the memory that the process may use, at most 2 GiB."""
_VARIABLE = "TREEMILL_CACHE"
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {f"{prefix}i": 1 << 10 * power for power, prefix in enumerate("kmgt", 1)}
_SIZE = re.compile(r"\s*([0-9.]+)\s*([kmgt]?i?)b?\s*", re.IGNORECASE)

_is_set = False


class Cache:
    """Decompressed columns that this process keeps in memory for later queries.

    `cache.limit = "500 MB"` sets the limit; it may also be a number of bytes, and 0 switches the
    cache off. The limit is at first the value of the environment variable TREEMILL_CACHE, in the
    same form. Without that variable it is a sixteenth of the memory that the process may use, at
    most 2 GiB. `cache.held` is the size of what is held, and `cache.clear()` frees it."""

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

    def clear(self) -> None:
        """Frees all that is held. The limit stays."""
        from treemill import _core  # heavy: core

        _core.clear_cache()

    def __repr__(self) -> str:
        return f"<cache: {self.held / 1e6:,.0f} of {self.limit / 1e6:,.0f} MB>"


cache = Cache()


def size_of(size: int | str) -> int:
    """A size in bytes, from a number or from a text such as "500 MB" or "1.5 GiB".

    Raises QueryError for anything else."""
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    found = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if found is not None:
        number, unit = found.groups()
        try:
            if unit.lower() in _UNITS:
                return int(float(number) * _UNITS[unit.lower()])
        except ValueError:
            pass  # 1.2.3
    raise QueryError(f'a size is a number of bytes, or "500 MB", or "1.5 GiB", not {size!r}')


def prepare() -> None:
    """Sets the default limit if none was set. Called before the first file is opened."""
    if not _is_set:
        _set(_default())


def turn_off() -> None:
    """Switches the cache off, for a process that makes one pass and ends."""
    _set(0)


def _default() -> int:
    said = os.environ.get(_VARIABLE)
    if said is None:
        return min((available() or 0) // _SHARE, _MOST)
    try:
        return size_of(said)
    except QueryError as error:
        raise QueryError(f"environment variable {_VARIABLE}: {error}") from None


def _set(limit: int) -> None:
    global _is_set
    from treemill import _core  # heavy: core

    _core.set_cache_limit(limit)
    _is_set = True
