"""Whose queries the scheduler has: who may see and end which, who has ended one, and how long one
stays that no session asks for.

Pure but for the clock that it is given. A query is opened by keys: its owner's, its own, and the
operator's. The scheduler keeps fingerprints of keys only.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import dask
from dask.utils import parse_timedelta

from ..._system.files import user_key
from ...errors import QueryError, UnsupportedError
from ...frozen import frozen, replaced
from ...monitoring.logs import tell
from ...scheduling import Coverage, WorkerGone
from ..base import Ending
from .messages import Caller, Listed, Owner, PassRequest, PassUpdate
from .metrics import IllServers, Totals, text
from .scheduler_state import SchedulerState

__all__ = ["Lifetimes", "Ownership", "fingerprint", "lifetimes", "operators", "this_caller"]

_OPERATOR_KEY = "treemill.operator-key"
"""The setting of Dask with the operator's key, on the scheduler and where its commands run."""


def fingerprint(key: str) -> str:
    """What the scheduler keeps of a key."""
    return hashlib.blake2b(key.encode(), digest_size=16).hexdigest()


def this_caller() -> Caller:
    """This user and process. The user's key comes first."""
    program = os.path.basename(sys.argv[0] if sys.argv else "") or "python"
    client = f"{program}-{os.getpid()}-{secrets.token_hex(3)}"
    operator = dask.config.get(_OPERATOR_KEY, None)
    keys = (user_key(),) if operator is None else (user_key(), str(operator))
    return Caller(Owner.here(client), keys)


def operators() -> frozenset[str]:
    """The fingerprints of the keys that open all queries of a scheduler in this process: the one
    that its operator has set, or that of the user who runs it."""
    key = dask.config.get(_OPERATOR_KEY, None)
    return frozenset({fingerprint(user_key() if key is None else str(key))})


@frozen
class Lifetimes:
    """How long queries stay that no session asks for, in seconds."""

    orphans: float = 3600.0
    """After this a query is stopped whose session has ended without closing."""
    keep: float = float("inf")
    """Results stay for so long at most, whatever `connect(keep=)` says."""


def lifetimes() -> Lifetimes:
    """Those that the operator has set on the scheduler."""

    def seconds(name: str, plain: float) -> float:
        setting = dask.config.get(name, None)
        return plain if setting is None else float(parse_timedelta(setting))

    plain = Lifetimes()
    return Lifetimes(
        seconds("treemill.orphans", plain.orphans), seconds("treemill.keep", plain.keep)
    )


_log = logging.getLogger(__name__)
_OF_A_PASS = frozenset(("coverage", "monitored", "parts", "sizes", "locate", "settle", "forget"))
_OF_ALL = frozenset(("missing",))
"""Methods of SchedulerState that clients may call; those of a pass need a key that opens it."""
_FETCHING = 600.0
"""Seconds for which a session that has not asked again may be fetching a large result."""
_REMEMBERED = 1000
"""Dropped passes of which it is known who has dropped them."""


@dataclass(slots=True)
class _Kept:
    """What is known of a pass beside its state."""

    asked: float  # when a session has asked for it last
    watchers: dict[str, float] = field(default_factory=dict)
    """Who wants the result and does not have it, and when each has asked last."""
    is_had: bool = False  # its owner has the result, and lets go of it
    left: bool = False  # its session was closed, and wants it to go on
    ending: Ending | None = None
    client: Owner | None = None  # who has ended it
    told: bool = False  # that it has ended


def _place(coverage: Coverage, error: BaseException | None) -> dict[str, object]:
    """Where a query was given up because of lost workers; other errors name the file."""
    if isinstance(error, WorkerGone):
        for number, start, stop in coverage.lost_with(error):
            if number >= 0:
                return {"file": number, "at": f"{start}..{'' if stop is None else stop}"}
    return {}


class Ownership:
    """What clients ask of the scheduler's state, if they may."""

    def __init__(
        self,
        scheduler_state: SchedulerState,
        clock: Callable[[], float],
        operators: frozenset[str] = frozenset(),
        lifetimes: Lifetimes | None = None,
    ) -> None:
        """`operators`: the fingerprints of keys that open all queries."""
        self._scheduler_state = scheduler_state
        self._clock = clock
        self._operators = operators
        self._lifetimes = lifetimes or Lifetimes()
        self._kept: dict[str, _Kept] = {}
        self._dropped: dict[str, str] = {}  # by whom
        self._drained_by: str | None = None
        self._ill_servers = IllServers()
        self.totals = Totals(bool(dask.config.get("treemill.metrics-per-user", False)))

    def ask(self, caller: Caller, what: str, arguments: Sequence[object]) -> object:
        """The answer to a client. Raises QueryError if the query is not the caller's, or there is
        none."""
        own = _ANSWERS.get(what)
        if own is not None:
            return own(self, caller, *arguments)
        if what not in _OF_A_PASS | _OF_ALL:
            raise UnsupportedError(f"treemill on the scheduler has no {what!r}")
        if what in _OF_A_PASS:
            self.check(caller, str(arguments[0]))
        if what in ("settle", "forget"):
            self._tell_end(str(arguments[0]))
        return getattr(self._scheduler_state, what)(*arguments)

    def watch(self, caller: Caller, name: str, watcher: str = "") -> PassUpdate:
        """How far a pass is, for a session that looks on. `watcher`: names who wants the result,
        if anyone does."""
        self.check(caller, name)
        kept = self._of(name)
        kept.asked, kept.left = self._clock(), False
        if watcher:
            kept.watchers[watcher] = kept.asked
        ending = None if kept.client == caller.owner else kept.ending
        update = self._scheduler_state.status(name)
        return replaced(update, ending=ending, threads=self._scheduler_state.threads)

    # Who may do what.

    def check(self, caller: Caller, name: str) -> None:
        """Raises QueryError if none of the caller's keys opens the query, or there is none."""
        if name in self._dropped:
            raise QueryError(f"the query was dropped by {self._dropped[name]}")
        if not self._opens(caller, self._scheduler_state.pass_scheduler(name).request):
            raise QueryError(
                "the query is another user's: its key opens it, and the operator's does"
            )

    def is_operator(self, caller: Caller) -> bool:
        """True if the caller has an operator's key."""
        return _meets(caller, self._operators)

    def check_operator(self, caller: Caller) -> None:
        """Raises QueryError if the caller is no operator of this cluster."""
        if not self.is_operator(caller):
            raise QueryError(
                "only the operator of this cluster may do this: the user who runs its scheduler, "
                f"or who has the key that is set there as {_OPERATOR_KEY} "
                "(DASK_TREEMILL__OPERATOR_KEY)"
            )

    def _opens(self, caller: Caller, request: PassRequest) -> bool:
        return self.is_operator(caller) or _meets(caller, request.opened_by)

    # What clients ask that is not of the state alone.

    def _begin(self, caller: Caller, name: str, request: PassRequest) -> None:
        if self._drained_by is not None:
            raise QueryError(
                f"the cluster takes no new queries: {self._drained_by} drains it, and those that "
                "run are completed"
            )
        request = replaced(request, keep=min(request.keep, self._lifetimes.keep))
        self._scheduler_state.begin(name, request)
        self._of(name)
        self.totals.begin(name, request.owner.user)
        about = {"query": request.name, "owner": request.owner, "files": len(request.files)}
        workers = self._scheduler_state.threads
        tell(_log, logging.INFO, "query began", **about, threads=workers, what=request.title)

    def _listed(self, caller: Caller) -> list[Listed]:
        """The queries that the caller may see."""
        now = self._clock()
        seen = []
        for each in self._scheduler_state.listed():
            if self._opens(caller, each.request):
                kept = self._of(each.work)
                status = self._scheduler_state.status(each.work)
                seen.append(
                    replaced(
                        each,
                        request=replaced(each.request, opened_by=()),
                        state=_state(each, status, kept.ending),
                        seconds=status.seconds,
                        unwatched=now - kept.asked,
                        workers=status.workers,
                        bytes_read=status.heartbeat.bytes_read,
                    )
                )
        return seen

    def _stop(self, caller: Caller, name: str, reason: str) -> None:
        self._end(caller, name, "stopped", reason)
        self._scheduler_state.stop(name, reason)

    def _abort(self, caller: Caller, name: str, reason: str) -> None:
        self._end(caller, name, "aborted", reason)
        self._scheduler_state.abort(name, reason)

    def _end(self, caller: Caller, name: str, state: str, reason: str) -> None:
        self.check(caller, name)
        kept = self._of(name)
        if kept.ending is None:
            kept.client = caller.owner
            self._note_ending(name, Ending(state, str(caller.owner), reason))

    def _note_ending(self, name: str, ending: Ending) -> None:
        self._of(name).ending = ending
        request = self._scheduler_state.pass_scheduler(name).request
        about = {"query": request.name, "owner": request.owner, "by": ending.by}
        tell(_log, logging.INFO, f"query {ending.state}", **about, reason=ending.reason)

    def _tell_end(self, name: str) -> None:
        """Counts what a pass has done, and logs once that it has ended."""
        kept = self._kept.get(name)
        if kept is None or kept.told:
            return
        about = self._scheduler_state.pass_scheduler(name)
        status, ended = about.status(), about.outcome()
        self.totals.follow(name, status.heartbeat)
        for ill in self._ill_servers.look(name, status.heartbeat.io.sources, self._clock()):
            about_it = {"server": ill.source, "failed": ill.errors, "asked": ill.requests}
            tell(_log, logging.WARNING, "server ill", **about_it, query=about.request.name)
        if ended is None:
            return
        kept.told = True
        error = ended.error
        state = "failed" if error else kept.ending.state if kept.ending else "done"
        self.totals.end(name, state)
        tell(
            _log,
            logging.INFO,
            "query ended",
            query=about.request.name,
            owner=about.request.owner,
            state=state,
            entries=ended.entries,
            seconds=round(status.seconds, 3),
            bytes_read=status.heartbeat.bytes_read,
            **({} if error is None else {"error": f"{type(error).__name__}: {error}"}),
            **_place(ended.coverage, error),
        )

    def _drop(self, caller: Caller, name: str) -> None:
        """Drops a query that runs, or its result."""
        self.check(caller, name)
        self._note_ending(name, Ending("dropped", str(caller.owner), ""))
        self._tell_end(name)
        self.totals.end(name, "dropped")  # if it has not ended before
        self._dropped[name] = str(caller.owner)
        while len(self._dropped) > _REMEMBERED:
            del self._dropped[next(iter(self._dropped))]
        self._scheduler_state.forget(name)

    def _release(self, caller: Caller, name: str, watcher: str, stays: bool) -> None:
        """A session needs the result no more. The result goes once the owner has it and nobody
        waits for it; but if the owner says that it `stays`, when its time is over."""
        self.check(caller, name)
        kept = self._of(name)
        kept.watchers.pop(watcher, None)
        owners = self._scheduler_state.pass_scheduler(name).request.opened_by[:1]
        kept.is_had = kept.is_had or (not stays and _meets(caller, owners))
        self._forget_if_had(name, kept)

    def _forget_if_had(self, name: str, kept: _Kept) -> None:
        since = self._clock() - _FETCHING
        if kept.is_had and not any(asked >= since for asked in kept.watchers.values()):
            self._tell_end(name)
            self._scheduler_state.forget(name)

    def lose(self, session: str) -> None:
        """A session's Client is gone: it does not wait for results any more."""
        for kept in self._kept.values():
            for watcher in [each for each in kept.watchers if each.startswith(f"{session}/")]:
                del kept.watchers[watcher]

    def _leave(self, caller: Caller, name: str) -> None:
        """The session is closed, and the query goes on."""
        self.check(caller, name)
        self._of(name).left = True

    def _drain(self, caller: Caller, on: bool) -> int:
        """Lets no new queries begin, or (not `on`) lets them again. Gives how many run."""
        self.check_operator(caller)
        self._drained_by = str(caller.owner) if on else None
        return sum(not each.done for each in self._scheduler_state.listed())

    def metrics(self, workers: int) -> str:
        """Numbers of all queries, for Prometheus. `workers`: how many Dask has."""
        listed = self._scheduler_state.listed()
        running = [each for each in listed if not each.done]
        gauges = {
            "queries_running": len(running),
            "queries_waiting": len(listed) - len(running),
            "queue_entries": sum(max(each.expected - each.entries, 0) for each in running),
            "workers": workers,
            "worker_threads": self._scheduler_state.threads,
        }
        return text(self.totals, gauges)

    # Time.

    def tick(self) -> None:
        """Stops queries that no session asks for. To be called about every half second."""
        now, orphans = self._clock(), self._lifetimes.orphans
        for name, kept in list(self._kept.items()):
            try:
                about = self._scheduler_state.pass_scheduler(name)
            except QueryError:  # it is over, and was fetched
                del self._kept[name]
                self._ill_servers.forget(name)
                continue
            self._tell_end(name)
            self._forget_if_had(name, kept)
            if now - kept.asked <= orphans or kept.left or kept.ending is not None:
                continue
            if not about.over and about.parts() is None:
                reason = f"no session has asked for it for {orphans:g} s"
                self._note_ending(name, Ending("stopped", "the cluster", reason))
                self._scheduler_state.stop(name, reason)

    def _of(self, name: str) -> _Kept:
        kept = self._kept.get(name)
        if kept is None:
            kept = self._kept[name] = _Kept(self._clock())
        return kept


_ANSWERS: dict[str, Callable[..., object]] = {
    "begin": Ownership._begin,
    "listed": Ownership._listed,
    "stop": Ownership._stop,
    "abort": Ownership._abort,
    "drop": Ownership._drop,
    "leave": Ownership._leave,
    "release": Ownership._release,
    "drain": Ownership._drain,
}


def _meets(caller: Caller, fingerprints: Sequence[str] | frozenset[str]) -> bool:
    mine = [fingerprint(key) for key in caller.keys if key]
    return any(hmac.compare_digest(one, other) for one in mine for other in fingerprints)


def _state(listed: Listed, status: PassUpdate, ending: Ending | None) -> str:
    if status.ended is not None and status.ended.error is not None:
        return "failed"
    if not listed.done:
        return "running"
    return "done" if ending is None else ending.state
