"""Who gets which thread of which process next, if several queries share them: threads are divided
among users, then among a user's queries, by weight.

A turn is one thread of one process for one worker of a query. A query that is alone has all turns
and keeps them. If others want some, turns are taken back from those that have had most for their
weight: the worker rests after its packet, and the thread is another one's. What users and queries
have had is counted in thread-seconds (fair_share.py), without the time in which a process loads the
code of a query. One that wants nothing for a while gains nothing by that: it begins again with as
much as the one that has had least of those that wait. One that has had more than others waits, but
has a turn every few seconds all the same.

A query may have to run alone, because it is not known whether workers die of it: then one process
is its own, and it has no turn in any other.

Pure: no clock, no thread; the caller gives the time, and carries out what is decided.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..frozen import frozen
from .fair_share import QUANTUM, Demand, Query, Rules, Share, Turn, User, Users

__all__ = ["Grant", "Turns", "Withdraw"]

ENDING = 2.0
"""Seconds for which a turn lasts if the rest of its query takes less than `QUANTUM`: a short query
that had to wait for the turn of its last packet would take several times as long."""
STARTING = 10.0
"""Seconds for which a worker that has a turn may load what it needs, before the turn counts as
begun and is charged. If it was taken away meanwhile, the thread would have loaded for nothing. A
second worker of the query in the process only waits for what the first one loads: its turn may be
taken away after `ENDING`."""
ALONE = 60.0
"""Seconds after which a query that runs alone, and has lost no worker, need not do so any more, if
nothing else is said."""


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
class _Process:
    threads: int
    turns: dict[tuple[str, int], Turn] = field(default_factory=dict)
    owner: Query | None = None
    """The query that has it for itself."""


class Turns:
    """The turns of all queries. `decide` gives what is to be done; all else tells what has
    happened. Not thread-safe."""

    def __init__(self, rules: Rules | None = None) -> None:
        self.rules = rules or Rules()
        self._processes: dict[str, _Process] = {}
        self._threads = 0  # of all processes
        self._users = Users(self.rules)
        self._queries: dict[str, Query] = {}
        self._begun = 0
        self._now = 0.0
        self._is_unfair = False  # whether some query should have a turn that another one has
        self._withdrawn: set[Turn] = set()
        self._loading: set[Turn] = set()
        self._changed: set[str] = set()  # processes where something may be granted
        self._actions: list[Grant | Withdraw] = []

    # What happens.

    def add(self, process: str, threads: int) -> None:
        """A process is there."""
        here = self._processes.setdefault(process, _Process(0))
        self._threads += threads - here.threads
        here.threads = threads

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
        self._threads -= gone.threads
        self._changed.discard(process)

    def begin(self, query: str, user: str, demand: Demand, now: float) -> None:
        """A query of a user begins."""
        owner = self._users.begin(user, now)
        self._begun += 1
        made = Query(query, owner, demand, self._begun, Share(1.0, since=now))
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
        self._users.forget()
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
            self._charge(known.turns[worker], now)
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

    def isolate(
        self,
        query: str,
        most: int | None,
        now: float,
        home: str | None = None,
        seconds: float = ALONE,
    ) -> None:
        """The query is to run alone in one process, with at most so many turns; None: not any
        more. `home`: in this process, if no other query has it for itself. `seconds`: for so long,
        unless it loses a worker."""
        known = self._queries.get(query)
        if known is None:
            return
        known.alone_for = seconds if known.most is None else max(known.alone_for, seconds)
        if known.most == most:
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
        """The share of all threads that a query which this user begins now may expect."""
        return self._users.part(user)

    # What is to be done.

    def decide(self, now: float, everywhere: bool = False) -> list[Grant | Withdraw]:
        """Returns what is to be done now. `everywhere`: not only where something has happened; to
        be asked about every half second."""
        if everywhere:
            self._end_isolations(now)
            self._changed.update(turn.process for turn in self._withdrawn if turn.is_late(now))
        if not self._changed and not (everywhere and len(self._queries) > 1):
            return []
        self._now = now
        for turn in [each for each in self._loading if now - each.since >= STARTING]:
            self._charge(turn, now)
        self._count(now)
        self._is_unfair = any(
            query.deserves(other)
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

    def _decide_in(self, process: str, now: float) -> None:
        here = self._processes[process]
        if not (self._is_unfair or here.owner is not None or self._has_spare(here)):
            return
        while any(self._give(query, process, now) for query in self._next(process)):
            pass

    def _give(self, query: Query, process: str, now: float) -> bool:
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

    def _next(self, process: str) -> list[Query]:
        """The queries that may have the next turn in a process, the first one first."""
        here, places = self._processes[process], self._users.places(self._queries.values())
        return sorted(
            (each for each in self._queries.values() if self._may(each, process, here, places)),
            key=lambda query: (
                not query.demand.wants_workers,
                -query.user.rule.priority,
                query.user.share.starved,
                query.user.share.cost(),
                query.share.starved,
                query.share.cost(),
                query.number,
            ),
        )

    def _may(self, query: Query, process: str, here: _Process, places: set[str] | None) -> bool:
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

    def _may_take(self, query: Query, process: str, here: _Process) -> bool:
        """Whether one more turn of others may be withdrawn for the query."""
        limit = query.user.rule.threads
        if limit is not None and query.user.share.held >= limit:
            return False
        if here.owner is not query and not self._may_be_in(query.user, process):
            return False
        coming = sum(turn.to is query for turn in here.turns.values())
        return coming < len(query.waiting[process])

    def _may_be_in(self, user: User, process: str) -> bool:
        """Whether a query of the user may have a turn in the process."""
        most = user.rule.processes
        if most is None:
            return True
        there = {turn.process for turn in user.turns()}
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
            turns = Counter(turn.process for turn in user.turns())
            beyond = {process for process, _ in turns.most_common()[most:]}
            for turn in list(user.turns()) if beyond else ():
                if turn.process in beyond:
                    self._withdraw(turn, None, now)

    def _has_room(self, here: _Process, query: Query) -> bool:
        """Whether a thread of the process is free for the query."""
        if here.owner is query:
            return all(turn.query is query for turn in here.turns.values()) and (
                len(here.turns) < here.threads
            )
        late = sum(turn.is_late(self._now) for turn in here.turns.values())
        return len(here.turns) - late < here.threads and len(here.turns) < 2 * here.threads

    def _has_spare(self, here: _Process) -> bool:
        """Whether a thread may be free for a query, or has a worker that has nothing to do."""
        if len(here.turns) < here.threads:
            return True
        return any(
            turn.is_late(self._now) or turn.query.demand.is_idle(turn.worker)
            for turn in here.turns.values()
        )

    def _to_withdraw(self, here: _Process, query: Query, now: float) -> Turn | None:
        """The turn that is to end so that the query gets one; None: it is not its time."""
        others = [
            turn
            for turn in here.turns.values()
            if turn.withdrawn is None and turn.query is not query
        ]
        if here.owner is query:
            return others[0] if others else None
        worst: tuple[tuple[float, ...], Turn] | None = None
        for turn in others:
            other = turn.query
            idle = other.demand.is_idle(turn.worker)
            if idle and (not other.demand.wants_workers or now - turn.since >= QUANTUM):
                return turn
            if not query.deserves(other) or not self._has_lasted(turn, query, now):
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

    def _has_lasted(self, turn: Turn, query: Query, now: float) -> bool:
        if query.user.rule.priority > turn.query.user.rule.priority:
            return True
        had, demand = now - turn.since, turn.query.demand
        if turn.is_loading:
            return had >= ENDING and any(
                each.is_loading and each.process == turn.process and each.withdrawn is None
                for each in turn.query.turns.values()
                if each is not turn
            )
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

    def _others(self, process: str, query: Query) -> int:
        turns = self._processes[process].turns.values()
        return sum(turn.query is not query for turn in turns)

    def _move_out(self, query: Query) -> None:
        if query.home is not None:
            self._processes[query.home].owner = None
            self._changed.add(query.home)
        query.home, query.most = None, None

    def _end_isolations(self, now: float) -> None:
        for query in self._queries.values():
            if query.most is not None:
                self._changed.update(query.waiting)
                if query.home is not None and now - query.alone_since > query.alone_for:
                    self.isolate(query.name, None, now)

    # Changes.

    def _grant(self, query: Query, process: str, worker: int, now: float) -> None:
        waiting = query.waiting[process]
        del waiting[worker]
        if not waiting:
            del query.waiting[process]
        turn = Turn(query, process, worker, now, query.demand.is_starting(worker))
        if turn.is_loading:
            self._loading.add(turn)
        query.turns[worker] = turn
        self._processes[process].turns[query.name, worker] = turn
        for share in query.shares:
            share.count(now)
            share.turns += 1
            share.loading += turn.is_loading
        self._arrived(query, process)
        self._actions.append(Grant(query.name, worker))

    def _arrived(self, query: Query, process: str) -> None:
        """One of the turns that were withdrawn for the query need not come any more."""
        for turn in self._processes[process].turns.values():
            if turn.to is query:
                self._spare(turn)
                return

    def _withdraw(self, turn: Turn, to: Query | None, now: float) -> None:
        turn.withdrawn, turn.to = now, to
        self._withdrawn.add(turn)
        self._free(turn.query.user)
        for share in turn.query.shares:
            share.withdrawn += 1
        if to is not None:
            for share in to.shares:
                share.coming += 1
        self._actions.append(Withdraw(turn.query.name, turn.worker))

    def _spare(self, turn: Turn) -> None:
        if turn.to is not None:
            for share in turn.to.shares:
                share.coming -= 1
            turn.to = None

    def _count(self, now: float) -> None:
        self._users.count(now, self._threads)

    def _charge(self, turn: Turn, now: float) -> None:
        """From now on the turn is charged, and for what its process has loaded for too long."""
        if turn.is_loading:
            turn.is_loading = False
            self._loading.remove(turn)
            for share in turn.query.shares:
                share.count(now)
                share.loading -= 1
                share.had += max(now - turn.since - STARTING, 0.0) / share.weight

    def _end(self, turn: Turn, now: float) -> None:
        query, here = turn.query, self._processes[turn.process]
        self._charge(turn, now)
        self._withdrawn.discard(turn)
        del query.turns[turn.worker]
        del here.turns[query.name, turn.worker]
        self._spare(turn)
        for share in query.shares:
            share.count(now)
            share.overtime = 0.0 if turn.withdrawn is None else now - turn.withdrawn
            share.turns -= 1
            share.withdrawn -= turn.withdrawn is not None
        self._changed.add(turn.process)
        self._free(query.user)

    def _free(self, user: User) -> None:
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
