"""Workers as threads of this process. The core lets go of the GIL while it reads and fills, so
they run at once; each has its own partial, and they meet only in the packetizer, under a lock.

Threads start when first needed and are kept for the next query, until the pool is closed.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

from ..errors import WorkerError
from ..packetizer import (
    Action,
    Coverage,
    Event,
    FileSize,
    Finish,
    Halt,
    Packetizer,
    Sizing,
    Stop,
    WorkerJoined,
)
from ..partial import Merged
from ..worker import Trees, Worker

__all__ = ["Pass", "ThreadPool"]

# A packet costs tens of microseconds here, so it may be short; and it must not be so long that the
# user waits for news (a worker commits only between packets).
SIZING = Sizing(shortest=0.1, longest=1.0)


class ThreadPool:
    """Threads that wait for something to do."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._closed = False
        self._outstanding = 0  # jobs that wait or run

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
            with self._lock:
                self._outstanding -= 1


class Pass:
    """One query's pass over a dataset: workers pull packets until the packetizer says Finish."""

    def __init__(
        self,
        trees: Trees,
        files: Sequence[FileSize | None],
        control: Any,
        *,
        workers: int,
        skip_errors: bool,
        on_end: Callable[[Pass], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`control` is the core's Control of this pass. `on_end` is called once, on a worker's
        thread, after the last commit."""
        self.control = control
        self.merged = Merged()
        self.error: BaseException | None = None
        self.began = clock()
        self.ended: float | None = None
        self.workers = workers
        self._trees = trees
        self._on_end = on_end
        self._clock = clock
        self._packetizer = Packetizer(files, sizing=SIZING, skip_errors=skip_errors)
        self._lock = threading.Lock()
        self._inboxes: list[SimpleQueue[Action | None]] = [SimpleQueue() for _ in range(workers)]

    def start(self, pool: ThreadPool) -> None:
        """Returns at once."""
        pool.submit([self._job(number) for number in range(self.workers)])

    def stop(self, reason: str) -> None:
        """Workers end at their next batch and commit; `on_end` follows."""
        self._tell(Stop(reason))

    @property
    def expected_entries(self) -> int:
        """Entries of the dataset, estimated while files are unopened."""
        with self._lock:
            return self._packetizer.expected_entries

    def coverage(self) -> Coverage:
        """Which entries are merged and which are given up."""
        with self._lock:
            return self._packetizer.coverage()

    def _job(self, number: int) -> Callable[[], None]:
        def work() -> None:
            worker = Worker(number, self._trees, self.control, self.merged.commit)
            inbox = self._inboxes[number]
            try:
                self._tell(WorkerJoined(number))
                while (action := inbox.get()) is not None:
                    self._tell(worker.perform(action))
            except BaseException as error:  # a defect of treemill's own: nobody must wait for ever
                self._crash(number, error)

        return work

    def _tell(self, event: Event) -> None:
        finished = False
        with self._lock:
            if self.ended is not None:
                return
            for action in self._packetizer.handle(event, self._clock()):
                if isinstance(action, Finish):
                    self.error = action.error
                    self.ended = self._clock()
                    finished = True
                elif isinstance(action, Halt):
                    self.control.stop()
                else:
                    self._inboxes[action.worker].put(action)
        if finished:
            self._dismiss()

    def _dismiss(self) -> None:
        for inbox in self._inboxes:
            inbox.put(None)
        self._on_end(self)

    def _crash(self, number: int, error: BaseException) -> None:
        with self._lock:
            if self.ended is not None:
                return
            self.ended = self._clock()
            self.error = WorkerError(
                f"worker {number} failed: {type(error).__name__}: {error}",
                worker=str(number),
                traceback="".join(traceback.format_exception(error)),
            )
            self.error.__cause__ = error
        self.control.stop()
        self._dismiss()
