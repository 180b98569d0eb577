"""The sub-masters that a lessor has: how they stand, how much each should get, and which one should
return something for another. Knows no files and no messages."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from .leasing import Leasing, lease_entries

__all__ = ["PARENT", "KnownSubmaster", "KnownSubmasters"]

PARENT = -1
"""The number that stands for the parent."""


@dataclass(eq=False, slots=True)
class KnownSubmaster:
    """A sub-master and those below it, as it has said last."""

    number: int
    site: str
    said: float
    workers: int = 0
    rate: float = 0.0
    left: float = 0.0  # entries that no worker has begun
    waiting: bool = False  # it has asked, and got nothing yet
    told: bool = False  # that nothing is left
    helps: int | None = None  # for whom something is being taken back from it
    helped: bool = False  # something is being taken back for it
    ended: bool = False

    def seconds_left(self, now: float) -> float:
        """The time that the sub-master needs for what no worker has begun, at its last measured
        rate."""
        if self.rate <= 0.0:
            return float("inf") if self.left else 0.0
        return max(self.left / self.rate - (now - self.said), 0.0)


class KnownSubmasters(dict[int, KnownSubmaster]):
    """The known sub-masters, by number."""

    @property
    def workers(self) -> int:
        """The number of workers of all sub-masters."""
        return sum(group.workers for group in self.values())

    @property
    def rate(self) -> float:
        """Entries per second of all; those not measured count as the others for each worker."""
        measured = [group for group in self.values() if group.rate]
        workers = sum(group.workers for group in measured)
        return sum(group.rate for group in measured) * self.workers / workers if workers else 0.0

    def rate_at(self, sites: Set[str]) -> float:
        """Entries per second of those at these sites."""
        return sum(group.rate for group in self.values() if group.site in sites)

    def neediest_first(self, now: float) -> list[KnownSubmaster]:
        """Returns the sub-masters that wait for more, in the order of their time left."""
        waiting = [group for group in self.values() if group.waiting]
        return sorted(waiting, key=lambda group: group.seconds_left(now))

    def share(self, group: KnownSubmaster, expected: int) -> float:
        """The group's even share, if this many more are expected, which are taken for as large."""
        return 1.0 / (len(self) + expected) if expected else group.workers / max(self.workers, 1)

    def wanted(
        self,
        group: KnownSubmaster,
        leasing: Leasing,
        left: float,
        unknown: int | None,
        expected: int,
    ) -> float:
        """Entries of its next lease, if `left` are not leased; or files, if there are `unknown`
        ones and no size is known."""
        total = self.rate
        if total:
            rate = group.rate or total * group.workers / max(self.workers, 1)
            return max(lease_entries(leasing, rate, total, left), 1.0)
        fair = self.share(group, expected)
        if unknown is None:
            return max(min(leasing.first * group.workers, fair * left), 1.0)
        return max(min(group.workers, leasing.share * fair * unknown), 1.0)

    def richest(self, now: float) -> KnownSubmaster | None:
        """The one with the most time left, of those that are not returning something."""
        givers = [group for group in self.values() if group.helps is None and group.left >= 1.0]
        return max(givers, key=lambda group: group.seconds_left(now), default=None)

    def to_take_back(
        self, poor: KnownSubmaster, now: float, worth: float
    ) -> tuple[KnownSubmaster, int] | None:
        """The group from which entries should be taken back for one that has little left, and how
        many, so that both have as much time left. None if that is not worth it."""
        mine = poor.seconds_left(now) if poor.rate else 0.0
        if poor.helped or not poor.workers or mine > worth:
            return None
        rich = self.richest(now)
        if rich is None or rich is poor:
            return None
        if not rich.rate:
            return rich, max(int(rich.left / 2), 1)
        theirs = rich.seconds_left(now)
        if theirs - mine <= worth:
            return None
        rate = poor.rate or rich.rate * poor.workers / max(rich.workers, 1)
        return rich, max(int((theirs - mine) * rich.rate * rate / (rate + rich.rate)), 1)

    def helping(self, rich: KnownSubmaster, other: int) -> None:
        """Notes that something is being taken back for another group or the parent."""
        rich.helps = other
        if other in self:
            self[other].helped = True

    def helped(self, rich: KnownSubmaster) -> int | None:
        """Notes that what was to be taken back has come, or will not come. Returns for whom."""
        other, rich.helps = rich.helps, None
        if other is not None and other in self:
            self[other].helped = False
        return other
