"""A pass that is scheduled in this process: the coordinator under a lock, which threads and
processes share, and how long the end of a pass waits for workers.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
import weakref
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from ..errors import WorkerError, warn
from ..scheduling import (
    Action,
    Coverage,
    Finish,
    Halt,
    Hint,
    Monitored,
    Order,
    Ranges,
    Stop,
)
from ..scheduling.coordinator import Coordinator, packetizer_and_coordinator
from ..workers.task import Task
from ..workers.workload import Partial
from .base import Heartbeat, Pass, PassStatus, Pool, Request, log_of, policy_of, sizing_of
from .merged_partial import MergedPartial

__all__ = ["CoordinatedPass", "leave_behind"]

# Warns of threads that do not end, which Python cannot end either: each is named once, with the
# place in the user's code where it is, and is left behind. Knows nothing of what the threads do.


def leave_behind(threads: Iterable[threading.Thread], workers: bool = True) -> None:
    """Warns once of each thread that has not ended. The process will not wait for it. If several
    callers name a thread at the same time, all of them return after the warning. `workers`: whether
    the threads are workers, which could be processes."""
    way_out = ' (mode="processes" can end its workers)' if workers else ""
    with _naming:
        for thread in threads:
            if thread.is_alive() and thread not in _left_behind:
                _left_behind.add(thread)
                warn(
                    f"thread {thread.name} is left behind: it is still {_place(thread)}, and "
                    f"Python cannot end a thread{way_out}",
                    RuntimeWarning,
                )


_naming = threading.Lock()
_left_behind: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def _place(thread: threading.Thread) -> str:
    """The place where a thread is, in the user's code if possible."""
    frame = sys._current_frames().get(thread.ident or 0)
    if frame is None:
        return "at work"
    stack = traceback.extract_stack(frame)
    ours = str(Path(__file__).parents[1])
    theirs = [f for f in stack if not f.filename.startswith((ours, threading.__file__))] or stack
    return f"in {theirs[-1].name} ({theirs[-1].filename}:{theirs[-1].lineno})"


class CoordinatedPass(Pass):
    """A pass whose coordinator is in this process."""

    _SENT: ClassVar = Order | Hint
    """What goes to a worker. To make this union takes as long as to look whether an action is in
    it."""

    def __init__(self, pool: Pool, request: Request) -> None:
        task, checkpointing, remembering = request.task, request.checkpointing, request.remembering
        keeping = remembering or checkpointing
        super().__init__(request)
        self._task: Task | None = task
        """None after the end of the pass."""
        self._clock = time.monotonic
        self._merged = MergedPartial()
        if remembering is not None:
            merged = self._merged = remembering.merged(self._sizes)
            self._checkpoint_writer = remembering.writer(lambda: merged)
        elif checkpointing is not None:
            self._merged = checkpointing.merged(task.load)
            self._checkpoint_writer = checkpointing.checkpoint_writer(
                self._merged.kept, self._sizes
            )
        self._coordinator = self._make_coordinator(
            pool, request, {} if keeping is None else keeping.processed
        )
        self._before = self._coordinator.committed_entries
        self._lock = threading.Lock()
        """Guards the coordinator, and the order in which actions reach workers."""
        self._patience = pool.patience
        self._timers: dict[str, threading.Timer] = {}
        self._given_up: list[int] = []  # workers whose partials take too long to be merged
        self._stopped = False  # by the user, before the end

    def _make_coordinator(self, pool: Pool, request: Request, done: Ranges) -> Coordinator:
        """Makes what leads the pass. `done`: what is in the result already."""
        policy = policy_of(request, self.workers)
        policy = replace(
            policy,
            speculate=policy.speculate and self.workers > 1,
            shares_lock=pool.remembers and request.task.holds_lock,
        )
        _, coordinator = packetizer_and_coordinator(
            request.files,
            policy,
            sizing_of(pool.sizing, request.task, self.workers),
            self._clock,
            done=done,
            trace=max(pool.trace, request.trace),
            merged=self._merged,
            served=request.served,
            notes_entries=self._notes_entries(request),
            log=log_of(request.name),
        )
        return coordinator

    @staticmethod
    def _notes_entries(request: Request) -> bool:
        # What is on disk is kept with its entries.
        return request.checkpointing is not None or request.remembering is not None

    def _sizes(self, files: Collection[int] | None = None) -> Mapping[int, int]:
        with self._lock:
            return self._coordinator.sizes(files)

    def stop(self, reason: str) -> None:
        """Tells workers to end at their next batch and to commit; `on_end` follows. Workers that
        have not ended after `patience` seconds are given up."""
        self._stopped = True
        self._send_event(Stop(reason))
        with self._lock:
            self._later(self._lose_patience, reason)

    def _later(self, do: Callable[[str], None], reason: str) -> None:
        """Calls `do` after `patience` seconds, if the pass has not ended by then. Must be called
        under the lock; the same function is called once at most."""
        if self.ended is None and do.__name__ not in self._timers:
            timer = self._timers[do.__name__] = threading.Timer(self._patience, do, [reason])
            timer.daemon = True
            timer.start()

    def _lose_patience(self, reason: str) -> None:
        self.abort(f"{reason}; a worker was not done {self._patience:g} s later")

    def abort(self, reason: str) -> None:
        """Ends at once with what is merged; the work that is not committed is lost. A merge that is
        under way may still end within `patience` seconds."""
        self._stopped = True
        self._carry_out(lambda: self._coordinator.abort(reason))
        with self._lock:
            self._later(self._give_up_merging, reason)

    def _give_up_merging(self, reason: str) -> None:
        """Ends the pass without a result, because the merged partial holds a part of another one.
        Merging may call the user's code, which need not end."""
        with self._lock:
            if self.ended is not None:
                return
            self._given_up = self._coordinator.merging
        self._merged.give_up()
        workers = " and ".join(f"worker {number}" for number in self._given_up)
        what = f"merging what {workers} had handed over" if workers else "the pass"
        words = f"{what} was not done {self._patience:g} s later, so there is no result"
        error = WorkerError(f"{reason}; {words}")
        self._carry_out(lambda: self._coordinator.lose_merged(error))

    @property
    def merged(self) -> MergedPartial:
        """The merged partial, until the pass has ended."""
        return self._merged

    @property
    def monitored(self) -> Callable[[], Monitored] | None:
        """See Pass."""
        with self._lock:
            return self._coordinator.monitored()

    @property
    def ended(self) -> float | None:
        """The time at which the pass ended; None while it runs."""
        return self._coordinator.ended

    def status(self) -> PassStatus:
        """See Pass."""
        heartbeat = self._heartbeat()
        with self._lock:
            coordinator = self._coordinator
            return PassStatus(
                coordinator.began,
                heartbeat,
                coordinator.expected_entries,
                self._before,
                None if self.ended is None else coordinator.committed_entries,
                self.workers,
                coordinator.error,
                coordinator.trace,
            )

    def files(self) -> Collection[int]:
        """See Pass."""
        with self._lock:
            return self._coordinator.files()

    def coverage(self) -> Coverage:
        """Returns which entries are merged, and which are given up."""
        with self._lock:
            return self._coordinator.coverage()

    @abstractmethod
    def _heartbeat(self) -> Heartbeat:
        """What all workers have counted so far."""

    @abstractmethod
    def _send(self, action: Any) -> None:  # noqa: ANN401 - an order or a hint, or one for a site
        """Sends an action to the worker that it is for. Called under the lock: must not block."""

    @abstractmethod
    def _halt(self) -> None:
        """Tells all workers to end their packets early. Must not block."""

    @abstractmethod
    def _dismiss(self) -> None:
        """Lets the workers go after the end of the pass."""

    def _send_event(self, event: Any) -> None:  # noqa: ANN401 - or one of a site
        """Handles a worker's event."""
        self._carry_out(partial(self._coordinator.handle, event))

    def _commit(
        self,
        worker: int,
        load: Callable[[], Partial],
        ranges: tuple[tuple[int, int, int], ...] = (),
    ) -> None:
        """Merges the partial that `load` returns, which a worker commits. `ranges`: see
        Committed."""
        aside = _Released(self._lock)
        self._carry_out(lambda: self._coordinator.commit(worker, load, aside, ranges))

    def _begins(self, worker: int) -> None:
        """Notes that the worker has got its first packet."""
        with self._lock:
            all_are = self._coordinator.begins(worker)
        if all_are:
            self.on_begin()

    def _crash(self, error: BaseException) -> None:
        """Ends the pass with an error."""
        self._carry_out(lambda: self._coordinator.fail(error))

    def _carry_out(self, decide: Callable[[], list[Action]]) -> list[Action]:
        is_over = False
        with self._lock:
            actions = decide()
            for action in actions:
                if isinstance(action, self._SENT):
                    self._send(action)
                elif isinstance(action, Halt):
                    self._halt()
                elif isinstance(action, Finish):
                    is_over = True
        if is_over:
            self._finish()
        return actions

    def _finish(self) -> None:
        for timer in list(self._timers.values()):
            timer.cancel()
        self._dismiss()
        self._conclude()
        self._coordinator.release()
        self._merged = MergedPartial()
        self._task = None


class _Released:
    """Releases the lock inside the context."""

    __slots__ = ("_lock",)

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        self._lock.release()

    def __exit__(self, *error: object) -> None:
        self._lock.acquire()
