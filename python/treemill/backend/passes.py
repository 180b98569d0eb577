"""What passes on every kind of workers have in common: the packetizer and who may talk to it.

A pass is one way through the data. Here events go in and actions come out; how actions reach
workers and how their partials come back is the kinds' own affair.
"""

from __future__ import annotations

import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from ..errors import TreemillError, WorkerError
from ..packetizer import (
    Action,
    Coverage,
    Event,
    FileSize,
    Finish,
    Halt,
    Order,
    Packetizer,
    Sizing,
    Stop,
    WorkerLost,
)
from ..partial import Merged
from ..task import Task

__all__ = ["Pass", "Pool", "worker_error"]


class Counting(Protocol):
    """Counters of work done, readable at any time."""

    @property
    def entries(self) -> int:
        """Processed."""

    @property
    def bytes_read(self) -> int:
        """From files."""

    @property
    def bytes_decompressed(self) -> int:
        """Of baskets."""

    @property
    def bytes_from_cache(self) -> int:
        """Of baskets that earlier passes have decompressed."""


class Pass(ABC):
    """One task's way through the data: workers pull packets until the packetizer says Finish."""

    control: Counting

    def __init__(
        self,
        task: Task,
        files: Sequence[FileSize | None],
        *,
        workers: int,
        skip_errors: bool,
        on_end: Callable[[Pass], None],
        sizing: Sizing,
        patience: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`on_end` is called once, on some thread, after the last commit. `patience`: seconds that
        `stop` waits for what workers are at."""
        self.merged = Merged()
        self.error: BaseException | None = None
        self.began = clock()
        self.ended: float | None = None
        self.workers = workers
        self.on_begin: Callable[[], None] = lambda: None
        """Called once, on some thread, when all workers are at their first packets: from then on
        nobody of this process is in a hurry, until one of them has done his. Not called where some
        never get one."""
        self._yet_to_begin = set(range(workers))
        self._task: Task | None = task
        """None when the pass has ended."""
        self._on_end = on_end
        self._clock = clock
        self._packetizer = Packetizer(
            files,
            sizing=replace(sizing, least=task.least_seconds),
            skip_errors=skip_errors,
            commit_seconds=task.commit_seconds,
            expected_workers=workers,
            speculate=workers > 1,
        )
        self._lock = threading.Lock()
        self._committing: set[int] = set()
        self._gone: set[int] = set()  # workers whose words do not count any more
        self._patience = patience
        self._timer: threading.Timer | None = None
        self._stopped = False  # by somebody, before the end

    @abstractmethod
    def start(self) -> None:
        """Returns at once."""

    def stop(self, reason: str) -> None:
        """Workers end at their next batch and commit; `on_end` follows. Those that have not when
        patience is at its end are given up."""
        self._stopped = True
        self._tell(Stop(reason))
        with self._lock:
            if self.ended is not None or self._timer is not None:
                return
            self._timer = threading.Timer(self._patience, self._lose_patience, [reason])
            self._timer.daemon = True
            self._timer.start()

    def _lose_patience(self, reason: str) -> None:
        self.abort(f"{reason}; a worker was not done {self._patience:g} s later")

    def abort(self, reason: str) -> None:
        """Ends at once with what is merged; what workers have in their hands is lost."""
        self._stopped = True
        with self._lock:
            finished = self._handle(Stop(reason))
            for worker in self._numbers():
                # One in the middle of a commit is waited for: it may be merged already.
                if worker not in self._committing:
                    finished = self._handle(WorkerLost(worker, reason)) or finished
                    self._gone.add(worker)
        if finished:
            self._finished()

    @property
    def expected_entries(self) -> int:
        """Entries of the dataset, estimated while files are unopened."""
        with self._lock:
            return self._packetizer.expected_entries

    @property
    def entries(self) -> int:
        """Processed so far; those of a packet that two workers have count once, at the end at
        least."""
        with self._lock:
            if self.ended is not None:
                return self._packetizer.committed_entries
            return min(self.control.entries, self._packetizer.expected_entries)

    def coverage(self) -> Coverage:
        """Which entries are merged and which are given up."""
        with self._lock:
            return self._packetizer.coverage()

    @abstractmethod
    def _numbers(self) -> list[int]:
        """Of the workers."""

    @abstractmethod
    def _send(self, worker: int, action: Action) -> None:
        """To a worker. Called under the lock: must not block."""

    @abstractmethod
    def _halt(self) -> None:
        """Tells all workers to end their packets early. Must not block."""

    @abstractmethod
    def _dismiss(self) -> None:
        """The pass has ended: lets its workers go."""

    def _tell(self, event: Event) -> None:
        with self._lock:
            if getattr(event, "worker", None) in self._gone:
                return  # given up, but it does not know
            finished = self._handle(event)
        if finished:
            self._finished()

    def _handle(self, event: Event) -> bool:
        """Under the lock. Whether the pass has ended by this."""
        if self.ended is not None:
            return False
        for action in self._packetizer.handle(event, self._clock()):
            if isinstance(action, Finish):
                self.error = action.error
                self.ended = self._clock()
            elif isinstance(action, Halt):
                self._halt()
            elif isinstance(action, Order) and action.worker not in self._gone:
                self._send(action.worker, action)
        return self.ended is not None

    def _finished(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._dismiss()
        # What remains says what was done, and holds nothing that it was done with or made into.
        on_end, self._on_end, self.on_begin = self._on_end, lambda ended: None, lambda: None
        on_end(self)
        self.merged, self.error, self._task = Merged(), None, None

    def _merge(self, worker: int, load: Callable[[], Any]) -> bool:
        """Merges what a worker hands over, unless the pass has ended; Committed must follow."""
        with self._lock:
            if self.ended is not None or worker in self._gone:
                return False
            self._committing.add(worker)
        self.merged.commit(load())
        return True

    def _begins(self, worker: int) -> None:
        """The worker is about to do its first packet."""
        with self._lock:
            self._yet_to_begin.discard(worker)
            all_have = not self._yet_to_begin
        if all_have:
            self.on_begin()

    def _merged(self, worker: int) -> None:
        with self._lock:
            self._committing.discard(worker)

    def _crash(self, error: BaseException) -> None:
        """Ends the pass with this error."""
        with self._lock:
            if self.ended is not None:
                return
            self.ended = self._clock()
            self.error = error
            self._halt()
        self._finished()


class Pool(Protocol):
    """Workers of one kind."""

    size: int
    kind: str
    remembers: bool
    """Whether workers find what this process remembers of files."""

    def prepare(
        self,
        task: Task,
        files: Sequence[FileSize | None],
        *,
        workers: int,
        skip_errors: bool,
        on_end: Callable[[Pass], None],
    ) -> Pass:
        """A pass that was not started."""

    def set_paths(self, paths: Sequence[str]) -> None:
        """Folders that come first where workers import from; for the passes to come."""

    def close(self) -> None:
        """Lets the workers go, and waits for that."""


def worker_error(number: int, error: BaseException) -> TreemillError:
    """What made a worker give up, as the user gets it."""
    if isinstance(error, TreemillError):
        return error
    made = WorkerError(
        f"worker {number} failed: {type(error).__name__}: {error}",
        worker=str(number),
        traceback="".join(traceback.format_exception(error)),
    )
    made.__cause__ = error
    return made
