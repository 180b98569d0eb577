"""What the workers of all sites have done in one pass: each lease is a pass of a site's own, which
counts for itself. Safe to be used by several threads; asks passes, and knows nothing of leases.
"""

from __future__ import annotations

import threading
from time import monotonic

from ...scheduling import GroupCounts, Monitored
from ..base import Pass

__all__ = ["SiteCounts"]


class SiteCounts:
    """The counts of one pass. Its seconds begin when this is made."""

    def __init__(self) -> None:
        self._began = monotonic()
        self._ended: float | None = None
        self._sums = GroupCounts()
        self._running: dict[int, Pass] = {}  # by site
        self._lock = threading.Lock()

    def begins(self, site: int, running: Pass) -> None:
        """A site begins a pass."""
        with self._lock:
            self._running[site] = running

    def ends(self, site: int) -> None:
        """The site's pass has ended."""
        with self._lock:
            self._update(site, self._running.pop(site), close=True)

    def end(self) -> None:
        """The pass of all sites has ended."""
        self._ended = monotonic()

    def now(self) -> Monitored:
        """Returns what workers have done until now, or until the end. May ask clusters."""
        with self._lock:
            for site, running in self._running.items():
                self._update(site, running)
            return self._sums.total((self._ended or monotonic()) - self._began)

    def _update(self, site: int, running: Pass, close: bool = False) -> None:
        monitored = running.monitored
        if monitored is not None:
            self._sums.update(site, monitored(), max(running.began - self._began, 0.0))
        if close:
            self._sums.close(site)
