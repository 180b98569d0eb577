"""The lessor: a state machine that leases the dataset to sub-masters, from their messages to orders
for them. A sub-master asks for more before it has done what it has. Near the end, what no worker
has begun is taken back from those that have most of it (groups.py). What a lost sub-master had not
handed up is leased to others. The query is over when every entry is in the result or given up.

With `growing` it is the middle of a tree: its dataset is leased by a parent (leased_lessor.py)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Set
from typing import Any

from . import Beyond, Coverage, FileSize, Finish, Halt, News, Stop, Tick, WorkerGone
from .account import Done, LeaseAccount, parts_left
from .extent import Extent
from .groups import PARENT, KnownSubmaster, KnownSubmasters
from .leasing import Leasing
from .messages import (
    Asked,
    Downward,
    Ended,
    Failed,
    Grant,
    HandedUp,
    LessorEvent,
    NotComing,
    NothingLeft,
    Opened,
    Part,
    Returned,
    Standing,
    SubJoined,
    SubLost,
    TakeBack,
)
from .unleased_parts import Reach, UnleasedParts

__all__ = ["Lessor"]


class Lessor:
    """The distribution of a dataset among sub-masters. Only `handle`, and what a parent does with a
    growing one, change it. Not thread-safe."""

    _new_account: type[LeaseAccount] = LeaseAccount

    def __init__(
        self,
        files: Sequence[FileSize | None],
        leasing: Leasing | None = None,
        *,
        reach: Callable[[int], Reach] | None = None,
        expected: Collection[str] = (),
        done: Done | None = None,
        growing: bool = False,
    ) -> None:
        """`files`: their sizes, if known. `reach`: which sites a file is near to. `expected`: the
        sites whose sub-masters will join. `done`: ranges of files of known size that are in the
        result already. Raises ValueError if a file does not have them."""
        self._leasing = leasing or Leasing()
        self._growing = growing
        self._account = self._new_account()
        self._pool = UnleasedParts(reach or (lambda file: Reach()))
        self._groups = KnownSubmasters()
        self._expected = set(expected)
        self._extent = Extent()
        self._beyond = Beyond()  # what will probably be added
        self._reason: str | None = None  # why the query ends early
        self._ending = False
        self._error: BaseException | None = None
        self._over = False
        self.failures: list[tuple[Part, BaseException]] = []
        """What a growing one could not do, for its parent, which takes it out."""
        self.opened: list[tuple[int, FileSize]] = []
        """Sizes that have become known, for the parent of a growing one, which takes them out."""
        self.reclaimed: list[Part] | None = None
        """What a growing one has got back from a sub-master for its parent, which takes it out."""
        for number, size in enumerate(files):
            self._extent.enter(None if size is None else size.entries)
            for part in parts_left(number, size, (done or {}).get(number, ())):
                self._pool.add(part)
        for file, ranges in (done or {}).items():
            self._account.begin_with(file, ranges)

    # What others may read.

    @property
    def over(self) -> bool:
        """True if the query is over."""
        return self._over

    @property
    def subs(self) -> Set[int]:
        """The sub-masters that have joined and are not lost."""
        return self._groups.keys()

    @property
    def committed_entries(self) -> int:
        """Entries in the result."""
        return self._account.committed_entries

    @property
    def expected_entries(self) -> int:
        """Entries of all files; a file of unknown size counts as many as the others on average."""
        return self._extent.expected

    @property
    def groups(self) -> KnownSubmasters:
        """The sub-masters, as they have said last."""
        return self._groups

    @property
    def has_work(self) -> bool:
        """True if anything is not leased."""
        return bool(self._pool)

    @property
    def left(self) -> float:
        """The entries that are not leased."""
        return self._pool.left(self._extent.mean)

    @property
    def left_below(self) -> float:
        """The entries that are leased and that no worker had begun when that was said last."""
        return sum(group.left for group in self._groups.values())

    @property
    def quiet(self) -> bool:
        """True if no sub-master has anything."""
        return not self._account.anything_leased

    @property
    def has_news(self) -> bool:
        """True if anything has come into the result since `take_news`."""
        return self._account.has_news

    def take_news(self) -> News:
        """Returns what has come into the result since the last call."""
        return self._account.take_news()

    def coverage(self) -> Coverage:
        """Returns which entries are in the result, which are not, and why. Final once `over`."""
        return self._account.coverage()

    def whereabouts(self) -> list[Part]:
        """Returns all parts, leased or not. For tests."""
        return [*self._pool, *self._account.leased()]

    # The ways in.

    def handle(self, event: LessorEvent, now: float) -> list[Downward]:
        """Handles a message that arrived at time `now` (seconds, any origin). Returns the orders to
        carry out."""
        orders: list[Downward] = []
        known = isinstance(event, SubJoined | NotComing | Tick | Stop) or event.sub in self._groups
        if not self._over and known:
            ended = self._ending
            _REACTIONS[type(event)](self, event, now, orders)
            if self._ending and not ended:
                orders.append(Halt())
            self._finish_if_over(orders)
        return orders

    def add(self, parts: Sequence[Part], beyond: Beyond, now: float) -> list[Downward]:
        """Adds parts to the dataset of a growing one. `beyond`: what is expected to be added
        later."""
        self._beyond = beyond
        for part in parts:
            self._enter(part)
        return self._feed_all(now)

    def give_back(
        self, entries: int | None, among: Set[int] | None, now: float
    ) -> tuple[list[Part] | None, list[Downward]]:
        """Takes parts out of the dataset of a growing one: about `entries` that no worker has
        begun; without a number, all that is not leased. None: a sub-master was asked to return
        some, and they will be in `reclaimed`."""
        wanted = float("inf") if entries is None else float(entries)
        parts = self._pool.take_any(wanted, self._extent.mean, among)
        if parts or entries is None:
            for part in parts:
                self._extent.leave(part.entries)
            return parts, []
        rich = self._groups.richest(now)
        if rich is None:
            return [], []
        self._groups.helping(rich, PARENT)
        share = min(entries, max(int(rich.left / 2), 1))
        return None, [TakeBack(rich.number, share, None if among is None else frozenset(among))]

    # Reactions.

    def _joined(self, event: SubJoined, now: float, orders: list[Downward]) -> None:
        self._groups[event.sub] = KnownSubmaster(event.sub, event.site, now, ended=self._ending)
        self._expected.discard(event.site)

    def _lost(self, event: SubLost, now: float, orders: list[Downward]) -> None:
        sub = self._groups.pop(event.sub)
        self._groups.helped(sub)
        for part in self._account.lose(sub.number):
            self._pool.add(part)
        self._give_up_out_of_reach(event.reason)
        orders += self._feed_all(now)

    def _not_coming(self, event: NotComing, now: float, orders: list[Downward]) -> None:
        self._expected.discard(event.site)
        self._give_up_out_of_reach(f"no sub-master of {event.site} has come")

    def _stands(self, event: Standing, now: float, orders: list[Downward]) -> None:
        sub = self._groups[event.sub]
        sub.workers, sub.rate, sub.left, sub.said = event.workers, event.rate, event.left, now
        if sub.waiting:
            self._feed(sub, now, orders)

    def _asked(self, event: Asked, now: float, orders: list[Downward]) -> None:
        sub = self._groups[event.sub]
        sub.waiting = True
        self._feed(sub, now, orders)

    def _opened(self, event: Opened, now: float, orders: list[Downward]) -> None:
        if self._account.opened(event.sub, event.file, event.size):
            self._extent.opened(event.size.entries)
            if self._growing:
                self.opened.append((event.file, event.size))

    def _returned(self, event: Returned, now: float, orders: list[Downward]) -> None:
        sub = self._groups[event.sub]
        for part in event.parts:
            self._account.take(sub.number, part)
        helped = self._groups.helped(sub) if event.asked else None
        if event.asked:
            sub.left = sub.left if event.parts else 0.0
        if helped == PARENT:
            self.reclaimed = [*(self.reclaimed or ()), *event.parts]
            for part in event.parts:
                self._extent.leave(part.entries)
        elif helped is not None and helped in self._groups and event.parts:
            self._lease(self._groups[helped], event.parts, now, orders)
        else:
            for part in event.parts:
                self._pool.add(part)
            if event.parts:
                orders += self._feed_all(now)

    def _failed(self, event: Failed, now: float, orders: list[Downward]) -> None:
        sub, part = self._groups[event.sub], event.part
        self._account.take(sub.number, part)
        if self._growing:
            self._extent.leave(part.entries)
            self.failures.append((part, event.error))
            return
        if part.stop is None:  # perhaps another site can open it
            self._pool.bar(sub.site, part.file)
            if any(self._pool.may_read(site, part.file) for site in self._sites):
                self._pool.add(part)
                orders += self._feed_all(now)
                return
        self._give_up(part, str(event.error) or type(event.error).__name__, event.error)
        if not self._leasing.skip_errors:
            self._end("an error elsewhere ended the query", event.error)

    def _handed_up(self, event: HandedUp, now: float, orders: list[Downward]) -> None:
        self._account.commit(event.sub, event.ranges)

    def _ended(self, event: Ended, now: float, orders: list[Downward]) -> None:
        self._groups[event.sub].ended = True

    def _tick(self, event: Tick, now: float, orders: list[Downward]) -> None:
        for sub in self._groups.neediest_first(now):
            self._help(sub, now, orders)

    def _stop(self, event: Stop, now: float, orders: list[Downward]) -> None:
        self._end(event.reason, None)

    # Leases.

    def _feed_all(self, now: float) -> list[Downward]:
        orders: list[Downward] = []
        for sub in self._groups.neediest_first(now):
            self._feed(sub, now, orders)
        return orders

    def _feed(self, sub: KnownSubmaster, now: float, orders: list[Downward]) -> None:
        if self._ending or not sub.workers:
            return
        wanted, mean = self._wanted(sub), self._extent.mean
        parts = self._pool.take(sub.site, wanted, mean, self._groups.rate_at)
        if parts:
            self._lease(sub, parts, now, orders)
        else:
            if not sub.told:
                orders.append(NothingLeft(sub.number))
            sub.told = True
            self._help(sub, now, orders)

    def _lease(
        self, sub: KnownSubmaster, parts: Sequence[Part], now: float, orders: list[Downward]
    ) -> None:
        for part in parts:
            self._account.lease(sub.number, part)
            # So much more than it had said, until it says so itself.
            sub.left += max(self._extent.mean, 1.0) if part.entries is None else part.entries
        sub.waiting = sub.told = False
        share, pool, later = self._groups.share(sub, len(self._expected)), self._pool, self._beyond
        beyond = Beyond(
            share * (pool.entries + later.entries), share * (pool.unknown + later.files)
        )
        orders.append(Grant(sub.number, tuple(parts), beyond))

    def _wanted(self, sub: KnownSubmaster) -> float:
        unknown = None if self._extent.mean else self._extent.unknown
        expected = len(self._expected)
        left = self.left + self._beyond.entries + self._beyond.files * self._extent.mean
        return self._groups.wanted(sub, self._leasing, left, unknown, expected)

    def _help(self, sub: KnownSubmaster, now: float, orders: list[Downward]) -> None:
        """Takes work back for a sub-master that has little left, from the one that has most."""
        surplus = self._groups.to_take_back(sub, now, self._leasing.worth)
        if surplus is None or self._ending:
            return
        rich, entries = surplus
        among = None
        if self._pool.restricted:
            its = self._account.files_of(rich.number)
            among = frozenset(file for file in its if self._pool.may_read(sub.site, file))
            if not among:
                return
        self._groups.helping(rich, sub.number)
        orders.append(TakeBack(rich.number, entries, among))

    # Entries, and the end.

    @property
    def _sites(self) -> set[str]:
        return {group.site for group in self._groups.values()} | self._expected

    def _enter(self, part: Part) -> None:
        self._extent.enter(part.entries)
        if part.stop != part.start:
            self._pool.add(part)

    def _give_up(self, part: Part, reason: str, error: BaseException | None) -> None:
        if part.stop is None:
            self._extent.leave(None)
        self._account.give_up(part, reason, error)

    def _give_up_out_of_reach(self, reason: str) -> None:
        if self._growing:
            return
        if not self._sites:
            if self._pool:
                self._end(reason, WorkerGone(f"no sub-master is left: {reason}"))
            return
        for part in self._pool.take_out_of_reach(self._sites):
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
            if not all(group.ended for group in self._groups.values()):
                return
        elif self._growing or self._pool or self._account.anything_leased:
            return
        self._over = True
        if not self._growing:
            leased = [part for sub in self._groups for part in self._account.lose(sub)]
            for part in [*self._pool.clear(), *leased]:
                self._account.give_up(part, self._reason or "", None)
        orders.append(Finish(self._error))


_REACTIONS: dict[type, Callable[[Lessor, Any, float, list[Downward]], None]] = {
    SubJoined: Lessor._joined,
    SubLost: Lessor._lost,
    NotComing: Lessor._not_coming,
    Standing: Lessor._stands,
    Asked: Lessor._asked,
    Opened: Lessor._opened,
    Returned: Lessor._returned,
    Failed: Lessor._failed,
    HandedUp: Lessor._handed_up,
    Ended: Lessor._ended,
    Tick: Lessor._tick,
    Stop: Lessor._stop,
}
