"""Whether a query takes more memory in one of Dask's worker processes than it may, and what the
process keeps between packets.

A process does not know which of its threads has taken what. So a query is measured while no other
one is at work in its process, from the least that the process has had since then. If others are at
work, and the process has grown by more than one of them may take, one after another is to have the
process for itself for a packet. What each took there explains its part of what the process takes
later: a query that needs little is not asked again because its neighbours need much.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from treemill import _core

from ..._system.memory import private_bytes
from ...frozen import frozen

__all__ = ["AtWork", "Kept", "LowWater", "Measured", "MemoryLimits", "Over", "Watched", "watch"]

_LOOK_SECONDS = 0.05
_CALM_SECONDS = 0.5
"""Between looks, if no query has a limit."""
_STEPS = 32
"""What a process keeps is told when it has changed by such a part of what it may have."""
_MOST_WORKED = 64
"""It is also told when so many queries have worked: a process may live through any number."""
_MEASURE_SECONDS = 60.0
"""Seconds after which a query that should have the process for itself, and has not done a packet
there alone, is taken for measured: another one's packet may never end."""


@frozen
class AtWork:
    """What a query does in a process, since the last look."""

    most: int | None = None
    """The most bytes that it may take; None: any number."""
    in_hand: int = 1
    """How many orders its workers carry out. It may have none: its merger has been at work."""
    done: int = 0
    """How many orders they have carried out so far."""
    is_over: bool = False
    """True if its pass has ended, and its workers have not heard of it."""


@frozen
class Over:
    """A query has taken more than it may; or (not `is_alone`) it is to have the process for itself,
    because it or another one has."""

    work: str
    taken: int
    is_alone: bool


@frozen
class Measured:
    """A query that was to have the process for itself need not any more."""

    work: str


@frozen
class Kept:
    """The process keeps so many bytes between packets."""

    keeps: int
    worked: tuple[str, ...]
    """The queries that were at work since this was found last; none: it is found first."""


@dataclass(eq=False, slots=True)
class _Here:
    """A query that has been at work here."""

    least: int
    """The least that the process has had since; its own part is no more than what came on top."""
    taken: int | None = None
    """The most that it has taken alone; None: it has done no packet alone."""
    asked: int = 0
    """How often it was to have the process for itself once more."""


@dataclass(eq=False, slots=True)
class _Alone:
    """The time in which one query alone is at work."""

    work: str
    least: int
    until: int
    """The orders that it will have carried out once those that it had at first are done."""
    taken: int = 0


class MemoryLimits:
    """What the queries of one process take. Pure.

    >>> limits = MemoryLimits()
    >>> limits.look(100, {"mine": AtWork(500)}, 0.0), limits.look(900, {"mine": AtWork(500)}, 0.1)
    (None, Over(work='mine', taken=800, is_alone=True))
    """

    def __init__(self) -> None:
        self._here: dict[str, _Here] = {}
        self._alone: _Alone | None = None
        self._asked: tuple[str, float] | None = None  # who is to be alone, since when

    def end(self, work: str) -> None:
        """A query has no part in this process any more."""
        self._here.pop(work, None)
        if self._alone is not None and self._alone.work == work:
            self._alone = None
        if self._asked is not None and self._asked[0] == work:
            self._asked = None

    @property
    def works(self) -> set[str]:
        """The queries that have been at work here, and have not ended."""
        return set(self._here)

    def look(
        self, private: int, at_work: Mapping[str, AtWork], now: float
    ) -> Over | Measured | None:
        """A look at the process, which has so many private bytes. `at_work`: the queries that have
        been at work since the last look. Returns what follows for one of them."""
        for work in at_work:
            self._here.setdefault(work, _Here(private))
        for each in self._here.values():
            each.least = min(each.least, private)
        # What others have left behind is not this one's: it begins when they have gone. Between its
        # packets it keeps what it has.
        if self._alone is not None and at_work.keys() - {self._alone.work}:
            self._alone = None
        if len(at_work) == 1:
            ((work, doing),) = at_work.items()
            return self._look_at_one(work, doing, private) or self._waited_for(now)
        return self._waited_for(now) or self._look_at_many(private, at_work, now)

    def _look_at_one(self, work: str, doing: AtWork, private: int) -> Over | Measured | None:
        alone, here = self._alone, self._here[work]
        if alone is None:
            alone = self._alone = _Alone(work, private, doing.done + doing.in_hand)
        alone.least = min(alone.least, private)
        taken = private - alone.least
        alone.taken = max(alone.taken, taken)
        if doing.most is not None and taken > doing.most:
            return Over(work, taken, is_alone=True)
        if doing.done <= alone.until:
            return None
        here.taken = max(here.taken or 0, alone.taken)
        return self._measured() if self._asked is not None and self._asked[0] == work else None

    def _measured(self) -> Measured | None:
        if self._asked is None:
            return None
        (work, _), self._asked = self._asked, None
        return Measured(work)

    def _waited_for(self, now: float) -> Measured | None:
        if self._asked is None or now - self._asked[1] <= _MEASURE_SECONDS:
            return None
        here = self._here[self._asked[0]]
        here.taken = here.taken or 0
        return self._measured()

    def _look_at_many(self, private: int, at_work: Mapping[str, AtWork], now: float) -> Over | None:
        """Which of several is to be alone, if one of them may have taken too much."""
        if self._asked is not None:
            return None
        over = [
            work for work, doing in at_work.items() if self._may_be_over(work, doing.most, private)
        ]
        if not over:
            return None
        # The process has grown since the newest one came: it is asked first.
        newest = [work for work in reversed(self._here) if work in at_work]
        unknown = [
            work for work in newest if self._here[work].taken is None and not at_work[work].is_over
        ]
        wanted = [work for work in unknown if work in over] or unknown
        ask = wanted[0] if wanted else min(over, key=lambda work: self._here[work].asked)
        self._here[ask].asked += self._here[ask].taken is not None
        self._asked = ask, now
        return Over(ask, private - self._here[ask].least, is_alone=False)

    def _may_be_over(self, work: str, most: int | None, private: int) -> bool:
        here = self._here[work]
        taken = private - here.least
        if most is None or taken <= most:
            return False
        # One that was alone, and took no more than it may, is asked again only if what others took
        # alone does not explain this.
        others = sum(each.taken or 0 for each in self._here.values()) - (here.taken or 0)
        return here.taken is None or taken - others > most * (1 + here.asked)


class LowWater:
    """What a process keeps between packets: the least that it has until all packets that were in
    hand are done, and so on. Pure.

    >>> low = LowWater(limit=3200)
    >>> low.look(500, {}).keeps, low.look(900, {"mine": AtWork(in_hand=1, done=0)})
    (500, None)
    >>> low.look(1100, {"mine": AtWork(in_hand=1, done=0)})  # the same packet
    >>> low.look(700, {"mine": AtWork(in_hand=1, done=1)})
    Kept(keeps=700, worked=('mine',))
    """

    def __init__(self, limit: int) -> None:
        """`limit`: the most bytes that the process may have."""
        self._step = max(limit // _STEPS, 1)
        self._told: int | None = None
        self._worked: dict[str, None] = {}
        self._least = 0
        self._until: dict[str, int] = {}
        """The orders that each query will have carried out once those in hand are done."""

    def look(self, private: int, at_work: Mapping[str, AtWork]) -> Kept | None:
        """A look at the process, as that of MemoryLimits. Returns what is new."""
        if self._told is None:
            self._told = self._least = private
            return Kept(private, ())
        self._worked |= dict.fromkeys(at_work)
        self._least = min(self._least, private)
        if any(work in at_work and at_work[work].done < end for work, end in self._until.items()):
            return None
        keeps, self._least = self._least, private
        self._until = {work: doing.done + doing.in_hand for work, doing in at_work.items()}
        are_many = len(self._worked) >= _MOST_WORKED
        if not self._worked or not (are_many or abs(keeps - self._told) >= self._step):
            return None
        worked, self._worked, self._told = tuple(self._worked), {}, keeps
        return Kept(keeps, worked)


class Watched(Protocol):
    """Whose memory is looked at."""

    low_water: LowWater | None
    """What finds what the process keeps; None: nobody asks."""
    looks: threading.Event
    """Is set if there should be a look at once."""

    @property
    def has_limits(self) -> bool:
        """True if some query may take so many bytes only."""

    def at_work(self) -> Mapping[str, AtWork] | None:
        """What the queries have done since the last look. None ends the looks."""

    def has_ended(self, work: str, /) -> bool:
        """True if a query has no part in the process any more."""

    def tell_memory(self, found: Over | Measured | Kept, /) -> None:
        """Something was found."""


def watch(process: Watched) -> None:
    """Looks at this process now and then on a thread of its own."""

    def look() -> None:
        limits = MemoryLimits()
        while True:
            process.looks.clear()
            # The columns that the process keeps are for all queries, and have a limit of their own.
            private = max(private_bytes() - _core.cache_held(), 0)
            # Who is at work is asked later: one that begins in between has taken nothing of that,
            # and one that had begun is never left out, however long this thread has to wait.
            there = process.at_work()
            if there is None:
                return
            for work in limits.works - there.keys():
                if process.has_ended(work):
                    limits.end(work)
            low = process.low_water
            for found in (
                limits.look(private, there, time.monotonic()),
                None if low is None else low.look(private, there),
            ):
                if found is not None:
                    process.tell_memory(found)
            process.looks.wait(_LOOK_SECONDS if process.has_limits else _CALM_SECONDS)

    threading.Thread(target=look, name="treemill-memory", daemon=True).start()
