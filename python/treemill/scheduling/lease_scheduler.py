"""The scheduler of leases: a state machine that leases the dataset to sites, from their messages to
orders for them. A site asks for more before it has done what it has. Near the end, what a site has
not begun is taken back from those that have most of it. What a lost site had not handed up is
leased to others. The query is over when every entry is in the result or given up. Which entries
each site has is in leases.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Set
from dataclasses import dataclass
from typing import Any

from . import (
    Committed,
    Coverage,
    FileSize,
    Finish,
    Halt,
    Packet,
    Stop,
    Tick,
    WorkerGone,
    WorkerLost,
)
from .leases import (
    Asked,
    Done,
    Downward,
    Ended,
    Failed,
    Grant,
    LeaseEvent,
    LeaseLedger,
    Opened,
    Part,
    Reach,
    Returned,
    SiteJoined,
    Standing,
    TakeBack,
    UnleasedParts,
    Upward,
    parts_left,
)

__all__ = ["LeaseScheduler", "Leasing"]

# How large a dataset is, as far as it is known: the entries of files that were opened, and the
# number of those that were not. Only notes numbers; knows no file and no part.


class DatasetEntries:
    """The number of entries of a dataset."""

    __slots__ = ("_known", "_sized", "unknown")

    def __init__(self) -> None:
        self._known = self._sized = 0  # entries and number of files whose size is known
        self.unknown = 0
        """The number of files whose size is not known."""

    @property
    def mean(self) -> float:
        """Entries of a file, as far as sizes are known; 0: of none."""
        return self._known / self._sized if self._sized else 0.0

    @property
    def expected(self) -> int:
        """Entries of all files; a file of unknown size counts as many as the others on average."""
        return self._known + int(self.unknown * self.mean)

    def enter(self, entries: int | None) -> None:
        """Adds a file, or a part of one. None: its size is not known."""
        if entries is None:
            self.unknown += 1
        else:
            self._known += entries
            self._sized += 1

    def leave(self, entries: int | None) -> None:
        """Takes out what was added. Its size still counts for the mean."""
        if entries is None:
            self.unknown -= 1
        else:
            self._known -= entries

    def opened(self, entries: int) -> None:
        """Notes the size of a file that was added without one."""
        self.unknown -= 1
        self.enter(entries)


# The sites that have leases: how they stand, how much each should get, and which one should
# return something for another. Knows no files and no messages.

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


class LeaseScheduler:
    """The distribution of a dataset. Only `handle` changes it. Not thread-safe."""

    def __init__(
        self,
        files: Sequence[FileSize | None],
        leasing: Leasing | None = None,
        *,
        reach: Callable[[int], Reach] | None = None,
        expected: Collection[str] = (),
        done: Done | None = None,
    ) -> None:
        """`files`: their sizes, if known. `reach`: which sites a file is near to. `expected`: the
        names of sites that will join. `done`: ranges of files of known size that are in the result
        already. Raises ValueError if a file does not have them."""
        self._leasing = leasing or Leasing()
        self._ledger = LeaseLedger()
        self._pool = UnleasedParts(reach or (lambda file: Reach()))
        self._sites = KnownSites()
        self._expected = set(expected)
        self._extent = DatasetEntries()
        self._sizes = {n: size.entries for n, size in enumerate(files) if size is not None}
        self._reason: str | None = None  # why the query ends early
        self._ending = False
        self._error: BaseException | None = None
        self._over = False
        for number, size in enumerate(files):
            self._extent.enter(None if size is None else size.entries)
            for part in parts_left(number, size, (done or {}).get(number, ())):
                self._pool.add(part)
        for file, ranges in (done or {}).items():
            self._ledger.begin_with(file, ranges)

    # What others may read.

    @property
    def over(self) -> bool:
        """True if the query is over."""
        return self._over

    @property
    def committed_entries(self) -> int:
        """Entries in the result."""
        return self._ledger.committed_entries

    @property
    def expected_entries(self) -> int:
        """Entries of all files; a file of unknown size counts as many as the others on average."""
        return self._extent.expected

    def files(self) -> Collection[int]:
        """The files of which entries are in the result."""
        return self._ledger.files()

    def coverage(self) -> Coverage:
        """Returns which entries are in the result, which are not, and why. Final once `over`."""
        return self._ledger.coverage()

    @property
    def workers(self) -> Set[int]:
        """The sites that have joined and are not lost."""
        return self._sites.keys()

    mergers: Sequence[int] = ()
    """None: what sites hand up is merged where this runs."""

    def sizes(self, files: Collection[int] | None = None) -> dict[int, int]:
        """The entries of those of these files, None: of all, whose size is known."""
        known = self._sizes
        if files is None:
            return dict(known)
        return {file: known[file] for file in files if file in known}

    def uncommitted(self, event: Committed) -> list[Packet]:
        """What will be in the result by this event."""
        return [Packet(0, *each) for each in event.ranges]

    def outcome(self) -> LeaseScheduler:
        """What has to be kept when the query is over."""
        return self

    def whereabouts(self) -> list[Part]:
        """Returns all parts, leased or not. For tests."""
        return [*self._pool, *self._ledger.leased()]

    # The ways in.

    def handle(self, event: LeaseEvent, now: float) -> list[Downward]:
        """Handles a message that arrived at time `now` (seconds, any origin). Returns the orders to
        carry out."""
        orders: list[Downward] = []
        known = isinstance(event, SiteJoined | Tick | Stop) or _site_of(event) in self._sites
        if not self._over and known:
            ended = self._ending
            _REACTIONS[type(event)](self, event, now, orders)
            if self._ending and not ended:
                orders.append(Halt())
            self._finish_if_over(orders)
        return orders

    # Reactions.

    def _joined(self, event: SiteJoined, now: float, orders: list[Downward]) -> None:
        self._sites[event.site] = KnownSite(event.site, event.name, now, ended=self._ending)
        self._expected.discard(event.name)

    def _lost(self, event: WorkerLost, now: float, orders: list[Downward]) -> None:
        site = self._sites.pop(event.worker)
        self._sites.helped(site)
        for part in self._ledger.lose(site.number):
            self._pool.add(part)
        self._give_up_out_of_reach(event.reason)
        orders += self._feed_all(now)

    def _stands(self, event: Standing, now: float, orders: list[Downward]) -> None:
        site = self._sites[event.site]
        site.workers, site.rate, site.left, site.said = event.workers, event.rate, event.left, now
        if site.waiting:
            self._feed(site, now, orders)

    def _asked(self, event: Asked, now: float, orders: list[Downward]) -> None:
        site = self._sites[event.site]
        site.waiting = True
        self._feed(site, now, orders)

    def _opened(self, event: Opened, now: float, orders: list[Downward]) -> None:
        if self._ledger.opened(event.site, event.file, event.size):
            self._sizes[event.file] = event.size.entries
            self._extent.opened(event.size.entries)

    def _returned(self, event: Returned, now: float, orders: list[Downward]) -> None:
        site = self._sites[event.site]
        for part in event.parts:
            self._ledger.take(site.number, part)
        helped = self._sites.helped(site)
        site.left = site.left if event.parts else 0.0
        if helped is not None and helped in self._sites and event.parts:
            self._lease(self._sites[helped], event.parts, now, orders)
        else:
            for part in event.parts:
                self._pool.add(part)
            if event.parts:
                orders += self._feed_all(now)

    def _failed(self, event: Failed, now: float, orders: list[Downward]) -> None:
        site, part = self._sites[event.site], event.part
        self._ledger.take(site.number, part)
        if part.stop is None:  # perhaps another site can open it
            self._pool.bar(site.name, part.file)
            if any(self._pool.may_read(name, part.file) for name in self._names):
                self._pool.add(part)
                orders += self._feed_all(now)
                return
        self._give_up(part, str(event.error) or type(event.error).__name__, event.error)
        if not self._leasing.skip_errors:
            self._end("an error elsewhere ended the query", event.error)

    def _committed(self, event: Committed, now: float, orders: list[Downward]) -> None:
        self._ledger.commit(event.worker, event.ranges)

    def _ended(self, event: Ended, now: float, orders: list[Downward]) -> None:
        self._sites[event.site].ended = True

    def _tick(self, event: Tick, now: float, orders: list[Downward]) -> None:
        for site in self._sites.neediest_first(now):
            self._help(site, now, orders)

    def _stop(self, event: Stop, now: float, orders: list[Downward]) -> None:
        self._end(event.reason, None)

    # Leases.

    def _feed_all(self, now: float) -> list[Downward]:
        orders: list[Downward] = []
        for site in self._sites.neediest_first(now):
            self._feed(site, now, orders)
        return orders

    def _feed(self, site: KnownSite, now: float, orders: list[Downward]) -> None:
        if self._ending or not site.workers:
            return
        wanted, mean = self._wanted(site), self._extent.mean
        parts = self._pool.take(site.name, wanted, mean, self._sites.rate_at)
        if parts:
            self._lease(site, parts, now, orders)
        else:
            self._help(site, now, orders)

    def _lease(
        self, site: KnownSite, parts: Sequence[Part], now: float, orders: list[Downward]
    ) -> None:
        for part in parts:
            self._ledger.lease(site.number, part)
            # So much more than it had said, until it says so itself.
            site.left += max(self._extent.mean, 1.0) if part.entries is None else part.entries
        site.waiting = False
        orders.append(Grant(site.number, tuple(parts)))

    def _wanted(self, site: KnownSite) -> float:
        unknown = None if self._extent.mean else self._extent.unknown
        expected = len(self._expected)
        left = self._pool.left(self._extent.mean)
        return self._sites.wanted(site, self._leasing, left, unknown, expected)

    def _help(self, site: KnownSite, now: float, orders: list[Downward]) -> None:
        """Takes work back for a site that has little left, from the one that has most."""
        surplus = self._sites.to_take_back(site, now, self._leasing.worth)
        if surplus is None or self._ending:
            return
        rich, entries = surplus
        among = None
        if self._pool.restricted:
            its = self._ledger.files_of(rich.number)
            among = frozenset(file for file in its if self._pool.may_read(site.name, file))
            if not among:
                return
        self._sites.helping(rich, site.number)
        orders.append(TakeBack(rich.number, entries, among))

    # Entries, and the end.

    @property
    def _names(self) -> set[str]:
        return {site.name for site in self._sites.values()} | self._expected

    def _give_up(self, part: Part, reason: str, error: BaseException | None) -> None:
        if part.stop is None:
            self._extent.leave(None)
        self._ledger.give_up(part, reason, error)

    def _give_up_out_of_reach(self, reason: str) -> None:
        if not self._names:
            if self._pool:
                self._end(reason, WorkerGone(f"no site is left: {reason}"))
            return
        for part in self._pool.take_out_of_reach(self._names):
            error = WorkerGone(f"no site is left that can read it: {reason}")
            self._give_up(part, str(error), error)
            if not self._leasing.skip_errors:
                self._error = self._error or error

    def _end(self, reason: str, error: BaseException | None) -> None:
        if self._reason is None:
            self._ending, self._reason = True, reason
            self._error = self._error or error

    def _finish_if_over(self, orders: list[Downward]) -> None:
        if self._ending:
            if not all(site.ended for site in self._sites.values()):
                return
        elif self._pool or self._ledger.anything_leased:
            return
        self._over = True
        leased = [part for site in self._sites for part in self._ledger.lose(site)]
        for part in [*self._pool.clear(), *leased]:
            self._ledger.give_up(part, self._reason or "", None)
        orders.append(Finish(self._error))


def _site_of(event: Upward) -> int:
    return event.worker if isinstance(event, WorkerLost | Committed) else event.site


_REACTIONS: dict[type, Callable[[LeaseScheduler, Any, float, list[Downward]], None]] = {
    SiteJoined: LeaseScheduler._joined,
    WorkerLost: LeaseScheduler._lost,
    Standing: LeaseScheduler._stands,
    Asked: LeaseScheduler._asked,
    Opened: LeaseScheduler._opened,
    Returned: LeaseScheduler._returned,
    Failed: LeaseScheduler._failed,
    Committed: LeaseScheduler._committed,
    Ended: LeaseScheduler._ended,
    Tick: LeaseScheduler._tick,
    Stop: LeaseScheduler._stop,
}
