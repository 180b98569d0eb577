"""A lessor whose sub-masters keep what they have merged, until it is fetched: what a lost
sub-master had merged is leased again with the rest of what it had. One that will go resigns: what
it has not done is leased to others, and what it keeps may become another one's. Pure, as the lessor
is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence, Set

from . import Coverage, FileSize, Range, joined
from .account import Done, LeaseAccount
from .groups import KnownSubmaster
from .leasing import Leasing
from .lessor import Lessor
from .messages import Downward, Ended, LessorEvent, Part, Resign, SubLost
from .unleased_parts import Reach

__all__ = ["KeepingAccount", "KeepingLessor"]


class KeepingAccount(LeaseAccount):
    """An account in which what is handed up is still the sub-master's, until it is collected."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: dict[int, dict[int, list[Range]]] = {}  # by sub-master and file
        self.kept_entries = 0

    @property
    def anything_leased(self) -> bool:
        """True if any sub-master has anything: also what it keeps."""
        return bool(self._kept) or super().anything_leased

    @property
    def only_kept(self) -> bool:
        """True if sub-masters keep something, and have nothing to do."""
        return bool(self._kept) and not super().anything_leased

    @property
    def keepers(self) -> list[int]:
        """The sub-masters that keep something."""
        return sorted(self._kept)

    def leased(self) -> Iterator[Part]:
        """Returns all parts that are leased or kept."""
        yield from super().leased()
        for sub in self._kept:
            yield from self._kept_by(sub)

    def _kept_by(self, sub: int) -> Iterator[Part]:
        for file, ranges in self._kept.get(sub, {}).items():
            yield from (self.part(file, start, stop) for start, stop in joined(ranges))

    def commit(self, sub: int, ranges: tuple[tuple[int, int, int], ...]) -> None:
        """Notes that the sub-master keeps ranges that were leased to it, merged."""
        for file, start, stop in ranges:
            self.take(sub, Part(file, start, stop))
            self._kept.setdefault(sub, {}).setdefault(file, []).append((start, stop))
            self.kept_entries += stop - start

    def collect(self, sub: int) -> None:
        """Notes that what the sub-master keeps is in the result."""
        for file, ranges in self._kept.pop(sub, {}).items():
            self._committed[file] += ranges
            entries = sum(stop - start for start, stop in ranges)
            self.kept_entries -= entries
            self.committed_entries += entries

    def lose(self, sub: int) -> list[Part]:
        """Takes all from a sub-master, also what it keeps."""
        kept = list(self._kept_by(sub))
        self._kept.pop(sub, None)
        self.kept_entries -= sum((part.stop or 0) - part.start for part in kept)
        return [*super().lose(sub), *kept]

    def lose_leased(self, sub: int) -> list[Part]:
        """Takes from a sub-master what it has to do, and leaves it what it keeps."""
        return super().lose(sub)

    def bequeath(self, giver: int, to: int) -> None:
        """Notes that what one keeps is kept by another one."""
        for file, ranges in self._kept.pop(giver, {}).items():
            self._kept.setdefault(to, {}).setdefault(file, []).extend(ranges)

    def with_kept(self) -> Coverage:
        """Returns what is in the result or kept, and what is given up."""
        coverage = self.coverage()
        processed = {file: list(ranges) for file, ranges in coverage.processed.items()}
        for files in self._kept.values():
            for file, ranges in files.items():
                processed.setdefault(file, []).extend(ranges)
        each = {file: joined(processed[file]) for file in sorted(processed)}
        return Coverage(each, coverage.missing)


class KeepingLessor(Lessor):
    """See Lessor. It is over when all that sub-masters have kept was collected."""

    _account: KeepingAccount
    _new_account = KeepingAccount

    def __init__(
        self,
        files: Sequence[FileSize | None],
        leasing: Leasing | None = None,
        *,
        reach: Callable[[int], Reach] | None = None,
        expected: Collection[str] = (),
        done: Done | None = None,
    ) -> None:
        """Takes what `Lessor` takes."""
        super().__init__(files, leasing, reach=reach, expected=expected, done=done)
        self._resigning: set[int] = set()

    @property
    def keepers(self) -> list[int]:
        """The sub-masters that keep something."""
        return self._account.keepers

    @property
    def only_kept(self) -> bool:
        """True if all that is not in the result is kept by sub-masters, none of which has anything
        to do."""
        if self.over or not self._account.keepers:
            return False
        if self._ending:
            return all(group.ended for group in self._groups.values())
        return self._account.only_kept and not self._pool

    @property
    def done_entries(self) -> int:
        """Entries in the result, or kept."""
        return self._account.committed_entries + self._account.kept_entries

    def coverage(self, kept: bool = False) -> Coverage:
        """Returns which entries are in the result (`kept`: or kept), which are not, and why."""
        return self._account.with_kept() if kept else self._account.coverage()

    def moved(self, files: Set[int]) -> None:
        """Notes that `reach` gives something else for these files."""
        if files:
            self._pool.move(files)

    def coming(self, site: str) -> None:
        """Notes that a sub-master of this site is to be expected: the query waits for it."""
        self._expected.add(site)

    def resign(self, sub: int) -> list[Downward]:
        """The sub-master will go. Returns the orders to carry out; it answers with Ended."""
        if self._over or self._ending or sub not in self._groups or sub in self._resigning:
            return []
        self._resigning.add(sub)
        return [Resign(sub)]

    def has_resigned(self, sub: int) -> bool:
        """True if it has ended, so that it only keeps what it has merged."""
        return sub in self._resigning and sub in self._groups and self._groups[sub].ended

    def bequeath(self, giver: int, to: int) -> list[Downward]:
        """Notes that what the first one, which has resigned, has kept is merged into what the other
        one keeps. Returns the orders to carry out."""
        if not self.has_resigned(giver) or to not in self._groups:
            raise RuntimeError(f"sub-master {giver} has nothing to leave to {to}")
        self._account.bequeath(giver, to)
        del self._groups[giver]
        self._resigning.discard(giver)
        orders: list[Downward] = []
        self._finish_if_over(orders)
        return orders

    def handle(self, event: LessorEvent, now: float) -> list[Downward]:
        """See Lessor."""
        orders = super().handle(event, now)
        if isinstance(event, Ended) and self.has_resigned(event.sub) and not self._ending:
            group = self._groups[event.sub]
            group.workers, group.rate, group.left, group.waiting = 0, 0.0, 0.0, False
            self._groups.helped(group)
            for part in self._account.lose_leased(event.sub):
                self._pool.add(part)
            orders += self._feed_all(now)
        elif isinstance(event, SubLost):
            self._resigning.discard(event.sub)
        return orders

    def _feed(self, sub: KnownSubmaster, now: float, orders: list[Downward]) -> None:
        if sub.number not in self._resigning:
            super()._feed(sub, now, orders)

    def _lease(
        self, sub: KnownSubmaster, parts: Sequence[Part], now: float, orders: list[Downward]
    ) -> None:
        if sub.number not in self._resigning:
            super()._lease(sub, parts, now, orders)
            return
        for part in parts:
            self._pool.add(part)
        orders += self._feed_all(now)

    def collect(self, subs: Collection[int]) -> list[Downward]:
        """Notes that what these sub-masters have kept is in the result. Returns the orders to carry
        out."""
        for sub in subs:
            self._account.collect(sub)
        orders: list[Downward] = []
        self._finish_if_over(orders)
        return orders

    def give_up_all(self, reason: str) -> None:
        """Notes that nothing more will come into the result."""
        self._over = True
        lost = [part for sub in list(self._groups) for part in self._account.lose(sub)]
        for part in [*self._pool.clear(), *lost]:
            self._account.give_up(part, reason, None)

    def _finish_if_over(self, orders: list[Downward]) -> None:
        if self._over or (self._ending and self._account.keepers):
            return
        super()._finish_if_over(orders)
