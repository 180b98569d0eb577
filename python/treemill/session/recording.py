"""The recording of a query for its trace: what is kept of each pass, and what is written to a file
when the query has ended, if there is to be one. Knows passes and accounts; knows no worker."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

from ..backends.base import Pass, Pool, Request, sizing_of
from ..errors import warn, without_credentials
from ..monitoring.file import check, write
from ..monitoring.recorded import About, Recorded, RecordedFile, Row
from ..monitoring.rows import Place, leased_rows, rows
from ..scheduling import FileSize, LeasedTrace, Sizing, Trace
from ..workers.task import StepwiseTask, Task
from .options import RunOptions
from .query_account import Account

__all__ = ["Recording", "recording_of"]

RECORDS = 200_000
"""Records, with the steps in them, that a pass keeps for its file: about 100 MB of memory."""


def recording_of(options: RunOptions, pool: Pool) -> Recording:
    """The recording that a run or its session is asked for. Raises what is wrong with the file's
    name."""
    if options.values["trace"] is None:
        return Recording(None, pool)
    return Recording(check(options.values["trace"]), pool, options.values["trace_steps"])


@dataclass
class _RecordedPass:
    phase: str
    sizes: Sequence[FileSize | None]
    workers: int
    sizing: Sizing
    commit_seconds: float
    began: float = 0.0
    seconds: float = 0.0
    dropped: int = 0
    reason: str = ""
    trace: Trace | None = None
    leased: Sequence[LeasedTrace] = ()
    """The traces of several sites."""

    @property
    def kept(self) -> bool:
        """True if there are records."""
        return self.trace is not None or bool(self.leased)

    def rows(self, place: Place, offset: float) -> list[Row]:
        """Returns what happened. `offset`: the pass's begin, in seconds from the query's."""
        if self.trace is None:
            return leased_rows(
                self.leased,
                place,
                began=self.began,
                seconds=self.seconds,
                phase=self.phase,
                offset=offset,
                reason=self.reason,
            )
        trace = self.trace
        return rows(trace.records, place, phase=self.phase, offset=offset, there=trace.there)


class Recording:
    """The passes of one query."""

    def __init__(self, path: str | None, pool: Pool, steps: bool = False) -> None:
        """`path`: of the file that is written at the end; None: none. `steps`: whether workers keep
        each of theirs."""
        self.records = 0 if path is None else RECORDS
        """The records that a pass is to keep, if they are more than the session's."""
        self._path = path
        self._steps = steps
        self._pool = pool
        self._passes: list[_RecordedPass] = []

    def task(self, task: Task) -> Task:
        """The task, in the form in which its workers keep what the trace is to have."""
        return StepwiseTask(task) if self._steps else task

    def begin(self, phase: str, request: Request) -> None:
        """A pass is about to begin."""
        task = request.task
        sizing = sizing_of(self._pool.sizing, task, request.workers)
        self._passes.append(
            _RecordedPass(
                without_credentials(phase),
                request.files,
                request.workers,
                sizing,
                task.commit_seconds,
            )
        )

    def end(self, ended: Pass) -> None:
        """The pass has ended."""
        done, status = self._passes[-1], ended.status()
        done.began, done.seconds = status.began, monotonic() - status.began
        done.trace, done.leased = status.trace, status.leased
        done.dropped = status.dropped if status.trace is None else status.trace.dropped
        done.dropped += sum(each.trace.dropped for each in done.leased)
        done.reason = "" if status.error is None else str(status.error)

    @property
    def kept(self) -> bool:
        """True if a pass that has ended has left records."""
        return any(each.kept for each in self._passes)

    def write(self, account: Account) -> None:
        """Writes the file, if there is to be one. The query has ended; if writing fails its result
        is not lost, and a warning says so."""
        if self._path is None:
            return
        try:
            write(self._path, self.recorded(account))
        except Exception as error:
            words = f"the trace was not written to {self._path}: {type(error).__name__}: {error}"
            warn(words, RuntimeWarning)

    def recorded(self, account: Account) -> Recorded:
        """The trace of the query, which has ended."""
        all_rows: list[Row] = []
        dropped = 0
        done = [each for each in self._passes if each.kept]
        for each in done:
            dropped += each.dropped
            all_rows += each.rows(account.place, each.began - done[0].began)
        from importlib.metadata import version  # start-up

        last = self._passes[-1]
        report = account.report
        about = About(
            version=version("treemill"),
            query=without_credentials(account.title),
            workers=last.workers,
            kind=self._pool.kind,
            machine=platform.node(),
            seconds=report.seconds,
            entries=report.entries - report.entries_before,
            bytes_read=report.bytes_read,
            dropped=dropped,
            phases=tuple(each.phase for each in done),
            files=tuple(_sizes(last, account.place)),
            known=all(size is not None for size in last.sizes),
            sizing=last.sizing,
            commit_seconds=last.commit_seconds,
        )
        return Recorded(all_rows, about)


def _sizes(of: _RecordedPass, place: Place) -> list[RecordedFile]:
    opened = {} if of.trace is None else of.trace.sizes
    files = []
    for number, known in enumerate(of.sizes):
        size = opened.get(number)
        if size is None and known is not None:
            size = known.entries, len(known.cuts) + 1
        if size is not None:
            name, first = place(number)
            files.append(RecordedFile(without_credentials(name), first, *size))
    return files
