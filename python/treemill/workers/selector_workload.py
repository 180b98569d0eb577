"""A selector at work in one worker: chunks go in, its outputs are handed over as partials.

Implements `workers.workload.Workload`, so that a worker runs packets of selectors like those of
queries.
"""

from __future__ import annotations

import copy
import functools
import time
from typing import TYPE_CHECKING

from .._core import Control
from .._system.memory import keep_freed_memory
from ..errors import QueryError
from ..results.file_output import file_outputs
from .job import OutputPartial
from .packets_and_chunks import PACKET_SECONDS
from .selector import commits_only_at_end
from .user_selector import ChunkPlace, UserSelector
from .workload import SpanWorkload, one_by_one, opaque

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .._core import Control
    from ..errors import SourceError
    from .chunk_source import ChunkSource
    from .job import OutputPartial, SelectorJob
    from .selector import Inputs, Selector
    from .workload import Bound, FileState, Partial, Ran, Span, Turn, Workload

__all__ = ["SelectorTask", "SelectorWorkload"]

Promises = dict[tuple[int, int, int], object]
"""What was asked for packets that are not begun, by file, start and stop."""
_MOST_PROMISED = 64


def _own(selector: Selector) -> Selector:
    """A worker's own copy of the selector. Raises QueryError if there cannot be one."""
    try:
        return copy.deepcopy(selector)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    for name, value in vars(selector).items():
        try:
            copy.deepcopy(value)
        except Exception:
            raise QueryError(
                f"{selector.title}'s {name} cannot be copied for each worker ({said}): make it in "
                "begin_worker, or leave it out of __getstate__"
            ) from None
    raise QueryError(f"{selector.title} cannot be copied for each worker ({said})")


class SelectorWorkload:
    """A worker's selector, its chunks and the bookings that are computed along with it."""

    def __init__(self, job: SelectorJob, inputs: Inputs, number: int) -> None:
        """`number` of the worker."""
        selector = _own(job.selector)
        self._selector = UserSelector(
            selector, inputs, job.client, worker=str(number), seed=job.seed
        )
        self._source = job.data.chunks(selector, job.workers, job.known)
        self._bookings: Workload[Partial] | None = None
        if job.bookings is not None:
            self._bookings = job.bookings.workload(number)
        # The bookings' entries are not counted: they are the selector's entries.
        self._uncounted = Control()
        self._promised: Promises = {}

    def begin(self) -> None:
        """See Workload."""
        keep_freed_memory()
        self._selector.begin()

    def bound(self, file: int) -> _BoundSelector:
        """See Workload."""
        self._source.open(file)
        bookings = None if self._bookings is None else self._bookings.bound(file)
        return _BoundSelector(
            self._selector, self._source, file, bookings, self._uncounted, self._promised
        )

    def opens(self, file: int, then: Callable[[], None]) -> bool:
        """See Workload."""
        return self._source.opens(file, then)

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """See Workload."""
        return self._source.size(file)

    def ahead(self, file: int) -> int:
        """See Workload. Nothing as long as it is not known which columns `process` touches."""
        try:
            entries = self._source.ahead(file)
            if entries and self._bookings is not None:
                entries = min(entries, self._bookings.ahead(file) or entries)
            return entries
        except Exception:  # the packet that needs the file will meet it again
            return 0

    def place(self, file: int) -> tuple[str, int]:
        """See Workload."""
        return self._source.path(file) or "cycles", 0

    def changed(self, file: int) -> SourceError | None:
        """See Workload."""
        return self._source.changed(file)

    def states(self, files: Iterable[int]) -> Mapping[str, FileState]:
        """See Workload."""
        return self._source.states(files)

    def run_files(
        self, spans: Sequence[Span], turn: Turn, partial: OutputPartial | None, control: Control
    ) -> tuple[OutputPartial | None, Ran]:
        """See Workload."""
        return one_by_one(self, spans, turn, partial, control)

    def finish(self, partial: OutputPartial) -> OutputPartial:
        """See Workload."""
        partial.output = self._selector.finish(partial.output)
        partial.learned = self._source.learned
        if self._bookings is not None and partial.bookings is not None:
            partial.bookings = self._bookings.finish(partial.bookings)
        return partial

    def discard(self, partial: OutputPartial) -> None:
        """See Workload."""
        for file in file_outputs(partial.output):
            file.discard()
        if self._bookings is not None and partial.bookings is not None:
            self._bookings.discard(partial.bookings)


class _BoundSelector:
    """A selector on one file."""

    def __init__(
        self,
        selector: UserSelector,
        source: ChunkSource,
        file: int,
        bookings: Bound[Partial] | None,
        uncounted: Control,
        promised: Promises,
    ) -> None:
        """`promised`: what was asked for, of all files of the worker."""
        self._selector = selector
        self._source = source
        self._file = file
        self._bookings = bookings
        self._uncounted = uncounted
        self._promised = promised

    def partial(self) -> OutputPartial:
        """See Bound."""
        output = self._selector.new_output()
        return OutputPartial(output, None if self._bookings is None else self._bookings.partial())

    def run(self, start: int, stop: int, partial: OutputPartial, control: Control) -> int | None:
        """See Bound. Ends early if it is told to stop, or after `PACKET_SECONDS`."""
        asked = self._promised.pop((self._file, start, stop), None)
        if asked is None:
            asked = self._source.ask(self._file, start, stop, control)
        ended = self._chunk_by_chunk(start, stop, partial, control)
        del asked  # what was not taken is not wanted any more
        if self._bookings is not None and partial.bookings is not None:
            reached = stop if ended is None else ended
            while start < reached:  # a full partial ends it early
                ended_at = self._bookings.run(start, reached, partial.bookings, self._uncounted)
                start = reached if ended_at is None else ended_at
        return ended

    def prefetch(self, start: int, stop: int, control: Control) -> None:
        """See Bound. Asks for the columns that earlier chunks have touched."""
        place = self._file, start, stop
        if place in self._promised:
            return
        asked = self._source.ask(self._file, start, stop, control)
        if asked is not None:
            self._promised[place] = asked
            # A packet that went elsewhere without a word must not keep its bytes for ever.
            while len(self._promised) > _MOST_PROMISED:
                self._promised.pop(next(iter(self._promised)), None)
        if self._bookings is not None:
            self._bookings.prefetch(start, stop, self._uncounted)

    def forget(self, start: int, stop: int) -> None:
        """See Bound."""
        self._promised.pop((self._file, start, stop), None)
        if self._bookings is not None:
            self._bookings.forget(start, stop)

    def ahead(self) -> int:
        """Nothing that is not asked of the workload."""
        return 0

    def bytes_of(self, start: int, stop: int) -> int:
        """Nothing that is not asked of the workload."""
        return 0

    def _chunk_by_chunk(
        self, start: int, stop: int, partial: OutputPartial, control: Control
    ) -> int | None:
        file, source = self._file, self._source
        path = source.path(file)
        began = before = time.perf_counter()
        for span in source.spans(file, start, stop):
            first, last = span
            if control.stopped or before - began > PACKET_SECONDS:
                return first
            partial.output = self._selector.process(
                functools.partial(source.events, file, span, stop, control),
                partial.output,
                ChunkPlace(file, path, first, last, functools.partial(source.file, file)),
            )
            control.add_entries(last - first)
            now = time.perf_counter()
            control.add_evaluated(first, last, now - before)
            source.took(last - first, now - before)
            before = now
        return None


# A selector in a form that can be sent to workers. Implements `workers.task.Task`; knows no packet
# and no transport.


class SelectorTask:
    """A selector's job, and the inputs."""

    least_seconds = 0.1
    alone_entries = 0
    holds_lock = True

    def __init__(self, job: SelectorJob, inputs: Inputs) -> None:
        self.inputs: Inputs | None = inputs
        self.commit_seconds = float("inf") if commits_only_at_end(job.selector) else 1.0
        self.second_runs = job.second_runs
        self.small_files = job.data.small_files
        self.share_entries = job.data.share(job.selector)
        self._job = job

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"inputs": None}

    def preload(self) -> None:
        """See Task. Also imports hist, which most selectors fill, and what makes each chunk's
        random numbers: numpy would load that in every worker."""
        import hist  # noqa: F401
        import numpy.random  # noqa: F401

        from . import chunk  # noqa: F401  # heavy: awkward

        self._job.data.preload(self._job.selector)

    def control(self) -> Control:
        """See Task."""
        from treemill import _core  # heavy: core

        return _core.Control()

    def workload(self, number: int) -> Workload[Partial]:
        """See Task. Each worker has a workload of its own, with its own selector."""

        workload = SelectorWorkload(self._job, self.inputs or {}, number)
        spans = self._job.spans
        return opaque(workload) if spans is None else opaque(SpanWorkload(workload, spans))

    def load(self, data: bytes, first: int = 0) -> OutputPartial:
        """See Task."""
        from .job import OutputPartial  # start-up

        bookings = self._job.bookings
        return OutputPartial.loads(data, None if bookings is None else bookings.load, first)
