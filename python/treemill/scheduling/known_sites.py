"""The sites that have leases: how they stand, how much each should get, and which one should
return something for another. Knows no files and no messages."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

__all__ = ["KnownSite", "KnownSites", "Leasing"]

# The parameters by which parts are leased, and the size of a lease. Arithmetic only.


@dataclass(frozen=True, kw_only=True)
class Leasing:
    """The parameters; times in seconds."""

    shortest: float = 3.0
    longest: float = 20.0
    """Lengths of leases, in the time of the site."""
    share: float = 0.25
    """The part of the expected time left that a lease should last."""
    first: int = 50_000
    """Entries for each worker in the first lease, before anything is measured."""
    worth: float = 1.0
    """What is left is taken back from a site for another one if that has so much less to
    do."""
    skip_errors: bool = False
    """Whether the query continues without what has failed; else it ends with the error."""


def lease_entries(leasing: Leasing, rate: float, total: float, left: float) -> float:
    """The number of entries to lease to a site with this rate (entries per second), if `left`
    entries are not leased and all sites together have the rate `total`."""
    time_left = left / total
    seconds = min(max(time_left * leasing.share, leasing.shortest), leasing.longest)
    return rate * min(seconds, time_left)


@dataclass(eq=False, slots=True)
class KnownSite:
    """A site, as it has said last."""

    number: int
    name: str
    said: float
    workers: int = 0
    rate: float = 0.0
    left: float = 0.0  # entries that no worker has begun
    waiting: bool = False  # it has asked, and got nothing yet
    helps: int | None = None  # for whom something is being taken back from it
    helped: bool = False  # something is being taken back for it
    ended: bool = False

    def seconds_left(self, now: float) -> float:
        """The time that the site needs for what no worker has begun, at its last measured
        rate."""
        if self.rate <= 0.0:
            return float("inf") if self.left else 0.0
        return max(self.left / self.rate - (now - self.said), 0.0)


class KnownSites(dict[int, KnownSite]):
    """The known sites, by number."""

    @property
    def workers(self) -> int:
        """The number of workers of all sites."""
        return sum(site.workers for site in self.values())

    @property
    def rate(self) -> float:
        """Entries per second of all; those not measured count as the others for each worker."""
        measured = [site for site in self.values() if site.rate]
        workers = sum(site.workers for site in measured)
        return sum(site.rate for site in measured) * self.workers / workers if workers else 0.0

    def rate_at(self, names: Set[str]) -> float:
        """Entries per second of those with these names."""
        return sum(site.rate for site in self.values() if site.name in names)

    def neediest_first(self, now: float) -> list[KnownSite]:
        """Returns the sites that wait for more, in the order of their time left."""
        waiting = [site for site in self.values() if site.waiting]
        return sorted(waiting, key=lambda site: site.seconds_left(now))

    def share(self, site: KnownSite, expected: int) -> float:
        """The site's even share, if this many more are expected, which are taken for as large."""
        return 1.0 / (len(self) + expected) if expected else site.workers / max(self.workers, 1)

    def wanted(
        self,
        site: KnownSite,
        leasing: Leasing,
        left: float,
        unknown: int | None,
        expected: int,
    ) -> float:
        """Entries of its next lease, if `left` are not leased; or files, if there are `unknown`
        ones and no size is known."""
        total = self.rate
        if total:
            rate = site.rate or total * site.workers / max(self.workers, 1)
            return max(lease_entries(leasing, rate, total, left), 1.0)
        fair = self.share(site, expected)
        if unknown is None:
            return max(min(leasing.first * site.workers, fair * left), 1.0)
        return max(min(site.workers, leasing.share * fair * unknown), 1.0)

    def richest(self, now: float) -> KnownSite | None:
        """The one with the most time left, of those that are not returning something."""
        givers = [site for site in self.values() if site.helps is None and site.left >= 1.0]
        return max(givers, key=lambda site: site.seconds_left(now), default=None)

    def to_take_back(
        self, poor: KnownSite, now: float, worth: float
    ) -> tuple[KnownSite, int] | None:
        """The site from which entries should be taken back for one that has little left, and how
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

    def helping(self, rich: KnownSite, other: int) -> None:
        """Notes that something is being taken back for another site."""
        rich.helps, self[other].helped = other, True

    def helped(self, rich: KnownSite) -> int | None:
        """Notes that what was to be taken back has come, or will not come. Returns for whom."""
        other, rich.helps = rich.helps, None
        if other is not None and other in self:
            self[other].helped = False
        return other
