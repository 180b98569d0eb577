"""The operating system's cache of files: dropped before a measurement where that is possible, here
and on a cluster's hosts, and words for where it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .cache_dropper import CacheDropper, drop_files
from .systems import HERE

if TYPE_CHECKING:
    from ..session.session import Session

__all__ = ["DROPPED", "NO_DATA", "drop"]

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
