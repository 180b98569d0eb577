"""A query while it runs: its passes one after another, its progress, its result.

Drives a backend's pass; draws nothing, and knows nothing of how bookings were made.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from .axes import AutomaticAxis, FixedAxis, automatic_axis
from .backend.threads import Pass, ThreadPool
from .bindings import BoundTrees
from .errors import QueryError, TreemillError
from .monitor.feedback import Progress
from .monitor.report import MissingEntries, Report
from .packetizer import Coverage, FileSize
from .query import Booking, Hist, extents, spec
from .results import result

if TYPE_CHECKING:
    from .dataset import Dataset

__all__ = ["Query"]

_RANGES, _FILL = "finding ranges", "filling"


class Query:
    """The handle on a running query. Made by `Session.submit` and `Session.run`."""

    def __init__(
        self, dataset: Dataset, bookings: Sequence[Booking], pool: ThreadPool, skip_errors: bool
    ) -> None:
        self.bookings = tuple(bookings)
        self._dataset = dataset
        self._pool = pool
        self._skip_errors = skip_errors
        self._lock = threading.Lock()
        self._watchers: list[SimpleQueue[str]] = []
        self._done = False
        self._error: BaseException | None = None
        self._stopped: str | None = None
        self._pass: Pass | None = None
        self._phase = _FILL
        self._axes: dict[int, list[FixedAxis]] = {}
        self._places: dict[tuple[int, int], int] = {}
        self._began = time.monotonic()
        self._ended: float | None = None

    def start(self) -> None:
        """Compiles the query and starts its first pass; returns at once. Raises what is wrong with
        the query or the first file."""
        described, self._places = extents(self.bookings)
        if self._places:
            self._phase = _RANGES
        else:
            described = spec(self.bookings)
        self._start_pass(described)

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
            entries=counters.entries,
            expected=max(running.expected_entries, counters.entries),
            bytes_read=counters.bytes_read,
            bytes_decompressed=counters.bytes_decompressed,
            seconds=seconds,
            workers=0 if self._done else running.workers,
            pass_seconds=(self._ended or time.monotonic()) - running.began,
        )

    @property
    def report(self) -> Report:
        """What is in the result so far and what is not, and why; rates."""
        running = self._pass
        coverage = Coverage({}, []) if running is None else running.coverage()
        entries = coverage.entries if self._phase == _FILL else 0
        paths = self._dataset.files
        progress = self.progress
        return Report(
            entries=entries,
            processed={paths[file]: spans for file, spans in coverage.processed.items()},
            missing=[
                MissingEntries(paths[m.file], m.start, m.stop, m.reason) for m in coverage.missing
            ],
            seconds=progress.seconds,
            bytes_read=progress.bytes_read,
            bytes_decompressed=progress.bytes_decompressed,
            workers=0 if running is None else running.workers,
        )

    def snapshot(self) -> tuple[Any, ...] | None:
        """The bookings' values over the entries merged so far; None before there are any."""
        running = self._pass
        if running is None or self._phase != _FILL:
            return None
        raw = running.merged.results()
        return None if raw is None else self._values(raw)

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

    def result(self, timeout: float | None = None) -> tuple[Any, ...]:
        """Waits for the end and gives one value per booking: of all entries, or where the query was
        stopped of those that `report` names. Raises what went wrong, TimeoutError after `timeout`
        seconds."""
        news: SimpleQueue[str] = SimpleQueue()
        self.watch(news)
        if not self._done:
            from queue import Empty

            try:
                news.get(timeout=timeout)
            except Empty:
                raise TimeoutError(f"no result within {timeout} s") from None
        return self.final()

    def watch(self, news: SimpleQueue[str]) -> None:
        """Puts the word "done" into `news` at the end, or now if that has been."""
        with self._lock:
            if self._done:
                news.put("done")
            else:
                self._watchers.append(news)

    def final(self) -> tuple[Any, ...]:
        """The result of a query that is done."""
        if self._error is not None:
            raise self._error
        if self._phase != _FILL or self._pass is None:
            raise TreemillError(f"the query was {self._stopped or 'ended'} before it had results")
        raw = self._pass.merged.results()
        if raw is None:  # not one entry
            raw = self._trees.bound(0).partial().results()
        values = self._values(raw)
        if self._stopped is None:
            for booking, value in zip(self.bookings, values, strict=True):
                booking.set_value(value)
        return values

    def _values(self, raw: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(
            result(booking, each, self._axes.get(booking.number))
            for booking, each in zip(self.bookings, raw, strict=True)
        )

    # Passes.

    def _start_pass(self, described: dict[str, Any]) -> None:
        from . import _core

        size = self._pool.size
        self._trees = BoundTrees(_core.Query(json.dumps(described)), self._dataset, size)
        try:
            self._trees.bound(0)  # errors of the query show here, before any thread has to start
            self._trees.size(0)
        except QueryError:
            raise
        except TreemillError:
            if not self._skip_errors:
                raise
        sizes = self._known_sizes()
        self._pass = Pass(
            self._trees,
            sizes,
            _core.Control(),
            workers=_useful_workers(sizes, size),
            skip_errors=self._skip_errors,
            on_end=self._pass_ended,
        )
        self._pass.start(self._pool)

    def _known_sizes(self) -> list[FileSize | None]:
        sizes = self._dataset.sizes
        known: list[FileSize | None] = []
        for file in range(len(self._dataset.files)):
            try:
                size = None if sizes.peek(file) is None else FileSize(*self._trees.size(file))
            except TreemillError:  # gone since: the worker that opens it will say so
                size = None
            known.append(size)
        return known

    def _pass_ended(self, ended: Pass) -> None:
        """On a worker's thread, after its last commit."""
        try:
            error = ended.error
            if error is None and self._phase == _RANGES and self._stopped is None:
                self._set_axes(ended)
                self._phase = _FILL
                self._start_pass(spec(self.bookings, self._axes))
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

    def _stop_again(self) -> None:
        """For a stop that came between two passes."""
        with self._lock:
            running, reason = self._pass, self._stopped
        if running is not None and reason is not None:
            running.stop(reason)

    def _set_axes(self, ended: Pass) -> None:
        found = ended.merged.results()
        for booking in self.bookings:
            if not isinstance(booking.wanted, Hist):
                continue
            axes: list[FixedAxis] = []
            for dimension, axis in enumerate(booking.wanted.axes):
                if isinstance(axis, AutomaticAxis):
                    place = self._places[booking.number, dimension]
                    axis = automatic_axis(None if found is None else found[place], axis.bins)
                axes.append(axis)
            self._axes[booking.number] = axes


def _useful_workers(sizes: Sequence[FileSize | None], size: int) -> int:
    """No more workers than there can be packets."""
    packets = 0
    for each in sizes:
        packets += size if each is None else (1 + len(each.cuts) if each.entries else 0)
        if packets >= size:
            return size
    return max(packets, 1)
