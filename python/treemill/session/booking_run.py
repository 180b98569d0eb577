"""What a query of bookings computes: a pass that finds automatic ranges, if there are any, and one
that fills. Knows how bookings become a task and results become values; knows no worker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from .._system.memory import without_collector
from ..backends.base import Pass, Pool
from ..backends.checkpoint_writer import Checkpointing
from ..checkpoint import digest
from ..data.rows import Sink
from ..errors import QueryError, TreemillError, UnsupportedError
from ..frozen import replaced
from ..monitoring.report import FromMemory
from ..query.axes import AutomaticAxis, FixedAxis, GrowingAxis
from ..query.axis_ranges import automatic_axis
from ..query.node import Booking
from ..query.planning import Plan, Specification, extents, plan
from ..query.quantities import Hist
from ..results.values import (
    BookedHistograms,
    are_large,
    booked_value,
    categories,
    value_by_dataset,
)
from ..workers.query_task import PartialByPart, QueryTask
from ..workers.task import Task
from ..workers.workload import no_entries
from .booked_files import BookedFiles
from .computation import Computation, Course, PlannedPass, QueryState, known_sizes
from .options import RunOptions
from .run_checkpoint import QueryCheckpoint

if TYPE_CHECKING:
    from ..data.chain import Chain

__all__ = ["BookingRun"]

_RANGES, _FILL = "finding ranges", "filling"
_MOST_HELD = 1 << 31
"""Bytes of results of single files that a cluster may have until this process has kept them."""


class _Compiled(NamedTuple):
    """A pass that can begin."""

    described: Specification
    chain: Chain
    task: QueryTask


class BookingRun(Computation[tuple[object, ...]]):
    """Bookings of one dataset. The result has their values in order."""

    def __init__(
        self,
        bookings: Sequence[Booking],
        pool: Pool,
        options: RunOptions,
        kept: QueryCheckpoint | None = None,
    ) -> None:
        """`kept`: what is kept on disk; None: nothing."""
        self._origin = bookings[0].node.origin
        self._chain = chain = self._origin.chain
        self._pool = pool
        self._skip_errors = options.skip_errors
        self._whole = options.whole
        self._kept = kept
        self._there = options.results_folder()
        self.bookings = tuple(bookings)
        self.titles = [booking.title for booking in bookings]
        self.title = ", ".join(self.titles)
        self.phase = _FILL
        """What the pass does that is planned or runs."""
        self.files, self.replicas, self.spans = chain.files, chain.replicas, options.spans(chain)
        self._axes: dict[int, list[FixedAxis]] = {}
        self._plan = Plan()
        self._files_made = BookedFiles(bookings, chain, options.whole and not self._skip_errors)
        if kept is not None and self._files_made:
            raise UnsupportedError(
                "a snapshot cannot be kept by checkpoint=: its rows are in files that end with the "
                "run. Leave checkpoint= out, or run the snapshot by itself"
            )
        self._histograms: dict[int, BookedHistograms] = {}
        self._ahead: _Compiled | None = None
        # What is written to disk, or recorded, is of files that are known to be as they were.
        is_only_here = (
            kept is None
            and self._there is None
            and not options.keeps_trace(pool.trace)
            and not self._files_made
        )
        self._assumes = pool.remembers and is_only_here

    _left = Computation._left | {"_workload", "_histograms", "_ahead", "_extents", "_there"}

    def resume(self, pool: Pool, task: Task) -> None:
        """See Computation."""
        self._pool = pool
        self._workload = task.workload(0)
        self._histograms, self._ahead, self._there = {}, None, None

    @cached_property
    def _extents(self) -> tuple[Specification, dict[tuple[int, int], list[int]]]:
        """The pass that finds automatic ranges, and the places of its results."""
        return extents(self.bookings)

    @property
    def _apart(self) -> bool:
        """Whether the pass has results for each sample. Axes are those of all samples."""
        return self.phase == _FILL and self._chain.is_fileset

    def first_pass(self) -> PlannedPass:
        """See Computation."""
        self._before = self._origin.begun(self.bookings)
        if self._extents[1]:
            self.phase = _RANGES
        return self._planned()

    def next_pass(self, ended: Pass) -> PlannedPass | None:
        """See Computation."""
        if self.phase == _FILL:
            return None
        self._set_axes(ended)
        self.phase = _FILL
        return self._planned()

    def same_pass(self) -> PlannedPass:
        """See Computation. Nothing more is assumed."""
        self._assumes = False
        return self._planned()

    def compile_ahead(self) -> None:
        """Does what takes time of `first_pass` before it, while workers have something else to do.
        Does nothing if that asks servers, or if a pass has to find ranges first. What is wrong is
        raised by `first_pass`."""
        if self._ahead is None and not (
            self._chain.trees.far or self._files_made or self._extents[1]
        ):
            with suppress(Exception):
                self._ahead = self._filling()

    def _planned(self) -> PlannedPass:
        ahead, self._ahead = self._ahead, None
        is_fill = self.phase == _FILL
        compiled = (ahead or self._filling()) if is_fill else self._compiled(self._extents[0])
        described, chain, task = compiled
        if self._files_made:
            self._files_made.begin(self._no_entries())
        sizes = known_sizes(
            chain, self._workload, self.spans, self._pool.size, small=task.small_files
        )
        kept = self._checkpointing(described, chain)
        planned = PlannedPass(task, chain, sizes, self.phase, kept, is_last=is_fill)
        return self._remembered(planned, described, chain) if self._there else planned

    def _remembered(
        self, planned: PlannedPass, described: Specification, chain: Chain
    ) -> PlannedPass:
        """The pass that computes what is not remembered."""
        checkpointing = planned.checkpointing
        reason = self._not_remembered(checkpointing)
        if reason is not None:
            return self._without_memory(planned, described, reason)
        from .remembered import pieces, titles_of  # start-up

        assert self._there is not None
        titles = [self.phase] * len(described.bookings)
        if self.phase == _FILL:
            titles = titles_of(self.bookings, self._plan)
        partial: Any = self._workload.bound(self._first()).partial()
        is_apart = isinstance(partial, PartialByPart)
        (core,) = partial.parts.values() if is_apart else (partial,)
        found = pieces(
            self._there,
            described,
            chain,
            titles,
            core.dumps_each(),
            self.spans,
            apart=self._apart,
            goes_on_in_files=self._pool.goes_on_in_files,
        )
        if self._pool.outlive and found.remembering.size > _MOST_HELD:
            reason = "the results of all files would take too much memory in the cluster"
            return self._without_memory(planned, described, reason)
        task = QueryTask(
            described,
            chain,
            self._pool.size,
            self.spans,
            remember=self._pool.remembers,
            lacking=found.lacking,
            knows_recorded=found.knows_recorded,
        )
        if checkpointing is not None:  # what is remembered has all that it would have
            checkpointing.checkpoint.close()
        return replaced(
            planned,
            task=task,
            checkpointing=None,
            remembering=found.remembering,
            remembered=found.shown,
        )

    def _without_memory(
        self, planned: PlannedPass, described: Specification, reason: str
    ) -> PlannedPass:
        every, files = len(described.bookings), len(planned.sizes)
        shown = FromMemory(every, 0, files, files, every * files, [("all", reason)])
        return replaced(planned, remembered=shown)

    def _not_remembered(self, checkpointing: Checkpointing | None) -> str | None:
        """Why nothing of the run is remembered; None: it may be."""
        from .remembered import ROWS  # start-up

        if not self._pool.keeps_results:
            return f"results of {self._pool.kind} are not remembered"
        if checkpointing is not None and (checkpointing.record or self._pool.outlive):
            return "checkpoint= keeps the run"
        return ROWS if self._files_made or self._plan.rows else None

    def _filling(self) -> _Compiled:
        if self._skip_errors:
            self._chain.skip_damaged()
        with without_collector():
            self._plan = plan(self.bookings, self._axes, self._files_made.fitting)
        sinks, described = self._files_made.sinks(self._plan), self._plan.specification
        compiled = self._compiled(described, sinks)
        if self._files_made and self._files_made.leave_out(self._no_entries()):
            return self._filling()
        return compiled

    def _compiled(
        self,
        described: Specification,
        sinks: Mapping[int, Sink] | None = None,
    ) -> _Compiled:
        chain = self._pinned()
        try:
            return self._compiled_for(chain, described, sinks or {})
        except TreemillError:
            if chain.trees.assumed.changed() is None:
                raise
            self._assumes = False
        return self._compiled_for(self._pinned(), described, sinks or {})

    def _pinned(self) -> Chain:
        soon: Iterable[int] = ()
        # Its workers have what this process has opened. Of what is remembered, nothing is opened.
        if self._pool.remembers and self._there is None:
            every = range(len(self._chain.locations))
            soon = every if self.spans is None else [number for number, *_ in self.spans]
        return self._chain.pinned(soon, assume=self._assumes, threads=self._pool.threads)

    def _compiled_for(
        self, chain: Chain, described: Specification, sinks: Mapping[int, Sink]
    ) -> _Compiled:
        task = QueryTask(
            described,
            chain,
            self._pool.size,
            self.spans,
            sinks,
            remember=self._pool.remembers,
            apart=self._apart,
        )
        self._workload = task.workload(0)
        try:
            # Raises what is wrong with the query, before workers start.
            first = self._first()
            self._workload.bound(first)
            self._workload.size(first)
        except QueryError:
            raise
        except TreemillError:
            if not self._skip_errors:
                raise
        # Files of a dataset are alike: where caches have all of the first one, others need not be
        # opened.
        chain.trees.assumed.ask(soon=self._workload.ahead(0) > 0)
        return _Compiled(described, chain, task)

    def _checkpointing(self, described: Specification, chain: Chain) -> Checkpointing | None:
        if self._kept is None:
            return None
        name = "ranges" if self.phase == _RANGES else "fill"
        parts = {"bookings": digest(described.lasting_text)}
        return self._kept.checkpointing(name, chain, self.spans, parts, lambda partial: None)

    def prepare(self) -> Iterator[None]:
        """See Computation: makes the histograms."""
        chain = self._chain
        datasets: list[str | None] = [*chain.datasets] if chain.is_fileset else [None]
        for booking in self.bookings:
            histograms = self._histograms_of(booking)
            if histograms is None:
                continue
            for dataset, variation in product(datasets, self._plan.slots[booking.number]):
                yield
                histograms.prepare(dataset, variation)

    def _histograms_of(self, booking: Booking) -> BookedHistograms | None:
        wanted, number = booking.wanted, booking.number
        if not isinstance(wanted, Hist):
            return None
        known = self._histograms.get(number)
        if known is None:
            known = self._histograms[number] = BookedHistograms(wanted, self._axes.get(number))
        return known

    def _no_entries(self) -> list[object]:
        return no_entries(self._workload, self._first())

    def _first(self) -> int:
        """The place among the files of the task of the first one that can be opened, if files that
        are not there are left out."""
        first = self._chain.first if self._skip_errors else 0
        files = [file for file, *_ in self.spans or ()]
        return files.index(first) if first in files else 0 if files else first

    def is_large(self, raw: list[object]) -> bool:
        """See Computation."""
        return are_large(raw)

    def values(self, raw: list[object], course: Course) -> tuple[object, ...]:
        """See Computation."""
        with without_collector():
            return tuple([self._value(booking, raw) for booking in self.bookings])

    def _value(self, booking: Booking, raw: list[object]) -> object:
        plan, histograms = self._plan, self._histograms_of(booking)
        if self._chain.is_fileset:
            metadata = self._chain.datasets
            return value_by_dataset(booking, plan, raw, metadata, self._no_entries, histograms)
        return booked_value(booking, plan, raw, histograms)

    def result(self, raw: list[object] | None, course: Course) -> tuple[object, ...]:
        """See Computation. Gives the bookings their values, if these are of all of the data."""
        raw = self._no_entries() if raw is None else raw
        values = self._files_made.made(self.values(raw, course), raw)
        if course.state is QueryState.RUNNING and self._whole:
            for booking, value in zip(self.bookings, values, strict=True):
                booking.set_value(value, course.account)
        elif course.state is QueryState.RUNNING:
            self._origin.regroup(self._before)
        return values

    def drop(self) -> None:
        """Removes the parts of files that will not be completed."""
        self._files_made.drop()

    def _set_axes(self, ended: Pass) -> None:
        results: list[Any] | None = ended.merged.results()
        _, places = self._extents
        for booking in self.bookings:
            if not isinstance(booking.wanted, Hist):
                continue
            axes: list[FixedAxis] = []
            for dimension, axis in enumerate(booking.wanted.axes):
                if isinstance(axis, AutomaticAxis):
                    at = places[booking.number, dimension]
                    extent, *most = [None] if results is None else [results[place] for place in at]
                    axis = automatic_axis(extent, axis.bins, *most)
                elif isinstance(axis, GrowingAxis):
                    at = places[booking.number, dimension]
                    raw = [] if results is None else [categories(results[i]) for i in at]
                    axis = axis.grown(sorted({value for values in raw for value in values}))
                axes.append(axis)
            self._axes[booking.number] = axes
