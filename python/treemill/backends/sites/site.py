"""A site of a federation: one thread, which runs a pass on the site's pool for each lease, asks for
the next lease meanwhile, and tells the scheduler of leases what has come of each.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from time import monotonic

from ...frozen import replaced
from ...scheduling import (
    Committed,
    Coverage,
    FileSize,
    Finish,
    Halt,
    LeasedTrace,
    Monitored,
    Trace,
    WorkerLost,
    WorkerSums,
)
from ...scheduling.leases import (
    Asked,
    Downward,
    Ended,
    Failed,
    Grant,
    Opened,
    Part,
    Returned,
    SiteJoined,
    Standing,
    TakeBack,
    Upward,
)
from ...workers.task import Task, WrappedTask
from ...workers.workload import Partial, SpanWorkload, Workload
from ..base import Heartbeat, Pass, Pool, Request
from ..merged_partial import Seen

__all__ = ["Site", "SiteCounts", "leased_request", "told"]

# What has come of a lease: the messages to the scheduler of leases about a pass that has ended.
# Pure.


def told(sub: int, parts: Sequence[Part], coverage: Coverage) -> list[Upward]:
    """The messages about a pass whose file `i` was the part `i`."""
    ranges, failed = [], []
    messages: list[Upward] = []
    for number, part in enumerate(parts):
        spans = coverage.processed.get(number, [])
        missing = [gap for gap in coverage.missing if gap.file == number]
        if part.stop is None:
            if any(gap.stop is None for gap in missing):
                size = None
            else:
                ends = [stop for _, stop in spans] + [gap.stop or 0 for gap in missing]
                size = FileSize(max(ends, default=0))
            if size is not None:
                messages.append(Opened(sub, part.file, size))
        ranges += [(part.file, part.start + start, part.start + stop) for start, stop in spans]
        for gap in missing:
            if gap.error is not None:  # else it is what was left when it was stopped
                stop = None if gap.stop is None else part.start + gap.stop
                if gap.stop is None and part.stop is not None:
                    stop = part.stop  # a part of a file that could not be opened
                rest = replaced(part, start=part.start + gap.start, stop=stop)
                failed.append(Failed(sub, rest, gap.error))
    if ranges:
        messages.append(Committed(sub, ranges=tuple(ranges)))
    return [*messages, *failed]


def size_of(parts: Sequence[Part], mean: float) -> float:
    """Entries of parts; a file of unknown size counts `mean`."""
    return sum(mean if part.stop is None else part.stop - part.start for part in parts)


# A task on the parts of files that a site has leased: to the site's workers they are its files.


class LeasedTask(WrappedTask):
    """See Task."""

    def __init__(self, task: Task, parts: Sequence[Part]) -> None:
        super().__init__(task)
        self._spans = [(part.file, part.start, part.stop) for part in parts]

    def workload(self, number: int) -> Workload[Partial]:
        """See Task."""
        return SpanWorkload(super().workload(number), self._spans)


# What the workers of all sites have done in one pass: each lease is a pass of a site's own, which
# counts for itself. Safe to be used by several threads; asks passes, and knows nothing of leases.


class SiteCounts:
    """The counts of one pass. Its seconds begin when this is made."""

    def __init__(self) -> None:
        self._began = monotonic()
        self._ended: float | None = None
        self._sums = WorkerSums()
        self._running: dict[int, Pass] = {}  # by site
        self._lock = threading.Lock()

    def begins(self, site: int, running: Pass) -> None:
        """A site begins a pass."""
        with self._lock:
            self._running[site] = running

    def ends(self, site: int) -> None:
        """The site's pass has ended."""
        with self._lock:
            self._update(site, self._running.pop(site), close=True)

    def end(self) -> None:
        """The pass of all sites has ended."""
        self._ended = monotonic()

    def now(self) -> Monitored:
        """Returns what workers have done until now, or until the end. May ask clusters."""
        with self._lock:
            for site, running in self._running.items():
                self._update(site, running)
            return self._sums.total((self._ended or monotonic()) - self._began)

    def _update(self, site: int, running: Pass, close: bool = False) -> None:
        monitored = running.monitored
        if monitored is not None:
            self._sums.update(site, monitored(), max(running.status().began - self._began, 0.0))
        if close:
            self._sums.close(site)


# What a lease asks of a site's pool, from what the whole pass asks: the parts of files that are
# leased are the files of the site's pass. Knows no site and no scheduler of leases.


def leased_request(
    whole: Request, parts: Sequence[Part], workers: int, on_end: Callable[[Pass], None]
) -> Request:
    """The request for a pass over these parts. Failures are skipped: the scheduler of leases
    decides what comes of them."""
    served, locate = whole.served, whole.locate
    return Request(
        LeasedTask(whole.task, parts),
        [part.size for part in parts],
        workers,
        skip_errors=True,
        on_end=on_end,
        trace=whole.trace,
        served=None if served is None else lambda number: served(parts[number].file),
        addresses=lambda: _by_part(parts, whole.addresses()),
        nodes=lambda: _nodes(parts, whole.nodes()),
        locate=None if locate is None else lambda wanted: _located(parts, wanted, locate),
    )


def _by_part(
    parts: Sequence[Part], by_file: Mapping[int, Sequence[str]]
) -> dict[int, Sequence[str]]:
    return {n: by_file[part.file] for n, part in enumerate(parts) if part.file in by_file}


def _nodes(parts: Sequence[Part], nodes: Sequence[str | None]) -> list[str | None]:
    return [nodes[part.file] for part in parts] if nodes else []


def _located(
    parts: Sequence[Part],
    wanted: Collection[int],
    locate: Callable[[Collection[int]], Iterator[Mapping[int, Sequence[str]]]],
) -> Iterator[dict[int, Sequence[str]]]:
    numbers: dict[int, list[int]] = defaultdict(list)  # of a file's parts
    for number in wanted:
        numbers[parts[number].file].append(number)
    for found in locate(sorted(numbers)):
        mine = {number: at for file, at in found.items() for number in numbers.get(file, ())}
        if mine:
            yield mine


_LOOK = 0.5
"""Seconds between two looks whether something should be taken back for another site."""

Tell = Callable[[Sequence[Upward], "Partial | None", Seen, "LeasedTrace | None"], None]


@dataclass(frozen=True)
class _Outcome:
    """What a pass has left at its end."""

    partial: Partial | None
    seen: Seen
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
        """`request`: for the pass of all sites. `tell` takes messages to the scheduler of leases,
        with the partial that they are about, what its workers have seen of files, if they may be on
        other hosts, and the trace of the pass that has made it. `look` is
        called now and then. `counts` hears of passes."""
        self.number = number
        self.name = name
        self.workers = pool.size
        self.on_begin: Callable[[], None] = lambda: None
        self.lost: BaseException | None = None
        self._pool = pool
        self._request = request
        self._send_up = tell
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
        self._heartbeat = Heartbeat()  # of passes that have ended
        self._lock = threading.Lock()  # guards the counters and the pass that runs

    def start(self) -> None:
        """Starts the thread."""
        threading.Thread(target=self._work, name=f"treemill-{self.name}", daemon=True).start()

    def send(self, order: Downward) -> None:
        """Gives it an order of the scheduler of leases."""
        self._inbox.put(order)

    def abort(self, reason: str) -> None:
        """Ends the pass that runs at once."""
        with self._lock:
            running = self._running
        if running is not None:
            running.abort(reason)

    def heartbeat(self) -> Heartbeat:
        """What the workers of all its passes have counted."""
        with self._lock:
            running = self._running
            return (
                self._heartbeat
                if running is None
                else self._heartbeat.plus(running.status().heartbeat)
            )

    # The thread.

    def _work(self) -> None:
        try:
            self._say(SiteJoined(self.number, self.name))
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
            self._say(WorkerLost(self.number, f"{self.name}: {error}"))

    def _say(self, *messages: Upward) -> None:
        self._send_up(messages, None, None, None)

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
            self._say(Returned(self.number, tuple(self._back(item))))
        elif isinstance(item, Halt):
            self._halted = True
            if self._running is None:
                self._say(Ended(self.number))
            else:
                self._running.stop("the query was ended")

    def _ask(self) -> None:
        if not self._asked and not self._halted:
            self._asked = True
            self._say(self._standing(), Asked(self.number))

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
        status = ended.status()
        trace = status.trace if self._request.trace else None
        partial, seen, coverage = ended.merged.take(), ended.merged.seen, ended.coverage()
        self._inbox.put(_Outcome(partial, seen, coverage, status.error, status.began, trace))

    def _ended(self, outcome: _Outcome) -> None:
        with self._lock:
            if self._running is not None:
                self._heartbeat = self._heartbeat.plus(self._running.status().heartbeat)
            self._running = None
        self._counts.ends(self.number)
        leased = self._leased(outcome)
        if outcome.error is not None:
            self._send_up([], None, None, leased)
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
        self._send_up([*messages, self._standing()], outcome.partial, outcome.seen, leased)

    def _leased(self, outcome: _Outcome) -> LeasedTrace | None:
        if outcome.trace is None:
            return None
        parts = tuple((part.file, part.start) for part in self._parts)
        counted = outcome.error is None
        return LeasedTrace(self.name, outcome.began, outcome.trace, parts, counted)
