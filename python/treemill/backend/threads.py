"""Workers as threads of this process. The core lets go of the GIL while it reads and fills, so
they run at once; each has its own partial, and they meet only in the packetizer, under a lock.

Threads start when first needed and are kept for the next query, until the pool is closed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from ..errors import UnsupportedError
from ..packetizer import Action, Committed, FileSize, Process, Sizing, Tick, WorkerJoined
from ..task import Task
from ..worker import Worker
from . import passes
from .passes import worker_error

__all__ = ["Pass", "ThreadPool"]

# A packet costs tens of microseconds here, so it may be short, and a query that takes 10 ms can be
# shared out evenly; and it must not be so long that the user waits for news (a worker commits only
# between packets).
SIZING = Sizing(shortest=1e-3, longest=1.0, merge=5e-3, tail=0.2)
_TICK = 0.5
"""Seconds that a thread waits for work before it asks whether another one is late."""


class ThreadPool:
    """Threads that wait for something to do."""

    kind = "threads"
    remembers = True

    def __init__(self, size: int) -> None:
        self.size = size
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
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
        on_end: Callable[[passes.Pass], None],
    ) -> Pass:
        """A pass that was not started."""
        return Pass(
            self,
            task,
            files,
            workers=workers,
            skip_errors=skip_errors,
            on_end=on_end,
            sizing=SIZING,
        )

    def submit(self, jobs: Sequence[Callable[[], None]]) -> None:
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

    def set_paths(self, paths: Sequence[str]) -> None:
        """Refused: threads import from where this process does."""
        raise UnsupportedError(
            'packages are for mode="processes"; threads import what this process can'
        )

    def close(self) -> None:
        """Ends the threads once their jobs are done, and waits for that."""
        with self._lock:
            self._closed = True
            threads, self._threads = self._threads, []
        for _ in threads:
            self._jobs.put(None)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            del job  # holds a pass, and what that has made
            with self._lock:
                self._outstanding -= 1


class Pass(passes.Pass):
    """A pass on threads: each has an inbox."""

    def __init__(
        self, pool: ThreadPool, task: Task, files: Sequence[FileSize | None], **options: Any
    ) -> None:
        super().__init__(task, files, **options)
        self.control: Any = task.control()
        self._pool = pool
        self._inboxes: list[SimpleQueue[Action | None]] = [
            SimpleQueue() for _ in range(self.workers)
        ]

    def start(self) -> None:
        """Returns at once."""
        self._pool.submit([self._job(number) for number in range(self.workers)])

    def _job(self, number: int) -> Callable[[], None]:
        def commit(partial: Any) -> None:
            self._merge(number, lambda: partial)

        def work() -> None:
            inbox, task = self._inboxes[number], self._task
            if task is None:
                return
            try:
                trees = task.trees(number)
                trees.begin()
                worker = Worker(number, trees, self.control, commit)
                self._tell(WorkerJoined(number))
                has_begun = False
                while (action := self._next(inbox)) is not None:
                    if not has_begun and isinstance(action, Process):
                        has_begun = True
                        self._begins(number)
                    event = worker.perform(action)
                    self._tell(event)
                    if isinstance(event, Committed):
                        self._merged(number)
                worker.leave()
            except BaseException as error:  # a defect of treemill's own: nobody must wait for ever
                self._crash(worker_error(number, error))

        return work

    def _next(self, inbox: SimpleQueue[Action | None]) -> Action | None:
        while True:
            try:
                return inbox.get(timeout=_TICK)
            except Empty:
                self._tell(Tick())

    def _numbers(self) -> list[int]:
        return list(range(self.workers))

    def _send(self, worker: int, action: Action) -> None:
        self._inboxes[worker].put(action)

    def _halt(self) -> None:
        self.control.stop()

    def _dismiss(self) -> None:
        for inbox in self._inboxes:
            inbox.put(None)
