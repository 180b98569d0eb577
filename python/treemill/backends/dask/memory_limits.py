"""Whether a query takes more memory in one of Dask's worker processes than it may.

A process does not know which of its threads has taken what. So a query is measured while no other
one is at work in its process, from the least that the process has had since then. If others are at
work, and the process has grown by more than one of them may take, that one is to have the process
for itself: then it is measured.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from ..._system.memory import private_bytes
from ...frozen import frozen

__all__ = ["MemoryLimits", "Over", "watch"]

_LOOK_SECONDS = 0.05


@frozen
class Over:
    """A query has taken more than it may, or (not `is_alone`) may have."""

    work: str
    taken: int
    is_alone: bool


class MemoryLimits:
    """What the queries of one process take. Pure.

    >>> limits = MemoryLimits()
    >>> limits.look(100, {}), limits.look(900, {"mine": 500})
    (None, Over(work='mine', taken=800, is_alone=True))
    """

    def __init__(self) -> None:
        self._at_work: set[str] = set()
        self._least = 0

    def look(self, private: int, at_work: Mapping[str, int | None]) -> Over | None:
        """A look at the process, which has so many private bytes. `at_work`: the queries that have
        workers at work, and what each may take (None: any). Returns the first one that takes
        more."""
        # What others have left behind is not this one's: it begins when they have gone.
        if not at_work or self._at_work - at_work.keys():
            self._least = private
        self._at_work = set(at_work)
        self._least = min(self._least, private)
        taken = private - self._least
        for work, most in at_work.items():
            if most is not None and taken > most:
                return Over(work, taken, len(at_work) == 1)
        return None


def watch(
    at_work: Callable[[], Mapping[str, int | None] | None], tell: Callable[[Over], None]
) -> None:
    """Looks at this process now and then on a thread of its own, until `at_work` gives None."""

    def look() -> None:
        limits, wait = MemoryLimits(), threading.Event()
        while (there := at_work()) is not None:
            over = limits.look(private_bytes(), there)
            if over is not None:
                tell(over)
            wait.wait(_LOOK_SECONDS)

    threading.Thread(target=look, name="treemill-memory", daemon=True).start()
