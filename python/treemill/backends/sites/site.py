"""A site of a federation: one thread, which runs a pass on the site's pool for each lease, asks for
the next lease meanwhile, and tells the lessor what has come of each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from time import monotonic

from ...io_report import IOReport
from ...scheduling import Coverage, Finish, Halt, LeasedTrace, Trace
from ...scheduling.messages import (
    Asked,
    Downward,
    Ended,
    Grant,
    Part,
    Returned,
    SiteJoined,
    SiteLost,
    Standing,
    TakeBack,
    Upward,
)
from ...workers.workload import Partial
from ..base import Pass, Pool, Request
from .lease import size_of, told
from .leased_request import leased_request
from .site_counts import SiteCounts

__all__ = ["Counted", "Site"]

_LOOK = 0.5
"""Seconds between two looks whether something should be taken back for another site."""

Tell = Callable[[Sequence[Upward], "Partial | None", "LeasedTrace | None"], None]


@dataclass
class Counted:
    """The counters of several passes together. See Counting."""

    entries: int = 0
    bytes_read: int = 0
    bytes_decompressed: int = 0
    bytes_from_cache: int = 0
    io: IOReport = field(default_factory=IOReport)

    def add(self, other: Pass | Counted) -> None:
        """Adds another pass or other counters."""
        counters = other.control if isinstance(other, Pass) else other
        self.entries += counters.entries
        self.bytes_read += counters.bytes_read
        self.bytes_decompressed += counters.bytes_decompressed
        self.bytes_from_cache += counters.bytes_from_cache
        self.io = self.io.plus(other.io)


@dataclass(frozen=True)
class _Outcome:
    """What a pass has left at its end."""

    partial: Partial | None
    coverage: Coverage
    error: BaseException | None
    began: float
    trace: Trace | None


class Site:
    """One site. `lost` has the error with which its pool has failed, if it has."""

    def __init__(
        self,
        number: int,
        name: str,
        pool: Pool,
        request: Request,
        tell: Tell,
        look: Callable[[], None],
        counts: SiteCounts,
    ) -> None:
        """`request`: for the pass of all sites. `tell` takes messages to the lessor, with the
        partial that they are about and the trace of the pass that has made it. `look` is called now
        and then. `counts` hears of passes."""
        self.number = number
        self.name = name
        self.workers = pool.size
        self.on_begin: Callable[[], None] = lambda: None
        self.lost: BaseException | None = None
        self._pool = pool
        self._request = request
        self._tell = tell
        self._look = look
        self._counts = counts
        self._inbox: SimpleQueue[Downward | _Outcome] = SimpleQueue()
        self._waiting: list[Part] = []
        self._parts: list[Part] = []  # of the pass that runs
        self._running: Pass | None = None
        self._began = 0.0
        self._rate = 0.0
        self._mean = 1.0  # entries of a file
        self._asked = False
        self._halted = False
        self._counted = Counted()
        self._lock = threading.Lock()  # guards the counters and the pass that runs

    def start(self) -> None:
        """Starts the thread."""
        threading.Thread(target=self._work, name=f"treemill-{self.name}", daemon=True).start()

    def send(self, order: Downward) -> None:
        """Gives it an order of the lessor."""
        self._inbox.put(order)

    def abort(self, reason: str) -> None:
        """Ends the pass that runs at once."""
        with self._lock:
            running = self._running
        if running is not None:
            running.abort(reason)

    def counted(self) -> Counted:
        """The counters of all its passes."""
        with self._lock:
            counted = Counted()
            counted.add(self._counted)
            if self._running is not None:
                counted.add(self._running)
            return counted

    # The thread.

    def _work(self) -> None:
        try:
            self._tell([SiteJoined(self.number, self.name)], None, None)
            self._ask()
            while not isinstance(item := self._next(), Finish):
                if item is None:
                    self._look()
                else:
                    self._obey(item)
                if self._waiting and self._running is None and not self._halted:
                    self._begin()
                if not self._waiting:
                    self._ask()
        except BaseException as error:
            self.lost = error
            self._tell([SiteLost(self.number, f"{self.name}: {error}")], None, None)

    def _next(self) -> Downward | _Outcome | None:
        try:
            return self._inbox.get(timeout=_LOOK)
        except Empty:
            return None

    def _obey(self, item: Downward | _Outcome) -> None:
        if isinstance(item, _Outcome):
            self._ended(item)
        elif isinstance(item, Grant):
            self._asked = False
            self._waiting += item.parts
        elif isinstance(item, TakeBack):
            self._tell([Returned(self.number, tuple(self._back(item)))], None, None)
        elif isinstance(item, Halt):
            self._halted = True
            if self._running is None:
                self._tell([Ended(self.number)], None, None)
            else:
                self._running.stop("the query was ended")

    def _ask(self) -> None:
        if not self._asked and not self._halted:
            self._asked = True
            self._tell([self._standing(), Asked(self.number)], None, None)

    def _standing(self) -> Standing:
        left = size_of(self._waiting, self._mean)
        return Standing(self.number, self.workers, self._rate, left)

    def _back(self, order: TakeBack) -> list[Part]:
        back: list[Part] = []
        for part in reversed(self._waiting):
            fits = order.among is None or part.file in order.among
            if fits and size_of(back, self._mean) < order.entries:
                back.append(part)
        self._waiting = [part for part in self._waiting if part not in back]
        return back

    # Passes.

    def _begin(self) -> None:
        parts = self._parts = self._waiting
        self._waiting = []
        running = self._pool.prepare(
            leased_request(self._request, parts, self._pool.size, self._hear_end)
        )
        running.on_begin = self.on_begin
        self._began = monotonic()
        with self._lock:
            self._running = running
        self._counts.begins(self.number, running)
        running.begin()

    def _hear_end(self, ended: Pass) -> None:
        """Called on any thread: the pass drops what it has merged afterwards."""
        outcome = (ended.merged.take(), ended.coverage(), ended.error, ended.began)
        self._inbox.put(_Outcome(*outcome, ended.trace if self._request.trace else None))

    def _ended(self, outcome: _Outcome) -> None:
        with self._lock:
            if self._running is not None:
                self._counted.add(self._running)
            self._running = None
        self._counts.ends(self.number)
        leased = self._leased(outcome)
        if outcome.error is not None:
            self._tell([], None, leased)
            raise outcome.error
        entries, seconds = outcome.coverage.entries, max(monotonic() - self._began, 1e-3)
        if entries:
            rate = entries / seconds
            self._rate = (self._rate + rate) / 2 if self._rate else rate
            self._mean = max(entries / len(self._parts), 1.0)
        messages = told(self.number, self._parts, outcome.coverage)
        self._parts = []
        if self._halted:
            messages.append(Ended(self.number))
        self._tell([*messages, self._standing()], outcome.partial, leased)

    def _leased(self, outcome: _Outcome) -> LeasedTrace | None:
        if outcome.trace is None:
            return None
        parts = tuple((part.file, part.start) for part in self._parts)
        counted = outcome.error is None
        return LeasedTrace(self.name, outcome.began, outcome.trace, parts, counted)
