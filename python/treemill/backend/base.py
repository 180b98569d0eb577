"""A pass on the workers of this machine: the coordinator under a lock, and who waits how long.

How actions reach workers and how their partials come back is told by the kinds of passes, in
threads.py and pool.py.
"""

from __future__ import annotations

import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
    Policy,
    Sizing,
    Stop,
    Trace,
)
from ..worker.task import Task
from .coordinator import Coordinator
from .merged import Merged

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
        trace: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`on_end` is called once, on some thread, after the last commit. `patience`: seconds that
        `stop` waits for what workers are at. `trace`: how many records of it are kept."""
        self.workers = workers
        self.on_begin: Callable[[], None] = lambda: None
        """Called once, on some thread, when as many workers as the pass should have are at their
        first packets; not called if fewer ever get one. Until the first of them has done its
        packet nothing in this process is urgent."""
        self._task: Task | None = task
        """None when the pass has ended."""
        self._on_end = on_end
        self._clock = clock
        packetizer = Packetizer(
            files,
            Policy(
                skip_errors=skip_errors,
                commit_seconds=task.commit_seconds,
                expected_workers=workers,
                speculate=workers > 1,
            ),
            sizing=replace(sizing, least=task.least_seconds),
        )
        self._coordinator = Coordinator(packetizer, workers, clock, trace)
        self._lock = threading.Lock()
        """Guards the coordinator, and that workers hear its actions in their order."""
        self._patience = patience
        self._timers: dict[str, threading.Timer] = {}
        self._given_up: list[int] = []  # workers whose partials take too long to be merged
        self._stopped = False  # by the user, before the end

    @abstractmethod
    def start(self) -> None:
        """Returns at once."""

    def stop(self, reason: str) -> None:
        """Workers end at their next batch and commit; `on_end` follows. Those that have not when
        patience is at its end are given up."""
        self._stopped = True
        self._tell(Stop(reason))
        with self._lock:
            self._later(self._lose_patience, reason)

    def _later(self, do: Callable[[str], None], reason: str) -> None:
        """Once, under the lock: when patience is at its end, if the pass has not ended by then."""
        if self.ended is None and do.__name__ not in self._timers:
            timer = self._timers[do.__name__] = threading.Timer(self._patience, do, [reason])
            timer.daemon = True
            timer.start()

    def _lose_patience(self, reason: str) -> None:
        self.abort(f"{reason}; a worker was not done {self._patience:g} s later")

    def abort(self, reason: str) -> None:
        """Ends at once with what is merged; what workers have in their hands is lost. A merge that
        is under way is waited for, until patience is at its end."""
        self._stopped = True
        self._carry_out(lambda: self._coordinator.abort(reason))
        with self._lock:
            self._later(self._give_up_merging, reason)

    def _give_up_merging(self, reason: str) -> None:
        """Merging is the user's code, too. What is merged by halves is no result."""
        with self._lock:
            if self.ended is not None:
                return
            self._given_up = self._coordinator.merging
        self.merged.give_up()
        workers = " and ".join(f"worker {number}" for number in self._given_up)
        what = f"merging what {workers} had handed over" if workers else "the pass"
        words = f"{what} was not done {self._patience:g} s later, so there is no result"
        self._crash(WorkerError(f"{reason}; {words}"))

    @property
    def merged(self) -> Merged:
        """What was committed, until the pass has ended."""
        return self._coordinator.merged

    @property
    def error(self) -> BaseException | None:
        """Why the pass did not end well; `on_end` may ask for it."""
        return self._coordinator.error

    @property
    def trace(self) -> Trace | None:
        """What workers said and were told, if that is kept."""
        return self._coordinator.trace

    @property
    def began(self) -> float:
        """When the pass was made."""
        return self._coordinator.began

    @property
    def ended(self) -> float | None:
        """When it ended; None while it runs."""
        return self._coordinator.ended

    @property
    def expected_entries(self) -> int:
        """Entries of the dataset, estimated while files are unopened."""
        with self._lock:
            return self._coordinator.expected_entries

    @property
    def entries(self) -> int:
        """Processed so far; those of a packet that two workers have count once, at the end at
        least."""
        with self._lock:
            if self.ended is not None:
                return self._coordinator.committed_entries
            return min(self.control.entries, self._coordinator.expected_entries)

    def coverage(self) -> Coverage:
        """Which entries are merged and which are given up."""
        with self._lock:
            return self._coordinator.coverage()

    @abstractmethod
    def _send(self, worker: int, order: Order) -> None:
        """To a worker. Called under the lock: must not block."""

    @abstractmethod
    def _halt(self) -> None:
        """Tells all workers to end their packets early. Must not block."""

    @abstractmethod
    def _dismiss(self) -> None:
        """The pass has ended: lets its workers go."""

    def _tell(self, event: Event) -> None:
        """A worker has said this."""
        self._carry_out(lambda: self._coordinator.handle(event))

    def _commit(self, worker: int, load: Callable[[], Any]) -> None:
        """A worker hands over the partial that `load` gives."""
        aside = _released(self._lock)
        self._carry_out(lambda: self._coordinator.commit(worker, load, aside))

    def _begins(self, worker: int) -> None:
        """The worker is at its first packet."""
        with self._lock:
            all_are = self._coordinator.begins(worker)
        if all_are:
            self.on_begin()

    def _crash(self, error: BaseException) -> None:
        """Ends the pass with this error."""
        self._carry_out(lambda: self._coordinator.fail(error))

    def _carry_out(self, decide: Callable[[], list[Action]]) -> list[Action]:
        with self._lock:
            actions = decide()
            for action in actions:
                if isinstance(action, Order):
                    self._send(action.worker, action)
                elif isinstance(action, Halt):
                    self._halt()
        if any(isinstance(action, Finish) for action in actions):
            self._finish()
        return actions

    def _finish(self) -> None:
        for timer in list(self._timers.values()):
            timer.cancel()
        self._dismiss()
        # What remains says what was done, and holds nothing that it was done with or made into.
        on_end, self._on_end, self.on_begin = self._on_end, lambda ended: None, lambda: None
        on_end(self)
        self._coordinator.release()
        self._task = None


@contextmanager
def _released(lock: threading.Lock) -> Iterator[None]:
    """Lets go of the lock meanwhile."""
    lock.release()
    try:
        yield
    finally:
        lock.acquire()


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
