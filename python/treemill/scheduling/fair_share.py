"""What users and their queries may have of a cluster's threads, and what they have had: the rules
of the operator, the accounts in thread-seconds, and whether one deserves a turn of another.
turns.py gives the turns.

Pure: no clock, no thread.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ..frozen import frozen

__all__ = [
    "PATIENCE",
    "QUANTUM",
    "Demand",
    "Query",
    "Rules",
    "Share",
    "Turn",
    "User",
    "UserRule",
    "Users",
]

QUANTUM = 0.5
"""Seconds for which a turn lasts at least, if its worker has something to do."""
LATE = 1.0
"""Seconds after which a thread is lent to another query if the worker that has it was told to rest
and is in its packet still. Each thread is lent once."""
PATIENCE = 5.0
"""Seconds for which one that wants threads has none, at least, before it gets one although it has
had more than others."""


@frozen
class UserRule:
    """What the operator grants a user."""

    weight: float = 1.0
    """The user's share, in proportion to those of others that want threads, too."""
    priority: int = 0
    """Users of a higher priority get all that they want first."""
    threads: int | None = None
    """The most threads at once; None: no limit."""
    processes: int | None = None
    """The most processes at once in which the user has threads. One that a query has for itself,
    because it has to be alone, does not count. None: no limit."""
    queries: int | None = None
    """The most queries at once: later ones wait until an earlier one is done. None: no limit."""


@frozen
class Rules:
    """How the operator wants threads to be divided."""

    users: Mapping[str, UserRule] = field(default_factory=dict)
    """The rules of those users that have their own, by name."""
    others: UserRule = field(default_factory=UserRule)
    """The rule of each other user."""
    queries: int | None = None
    """The most queries of all users at once; None: no limit."""
    memory: int | None = None
    """The most bytes that a query may take in each process; None: no limit."""

    def least_memory(self, wanted: int | None) -> int | None:
        """The most bytes that a query may take for which the user wants this limit.

        >>> Rules(memory=100).least_memory(50), Rules(memory=100).least_memory(None)
        (50, 100)
        """
        limits = [each for each in (wanted, self.memory) if each is not None]
        return min(limits, default=None)

    def of(self, user: str) -> UserRule:
        """The rule of this user: `name@host`, or `name` on any host."""
        for name in (user, user.partition("@")[0]):
            if name in self.users:
                return self.users[name]
        return self.others


class Demand(Protocol):
    """What a query says of itself when it is asked."""

    @property
    def wants_workers(self) -> bool:
        """True if there is work now for a worker more."""

    @property
    def seconds_left(self) -> float:
        """How long its workers will take for what none of them has yet; infinity: not known."""

    def is_idle(self, worker: int, /) -> bool:
        """True if this worker of it, which has a turn, has nothing to do."""

    def is_starting(self, worker: int, /) -> bool:
        """True if this worker of it is not started yet: its process loads the code first."""


@dataclass(eq=False, slots=True)
class Share:
    """What a user, or one of a user's queries, has had, in thread-seconds, and has now."""

    weight: float
    had: float = 0.0
    turns: int = 0
    """Turns that it has, those that were withdrawn and are not over included."""
    loading: int = 0  # of these turns, which are not charged yet
    since: float = 0.0  # `had` is of then
    withdrawn: int = 0  # of these turns
    coming: int = 0  # turns that were withdrawn from others for it
    is_waiting: bool = False  # whether it wants more than it has
    since_none: float = math.inf  # since when it wants some and has none
    overtime: float = 0.0  # for which its last turn went on after it was withdrawn
    due: float = math.inf  # since when it has waited for too long

    def count(self, now: float) -> None:
        """Counts what it has had until now."""
        self.had += (self.turns - self.loading) * (now - self.since) / self.weight
        self.since = now

    def wait(self, now: float, parts: float) -> None:
        """Counts for how long it wants threads and has none. `parts`: of the threads, one of so
        many would be its own.

        If it has had more than others, it gets a turn at last: but no sooner than its part would
        allow for one as long as its last one. So it makes up for what it has had, if more slowly.
        """
        if self.turns or not self.is_waiting:
            self.since_none = math.inf
        else:
            self.since_none = min(self.since_none, now)
        patience = max(PATIENCE, (QUANTUM + self.overtime) * parts)
        due = self.since_none + patience
        self.due = due if due <= now else math.inf

    @property
    def starved(self) -> float:
        """Since when it has waited for too long: then it gets the next turn, whatever it has had;
        else infinity."""
        return math.inf if self.held else self.due

    @property
    def held(self) -> int:
        """The turns that it will have, once all that was withdrawn is over."""
        return self.turns - self.withdrawn + self.coming

    def cost(self, more: int = 0) -> float:
        """What it will have had for its weight, soon, with so many turns more."""
        return self.had + (self.held + more) * QUANTUM / self.weight


@dataclass(eq=False, slots=True)
class User:
    """A user with the queries that there are."""

    rule: UserRule
    share: Share
    queries: dict[str, Query] = field(default_factory=dict)

    @property
    def has_all(self) -> bool:
        """True if the user has as many threads as the operator allows."""
        return self.rule.threads is not None and self.share.held >= self.rule.threads

    def turns(self) -> Iterator[Turn]:
        """The turns that the user has and keeps, but those of queries that are alone."""
        for query in self.queries.values():
            if query.most is None:
                yield from (turn for turn in query.turns.values() if turn.withdrawn is None)


@dataclass(eq=False, slots=True)
class Turn:
    """One thread of one process, for one worker of a query."""

    query: Query
    process: str
    worker: int
    since: float
    is_loading: bool = False  # its process loads the code, and that is not charged
    withdrawn: float | None = None  # when
    to: Query | None = None  # for which other query

    def is_late(self, now: float) -> bool:
        """True if its worker should have rested long ago."""
        return self.withdrawn is not None and now - self.withdrawn >= LATE


@dataclass(eq=False, slots=True)
class Query:
    """A query with its workers, and what it has had."""

    name: str
    user: User
    demand: Demand
    number: int  # in the order in which they began
    share: Share
    waiting: dict[str, dict[int, None]] = field(default_factory=dict)
    """Its workers without a turn, by process, in the order in which they came."""
    turns: dict[int, Turn] = field(default_factory=dict)
    most: int | None = None
    """The most turns at once, in one process of its own; None: it need not be alone."""
    home: str | None = None
    """That process, once there is one."""
    wanted_home: str | None = None
    """The process that is to be its own, if it matters which."""
    alone_since: float = math.inf
    alone_for: float = math.inf
    """Seconds after which it need not be alone, if it has lost no worker in them."""

    @property
    def shares(self) -> tuple[Share, Share]:
        """The accounts on which its turns count."""
        return self.user.share, self.share

    @property
    def has_part(self) -> bool:
        """True if it has threads, or wants some."""
        return bool(self.turns) or self.demand.wants_workers

    def deserves(self, other: Query) -> bool:
        """Whether a turn of the other query is to be this one's: with it this one has not more than
        the other one has now, or it has waited for too long."""
        if self.user is other.user:
            return self.share.starved < math.inf or self.share.cost(1) <= other.share.cost()
        mine, theirs = self.user.rule.priority, other.user.rule.priority
        if mine != theirs:
            return mine > theirs
        is_mine = self.user.share.starved < math.inf
        return is_mine or self.user.share.cost(1) <= other.user.share.cost()


class Users(dict[str, User]):
    """The users that have queries, or have had more than others, by name."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self._rules = rules

    def begin(self, name: str, now: float) -> User:
        """The user, who begins a query."""
        known = self.get(name)
        if known is None:
            rule = self._rules.of(name)
            known = self[name] = User(rule, Share(rule.weight, since=now))
        return known

    def count(self, now: float, threads: int) -> None:
        """Counts what all have had, lets those that have begun to wait catch up, and finds those
        that have waited for too long. `threads`: of all processes."""
        waiting = {}
        for name, user in self.items():
            user.share.count(now)
            waits = {}
            for query in user.queries.values():
                query.share.count(now)
                waits[query.share] = bool(query.waiting) and query.demand.wants_workers
            _catch_up(waits)
            waiting[name] = any(waits.values()) and not user.has_all
        _catch_up({self[name].share: waits for name, waits in waiting.items()})
        weights = sum(user.rule.weight for name, user in self.items() if waiting[name])
        for user in self.values():
            parts = weights / user.rule.weight / max(threads, 1)
            user.share.wait(now, parts)
            for query in user.queries.values():
                query.share.wait(now, parts * len(user.queries))

    def forget(self) -> None:
        """Forgets users without queries, but those that have had more than others have."""
        there = [user.share.had for user in self.values() if user.queries]
        least = min(there, default=math.inf)
        for name, user in list(self.items()):
            if not user.queries and user.share.had <= least:
                del self[name]

    def part(self, name: str) -> float:
        """The part of all threads that a query which this user begins now may expect: all of them
        if no other query is there that has or wants some."""
        weights = {
            each: user.rule.weight
            for each, user in self.items()
            if any(query.has_part for query in user.queries.values())
        }
        weights[name] = self._rules.of(name).weight
        mine = self[name].queries.values() if name in self else ()
        queries = 1 + sum(query.has_part for query in mine)
        return weights[name] / sum(weights.values()) / queries

    def places(self, queries: Collection[Query]) -> set[str] | None:
        """Those of all queries that may run now, if there are limits; None: all."""
        most = self._rules.queries
        if most is None and all(user.rule.queries is None for user in self.values()):
            return None
        order = sorted(
            queries, key=lambda each: (not each.turns, -each.user.rule.priority, each.number)
        )
        places: set[str] = set()
        of_users: dict[int, int] = {}
        for query in order:
            mine, limit = of_users.get(id(query.user), 0), query.user.rule.queries
            if (most is None or len(places) < most) and (limit is None or mine < limit):
                places.add(query.name)
                of_users[id(query.user)] = mine + 1
        return places


def _catch_up(shares: Mapping[Share, bool]) -> None:
    """Those that begin to wait have had as much as the one that has had least of those that wait
    longer, or, if none does, of those that have a turn. `shares`: whether each waits now."""
    longer = [share.had for share, waits in shares.items() if waits and share.is_waiting]
    having = [share.had for share, waits in shares.items() if share.turns and not waits]
    floor = min(longer or having, default=0.0)
    for share, waits in shares.items():
        if waits and not share.is_waiting:
            share.had = max(share.had, floor)
        share.is_waiting = waits
