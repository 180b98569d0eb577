"""Who gets which thread of which process next, if several queries share them: threads are divided
among users, then among a user's queries, by weight.

A turn is one thread of one process for one worker of a query. A query that is alone has all turns
and keeps them. If others want some, turns are taken back from those that have had most for their
weight: the worker rests after its packet, and the thread is another one's. What users and queries
have had is counted in thread-seconds. One that wants nothing for a while gains nothing by that: it
begins again with as much as the one that has had least of those that wait.

A query may have to run alone, because it is not known whether workers die of it: then one process
is its own, and it has no turn in any other.

Pure: no clock, no thread; the caller gives the time, and carries out what is decided.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ..frozen import frozen

__all__ = ["Demand", "Grant", "Rules", "Turns", "UserRule", "Withdraw"]

QUANTUM = 0.5
"""Seconds for which a turn lasts at least, if its worker has something to do."""
ENDING = 2.0
"""Seconds for which a turn lasts if the rest of its query takes less than `QUANTUM`: a short query
that had to wait for the turn of its last packet would take several times as long."""
STARTING = 10.0
"""Seconds for which a worker that has a turn may load what it needs, before the turn counts as
begun. A turn that was taken away meanwhile would have loaded it for nothing."""
LATE = 1.0
"""Seconds after which a thread is lent to another query if the worker that has it was told to rest
and is in its packet still. Each thread is lent once."""
ALONE = 60.0
"""Seconds after which a query that runs alone, and has lost no worker, need not do so any more."""


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
        """True if this worker of it, which has a turn, is not started yet."""


@frozen
class Grant:
    """The worker of the query gets a turn: it may work."""

    query: str
    worker: int


@frozen
class Withdraw:
    """The worker is to rest after its packet. `Turns.returned` is to be told when it does."""

    query: str
    worker: int


@dataclass(eq=False, slots=True)
class _Share:
    """What a user, or one of a user's queries, has had, in thread-seconds, and has now."""

    weight: float
    had: float = 0.0
    turns: int = 0
    """Turns that it has, those that were withdrawn and are not over included."""
    since: float = 0.0  # `had` is of then
    withdrawn: int = 0  # of these turns
    coming: int = 0  # turns that were withdrawn from others for it
    is_waiting: bool = False  # whether it wants more than it has

    def count(self, now: float) -> None:
        """Counts what it has had until now."""
        self.had += self.turns * (now - self.since) / self.weight
        self.since = now

    @property
    def held(self) -> int:
        """The turns that it will have, once all that was withdrawn is over."""
        return self.turns - self.withdrawn + self.coming

    def cost(self, more: int = 0) -> float:
        """What it will have had for its weight, soon, with so many turns more."""
        return self.had + (self.held + more) * QUANTUM / self.weight


@dataclass(eq=False, slots=True)
class _User:
    rule: UserRule
    share: _Share
    queries: dict[str, _Query] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class _Turn:
    query: _Query
    process: str
    worker: int
    since: float
    withdrawn: float | None = None  # when
    to: _Query | None = None  # for which other query


@dataclass(eq=False, slots=True)
class _Query:
    name: str
    user: _User
    demand: Demand
    number: int  # in the order in which they began
    share: _Share
    waiting: dict[str, dict[int, None]] = field(default_factory=dict)
    """Its workers without a turn, by process, in the order in which they came."""
    turns: dict[int, _Turn] = field(default_factory=dict)
    most: int | None = None
    """The most turns at once, in one process of its own; None: it need not be alone."""
    home: str | None = None
    """That process, once there is one."""
    wanted_home: str | None = None
    """The process that is to be its own, if it matters which."""
    alone_since: float = math.inf

    @property
    def shares(self) -> tuple[_Share, _Share]:
        return self.user.share, self.share


@dataclass(eq=False, slots=True)
class _Process:
    threads: int
    turns: dict[tuple[str, int], _Turn] = field(default_factory=dict)
    owner: _Query | None = None
    """The query that has it for itself."""


class Turns:
    """The turns of all queries. `decide` gives what is to be done; all else tells what has
    happened. Not thread-safe."""

    def __init__(self, rules: Rules | None = None) -> None:
        self.rules = rules or Rules()
        self._processes: dict[str, _Process] = {}
        self._users: dict[str, _User] = {}
        self._queries: dict[str, _Query] = {}
        self._begun = 0
        self._now = 0.0
        self._is_unfair = False  # whether some query should have a turn that another one has
        self._withdrawn: set[_Turn] = set()
        self._changed: set[str] = set()  # processes where something may be granted
        self._actions: list[Grant | Withdraw] = []

    # What happens.

    def add(self, process: str, threads: int) -> None:
        """A process is there."""
        self._processes.setdefault(process, _Process(threads)).threads = threads

    def remove(self, process: str, now: float) -> None:
        """A process is gone, with all turns in it."""
        gone = self._processes.get(process)
        if gone is None:
            return
        for turn in list(gone.turns.values()):
            self._end(turn, now)
        if gone.owner is not None:
            gone.owner.home = None
            self._changed.update(gone.owner.waiting)
        for query in self._queries.values():
            query.waiting.pop(process, None)
        del self._processes[process]
        self._changed.discard(process)

    def begin(self, query: str, user: str, demand: Demand, now: float) -> None:
        """A query of a user begins."""
        owner = self._users.get(user)
        if owner is None:
            rule = self.rules.of(user)
            owner = self._users[user] = _User(rule, _Share(rule.weight, since=now))
        self._begun += 1
        made = _Query(query, owner, demand, self._begun, _Share(1.0, since=now))
        self._queries[query] = owner.queries[query] = made

    def end(self, query: str, now: float) -> None:
        """A query is over, or has no workers any more."""
        ended = self._queries.pop(query, None)
        if ended is None:
            return
        for turn in list(ended.turns.values()):
            self._end(turn, now)
        self._move_out(ended)
        del ended.user.queries[query]
        self._count(now)
        self._forget_users()
        self._changed.update(self._processes)  # those that wait for a place may begin

    def wait(self, query: str, process: str, worker: int) -> None:
        """A worker of a query is there, in this process, and has no turn."""
        known = self._queries.get(query)
        if known is not None and process in self._processes:
            known.waiting.setdefault(process, {})[worker] = None
            self._changed.add(process)

    def gone(self, query: str, worker: int, now: float) -> None:
        """A worker of a query is there no more."""
        known = self._queries.get(query)
        if known is None:
            return
        if worker in known.turns:
            self._end(known.turns[worker], now)
        for process, waiting in list(known.waiting.items()):
            waiting.pop(worker, None)
            if not waiting:
                del known.waiting[process]

    def started(self, query: str, worker: int, now: float) -> None:
        """A worker that has a turn can work only from now on."""
        known = self._queries.get(query)
        if known is not None and worker in known.turns:
            known.turns[worker].since = now

    def returned(self, query: str, worker: int, now: float) -> None:
        """A worker whose turn was withdrawn rests."""
        known = self._queries.get(query)
        turn = None if known is None else known.turns.get(worker)
        if turn is not None and turn.withdrawn is not None:
            self._end(turn, now)
            self.wait(query, turn.process, worker)

    def touch(self, process: str) -> None:
        """Something else has happened in a process that may be of matter: a worker is idle, or a
        query has work again. Does nothing if no query waits for a turn there."""
        here = self._processes.get(process)
        if (
            here is not None
            and any(process in query.waiting for query in self._queries.values())
            and (here.owner is not None or self._has_spare(here))
        ):
            self._changed.add(process)

    def wants_again(self, query: str) -> None:
        """A query that had work for no more workers has some now."""
        known = self._queries.get(query)
        if known is not None:
            self._changed.update(known.waiting)

    def isolate(self, query: str, most: int | None, now: float, home: str | None = None) -> None:
        """The query is to run alone in one process, with at most so many turns; None: not any
        more. `home`: in this process, if no other query has it for itself."""
        known = self._queries.get(query)
        if known is None or known.most == most:
            return
        if most is None:
            self._move_out(known)
        known.most, known.wanted_home = most, home
        self._changed.update(self._processes)

    def has_owner(self, process: str) -> bool:
        """True if a query has the process for itself."""
        here = self._processes.get(process)
        return here is not None and here.owner is not None

    def is_alone(self, query: str) -> bool:
        """True if the query has to run alone."""
        known = self._queries.get(query)
        return known is not None and known.most is not None

    def share(self, user: str) -> float:
        """The share of all threads that a query which this user begins now may expect: all of them
        if no other query is there that has or wants some."""
        weights = {
            name: each.rule.weight
            for name, each in self._users.items()
            if any(_has_part(query) for query in each.queries.values())
        }
        weights[user] = self.rules.of(user).weight
        mine = self._users[user].queries.values() if user in self._users else ()
        queries = 1 + sum(_has_part(query) for query in mine)
        return weights[user] / sum(weights.values()) / queries

    # What is to be done.

    def decide(self, now: float, everywhere: bool = False) -> list[Grant | Withdraw]:
        """Returns what is to be done now. `everywhere`: not only where something has happened; to
        be asked about every half second."""
        if everywhere:
            self._end_isolations(now)
            self._changed.update(turn.process for turn in self._withdrawn if _is_late(turn, now))
        if not self._changed and not (everywhere and len(self._queries) > 1):
            return []
        self._now = now
        self._count(now)
        self._is_unfair = any(
            _deserves(query, other)
            for query in self._queries.values()
            if query.share.is_waiting
            for other in self._queries.values()
            if other is not query and len(other.turns) > other.share.withdrawn
        )
        if everywhere and self._is_unfair:
            waited = (query.waiting for query in self._queries.values())
            self._changed.update(process for waiting in waited for process in waiting)
        self._find_homes(now)
        self._keep_to_processes(now)
        changed, self._changed = self._changed, set()
        for process in sorted(changed & self._processes.keys()):
            self._decide_in(process, now)
        actions, self._actions = self._actions, []
        return actions

    def _count(self, now: float) -> None:
        """Counts what all have had, and lets those that have begun to wait catch up."""
        for user in self._users.values():
            user.share.count(now)
            for query in user.queries.values():
                query.share.count(now)
        queries = self._queries.values()
        waits = {q.name: bool(q.waiting) and q.demand.wants_workers for q in queries}
        for user in self._users.values():
            shares = {query.share: waits[query.name] for query in user.queries.values()}
            _catch_up(shares)
        _catch_up({u.share: any(waits[name] for name in u.queries) for u in self._users.values()})

    def _forget_users(self) -> None:
        """Forgets users without queries, but those that have had more than others have."""
        there = [user.share.had for user in self._users.values() if user.queries]
        least = min(there, default=math.inf)
        self._users = {
            name: user
            for name, user in self._users.items()
            if user.queries or user.share.had > least
        }

    def _decide_in(self, process: str, now: float) -> None:
        here = self._processes[process]
        if not (self._is_unfair or here.owner is not None or self._has_spare(here)):
            return
        while any(self._give(query, process, now) for query in self._next(process)):
            pass

    def _give(self, query: _Query, process: str, now: float) -> bool:
        """Gives the query a turn, or takes one from another query for it. False if it is not its
        time."""
        here = self._processes[process]
        if self._has_room(here, query):
            self._grant(query, process, next(iter(query.waiting[process])), now)
            return True
        if not query.demand.wants_workers or not self._may_take(query, process, here):
            return False
        turn = self._to_withdraw(here, query, now)
        if turn is not None:
            self._withdraw(turn, query, now)
        return turn is not None

    def _next(self, process: str) -> list[_Query]:
        """The queries that may have the next turn in a process, the first one first."""
        here, places = self._processes[process], self._places()
        return sorted(
            (each for each in self._queries.values() if self._may(each, process, here, places)),
            key=lambda query: (
                not query.demand.wants_workers,
                -query.user.rule.priority,
                query.user.share.cost(),
                query.share.cost(),
                query.number,
            ),
        )

    def _may(self, query: _Query, process: str, here: _Process, places: set[str] | None) -> bool:
        if process not in query.waiting:
            return False
        if places is not None and query.name not in places:
            return False
        if here.owner is not None and here.owner is not query:
            return False
        limit = query.user.rule.threads
        share = query.user.share
        if limit is not None and share.held - share.coming >= limit:
            return False
        if query.most is None:
            return self._may_be_in(query.user, process)
        held = sum(turn.withdrawn is None for turn in query.turns.values())
        return here.owner is query and held < query.most

    def _may_take(self, query: _Query, process: str, here: _Process) -> bool:
        """Whether one more turn of others may be withdrawn for the query."""
        limit = query.user.rule.threads
        if limit is not None and query.user.share.held >= limit:
            return False
        if here.owner is not query and not self._may_be_in(query.user, process):
            return False
        coming = sum(turn.to is query for turn in here.turns.values())
        return coming < len(query.waiting[process])

    def _may_be_in(self, user: _User, process: str) -> bool:
        """Whether a query of the user may have a turn in the process."""
        most = user.rule.processes
        if most is None:
            return True
        there = {turn.process for turn in _shared(user)}
        for turn in self._withdrawn:
            if turn.to is not None and turn.to.user is user and turn.to.most is None:
                there.add(turn.process)
        return process in there or len(there) < most

    def _keep_to_processes(self, now: float) -> None:
        """Takes back what users have in too many processes: a query of theirs was alone in one."""
        for user in self._users.values():
            most = user.rule.processes
            if most is None:
                continue
            turns = Counter(turn.process for turn in _shared(user))
            beyond = {process for process, _ in turns.most_common()[most:]}
            for turn in list(_shared(user)) if beyond else ():
                if turn.process in beyond:
                    self._withdraw(turn, None, now)

    def _places(self) -> set[str] | None:
        """The queries that may run now, if there are limits; None: all."""
        most = self.rules.queries
        if most is None and all(user.rule.queries is None for user in self._users.values()):
            return None
        order = sorted(
            self._queries.values(),
            key=lambda each: (not each.turns, -each.user.rule.priority, each.number),
        )
        places: set[str] = set()
        of_users: dict[int, int] = {}
        for query in order:
            mine, limit = of_users.get(id(query.user), 0), query.user.rule.queries
            if (most is None or len(places) < most) and (limit is None or mine < limit):
                places.add(query.name)
                of_users[id(query.user)] = mine + 1
        return places

    def _has_room(self, here: _Process, query: _Query) -> bool:
        """Whether a thread of the process is free for the query."""
        if here.owner is query:
            return all(turn.query is query for turn in here.turns.values()) and (
                len(here.turns) < here.threads
            )
        late = sum(_is_late(turn, self._now) for turn in here.turns.values())
        return len(here.turns) - late < here.threads and len(here.turns) < 2 * here.threads

    def _has_spare(self, here: _Process) -> bool:
        """Whether a thread may be free for a query, or has a worker that has nothing to do."""
        if len(here.turns) < here.threads:
            return True
        return any(
            _is_late(turn, self._now) or turn.query.demand.is_idle(turn.worker)
            for turn in here.turns.values()
        )

    def _to_withdraw(self, here: _Process, query: _Query, now: float) -> _Turn | None:
        """The turn that is to end so that the query gets one; None: it is not its time."""
        others = [
            turn
            for turn in here.turns.values()
            if turn.withdrawn is None and turn.query is not query
        ]
        if here.owner is query:
            return others[0] if others else None
        worst: tuple[tuple[float, ...], _Turn] | None = None
        for turn in others:
            other = turn.query
            idle = other.demand.is_idle(turn.worker)
            if idle and (not other.demand.wants_workers or now - turn.since >= QUANTUM):
                return turn
            if not _deserves(query, other) or not self._has_lasted(turn, query, now):
                continue
            key = (
                -other.user.rule.priority,
                other.user.share.cost(),
                other.share.cost(),
                now - turn.since,
            )
            if worst is None or key > worst[0]:
                worst = key, turn
        return None if worst is None else worst[1]

    def _has_lasted(self, turn: _Turn, query: _Query, now: float) -> bool:
        if query.user.rule.priority > turn.query.user.rule.priority:
            return True
        had, demand = now - turn.since, turn.query.demand
        if demand.is_starting(turn.worker):
            return had >= STARTING
        return had >= ENDING or (had >= QUANTUM and demand.seconds_left > QUANTUM)

    # Queries that run alone.

    def _find_homes(self, now: float) -> None:
        """Gives processes to queries that are to be alone and have none."""
        for query in self._queries.values():
            if query.most is None:
                continue
            if query.home is None:
                there = {*query.waiting, *(turn.process for turn in query.turns.values())}
                free = [each for each in there if self._processes[each].owner is None]
                if free:
                    query.home = min(
                        free,
                        key=lambda each: (
                            each != query.wanted_home,
                            self._others(each, query),
                            each,
                        ),
                    )
                    query.alone_since = math.inf
                    self._processes[query.home].owner = query
                    self._changed.add(query.home)
            mine = [turn for turn in query.turns.values() if turn.withdrawn is None]
            kept = 0
            for turn in mine:
                kept += turn.process == query.home
                if turn.process != query.home or kept > query.most:
                    self._withdraw(turn, None, now)
            if query.home is not None:
                here = self._processes[query.home]
                for turn in list(here.turns.values()):
                    if turn.query is not query and turn.withdrawn is None:
                        self._withdraw(turn, query, now)
                if query.alone_since == math.inf and not self._others(query.home, query):
                    query.alone_since = now

    def _others(self, process: str, query: _Query) -> int:
        turns = self._processes[process].turns.values()
        return sum(turn.query is not query for turn in turns)

    def _move_out(self, query: _Query) -> None:
        if query.home is not None:
            self._processes[query.home].owner = None
            self._changed.add(query.home)
        query.home, query.most = None, None

    def _end_isolations(self, now: float) -> None:
        for query in self._queries.values():
            if query.most is not None:
                self._changed.update(query.waiting)
                if query.home is not None and now - query.alone_since > ALONE:
                    self.isolate(query.name, None, now)

    # Changes.

    def _grant(self, query: _Query, process: str, worker: int, now: float) -> None:
        waiting = query.waiting[process]
        del waiting[worker]
        if not waiting:
            del query.waiting[process]
        turn = _Turn(query, process, worker, now)
        query.turns[worker] = turn
        self._processes[process].turns[query.name, worker] = turn
        for share in query.shares:
            share.count(now)
            share.turns += 1
        self._arrived(query, process)
        self._actions.append(Grant(query.name, worker))

    def _arrived(self, query: _Query, process: str) -> None:
        """One of the turns that were withdrawn for the query need not come any more."""
        for turn in self._processes[process].turns.values():
            if turn.to is query:
                self._spare(turn)
                return

    def _withdraw(self, turn: _Turn, to: _Query | None, now: float) -> None:
        turn.withdrawn, turn.to = now, to
        self._withdrawn.add(turn)
        self._free(turn.query.user)
        for share in turn.query.shares:
            share.withdrawn += 1
        if to is not None:
            for share in to.shares:
                share.coming += 1
        self._actions.append(Withdraw(turn.query.name, turn.worker))

    def _spare(self, turn: _Turn) -> None:
        if turn.to is not None:
            for share in turn.to.shares:
                share.coming -= 1
            turn.to = None

    def _end(self, turn: _Turn, now: float) -> None:
        query, here = turn.query, self._processes[turn.process]
        self._withdrawn.discard(turn)
        del query.turns[turn.worker]
        del here.turns[query.name, turn.worker]
        self._spare(turn)
        for share in query.shares:
            share.count(now)
            share.turns -= 1
            share.withdrawn -= turn.withdrawn is not None
        self._changed.add(turn.process)
        self._free(query.user)

    def _free(self, user: _User) -> None:
        """The user has one turn less, and may have one elsewhere if there is a limit."""
        if user.rule.threads is not None or user.rule.processes is not None:
            for query in user.queries.values():
                self._changed.update(query.waiting)

    # For tests.

    def turns(self) -> Iterator[tuple[str, str, int]]:
        """All turns: the process, the query, the worker."""
        for name, process in self._processes.items():
            for turn in process.turns.values():
                yield name, turn.query.name, turn.worker


def _shared(user: _User) -> Iterator[_Turn]:
    """The turns that the user has and keeps, but those of queries that are alone."""
    for query in user.queries.values():
        if query.most is None:
            yield from (turn for turn in query.turns.values() if turn.withdrawn is None)


def _has_part(query: _Query) -> bool:
    return bool(query.turns) or query.demand.wants_workers


def _is_late(turn: _Turn, now: float) -> bool:
    return turn.withdrawn is not None and now - turn.withdrawn >= LATE


def _deserves(query: _Query, other: _Query) -> bool:
    """Whether a turn of the other query is to be this one's: with it this one has not more than the
    other one has now."""
    if query.user is other.user:
        return query.share.cost(1) <= other.share.cost()
    mine, theirs = query.user.rule.priority, other.user.rule.priority
    if mine != theirs:
        return mine > theirs
    return query.user.share.cost(1) <= other.user.share.cost()


def _catch_up(shares: Mapping[_Share, bool] | Iterable[tuple[_Share, bool]]) -> None:
    """Those that begin to wait have had as much as the one that has had least of those that wait
    longer, or, if none does, of those that have a turn. `shares`: whether each waits now."""
    shares = dict(shares)
    longer = [share.had for share, waits in shares.items() if waits and share.is_waiting]
    having = [share.had for share, waits in shares.items() if share.turns and not waits]
    floor = min(longer or having, default=0.0)
    for share, waits in shares.items():
        if waits and not share.is_waiting:
            share.had = max(share.had, floor)
        share.is_waiting = waits
