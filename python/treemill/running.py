"""A query while it runs: its passes one after another, its progress, its result.

Drives a pool's passes; draws nothing. What is computed is bookings.py's and selection.py's affair.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from queue import Empty, SimpleQueue
from typing import Any

from .backend.passes import Pass, Pool
from .errors import TreemillError, WorkerError
from .monitor.feedback import Progress
from .monitor.report import MissingEntries, Report
from .packetizer import Coverage, FileSize, WorkerGone
from .task import Span, Task

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
        self._files = files
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
        self._phase = "processing"
        self._final_phase = True
        self._began = time.monotonic()
        self._ended: float | None = None

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
        running = self._pass
        seconds = (self._ended or time.monotonic()) - self._began
        if running is None:
            return Progress(self._phase, 0, 0, 0, 0, seconds, 0, 0.0)
        counters = running.control
        return Progress(
            phase=self._phase,
            entries=running.entries,
            expected=running.expected_entries,
            bytes_read=counters.bytes_read,
            bytes_decompressed=counters.bytes_decompressed,
            bytes_from_cache=counters.bytes_from_cache,
            seconds=seconds,
            workers=0 if self._done else running.workers,
            pass_seconds=(self._ended or time.monotonic()) - running.began,
        )

    @property
    def report(self) -> Report:
        """What is in the result so far and what is not, and why; rates."""
        running = self._pass
        coverage = Coverage({}, []) if running is None else running.coverage()
        entries = coverage.entries if self._final_phase else 0
        processed: dict[str, list[tuple[int, int]]] = {}
        for number, ranges in coverage.processed.items():
            path, first = self._place(number)
            done = processed.setdefault(path, [])
            done += [(start + first, stop + first) for start, stop in ranges]
        missing = []
        for each in coverage.missing:
            path, first = self._place(each.file)
            stop = None if each.stop is None else each.stop + first
            missing.append(MissingEntries(path, each.start + first, stop, each.reason))
        progress = self.progress
        return Report(
            entries=entries,
            processed=processed,
            missing=missing,
            seconds=progress.seconds,
            bytes_read=progress.bytes_read,
            bytes_decompressed=progress.bytes_decompressed,
            bytes_from_cache=progress.bytes_from_cache,
            workers=0 if running is None else running.workers,
        )

    def snapshot(self) -> Any:
        """The results of the entries merged so far; None before there are any."""
        running = self._pass
        if running is None or not self._final_phase:
            return None
        raw = running.merged.results()
        return None if raw is None else self._results(raw)

    def abort(self, reason: str = "aborted by the user") -> None:
        """Ends the query at once: what workers have not committed is lost, and `result` raises.
        `snapshot` has what was merged, `report` says which entries that is."""
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
        if not self._final_phase or self._pass is None:
            raise TreemillError(f"the query was {self._stopped or 'ended'} before it had results")
        return self._finish(self._pass.merged.results())

    def _finish(self, raw: list[Any] | None) -> Any:
        return self._results(raw)

    def _place(self, number: int) -> tuple[str, int]:
        """The file that the pass calls by this number, and the entry that it calls 0."""
        if self._spans is None:
            return self._files[number], 0
        file, first, _ = self._spans[number]
        return self._files[file], first

    # Passes.

    def _start_pass(self, task: Task, sizes: Sequence[FileSize | None]) -> None:
        self._pass = self._pool.prepare(
            task,
            sizes,
            workers=_useful_workers(sizes, self._pool.size),
            skip_errors=self._skip_errors,
            on_end=self._pass_ended,
        )
        self._pass.on_begin = self._pass_begun
        self._pass.start()

    def _pass_begun(self) -> None:
        """On a worker's thread, when all workers have something to do."""
        with self._lock:
            if not self._final_phase:
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
            self._ended = time.monotonic()
            self._done = True
            watchers, self._watchers = self._watchers, []
        for news in watchers:
            news.put("done")

    def _explained(self, error: BaseException | None, ended: Pass) -> BaseException | None:
        """A worker's death as an error of ours, which says what the worker had in its hands."""
        if not isinstance(error, WorkerGone):
            return error
        for missing in ended.coverage().missing:
            if missing.error is error:
                path, first = self._place(missing.file)
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
