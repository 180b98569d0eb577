"""The operating system's cache of files: dropped before a measurement where that is allowed, and
words for where it is not.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ...errors import TreemillError
from .systems import HERE

__all__ = ["DROPPED", "drop"]

DROPPED = "dropped"
_UNTOUCHED = "as they were"
_NO_DATA = "no data"


def drop(files: Sequence[str], system: str, *, wanted: bool, reads: bool) -> str:
    """Drops what the system keeps of these files, and what this process keeps. Returns what was
    done, in a word or two."""
    if not reads:
        return _NO_DATA
    _drop_own()
    if not wanted:
        return _UNTOUCHED
    if any("://" in file for file in files):
        return "not dropped: the files are on servers"
    if system not in HERE:
        return "not dropped: the workers are on other machines"
    if not hasattr(os, "posix_fadvise"):
        return "not dropped: this system has no call for it"
    try:
        for file in files:
            _drop_file(file)
    except OSError as error:
        return f"not dropped: {error.strerror or error}"
    return DROPPED


def _drop_own() -> None:
    from ...machine.cache import cache  # start-up

    try:
        cache.clear()
    except TreemillError:  # pragma: no cover - a cache that cannot be cleared serves what it has
        return


def _drop_file(file: str) -> None:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        # Pages that are not written yet cannot be dropped.
        os.fdatasync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
