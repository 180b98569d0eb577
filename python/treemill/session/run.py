"""A query while it runs: its passes one after another, its end, its result.

Drives a pool's passes; draws nothing. booking_run.py and selector_run.py say what is computed,
account.py how far it is.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from queue import Empty, SimpleQueue
from typing import Any

from ..backend.base import Pass, Pool, Request
from ..backend.merged import Merged
from ..errors import TreemillError, WorkerError
from ..monitor.progress import Progress
from ..monitor.report import Report
from ..packetizer import FileSize, WorkerGone
from ..worker.task import Task
from ..worker.workload import Span
from .account import Account

__all__ = ["Query"]


class Query(ABC):
    """The handle on a running query. Made by `Session.submit` and `Session.run`."""

    title: str
    """What it is, in a few words."""
    titles: Sequence[str] = ()
    """Of the values, where there are several without names of their own."""

    def __init__(
        self, files: Sequence[str], pool: Pool, skip_errors: bool, spans: Sequence[Span] | None
    ) -> None:
        """`spans`: the parts of files that are wanted; None: all of all files."""
        self.account = Account(files, spans)
        self._pool = pool
        self._skip_errors = skip_errors
        self._spans = spans
        self._lock = threading.Lock()
        self._watchers: list[SimpleQueue[str]] = []
        self._starters: list[SimpleQueue[str]] = []
        self._at_work = False
        self._done = False
        self._error: BaseException | None = None
        self._stopped: str | None = None
        self._aborted = False
        self._pass: Pass | None = None
        self._merged = Merged()

    @abstractmethod
    def start(self) -> None:
        """Starts the first pass; returns at once. Raises what is wrong with the query or the first
        file."""

    @abstractmethod
    def _next(self, ended: Pass) -> bool:
        """After a pass that ended well: starts another one, if the query needs one."""

    @abstractmethod
    def _results(self, raw: list[Any] | None) -> Any:
        """What the user gets, from the results of the last pass; None: of no commit."""

    # What the user may ask.

    @property
    def done(self) -> bool:
        """Whether it ended, well or not."""
        return self._done

    @property
    def progress(self) -> Progress:
        """How far it is."""
        return self.account.progress

    @property
    def report(self) -> Report:
        """What is in the result so far and what is not, and why; rates."""
        return self.account.report

    def snapshot(self, within: float | None = None) -> Any:
        """The results of the entries merged so far; None before there are any, and where others are
        being merged for more than `within` seconds."""
        if self._pass is None or not self.account.final_phase:
            return None
        raw = self._merged.results(within)
        return None if raw is None else self._results(raw)

    def abort(self, reason: str = "aborted by the user") -> None:
        """Ends the query at once: what workers have not committed is lost, and `result` raises.
        `snapshot` has what was merged, `report` says which entries that is."""
        if self.done:
            return  # whatever holds the lock: the user's `end`, perhaps
        with self._lock:
            if self._done:
                return
            self._stopped = self._stopped or reason
            self._aborted = True
            running = self._pass
        if running is not None:
            running.abort(reason)

    def stop(self, reason: str = "stopped by the user") -> None:
        """Ends the query soon; what is done by then is kept and becomes the result. Returns at
        once."""
        if self.done:
            return
        with self._lock:
            if self._done:
                return
            self._stopped = self._stopped or reason
            running = self._pass
        if running is not None:
            running.stop(reason)

    def result(self, timeout: float | None = None) -> Any:
        """Waits for the end and gives the results: of all entries, or where the query was stopped
        of those that `report` names. Raises what went wrong, TimeoutError after `timeout`
        seconds."""
        news: SimpleQueue[str] = SimpleQueue()
        self.watch(news)
        if not self._done:
            try:
                news.get(timeout=timeout)
            except Empty:
                raise TimeoutError(f"no result within {timeout} s") from None
        return self.final()

    def drop(self) -> None:  # noqa: B027 - most have nothing of the kind
        """Throws away what the result would have been made from, as far as it lies outside of this
        process's memory."""

    def watch(self, news: SimpleQueue[str]) -> None:
        """Puts the word "done" into `news` at the end, or now if that has been."""
        with self._lock:
            if self._done:
                news.put("done")
            else:
                self._watchers.append(news)

    def watch_begin(self, news: SimpleQueue[str]) -> None:
        """Puts the word "at work" into `news` once, when workers are at their first packets, or now
        if they are already: who hears it has time for `prepare`. It may never come."""
        with self._lock:
            if self._at_work:
                news.put("at work")
            else:
                self._starters.append(news)

    def prepare(self) -> None:  # noqa: B027 - most have nothing of the kind
        """Makes what the results will be put into, as far as nothing need be known of them."""

    def final(self) -> Any:
        """The result of a query that is done."""
        if self._error is not None:
            words = getattr(self._error, "traceback", None)
            if words and not getattr(self._error, "__notes__", None):
                self._error.add_note(f"In the worker:\n{words}")
            raise self._error
        if self._aborted:
            raise TreemillError(f"the query was aborted: {self._stopped}")
        if not self.account.final_phase or self._pass is None:
            raise TreemillError(f"the query was {self._stopped or 'ended'} before it had results")
        return self._finish(self._merged.results())

    def _finish(self, raw: list[Any] | None) -> Any:
        return self._results(raw)

    # Passes.

    def _start_pass(self, task: Task, sizes: Sequence[FileSize | None]) -> None:
        request = Request(
            task,
            sizes,
            workers=_useful_workers(sizes, self._pool.size),
            skip_errors=self._skip_errors,
            on_end=self._pass_ended,
        )
        self._pass = self._pool.prepare(request)
        self._merged = self._pass.merged
        self.account.running = self._pass
        self._pass.on_begin = self._pass_begun
        self._pass.start()

    def _pass_begun(self) -> None:
        """On a worker's thread, when all workers have something to do."""
        with self._lock:
            if not self.account.final_phase:
                return
            self._at_work = True
            starters, self._starters = self._starters, []
        for news in starters:
            news.put("at work")

    def _pass_ended(self, ended: Pass) -> None:
        """On a worker's thread, after its last commit."""
        try:
            error = self._explained(ended.error, ended)
            if error is None and self._stopped is None and self._next(ended):
                self._stop_again()
                return
        except BaseException as problem:
            error = problem
        with self._lock:
            self._error = error
            self.account.end()
            self._done = True
            watchers, self._watchers = self._watchers, []
        if error is not None or self._skip_errors:
            self.account.settle()  # errors hold what was in the workers' hands
        for news in watchers:
            news.put("done")

    def _explained(self, error: BaseException | None, ended: Pass) -> BaseException | None:
        """A worker's death as an error of ours, which says what the worker had in its hands."""
        if not isinstance(error, WorkerGone):
            return error
        for missing in ended.coverage().missing:
            if missing.error is error:
                path, first = self.account.place(missing.file)
                stop = missing.stop
                span = None if stop is None else (missing.start + first, stop + first)
                return WorkerError(f"given up: {error}", file=path, entries=span)
        return WorkerError(str(error))

    def _stop_again(self) -> None:
        """For a stop that came between two passes."""
        with self._lock:
            running, reason, aborted = self._pass, self._stopped, self._aborted
        if running is not None and reason is not None:
            (running.abort if aborted else running.stop)(reason)


def _useful_workers(sizes: Sequence[FileSize | None], size: int) -> int:
    """No more workers than there can be packets."""
    packets = 0
    for each in sizes:
        packets += size if each is None else (1 + len(each.cuts) if each.entries else 0)
        if packets >= size:
            return size
    return max(packets, 1)
