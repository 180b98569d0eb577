"""When the next commit to disk is due. Pure: times are given by the caller."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Pace"]


@dataclass(frozen=True)
class Pace:
    """How often is kept: as often as asked for, unless that cost more than a share of the time."""

    every: float = 5.0
    """Seconds between two commits to disk, at least."""
    share: float = 0.02
    """The share of the time that keeping may take."""

    def wait(self, cost: float) -> float:
        """The seconds to wait after a commit to disk that took `cost` seconds."""
        return max(self.every, cost / self.share - cost)
