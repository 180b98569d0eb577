"""Workers as threads of this process. The core releases the GIL while it reads and fills, so that
threads run in parallel. Each has a partial of its own; they share only the coordinator, under a
lock.

Threads start when they are first needed. They are kept for the next query, until the pool is
closed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from ..errors import UnsupportedError
from ..scheduling import (
    Event,
    Forget,
    Hint,
    Order,
    Process,
    ProcessFiles,
    Sizing,
    Tick,
    WorkerJoined,
)
from ..workers.worker import Worker
from ..workers.workload import Partial
from .base import Heartbeat, Pool, Request, worker_error
from .coordinated_pass import CoordinatedPass, leave_behind

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["ThreadPass", "ThreadPool"]

# A packet costs tens of microseconds. So it may be short, and a query that takes 10 ms can be
# divided evenly. It must not be long: a worker commits between packets, and the user waits for
# feedback.
SIZING = Sizing(shortest=1e-3, longest=1.0, merge=5e-3, tail=0.2)
_TICK = 0.5
"""Seconds that a thread waits for an order before it asks for a late worker's packet."""

Job = Callable[[], None]


class ThreadPool(Pool):
    """Threads that wait for jobs."""

    kind = "threads"
    remembers = True
    sizing = SIZING
    keeps = True
    keeps_results = True

    def __init__(self, size: int, *, patience: float = 10.0, trace: int = 0) -> None:
        super().__init__(size, patience, trace)
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._busy: dict[threading.Thread, Job] = {}
        self._left: set[threading.Thread] = set()  # these end when their job does
        self._lock = threading.Lock()
        self._closed = False
        self._outstanding = 0  # jobs that wait or run

    def prepare(self, request: Request) -> ThreadPass:
        """Makes a pass, which the caller starts."""
        return ThreadPass(self, request)

    def submit(self, jobs: Sequence[Job]) -> None:
        """Runs each job on a thread, at most `size` at once."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the session is closed: make another one by treemill.connect()")
            self._outstanding += len(jobs)
            while len(self._threads) < min(self.size, self._outstanding):
                thread = threading.Thread(
                    target=self._work, name=f"treemill-{len(self._threads)}", daemon=True
                )
                self._threads.append(thread)
                thread.start()
        for job in jobs:
            self._jobs.put(job)

    def leave(self, jobs: Iterable[Job]) -> list[threading.Thread]:
        """Gives up these jobs. Returns the threads that run them, which will end with their jobs;
        other threads replace them."""
        with self._lock:
            left = [thread for thread, job in self._busy.items() if job in jobs]
            for thread in left:
                del self._busy[thread]
                self._left.add(thread)
                if not self._closed:
                    self._threads.remove(thread)
                self._outstanding -= 1
        return left

    def set_paths(self, paths: Sequence[str]) -> None:
        """Raises UnsupportedError: threads import what this process imports."""
        raise UnsupportedError(
            'upload() is for mode="processes" and for clusters: threads import the modules that '
            "this process can import"
        )

    def close(self) -> None:
        """Ends the threads after their jobs, and waits for `patience` seconds at most."""
        with self._lock:
            self._closed = True
            threads, self._threads = self._threads, []
            awaited = {*threads, *self._left} - {threading.current_thread()}
        for _ in threads:
            self._jobs.put(None)
        deadline = time.monotonic() + self.patience
        for thread in awaited:
            thread.join(max(deadline - time.monotonic(), 0.0))
        leave_behind(awaited)

    def _work(self) -> None:
        me = threading.current_thread()
        while (job := self._jobs.get()) is not None:
            with self._lock:
                self._busy[me] = job
            job()
            del job  # it holds a pass, and the pass its results
            with self._lock:
                if me in self._left:
                    self._left.remove(me)
                    return
                del self._busy[me]
                self._outstanding -= 1


class ThreadPass(CoordinatedPass):
    """A pass on threads, each of which has an inbox for its orders."""

    def __init__(self, pool: ThreadPool, request: Request) -> None:
        super().__init__(pool, request)
        self._control: Control = request.task.control()
        self._pool = pool
        self._inboxes: list[SimpleQueue[Order | None]] = [
            SimpleQueue() for _ in range(self.workers)
        ]
        self._there: dict[int, Worker[Partial]] = {}  # the workers that have joined
        self._jobs: list[Job] = []
        self._late: list[threading.Thread] = []

    def _heartbeat(self) -> Heartbeat:
        return Heartbeat.of(self._control)

    def start(self) -> None:
        """Gives the pool one job for each worker. Returns at once."""
        self._jobs = [self._job(number) for number in range(self.workers)]
        self._pool.submit(self._jobs)

    def _job(self, number: int) -> Job:
        def commit(partial: Partial) -> None:
            self._commit(number, lambda: partial)

        def work() -> None:
            inbox, task = self._inboxes[number], self._task
            if task is None:
                return
            try:
                workload = task.workload(number)
                workload.begin()
                worker = Worker(number, workload, self._control, commit, self._receive)
                self._there[number] = worker
                self._send_event(WorkerJoined(number))
                has_begun = False
                while (order := self._next(inbox)) is not None:
                    if not has_begun and isinstance(order, Process | ProcessFiles):
                        has_begun = True
                        self._begins(number)
                    event = worker.perform(order)
                    if event is not None:
                        self._send_event(event)
                worker.leave()
            except BaseException as error:  # a fault of treemill: the pass must end all the same
                self._crash(worker_error(number, error))
            finally:  # it may have joined after the pass was over, and holds the files
                self._there.pop(number, None)

        return work

    def _next(self, inbox: SimpleQueue[Order | None]) -> Order | None:
        while True:
            try:
                return inbox.get(timeout=_TICK)
            except Empty:
                self._send_event(Tick())

    def _receive(self, event: Event) -> None:
        """Handles an event of a further thread of a worker."""
        try:
            self._send_event(event)
        except BaseException as error:  # a fault of treemill: the pass must end all the same
            self._crash(worker_error(0, error))

    def _send(self, action: Order | Hint) -> None:
        worker = action.worker
        if isinstance(action, Hint):
            # Not by the inbox: the worker's own thread may be at a packet.
            to = action.to if isinstance(action, Forget) else None
            self._there[worker].note(action, None if to is None else self._there[to])
        else:
            self._inboxes[worker].put(action)

    def _halt(self) -> None:
        self._control.stop()

    def _dismiss(self) -> None:
        self._control.end()
        for inbox in self._inboxes:
            inbox.put(None)
        if self._stopped:
            # A worker that was given up may stay in the user's code.
            there = self._coordinator.workers
            left = [number for number in range(self.workers) if number not in there]
            left += [number for number in self._given_up if number in there]
            self._late = self._pool.leave([self._jobs[number] for number in left])
        self._jobs, self._there = [], {}  # they hold this pass

    def _lose_patience(self, reason: str) -> None:
        super()._lose_patience(reason)
        leave_behind(self._late)

    def _give_up_merging(self, reason: str) -> None:
        super()._give_up_merging(reason)
        leave_behind(self._late)
