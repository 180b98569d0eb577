"""A pass on a cluster as this process sees it: it asks the scheduler for the pass, watches it on a
thread, fetches the result from the workers that hold it, and keeps it on disk if it is asked to.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar, Protocol

from ...errors import ChangedError, QueryError, UnsupportedError, WorkerError
from ...scheduling import Coverage, Monitored, Ranges, Sizing
from ...workers.task import OneStateTask, States, Task, pickled
from ...workers.workload import Partial
from ..base import Heartbeat, Pass, PassStatus, Request, policy_of, sizing_of, worker_error
from ..checkpoint_writer import CheckpointWriter
from ..merged_partial import MergedPartial, Seen
from ..remembered_partial import RememberedPartial
from .messages import HeldPartial, Limits, PassEnded, PassRequest, PassUpdate
from .ownership import fingerprint
from .resumption import Resumption, checkpoint_name, into
from .scheduler_client import PartialLost, SchedulerClient

__all__ = ["DaskPass", "WaitingWords"]

# What a user who waits for a cluster that does nothing is told: it has no workers, or its scheduler
# does not answer. Pure.

_NO_WORKERS = 3.0
"""Seconds without a worker after which that is said."""
_SILENT = 10.0
"""Seconds without an answer of the scheduler after which that is said. A session asks it twice a
second."""
_SAY_AGAIN = 30.0
"""Seconds after which it is said again."""


class WaitingWords:
    """When something is to be said, and what."""

    def __init__(self, address: str, wait: float, began: float) -> None:
        """`address` of the scheduler. `wait`: seconds after which a query without a worker is given
        up."""
        self._address = address
        self._wait = wait
        self._heard = began
        self._alone: float | None = began
        self._said: float | None = None  # when it was said last

    def hear(self, now: float, alone: bool) -> None:
        """The scheduler has answered. `alone`: the query needs workers and has none."""
        if now - self._heard > _SILENT or not alone:
            self._said = None
        self._heard = now
        if not alone:
            self._alone = None
        elif self._alone is None:
            self._alone = now

    def due(self, now: float) -> str | None:
        """What is to be said now, if anything.

        >>> words = WaitingWords("tcp://there:8786", 300.0, began=0.0)
        >>> words.hear(2.9, alone=True)
        >>> words.due(2.9)
        >>> words.due(3.1)[:37]
        'no workers at tcp://there:8786 yet, a'
        >>> words.due(12.0)
        >>> words.due(33.5)[:50]
        'the scheduler tcp://there:8786 has not answered fo'
        """
        words = self._words(now)
        if words is None or (self._said is not None and now - self._said < _SAY_AGAIN):
            return None
        self._said = now
        return words

    def _words(self, now: float) -> str | None:
        silent = now - self._heard
        if silent > _SILENT:
            return (
                f"the scheduler {self._address} has not answered for {silent:.0f} s: check whether "
                "its process is stopped or overloaded, and whether the network works"
            )
        if self._alone is None or now - self._alone <= _NO_WORKERS:
            return None
        return (
            f"no workers at {self._address} yet, after {now - self._alone:.0f} s: start some, or "
            "find in their logs why they do not come; the query ends after "
            f"{self._wait:g} s without a worker (wait= of connect())"
        )


# What a pass on a cluster has merged, as this process gets it: from the workers that hold it, and
# what a checkpoint had before. Knows no end of the pass: `DaskPass` says when to fetch the
# result.


class FetchedResult:
    """The result of a pass, from now and then to the end."""

    def __init__(
        self,
        scheduler_client: SchedulerClient,
        work: str,
        task: Task,
        begin: Callable[[], MergedPartial],
    ) -> None:
        """`work`: what messages call the pass. `begin` makes what all results begin with."""
        self._scheduler_client = scheduler_client
        self._work = work
        self._task: OneStateTask | None = OneStateTask(task)
        self._begin = begin
        self._final: MergedPartial | None = None

    def results(self, within: float | None = None) -> list[object] | None:
        """See Results."""
        merged = self.merged()
        return None if merged is None else merged.results(within)

    def take(self) -> Partial | None:
        """See Results."""
        return None if self._final is None else self._final.take()

    @property
    def seen(self) -> Seen:
        """See MergedPartial: what workers had seen at the end."""
        return {} if self._final is None else self._final.seen or {}

    def kept(self) -> tuple[bytes, Ranges] | None:
        """See MergedPartial. None too if something has changed meanwhile: the next time it may
        not.
        """
        merged = self.merged()
        return None if merged is None else merged.kept()

    def merged(self) -> MergedPartial | None:
        """What is merged now. None if it cannot be had at this moment."""
        return self._final or self._now()

    def fetch(self, parts: Sequence[HeldPartial]) -> PassEnded | None:
        """Gets the result, of which these are the parts, and says how the pass has ended. None if
        the result has changed meanwhile. Raises ChangedError if workers have read two states of a
        file."""
        try:
            merged, commits = self._read(parts)
        except PartialLost:
            return None
        ended: PassEnded | None = self._scheduler_client.ask("settle", self._work, commits)
        if ended is not None:
            self._final = merged
        return ended

    def end(self) -> None:
        """Notes that there is nothing more to be got."""
        if self._final is None:
            self._final = self._begin()
        self._task, self._begin = None, MergedPartial

    def _now(self) -> MergedPartial | None:
        try:
            merged, _ = self._read(self._scheduler_client.ask("parts", self._work))
        except (PartialLost, ChangedError):  # the end of the pass says that a file has changed
            return None
        return merged if merged.is_disjoint() else None

    def _read(self, parts: Sequence[HeldPartial]) -> tuple[MergedPartial, dict[int, int]]:
        """Returns what is in these parts as one, and how many commits each has."""
        merged, task, states = self._begin(), self._task, States()
        commits = {}
        reads = self._scheduler_client.read(self._work, parts)
        for part, (count, covers, data) in zip(parts, reads, strict=True):
            commits[part.merger] = count
            if data is not None and task is not None:
                inner = states.inner(task.load(data))
                merged.saw(states.seen)
                merged.merge(inner, covers)
        return merged, commits


ROOTS = 2
"""Parts of which the result consists at most: with more, their mergers join in pairs at the end.
The simulation says which number is best (docs/packetizer.md)."""
_WATCH = 0.5
"""Seconds between two looks at the progress of a pass, if nothing changes."""
_REREAD = 0.05


class Settings(Protocol):
    """What a pass takes from its pool."""

    scheduler_client: SchedulerClient
    sizing: ClassVar[Sizing]
    packages: dict[str, bytes]
    silence: float
    patience: float
    wait: float
    keep: float
    trace: int
    limits: Limits
    closed: bool


class DaskPass(Pass):
    """A pass that is scheduled on a cluster's scheduler. One thread here watches it."""

    def __init__(
        self,
        pool: Settings,
        request: Request,
        work: str | None = None,
        before: Resumption | None = None,
        owner: str = "",
    ) -> None:
        """`work`: what the scheduler calls the pass, if it has it already, and `before`: what it
        began with. `owner`: whose it is, if it may be another user's."""
        super().__init__(request)
        self.owner = owner or str(pool.scheduler_client.caller.owner)
        self._request = request
        self._nodes = list(request.nodes())
        self._is_there = work is not None
        self._before = before or Resumption.of(request)
        self._pool = pool
        self._scheduler_client = pool.scheduler_client
        self._task: Task | None = request.task
        self._files = request.files
        self._began = time.monotonic()
        self._words = WaitingWords(pool.scheduler_client.address, pool.wait, self._began)
        self.name = work or f"{request.name}-{uuid.uuid4().hex[:8]}"
        self._watcher = f"{pool.scheduler_client.session}/{uuid.uuid4().hex}"
        self._status: PassUpdate | None = None
        self._ended: PassEnded | None = None
        self._error: BaseException | None = None
        self._fetched = FetchedResult(
            pool.scheduler_client, self.name, request.task, self._begins_with
        )
        if request.remembering is not None:
            self._checkpoint_writer = request.remembering.writer(self._remembered)
        elif request.checkpointing is not None:
            self._checkpoint_writer = CheckpointWriter(
                request.checkpointing, self._kept, self._sizes
            )
        self._thread = threading.Thread(target=self._follow, name="treemill-pass", daemon=True)

    # What the session asks.

    @property
    def merged(self) -> FetchedResult:
        """See Pass."""
        return self._fetched

    def status(self) -> PassStatus:
        """See Pass."""
        status, ended = self._status, self._ended
        return PassStatus(
            self._began,
            Heartbeat() if status is None else status.heartbeat,
            0 if status is None else status.expected,
            0 if status is None else status.before,
            None if ended is None else ended.entries,
            self.workers,
            self._error,
            None if ended is None else ended.trace,
            ending=None if status is None else status.ending,
        )

    def words(self) -> str | None:
        """See Pass."""
        return None if self._ended is not None else self._words.due(time.monotonic())

    @property
    def monitored(self) -> Callable[[], Monitored] | None:
        """See Pass."""
        if self._ended is not None or self._request.served is None:
            counts = None if self._ended is None else self._ended.monitored
        else:
            counts = self._scheduler_client.ask("monitored", self.name)
        return None if counts is None else lambda: counts

    def coverage(self) -> Coverage:
        """See Pass."""
        if self._ended is not None:
            return self._ended.coverage
        coverage: Coverage = self._scheduler_client.ask("coverage", self.name)
        return coverage

    def start(self) -> None:
        """Sends the task to the scheduler. Raises QueryError if it cannot be sent."""
        if not self._is_there:
            self._send()
            self._locate()
        self._thread.start()

    def _send(self) -> None:
        task, pool = self._task, self._pool
        assert task is not None
        blobs = dict(pool.packages)
        inputs = None
        digest = into(blobs, pickled(task, "the selector"))
        if task.inputs is not None:
            inputs = into(blobs, pickled(task.inputs, "the inputs"))
        # The client fetches the result once, at the end: entries that a client has got are lost
        # with it, those that a merger holds are not.
        policy = replace(
            policy_of(self._request, self.workers),
            collect_seconds=None,
            roots=ROOTS,
            reserve=True,
        )
        served = self._request.served
        request = PassRequest(
            name=self._request.name,
            title=self._request.title,
            task=digest,
            inputs=inputs,
            packages=tuple(pool.packages),
            files=list(self._files),
            nodes=self._nodes,
            policy=policy,
            sizing=sizing_of(pool.sizing, task, None),
            silence=pool.silence,
            patience=pool.patience,
            wait=pool.wait,
            keep=pool.keep,
            served=None if served is None else [served(at) for at in range(len(self._files))],
            trace=max(pool.trace, self._request.trace),
            recipe=self._recipe(blobs),
            done=self._before.covers or {},
            before=self._before.put(blobs),
            kept=checkpoint_name(self._request),
            limits=pool.limits,
            memory=self._request.memory,
            addresses=_at_hosts(self._request.addresses()),
            owner=self._scheduler_client.caller.owner,
            opened_by=(
                fingerprint(self._scheduler_client.caller.keys[0]),
                fingerprint(self._request.key),
            ),
        )
        self._scheduler_client.put(blobs)
        self._scheduler_client.ask("begin", self.name, request)

    def _locate(self) -> None:
        """Finds out during the pass where its files lie, if workers are on several hosts."""
        locate = self._request.locate

        def find() -> None:
            with suppress(WorkerError, QueryError):  # the pass is over, or says the same
                if locate is None or self._scheduler_client.hello()["hosts"] < 2:
                    return
                for addresses in locate(range(len(self._files))):
                    if self._ended is not None:
                        return
                    self._scheduler_client.ask("locate", self.name, addresses)

        if any(self._nodes):
            threading.Thread(target=find, name="treemill-locate", daemon=True).start()

    def _recipe(self, blobs: dict[str, bytes]) -> str | None:
        """The digest of the query, so that another process may resume it; None if it cannot be
        sent, which matters only then."""
        try:
            return into(blobs, pickled(self._request.query, "the query"))
        except QueryError:
            return None

    def stop(self, reason: str) -> None:
        """See Pass."""
        self._scheduler_client.ask("stop", self.name, reason)

    def abort(self, reason: str) -> None:
        """See Pass."""
        self._scheduler_client.ask("abort", self.name, reason)

    def released(self) -> None:
        """Waits until the scheduler knows that this process has the result, if it has it."""
        if self._ended is not None and threading.current_thread() is not self._thread:
            self._thread.join(2 * _WATCH)

    def leave(self) -> None:
        """Ends the thread that watches, because the session is closed."""
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(2 * _WATCH)
        if self._checkpoint_writer is not None:
            self._checkpoint_writer.end(save=False)  # another run may want the checkpoint

    # What is kept on disk.

    def _begins_with(self) -> MergedPartial:
        task, checkpointing = self._request.task, self._request.checkpointing
        check = (lambda partial: None) if checkpointing is None else checkpointing.check
        return self._before.merged(task.load, check, self._sizes)

    def _remembered(self) -> RememberedPartial | None:
        """Returns what is merged now, for the thread that keeps it."""
        merged = self._fetched.merged()
        return merged if isinstance(merged, RememberedPartial) else None

    def _kept(self) -> tuple[bytes, Ranges] | None:
        """Returns what is merged now, for the thread that keeps it."""
        try:
            return self._fetched.kept()
        except UnsupportedError as error:  # it cannot be kept; the end of the pass says so
            self.abort(str(error))
            return None

    def _sizes(self, files: Collection[int] | None = None) -> Mapping[int, int]:
        if self._ended is not None:
            return self._ended.sizes
        sizes: Mapping[int, int] = self._scheduler_client.ask("sizes", self.name)
        return sizes

    # The thread that watches.

    def _follow(self) -> None:
        begun, change = False, -1
        try:
            while True:
                if self._pool.closed:
                    raise WorkerError("the session was closed")
                status = self._scheduler_client.watch(self.name, change, _WATCH, self._watcher)
                change = status.change
                self._status = status
                alone = not status.threads and status.parts is None and status.ended is None
                self._words.hear(time.monotonic(), alone)
                if status.begun and not begun:
                    begun = True
                    self.on_begin()
                ended = status.ended
                if ended is None and status.parts is not None:
                    ended = self._fetched.fetch(status.parts)
                    if ended is None:
                        time.sleep(_REREAD)  # the scheduler will say what has changed meanwhile
                        change = -1
                if ended is not None:
                    self._end(ended)
                    return
        except BaseException as error:
            if isinstance(error, UnsupportedError | ChangedError):  # it cannot be kept or had
                with suppress(WorkerError):
                    self._scheduler_client.ask("forget", self.name)
            self._fail(error)

    def _end(self, ended: PassEnded) -> None:
        self._ended = ended
        self._error = self._explained(ended.error)
        self._finish(save=True)
        stays = self._request.is_shared() and ended.error is None
        self._scheduler_client.ask("release", self.name, self._watcher, stays)

    def _fail(self, error: BaseException) -> None:
        self._error = self._explained(worker_error(0, error))
        if self._pool.closed:
            self._error = WorkerError(
                "the session was closed, and the query goes on in the cluster: "
                f"attach({self._request.name!r}) of another session has its result"
            )
        self._ended = PassEnded(self._error, Coverage({}, []), 0, None, {})
        self._finish(save=False)

    def _explained(self, error: BaseException | None) -> BaseException | None:
        """The error, with what a checkpoint has if the run can resume from it."""
        if self._checkpoint_writer is None or not isinstance(error, WorkerError):
            return error
        kept = f"{self._checkpoint_writer.entries:,} of {self.status().expected:,} entries"
        error.message += (
            f"; {self._checkpoint_writer.what} has {kept}, from which the same run goes on"
        )
        error.args = (error.message,)
        return error

    def _finish(self, save: bool) -> None:
        self._fetched.end()
        self._conclude(save)
        self._task, self._before = None, Resumption()


def _at_hosts(addresses: Mapping[int, Sequence[str]]) -> dict[int, list[str]]:
    """Those of files all of whose addresses name a host: one that does not is near to all."""
    return {n: list(each) for n, each in addresses.items() if all("://" in one for one in each)}
