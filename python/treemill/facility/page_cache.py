"""The operating system's cache of files: dropped before a measurement where that is possible, here
and on a cluster's hosts, and words for where it is not.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .systems import HERE

if TYPE_CHECKING:
    from ..session.session import Session

__all__ = ["DROPPED", "NO_DATA", "CacheDropper", "drop", "drop_files"]

# Drops what the operating system keeps of files, on the machine that it is called on: directly,
# or on workers as a selector without data, and then what the worker's process keeps, too. Needs
# no privilege for files that the user may read.


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


DROPPED = "dropped"
NO_DATA = "no data"
_UNTOUCHED = "as they were"
_ASKED = 4
"""How often each worker of a cluster is asked, on average: some get no question."""


def drop(
    session: Session, files: Sequence[str], system: str, *, wanted: bool, hosts: int = 1
) -> str:
    """Drops what the system keeps of these files, and what this process and a cluster's workers
    keep. `hosts`: how many the workers are on. Returns what was done, in a few words."""
    _drop_own()
    if not wanted:
        return _UNTOUCHED
    far = any("://" in file for file in files)
    if system in HERE:
        failed = "the files are on servers" if far else drop_files(files)
        return DROPPED if failed is None else f"not dropped: {failed}"
    dropper = CacheDropper([] if far else files)  # what the workers themselves keep goes anyway
    output = session.run(dropper, cycles=_ASKED * session.workers, progress=False)
    if far:
        return "not dropped: the files are on servers"
    if output["failed"]:
        return f"not dropped: {min(output['failed'])}"
    reached = len(output["hosts"])
    return DROPPED if reached >= hosts else f"dropped on {reached} of {hosts} hosts"


def _drop_own() -> None:
    from .._system.cache import cache  # start-up

    cache.clear()
