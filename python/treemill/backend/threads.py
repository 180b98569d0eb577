"""Workers as threads of this process. The core lets go of the GIL while it reads and fills, so
they run at once; each has its own partial, and they meet only in the packetizer, under a lock.

Threads start when first needed and are kept for the next query, until the pool is closed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from ..errors import UnsupportedError
from ..packetizer import FileSize, Order, Process, Sizing, Tick, WorkerJoined
from ..worker.task import Task
from ..worker.worker import Worker
from .base import Pass, worker_error
from .left_behind import leave_behind

__all__ = ["ThreadPass", "ThreadPool"]

# A packet costs tens of microseconds here, so it may be short, and a query that takes 10 ms can be
# shared out evenly; and it must not be so long that the user waits for news (a worker commits only
# between packets).
SIZING = Sizing(shortest=1e-3, longest=1.0, merge=5e-3, tail=0.2)
_TICK = 0.5
"""Seconds that a thread waits for work before it asks whether another one is late."""

Job = Callable[[], None]


class ThreadPool:
    """Threads that wait for something to do."""

    kind = "threads"
    remembers = True

    def __init__(self, size: int, *, patience: float = 10.0, trace: int = 0) -> None:
        """`patience`: seconds that the end of a query or of the pool waits for what threads are
        at. `trace`: how many records of each pass are kept."""
        self.size = size
        self._trace = trace
        self._patience = patience
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._busy: dict[threading.Thread, Job] = {}
        self._left: set[threading.Thread] = set()  # that end when their job does
        self._lock = threading.Lock()
        self._closed = False
        self._outstanding = 0  # jobs that wait or run

    def prepare(
        self,
        task: Task,
        files: Sequence[FileSize | None],
        *,
        workers: int,
        skip_errors: bool,
        on_end: Callable[[Pass], None],
    ) -> ThreadPass:
        """A pass that was not started."""
        return ThreadPass(
            self,
            task,
            files,
            workers=workers,
            skip_errors=skip_errors,
            on_end=on_end,
            sizing=SIZING,
            patience=self._patience,
            trace=self._trace,
        )

    def submit(self, jobs: Sequence[Job]) -> None:
        """Runs each job on a thread, at most `size` at once."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the session is closed")
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
        """Does not count on these jobs any more. Gives back the threads that are at them, which end
        when they are done; others take their places."""
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
        """Refused: threads import from where this process does."""
        raise UnsupportedError(
            'packages are for mode="processes"; threads import what this process can'
        )

    def close(self) -> None:
        """Ends the threads once their jobs are done, and waits for that, but not for ever."""
        with self._lock:
            self._closed = True
            threads, self._threads = self._threads, []
            awaited = {*threads, *self._left} - {threading.current_thread()}
        for _ in threads:
            self._jobs.put(None)
        deadline = time.monotonic() + self._patience
        for thread in awaited:
            thread.join(max(deadline - time.monotonic(), 0.0))
        leave_behind(awaited)

    def _work(self) -> None:
        me = threading.current_thread()
        while (job := self._jobs.get()) is not None:
            with self._lock:
                self._busy[me] = job
            job()
            del job  # holds a pass, and what that has made
            with self._lock:
                if me in self._left:
                    self._left.remove(me)
                    return
                del self._busy[me]
                self._outstanding -= 1


class ThreadPass(Pass):
    """A pass on threads: each has an inbox."""

    def __init__(
        self, pool: ThreadPool, task: Task, files: Sequence[FileSize | None], **options: Any
    ) -> None:
        super().__init__(task, files, **options)
        self.control: Any = task.control()
        self._pool = pool
        self._inboxes: list[SimpleQueue[Order | None]] = [
            SimpleQueue() for _ in range(self.workers)
        ]
        self._jobs: list[Job] = []
        self._late: list[threading.Thread] = []

    def start(self) -> None:
        """Returns at once."""
        self._jobs = [self._job(number) for number in range(self.workers)]
        self._pool.submit(self._jobs)

    def _job(self, number: int) -> Job:
        def commit(partial: Any) -> None:
            self._commit(number, lambda: partial)

        def work() -> None:
            inbox, task = self._inboxes[number], self._task
            if task is None:
                return
            try:
                workload = task.workload(number)
                workload.begin()
                worker = Worker(number, workload, self.control, commit)
                self._tell(WorkerJoined(number))
                has_begun = False
                while (order := self._next(inbox)) is not None:
                    if not has_begun and isinstance(order, Process):
                        has_begun = True
                        self._begins(number)
                    event = worker.perform(order)
                    if event is not None:
                        self._tell(event)
                worker.leave()
            except BaseException as error:  # a defect of treemill's own: nobody must wait for ever
                self._crash(worker_error(number, error))

        return work

    def _next(self, inbox: SimpleQueue[Order | None]) -> Order | None:
        while True:
            try:
                return inbox.get(timeout=_TICK)
            except Empty:
                self._tell(Tick())

    def _send(self, worker: int, order: Order) -> None:
        self._inboxes[worker].put(order)

    def _halt(self) -> None:
        self.control.stop()

    def _dismiss(self) -> None:
        for inbox in self._inboxes:
            inbox.put(None)
        if self._stopped:
            # Those that are in user code may stay there.
            there = self._coordinator.workers
            left = [number for number in range(self.workers) if number not in there]
            left += [number for number in self._given_up if number in there]
            self._late = self._pool.leave([self._jobs[number] for number in left])
        self._jobs = []  # they hold this

    def _lose_patience(self, reason: str) -> None:
        super()._lose_patience(reason)
        leave_behind(self._late)

    def _give_up_merging(self, reason: str) -> None:
        super()._give_up_merging(reason)
        leave_behind(self._late)
