"""All that the scheduler's plugin keeps: the passes, the processes that are there with a mailbox
each, the bytes that workers ask for, and the results that wait for a client.

Pure but for the clock that it is given. Knows no transport: scheduler_plugin.py calls it for each
request.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..._system.memory import said_bytes
from ...errors import QueryError
from ...frozen import replaced
from ...scheduling import Blame, Coverage, Filled, Grant, Monitored, Rules, Turns
from ..base import given_up
from .messages import (
    AdmittedThreads,
    Begin,
    HeldPartial,
    KeepsMemory,
    Listed,
    Mailbox,
    OverMemory,
    Parcel,
    PassEnded,
    PassRequest,
    PassUpdate,
    free_threads,
)
from .pass_scheduler import PassScheduler

__all__ = ["SchedulerState", "demand", "poll_seconds"]

# How many of Dask's workers the passes can keep busy, for clusters that grow and shrink. Pure.


def demand(passes: Iterable[PassUpdate], seconds: float, threads: float) -> int:
    """The number of Dask's workers with which the passes would be done after `seconds`.

    Parameters: `seconds`, Dask's `distributed.adaptive.target-duration`; `threads` of one of
    Dask's workers. A pass that has done nothing yet wants the workers that it has, and one at
    least: how long it takes is not known.

    >>> from treemill.backends.base import Heartbeat
    >>> done = Heartbeat(entries=500)
    >>> half = PassUpdate(0, done, expected=1000, before=0, workers=2, seconds=60.0, begun=True)
    >>> demand([half], seconds=5.0, threads=4)
    6
    """
    workers = 0.0
    for each in passes:
        if each.ended is not None or each.parts is not None:
            continue
        left = each.expected - each.before - each.heartbeat.entries
        spent = each.seconds * each.workers
        if each.heartbeat.entries and spent:
            workers += max(left * spent / each.heartbeat.entries / seconds, 1.0)
        else:
            workers += max(each.workers, 1)
    return math.ceil(workers / max(threads, 1.0))


# How long the scheduler lets a process wait for news. News come at once in any case: the wait
# only says how often a process is heard of that has nothing to say. Pure.

_POLL = 5.0
_CALLS = 100.0
"""So many such calls a second are wanted at most: each costs the scheduler 0.25 ms."""


def poll_seconds(silence: float, processes: int) -> float:
    """The seconds, if a process is given up that was not heard of for `silence` seconds. With many
    processes they are more, but never more than half of that.

    >>> poll_seconds(60, 4), poll_seconds(2, 4), poll_seconds(60, 1000), poll_seconds(60, 5000)
    (5.0, 0.5, 10.0, 30.0)
    """
    return max(min(_POLL, silence / 4), min(processes / _CALLS, silence / 2))


_FEW_BYTES = 32_000
"""Bytes that go with the word that a pass begins, at most, however many processes hear it."""
_BLOB_SECONDS = 600.0
"""Seconds for which bytes are kept that no pass needs."""


@dataclass(eq=False, slots=True)
class _Process:
    """One of Dask's workers."""

    host: str
    threads: int
    called: str
    """It as errors name it: its address, and its host as people call it."""
    start: str | None = None  # which start of its loop the mailbox belongs to
    mail: Mailbox = field(default_factory=Mailbox)
    leaving: bool = False


@dataclass(eq=False, slots=True)
class _Blob:
    data: bytes
    used: float


class SchedulerState:
    """The state of the plugin. `news` holds the addresses with new mail, and `changed` the passes
    of which a client wants to hear; the caller clears both."""

    def __init__(self, clock: Callable[[], float], rules: Rules | None = None) -> None:
        self._clock = clock
        self._turns = Turns(rules)
        self._is_deciding = False
        self._wanted: dict[str, bool] = {}  # whether a pass had work for more workers
        self._blame = Blame()
        self._measured: dict[str, str] = {}  # where the memory of a pass is measured
        self._processes: dict[str, _Process] = {}
        self._heard: dict[str, float] = {}
        self._passes: dict[str, PassScheduler] = {}
        self._ended: dict[str, float] = {}  # when passes have ended
        self._told: dict[str, int] = {}  # which change of a pass is news already
        self._ripe: dict[str, float] = {}  # since when results wait for a client
        self._admitted: dict[str, dict[str, AdmittedThreads]] = {}  # by pass and process
        self._blobs: dict[str, _Blob] = {}
        self.news: set[str] = set()
        self.changed: set[str] = set()

    # Dask's workers.

    def add(self, address: str, host: str, threads: int, host_name: str = "") -> None:
        """One of Dask's workers is there. It takes part once its loop has said so. `host_name`: as
        the process knows it."""
        if address not in self._processes:
            called = f"{address} ({host_name})" if host_name else address
            self._processes[address] = _Process(host, threads, called)
            self._turns.add(address, threads)

    def remove(self, address: str, reason: str, fault: bool = True) -> None:
        """One of Dask's workers is gone. `fault`: whether its packets may be to blame."""
        process = self._processes.pop(address, None)
        self._heard.pop(address, None)
        if process is not None:
            self._lose(address, reason, fault)
            self._blame.gone(address)
            self._turns.remove(address, self._clock())
            self._end_measures(address)

    def leave(self, address: str) -> None:
        """One of Dask's workers will go: it takes part in nothing new, and what it has done is
        saved."""
        process = self._processes.get(address)
        if process is not None:
            process.leaving = True
            for pass_scheduler in self._passes.values():
                self._post(pass_scheduler, pass_scheduler.leave(address))

    def stay(self, address: str) -> None:
        """One of Dask's workers does not go after all."""
        process = self._processes.get(address)
        if process is not None:
            process.leaving = False

    def called(self, address: str) -> str:
        """The process as errors name it."""
        process = self._processes.get(address)
        return address if process is None else process.called

    def is_leaving(self, address: str) -> bool:
        """True if that was said of the process."""
        process = self._processes.get(address)
        return process is not None and process.leaving

    def has_part(self, address: str) -> bool:
        """True if the process takes part in a pass that is not over."""
        return any(
            pass_scheduler.has(address) and not pass_scheduler.over
            for pass_scheduler in self._passes.values()
        )

    def _lose(self, address: str, reason: str, fault: bool = True) -> None:
        filled = self._filled(address) if fault else None
        guilty = self._blamed(address) if fault and filled is None else None
        if filled is not None:
            reason += f", and had kept {said_bytes(filled.kept)} from packet to packet"
        for name, each in list(self._passes.items()):
            self._post(each, each.lose(address, reason, name == guilty))
        if filled is not None:
            self._set_apart(filled, address, reason)

    def _filled(self, address: str) -> Filled | None:
        """What follows if the process died of what its passes had kept there."""
        there = self._not_over()
        return self._blame.filled(address, there, self._turns.is_alone, self._clock())

    def _not_over(self) -> set[str]:
        return {name for name, each in self._passes.items() if not each.over}

    def _set_apart(self, filled: Filled, address: str, reason: str) -> None:
        now = self._clock()
        for each in filled.cleared:
            self._turns.isolate(each, self._blame.most(each), now)
        if (name := filled.suspect) is not None:
            self._turns.isolate(name, self._blame.most(name), now, seconds=filled.seconds)
        if filled.given_up is not None:
            about = self._passes[filled.given_up]
            words = (
                "again and again worker processes were lost which it alone had filled with memory: "
                f"{reason}. It keeps something of each packet that is not its result, in a list of "
                "a module, a cache, a thread or a library; give that back after each chunk. If its "
                "result is that large, workers need more memory"
            )
            error = given_up(about.request.title, words, worker=address)
            self._post(about, about.fail(error))
        self._decide()

    def _measure(self, pass_scheduler: PassScheduler, address: str, is_wanted: bool) -> None:
        """Has a pass run alone in this process, which measures what memory it takes."""
        name = pass_scheduler.name
        if not is_wanted:
            if self._measured.get(name) == address:
                self._end_measure(name)
        elif (
            not pass_scheduler.over
            and self._blame.most(name) is None
            and not self._turns.has_owner(address)
        ):
            self._blame.measure(name)
            self._measured[name] = address
            self._turns.isolate(name, self._blame.most(name), self._clock(), address)
        self._decide()

    def _end_measure(self, name: str) -> None:
        del self._measured[name]
        self._blame.measured(name)
        self._turns.isolate(name, self._blame.most(name), self._clock())

    def _end_measures(self, address: str) -> None:
        """The process that measures is gone, or has begun anew."""
        for name in [name for name, where in self._measured.items() if where == address]:
            self._end_measure(name)

    def _blamed(self, address: str) -> str | None:
        """The pass that a lost process counts against, if that is known."""
        in_hand = {
            name: spans for name, each in self._passes.items() if (spans := each.in_hand(address))
        }
        guilty = self._blame.lost(in_hand)
        now = self._clock()
        for name in in_hand:
            self._passes[name].is_suspected = True
            if (most := self._blame.most(name)) is not None:
                self._turns.isolate(name, most, now)
        return guilty

    @property
    def threads(self) -> int:
        """The threads of all processes."""
        return sum(process.threads for process in self._processes.values())

    def needed(self, address: str) -> bool:
        """True if the process should not be sent away: it has work that is not committed, or is the
        one to which others can give what they have."""
        return any(pass_scheduler.needs(address) for pass_scheduler in self._passes.values())

    def demand(self, seconds: float, threads: float) -> int:
        """Returns how many of Dask's workers the passes can keep busy; see scheduler_state.py."""
        return demand(
            (pass_scheduler.status() for pass_scheduler in self._passes.values()), seconds, threads
        )

    def receive(self, address: str, start: str, parcel: Parcel) -> bool:
        """A process has sent a parcel. `start`: names this start of its loop. False if the process
        must start over: it was given up."""
        process = self._processes.get(address)
        if process is None:
            return False
        if process.start != start:
            if parcel.first or parcel.heard:
                return False
            if process.start is not None:
                self._lose(address, f"worker {process.called} has begun anew")
                self._end_measures(address)
            process.start, process.mail = start, Mailbox()
        self._heard[address] = self._clock()
        for pass_scheduler in self._passes.values():
            # It is new, was given up because it was silent, or has not left after all.
            if not pass_scheduler.has(address):
                self._admit(pass_scheduler, address, process)
        try:
            messages = process.mail.take(parcel)
        except ValueError:
            return False
        for message in messages:
            if isinstance(message, KeepsMemory):
                # Those that are over have their parts, but no names: a process outlives many.
                there = self._not_over()
                worked = [name if name in there else "" for name in message.worked]
                kept = (message.keeps, message.limit, worked)
                self._blame.keeps(address, *kept, self._clock())
                continue
            about = self._passes.get(message.work)  # type: ignore[attr-defined]
            if about is not None:
                self._receive(about, address, message)
        return True

    def _receive(self, pass_scheduler: PassScheduler, address: str, message: object) -> None:
        if isinstance(message, OverMemory):
            self._measure(pass_scheduler, address, message.is_wanted)
            return
        try:
            out = pass_scheduler.receive(address, message)
        except Exception as error:  # else the process would say it again and again
            out = pass_scheduler.fail(error)
        self._turns.touch(address)  # a worker may have become idle
        self._post(pass_scheduler, out)

    def mail(self, address: str) -> Parcel | None:
        """Returns what a process is to get; None if there is no such process."""
        process = self._processes.get(address)
        return None if process is None else process.mail.parcel()

    @property
    def silence(self) -> float:
        """Seconds without a word after which a process would be given up."""
        return min(
            (pass_scheduler.request.silence for pass_scheduler in self._passes.values()),
            default=60.0,
        )

    @property
    def poll(self) -> float:
        """Seconds for which a process may wait for news."""
        return poll_seconds(self.silence, len(self._processes) if self._passes else 0)

    @property
    def patience(self) -> float:
        """Seconds for which a process that will go may take to save what it has done."""
        return max(
            (pass_scheduler.request.patience for pass_scheduler in self._passes.values()),
            default=0.0,
        )

    def has_mail(self, address: str) -> bool:
        """True if there are messages that the process may not have, or it is gone."""
        process = self._processes.get(address)
        return process is None or process.mail.waiting

    # Bytes.

    def missing(self, digests: Iterable[str]) -> list[str]:
        """Returns the digests whose bytes are not here."""
        now = self._clock()
        unknown = []
        for digest in digests:
            blob = self._blobs.get(digest)
            if blob is None:
                unknown.append(digest)
            else:
                blob.used = now
        return unknown

    def put(self, digest: str, data: bytes) -> None:
        """Keeps bytes."""
        self._blobs[digest] = _Blob(data, self._clock())

    def get(self, digest: str) -> bytes | None:
        """The bytes with this digest."""
        blob = self._blobs.get(digest)
        if blob is None:
            return None
        blob.used = self._clock()
        return blob.data

    def _few_bytes(self, begin: Begin) -> dict[str, bytes]:
        """The bytes that a process needs at once, if they are few."""
        blobs = {each: self.get(each) for each in (begin.task, begin.inputs) if each is not None}
        return {
            each: data
            for each, data in blobs.items()
            if data is not None and len(data) <= _FEW_BYTES
        }

    # What clients ask.

    def begin(self, name: str, request: PassRequest) -> None:
        """Makes a pass, once."""
        if name in self._passes:
            return
        user, policy = str(request.owner), request.policy
        expected = math.ceil(policy.expected_workers * self._turns.share(user))
        request = replaced(
            request,
            policy=replace(policy, expected_workers=expected),
            memory=self._turns.rules.least_memory(request.memory),
        )
        pass_scheduler = self._passes[name] = PassScheduler(name, request, self._clock)
        self._turns.begin(name, user, pass_scheduler, self._clock())
        self._admitted[name] = {}
        for address, process in self._processes.items():
            if process.start is not None:
                self._admit(pass_scheduler, address, process)

    def _admit(self, pass_scheduler: PassScheduler, address: str, process: _Process) -> None:
        """Lets a process take part in a pass, with as many workers as the pass may have."""
        admitted = self._admitted[pass_scheduler.name]
        beside = (each for other, each in admitted.items() if pass_scheduler.has(other))
        threads = free_threads(pass_scheduler.request.limits, process.host, process.threads, beside)
        if threads and not process.leaving:
            admitted[address] = AdmittedThreads(process.host, threads)
            joined = pass_scheduler.join(address, process.host, threads, process.called)
            self._post(pass_scheduler, joined)

    def pass_scheduler(self, name: str) -> PassScheduler:
        """The pass with this name. Raises QueryError if there is none."""
        pass_scheduler = self._passes.get(name)
        if pass_scheduler is None:
            raise QueryError(
                f"the cluster has no query {name!r}: its result was fetched, or was not fetched "
                "in time, or the scheduler was restarted"
            )
        return pass_scheduler

    def status(self, name: str) -> PassUpdate:
        """Returns how far a pass is."""
        return self.pass_scheduler(name).status()

    def coverage(self, name: str) -> Coverage:
        """Returns which entries of a pass are merged, and which are given up."""
        return self.pass_scheduler(name).coverage()

    def monitored(self, name: str) -> Monitored | None:
        """Returns what the workers of a pass have done so far, if it is counted."""
        return self.pass_scheduler(name).monitored()

    def parts(self, name: str) -> tuple[HeldPartial, ...]:
        """The partials that mergers of a pass hold now."""
        return self.pass_scheduler(name).parts(whole=False) or ()

    def sizes(self, name: str) -> Mapping[int, int]:
        """The entries of the files that a pass has opened."""
        return self.pass_scheduler(name).sizes()

    def locate(self, name: str, addresses: Mapping[int, Sequence[str]]) -> None:
        """A client has found out which hosts have these files of a pass; see HostNames."""
        pass_scheduler = self.pass_scheduler(name)
        self._post(pass_scheduler, pass_scheduler.locate(addresses))

    def stop(self, name: str, reason: str) -> None:
        """Ends a pass soon."""
        pass_scheduler = self.pass_scheduler(name)
        self._post(pass_scheduler, pass_scheduler.stop(reason))

    def abort(self, name: str, reason: str) -> None:
        """Ends a pass with what mergers have."""
        pass_scheduler = self.pass_scheduler(name)
        self._post(pass_scheduler, pass_scheduler.abort(reason))

    def settle(self, name: str, commits: Mapping[int, int]) -> PassEnded | None:
        """A client has got the partials of a pass; see PassScheduler."""
        return self.pass_scheduler(name).settled(commits)

    def fail(self, name: str, error: BaseException) -> None:
        """Ends a pass with an error."""
        pass_scheduler = self.pass_scheduler(name)
        self._post(pass_scheduler, pass_scheduler.fail(error))

    def listed(self) -> list[Listed]:
        """The passes that there are."""
        works = []
        for name, pass_scheduler in self._passes.items():
            status = pass_scheduler.status()
            done = status.ended is not None or status.parts is not None
            request = replaced(pass_scheduler.request, files=(), nodes=(), done={})
            entries = status.before + status.heartbeat.entries
            works.append(Listed(name, request, done, entries, status.expected))
        return works

    # Time.

    def tick(self) -> None:
        """Time has passed. To be called about every half second."""
        now = self._clock()
        self._give_up_silent()
        for name, pass_scheduler in list(self._passes.items()):
            self._post(pass_scheduler, pass_scheduler.tick())
            waits = pass_scheduler.over or pass_scheduler.parts() is not None
            if not waits:
                self._ripe.pop(name, None)
            elif now - self._ripe.setdefault(name, now) > pass_scheduler.request.keep:
                self.forget(name)
        self._decide(everywhere=True)
        for name in self._blame.hoarders:
            if not self._turns.is_alone(name):  # it was, for long enough
                self._blame.has_been_alone(name)
        used = {
            digest
            for pass_scheduler in self._passes.values()
            for digest in _digests(pass_scheduler.request)
        }
        for digest, blob in list(self._blobs.items()):
            if digest in used:
                blob.used = now
            elif now - blob.used > _BLOB_SECONDS:
                del self._blobs[digest]

    def _give_up_silent(self) -> None:
        """Gives up processes that have been silent for too long. A process that has something of
        several passes in hand says nothing of any of them."""
        silent = {name: each.silent(self._heard) for name, each in self._passes.items()}
        if not any(silent.values()):
            return
        for name, addresses in silent.items():
            for address in addresses:
                having = sum(bool(each.in_hand(address)) for each in self._passes.values())
                self._post(self._passes[name], self._passes[name].give_up(address, having <= 1))

    def forget(self, name: str) -> None:
        """Drops a pass, and what it has left on workers."""
        pass_scheduler = self._passes.pop(name, None)
        self._ripe.pop(name, None)
        self._told.pop(name, None)
        self._admitted.pop(name, None)
        if pass_scheduler is not None:
            self._post(pass_scheduler, pass_scheduler.close())
            self.changed.add(name)

    def _post(self, pass_scheduler: PassScheduler, out: list[tuple[str, object]]) -> None:
        self._send(pass_scheduler, out)
        self._note_turns(pass_scheduler)
        self._decide()

    def _note_turns(self, pass_scheduler: PassScheduler) -> None:
        """Tells what has become of the turns of a pass."""
        name, now = pass_scheduler.name, self._clock()
        if pass_scheduler.over:
            self._turns.end(name, now)
            self._blame.end(name)
            self._measured.pop(name, None)
            self._wanted.pop(name, None)
            return
        wants = pass_scheduler.wants_workers
        if wants and not self._wanted.get(name):
            self._turns.wants_again(name)
        self._wanted[name] = wants
        news = pass_scheduler.turn_news()
        for span in news.done:
            if self._blame.done(name, span):
                pass_scheduler.is_suspected = False
                self._turns.isolate(name, None, now)
        for worker in news.started:
            self._turns.started(name, worker, now)
        for worker in news.gone:
            self._turns.gone(name, worker, now)
        for address, worker in news.resting:
            self._turns.returned(name, worker, now)
            self._turns.wait(name, address, worker)

    def _decide(self, everywhere: bool = False) -> None:
        """Carries out what is decided of turns, and what follows from that."""
        if self._is_deciding:
            return
        self._is_deciding = True
        try:
            while actions := self._turns.decide(self._clock(), everywhere):
                everywhere = False
                for action in actions:
                    each = self._passes.get(action.query)
                    if each is not None:
                        take = each.begin_turn if isinstance(action, Grant) else each.end_turn
                        self._post(each, take(action.worker))
        finally:
            self._is_deciding = False

    def _send(self, pass_scheduler: PassScheduler, out: list[tuple[str, object]]) -> None:
        for address, message in out:
            process = self._processes.get(address)
            if process is not None:
                if isinstance(message, Begin):
                    message = replaced(message, blobs=self._few_bytes(message))
                process.mail.put(message)
                self.news.add(address)
        if (
            self._told.get(pass_scheduler.name) != pass_scheduler.change
        ):  # clients need not hear of each packet
            self._told[pass_scheduler.name] = pass_scheduler.change
            self.changed.add(pass_scheduler.name)


def _digests(request: PassRequest) -> Iterable[str]:
    yield request.task
    yield from request.packages
    for digest in (request.inputs, request.recipe, request.before):
        if digest is not None:
            yield digest
