"""A query's title, progress and report, which a session keeps after the query's end.

Reads the counters and the coverage of a pass. Starts no pass, and holds nothing of the results.
"""

from __future__ import annotations

import logging
import time
import weakref
from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from ..backends.base import Pass, PassStatus, given_up
from ..errors import without_credentials
from ..io_report import IOReport
from ..monitoring.progress import Progress
from ..monitoring.report import FromMemory, MissingEntries, Report
from ..monitoring.worker_histograms import WorkerHistograms
from ..scheduling import Coverage, WorkerGone, node_of
from ..workers.workload import Span

if TYPE_CHECKING:
    from .._core import Control
    from ..monitoring.recorded import Recorded

__all__ = ["Account", "begin_run", "last_run"]

# What reading takes in a query: in its passes, and before, between and after them, where files
# are opened. Values of the last run in this process outlive its session.


class ReadTally:
    """The reading of one query."""

    def __init__(self) -> None:
        self._before = IOReport()
        """What all but the last pass have read, and what was read between them."""
        self._pass: Callable[[], Pass | None] = lambda: None
        self._of_pass = IOReport()
        """What the last pass has read, if it is not there any more."""
        self._beside: Control | None = None
        _runs[-1].append(self)

    def prepare(self) -> None:
        """Counts from now on what this process reads outside of passes: before the first one, and
        when one has ended."""
        from .._core import Control  # heavy: core

        self._beside = Control()

    def begin(self, running: Pass) -> None:
        """Counts a pass from its beginning."""
        self.pause()
        self._before = self.so_far()
        # Workers may tell something after its end; to wait for it must not keep its results.
        self._of_pass, self._pass = IOReport(), weakref.ref(running)

    def pause(self) -> None:
        """Counts nothing more, until a pass begins, but what workers of the last one still tell."""
        running, beside = self._pass(), self._beside
        if running is not None:
            self._of_pass = running.status().heartbeat.io
        if beside is not None:
            self._before, self._beside = self._before.plus(IOReport.of(beside)), None

    def so_far(self) -> IOReport:
        """All that was counted."""
        running, beside = self._pass(), self._beside
        report = self._before.plus(
            self._of_pass if running is None else running.status().heartbeat.io
        )
        return report if beside is None else report.plus(IOReport.of(beside))


_runs: list[list[ReadTally]] = [[]]
"""The queries of the last run in this process."""


def begin_run() -> None:
    """The queries that are made from now on are those of a new run."""
    _runs[:] = [[]]


def last_run() -> IOReport:
    """What the queries of the last run in this process have read so far, together."""
    queries: Sequence[ReadTally] = list(_runs[-1])
    return reduce(IOReport.plus, (query.so_far() for query in queries), IOReport())


_log = logging.getLogger(__name__)


class FilePlaces:
    """The paths of a pass's files, by their numbers in the pass."""

    def __init__(self, files: Sequence[str], spans: Sequence[Span] | None) -> None:
        """`spans`: the parts of files to go through; None: all entries of all files."""
        self.files = files
        self.spans = spans
        self._nodes: dict[str, str] = {}  # by folder: files in one have one node

    def __getitem__(self, number: int) -> tuple[str, int]:
        """The name of a file, and the entry that the pass counts as 0."""
        if self.spans is None:
            return self.files[number], 0
        file, first, _ = self.spans[number]
        return self.files[file], first

    def named(self, count: int) -> list[str]:
        """The names of the first files."""
        return [self[number][0] for number in range(count)]

    def node(self, number: int) -> str:
        """The node that serves a file."""
        path = self[number][0]
        folder = path.rpartition("/")[0]
        node = self._nodes.get(folder)
        if node is None:
            node = self._nodes[folder] = node_of(f"{folder}/file" if folder else path)
        return node


class Account:
    """The account of one query, while it runs and afterwards."""

    title: str = ""
    """The query in a few words."""
    id: str = ""
    """Names the query."""
    feedback: str | None = None
    """The name of the histogram that the user has chosen to see while the query runs."""

    def __init__(self, files: Sequence[str], spans: Sequence[Span] | None) -> None:
        """`spans`: the parts of files to go through; None: all entries of all files."""
        self.phase = "processing"
        self.final_phase = True
        self.running: Pass | None = None
        self.recorded: Callable[[Account], Recorded] | None = None
        """Makes the trace of the query after its end, if one was kept."""
        self.remembered: FromMemory | None = None
        """What was remembered of the last pass's results, if results are remembered."""
        self.places = FilePlaces(files, spans)
        self.reading = ReadTally()
        self._began = time.monotonic()
        self._ended: float | None = None
        self._ended_as = "running"
        self._settled: tuple[Progress, Report] | None = None
        self._has_warned = False

    @property
    def done(self) -> bool:
        """True if the query ended, well or not."""
        return self._ended is not None

    @property
    def owner(self) -> str:
        """Whose query it is, as user@host, on a cluster."""
        return "" if self.running is None else self.running.owner

    @property
    def traced(self) -> bool:
        """True if the query has ended and has a trace."""
        return self.done and self.recorded is not None

    def begin_pass(self, running: Pass) -> None:
        """Notes that a pass begins."""
        self.running = running
        self.reading.begin(running)
        phase = without_credentials(self.phase)
        _log.info("pass began: %s, workers: %d", phase, running.workers)

    def drop_pass(self) -> None:
        """Drops a pass that could not begin: whoever was to lead it has not heard of it."""
        self.running = None

    def tell_end(self, error: BaseException | None) -> None:
        """Logs that a pass has ended."""
        said = "done" if error is None else f"{type(error).__name__}: {error}"
        _log.info("pass ended: %s", without_credentials(said))

    @property
    def state(self) -> str:
        """ "running", "stopped", "aborted", "failed" or "done"."""
        return self._ended_as

    def end(self, state: str = "done") -> None:
        """Notes that the query has ended, in this state."""
        self.reading.pause()
        self._ended_as = state
        self._ended = time.monotonic()
        if _log.isEnabledFor(logging.INFO):  # else no coverage is made for it
            self._tell()

    def _tell(self) -> None:
        """Logs what the query has merged, and what it has left out."""
        report = self._report()
        _log.info("query ended: %d entries merged", report.entries)
        for each in report.missing:
            stop = "end" if each.stop is None else each.stop
            text = f"skipped {each.file} entries {each.start}..{stop}: {each.reason}"
            _log.info("%s", without_credentials(text))

    def settle(self) -> None:
        """Keeps the progress and the report, and drops the pass. To be called after the end."""
        if self._settled is None:
            self._settled = self._progress(), self._report()
            self.running = None

    @property
    def progress(self) -> Progress:
        """The progress of the query."""
        return self._progress() if self._settled is None else self._settled[0]

    @property
    def report(self) -> Report:
        """A report of the entries that are in the result so far, of missing ones and why, and of
        rates."""
        return self._report() if self._settled is None else self._settled[1]

    def warn_of_missing(self) -> None:
        """Warns of the entries that are not in the result, once. To be called after the end."""
        if not self._has_warned:
            self._has_warned = True
            from ..monitoring.report import warn_of_missing  # start-up

            warn_of_missing(self.report)

    @property
    def measured(self) -> WorkerHistograms | None:
        """What workers have done so far; None if it is not counted."""
        counts = None if self.running is None else self.running.monitored
        return None if counts is None else WorkerHistograms(counts)

    @property
    def described(self) -> tuple[Sequence[str], Sequence[Span] | None, str, str, bool]:
        """What another process needs to keep the account from now on."""
        return self.places.files, self.places.spans, self.title, self.phase, self.final_phase

    def explained(self, ended: Pass) -> BaseException | None:
        """The error of a pass that has ended. A worker's death becomes a WorkerError that names the
        packet."""
        error = ended.status().error
        if not isinstance(error, WorkerGone):
            return error
        for number, start, stop in ended.coverage().lost_with(error):
            if number >= 0:
                path, first = self.place(number)
                span = None if stop is None else (start + first, stop + first)
                reason = f"{error}, as were others before it, with these entries in hand"
                return given_up(self.title, reason, died=True, file=path, entries=span)
        return given_up(self.title, str(error))

    def place(self, number: int) -> tuple[str, int]:
        """The name of the pass's file with this number, and the entry that the pass counts as 0."""
        return self.places[number]

    def _status(self) -> PassStatus | None:
        return None if self.running is None else self.running.status()

    def _progress(self) -> Progress:
        status = self._status()
        now = self._ended or time.monotonic()
        seconds = now - self._began
        if status is None:
            io = self.reading.so_far()
            return Progress(self.phase, 0, 0, 0, 0, seconds, 0, 0.0, io=io)
        return Progress(
            phase=self.phase,
            entries=status.entries,
            expected=status.expected,
            bytes_read=status.heartbeat.bytes_read,
            bytes_decompressed=status.heartbeat.bytes_decompressed,
            bytes_from_cache=status.heartbeat.bytes_from_cache,
            io=self.reading.so_far(),
            entries_before=status.before,
            seconds=seconds,
            workers=0 if self.done else status.workers,
            pass_seconds=now - status.began,
        )

    def _report(self) -> Report:
        running, status = self.running, self._status()
        coverage = Coverage({}, []) if running is None else running.coverage()
        entries = coverage.entries if self.final_phase else 0
        processed: dict[str, list[tuple[int, int]]] = {}
        for number, ranges in coverage.processed.items():
            path, first = self.place(number)
            done = processed.setdefault(path, [])
            done += [(start + first, stop + first) for start, stop in ranges]
        missing = []
        for each in coverage.missing:
            path, first = self.place(each.file)
            stop = None if each.stop is None else each.stop + first
            missing.append(MissingEntries(path, each.start + first, stop, each.reason))
        progress = self._progress()
        return Report(
            entries=entries,
            processed=processed,
            missing=missing,
            seconds=progress.seconds,
            bytes_read=progress.io.bytes_read,
            bytes_decompressed=progress.bytes_decompressed,
            bytes_from_cache=progress.bytes_from_cache,
            io=progress.io,
            entries_before=progress.entries_before if self.final_phase else 0,
            workers=0 if status is None else status.workers,
            trace=None if status is None else status.trace,
            measured=self.measured,
            remembered=self.remembered if self.final_phase else None,
        )

    def __repr__(self) -> str:
        return f"<query {self.title}: {self.state}>"
