"""Drops what the operating system keeps of files, on the machine that it is called on: directly, or
on workers as a selector without data, and then what the worker's process keeps, too. Needs no
privilege for files that the user may read."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence

__all__ = ["CacheDropper", "drop_files"]


class CacheDropper:
    """Drops the files and the process's own cache wherever it is called, and tells on which host
    that was."""

    def __init__(self, files: Sequence[str]) -> None:
        self.files = list(files)
        self.__name__ = "drop caches"

    def __call__(self, numbers: object) -> dict[str, object]:
        """Drops them; what it is called with does not matter."""
        from .._system.cache import cache  # start-up

        cache.clear()
        failed = drop_files(self.files)
        return {"hosts": {socket.gethostname()}, "failed": {failed} if failed else set()}


def drop_files(files: Sequence[str]) -> str | None:
    """Drops the system's cache of these files. None; or why not, in a few words."""
    if not hasattr(os, "posix_fadvise"):
        return "the system has no call for it"
    try:
        for file in files:
            _drop(file)
    except OSError as error:
        return error.strerror or str(error)
    return None


def _drop(file: str) -> None:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        # Pages that are not written yet cannot be dropped.
        os.fdatasync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
