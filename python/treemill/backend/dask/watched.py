"""A pass on a cluster as this process sees it: it asks the scheduler for the pass, watches it on a
thread, and fetches the result from the workers that hold it.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar, Protocol

from ...errors import QueryError, WorkerError
from ...io_report import IOReport
from ...packetizer import Coverage, Sizing, Trace
from ...worker.task import Task
from ...worker.workload import Partial
from ..base import Pass, Request, worker_error
from ..pickled import pickled
from ..pulse import Pulse
from .blobs import into
from .line import Gone, Line
from .messages import Ended, Part, PassRequest, Status

__all__ = ["DaskPass"]

_WATCH = 0.5
"""Seconds between two looks at the progress of a pass, if nothing changes."""
_REREAD = 0.05


class Settings(Protocol):
    """What a pass takes from its pool."""

    line: Line
    sizing: ClassVar[Sizing]
    packages: dict[str, bytes]
    silence: float
    patience: float
    wait: float
    keep: float
    trace: int
    closed: bool


class _Counters:
    """The counters of a pass, as they were told last."""

    def __init__(self) -> None:
        self.pulse = Pulse()

    @property
    def entries(self) -> int:
        return self.pulse.entries

    @property
    def bytes_read(self) -> int:
        return self.pulse.bytes_read

    @property
    def bytes_decompressed(self) -> int:
        return self.pulse.bytes_decompressed

    @property
    def bytes_from_cache(self) -> int:
        return self.pulse.bytes_from_cache


class _Remote:
    """What is merged on the cluster, and what was fetched of it at the end."""

    def __init__(self, read: Callable[[float | None], Partial | None]) -> None:
        self._read: Callable[[float | None], Partial | None] | None = read
        self._partial: Partial | None = None

    def settle(self, partial: Partial | None) -> None:
        self._partial, self._read = partial, None

    def take(self) -> Partial | None:
        """See Results."""
        return self._partial

    def results(self, within: float | None = None) -> list[object] | None:
        """See Results."""
        read = self._read
        partial = self._partial if read is None else read(within)
        return None if partial is None else list(partial.results())


class DaskPass(Pass):
    """A pass that a cluster's scheduler leads. One thread here watches it."""

    def __init__(self, pool: Settings, request: Request, work: str | None = None) -> None:
        """`work`: what the scheduler calls the pass, if it has it already."""
        super().__init__(request)
        self._request = request
        self._is_there = work is not None
        self._pool = pool
        self._line = pool.line
        self._task: Task | None = request.task
        self._files = request.files
        self._skip_errors = request.skip_errors
        self._on_end = request.on_end
        self._began = time.monotonic()
        self.name = work or f"{request.name}-{uuid.uuid4().hex[:8]}"
        self.counters = _Counters()
        self.control = self.counters
        self._status: Status | None = None
        self._ended: Ended | None = None
        self._error: BaseException | None = None
        self._remote = _Remote(self._snapshot)
        self._thread = threading.Thread(target=self._follow, name="treemill-pass", daemon=True)

    # What the session asks.

    @property
    def io(self) -> IOReport:
        """See Pass."""
        return self.counters.pulse.io

    @property
    def merged(self) -> _Remote:
        """See Pass."""
        return self._remote

    @property
    def error(self) -> BaseException | None:
        """See Pass."""
        return self._error

    @property
    def trace(self) -> Trace | None:
        """See Pass."""
        return None if self._ended is None else self._ended.trace

    @property
    def began(self) -> float:
        """See Pass."""
        return self._began

    @property
    def expected_entries(self) -> int:
        """See Pass."""
        return 0 if self._status is None else self._status.expected

    @property
    def entries(self) -> int:
        """See Pass."""
        return self.counters.entries if self._ended is None else self._ended.entries

    def coverage(self) -> Coverage:
        """See Pass."""
        if self._ended is not None:
            return self._ended.coverage
        found: Coverage = self._line.ask("coverage", self.name)
        return found

    def start(self) -> None:
        """Sends the task to the scheduler. Raises QueryError if it cannot be sent."""
        if not self._is_there:
            self._send()
        self._thread.start()

    def _send(self) -> None:
        task, pool = self._task, self._pool
        assert task is not None
        blobs = dict(pool.packages)
        inputs = None
        digest = into(blobs, pickled(task, "the selector"))
        if task.inputs is not None:
            inputs = into(blobs, pickled(task.inputs, "the inputs"))
        sizing = pool.sizing
        if task.least_seconds:
            sizing = replace(sizing, least=task.least_seconds)
        request = PassRequest(
            name=self._request.name,
            title=self._request.title,
            task=digest,
            inputs=inputs,
            packages=tuple(pool.packages),
            files=list(self._files),
            nodes=[None] * len(self._files),
            workers=self.workers,
            skip_errors=self._skip_errors,
            commit_seconds=task.commit_seconds,
            sizing=sizing,
            silence=pool.silence,
            patience=pool.patience,
            wait=pool.wait,
            keep=pool.keep,
            trace=pool.trace,
            recipe=self._recipe(blobs),
        )
        self._line.put(blobs)
        self._line.ask("begin", self.name, request)

    def _recipe(self, blobs: dict[str, bytes]) -> str | None:
        """The digest of the query, so that another process may go on with it; None if it cannot be
        sent, which matters only then."""
        try:
            return into(blobs, pickled(self._request.query, "the query"))
        except QueryError:
            return None

    def stop(self, reason: str) -> None:
        """See Pass."""
        self._line.ask("stop", self.name, reason)

    def abort(self, reason: str) -> None:
        """See Pass."""
        self._line.ask("abort", self.name, reason)

    def leave(self) -> None:
        """Ends the thread that watches, because the session is closed."""
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(2 * _WATCH)

    # The thread that watches.

    def _follow(self) -> None:
        begun, change = False, -1
        try:
            while True:
                if self._pool.closed:
                    raise WorkerError("the session was closed")
                status = self._line.watch(self.name, change, _WATCH)
                change = status.change
                self._status = status
                self.counters.pulse = status.pulse
                if status.begun and not begun:
                    begun = True
                    self.on_begin()
                if status.ended is not None:
                    self._end(status.ended)
                    return
                if status.parts is not None and not self._fetch(status.parts):
                    time.sleep(_REREAD)  # the scheduler will say what has changed meanwhile
                    change = -1
        except BaseException as error:
            self._fail(error)

    def _fetch(self, parts: Sequence[Part]) -> bool:
        """Gets the result. False if it has changed meanwhile."""
        try:
            partial, commits = self._read(parts)
        except Gone:
            return False
        if not self._line.ask("settle", self.name, commits):
            return False
        self._remote.settle(partial)
        return True

    def _read(self, parts: Sequence[Part]) -> tuple[Partial | None, dict[int, int]]:
        """The partials of these mergers as one, and how many commits each has."""
        merged: Partial | None = None
        commits = {}
        for part in parts:
            number, data = self._line.read(self.name, part)
            commits[part.merger] = number
            task = self._task
            if data is None or task is None:
                continue
            partial = task.load(data)
            if merged is None:
                merged = partial
            else:
                merged.merge(partial)
        return merged, commits

    def _snapshot(self, within: float | None) -> Partial | None:
        try:
            return self._read(self._line.ask("parts", self.name))[0]
        except Gone:
            return None

    def _end(self, ended: Ended) -> None:
        self._ended = ended
        self._error = ended.error
        self._finish()
        self._line.ask("forget", self.name)

    def _fail(self, error: BaseException) -> None:
        self._error = worker_error(0, error)
        if self._pool.closed:
            self._error = WorkerError(
                "the session was closed, and the query goes on in the cluster: "
                f"attach({self._request.name!r}) of another session has its result"
            )
        status = self._status
        self._ended = Ended(self._error, Coverage({}, []), 0, None)
        self._status = status
        self._finish()

    def _finish(self) -> None:
        if self._remote._read is not None:
            self._remote.settle(None)
        on_end, self._on_end, self.on_begin = self._on_end, lambda ended: None, lambda: None
        on_end(self)
        self._task = None
