"""A running query of bookings: a pass that finds automatic ranges, if there are any, and one that
fills. Knows how bookings become a task and results become values; knows no worker.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from ..backends.base import Pass, Pool
from ..backends.checkpoint_writer import Checkpointing
from ..checkpoint import digest
from ..data.assumptions import NO_ASSUMPTIONS
from ..data.rows import Sink
from ..errors import QueryError, TreemillError, UnsupportedError
from ..query.axes import AutomaticAxis, FixedAxis, GrowingAxis
from ..query.axis_ranges import automatic_axis
from ..query.node import Booking
from ..query.planning import Plan, extents, plan
from ..query.quantities import Hist
from ..query.specification import Specification
from ..results.values import BookedHistograms, booked_value, categories, value_by_dataset
from ..workers.query_task import QueryTask
from ..workers.task import Task
from ..workers.workload import no_entries
from .booked_files import BookedFiles
from .options import RunOptions
from .run import Query, QueryState
from .run_checkpoint import QueryCheckpoint
from .subset import as_chain, known_sizes

if TYPE_CHECKING:
    from ..data.chain import Chain

__all__ = ["BookedQuery"]

_RANGES, _FILL = "finding ranges", "filling"


class _Compiled(NamedTuple):
    """A pass that can begin."""

    described: Specification
    chain: Chain
    task: QueryTask


class BookedQuery(Query[tuple[object, ...]]):
    """A running query of bookings of one dataset. Its result has their values in order."""

    def __init__(
        self,
        bookings: Sequence[Booking],
        pool: Pool,
        options: RunOptions,
        kept: QueryCheckpoint | None = None,
    ) -> None:
        self._origin = bookings[0].node.origin
        chain = as_chain(self._origin.chain)
        spans = options.spans(chain)
        super().__init__(chain.files, pool, options, spans, kept, chain.replicas)
        self.bookings = tuple(bookings)
        self.titles = [booking.title for booking in bookings]
        self.title = self.account.title = ", ".join(self.titles)
        self._chain = chain
        self._whole = options.whole
        self._axes: dict[int, list[FixedAxis]] = {}
        self._plan = Plan()
        self._files_made = BookedFiles(bookings, chain, options.whole and not self._skip_errors)
        if kept is not None and self._files_made:
            raise UnsupportedError(
                "a snapshot cannot be kept by checkpoint=: its rows are in files that end with the "
                "run. Leave checkpoint= out, or run the snapshot by itself"
            )
        self._values: tuple[object, ...] | None = None
        self._histograms: dict[int, BookedHistograms] = {}
        self._ahead: _Compiled | None = None
        # What is written to disk, or recorded, is of files that are known to be as they were.
        is_only_here = kept is None and self._recording is None and not self._files_made
        self._assumes = pool.remembers and is_only_here
        self._assumed = NO_ASSUMPTIONS
        self.account.phase = _FILL

    _left = Query._left | {"_workload", "_histograms", "_ahead", "_assumed", "_extents"}

    @cached_property
    def _extents(self) -> tuple[Specification, dict[tuple[int, int], list[int]]]:
        """The pass that finds automatic ranges, and the places of its results."""
        return extents(self.bookings)

    def _resumed(self, task: Task) -> None:
        self._workload = task.workload(0)
        self._histograms, self._ahead, self._assumed = {}, None, NO_ASSUMPTIONS

    def start(self) -> None:
        """Compiles the query and starts its first pass; returns at once. Raises what is wrong with
        the query or with the first file."""
        self._before = self._origin.begun(self.bookings)
        if self._extents[1]:
            self.account.phase = _RANGES
            self.account.final_phase = False
        self._start_phase()

    def _start_phase(self) -> None:
        if self.account.phase == _RANGES:
            self._begin(self._compiled(self._extents[0]))
        else:
            self._fill()

    def compile_ahead(self) -> None:
        """Does what takes time of `start` before it, while workers have something else to do. Does
        nothing if that asks servers, or if a pass has to find ranges first. What is wrong is raised
        by `start`."""
        if self._ahead is None and not (
            self._chain.trees.far or self._files_made or self._extents[1]
        ):
            with suppress(Exception):
                self._ahead = self._filling()

    def _fill(self) -> None:
        ahead, self._ahead = self._ahead, None
        self._begin(ahead or self._filling())

    def _filling(self) -> _Compiled:
        if self._skip_errors:
            self._chain.skip_damaged()
        self._plan = plan(self.bookings, self._axes, self._files_made.fitting)
        sinks, described = self._files_made.sinks(self._plan), self._plan.specification
        compiled = self._compiled(described, sinks, apart=self._chain.is_fileset)
        if self._files_made and self._files_made.leave_out(self._no_entries()):
            return self._filling()
        return compiled

    def _compiled(
        self,
        described: Specification,
        sinks: Mapping[int, Sink] | None = None,
        *,
        apart: bool = False,
    ) -> _Compiled:
        chain = self._pinned()
        try:
            return self._compiled_for(chain, described, sinks or {}, apart)
        except TreemillError:
            if chain.trees.assumed.changed() is None:
                raise
            self._assumes = False
        return self._compiled_for(self._pinned(), described, sinks or {}, apart)

    def _pinned(self) -> Chain:
        soon: Iterable[int] = ()
        if self._pool.remembers:  # its workers have what this process has opened
            every = range(len(self._chain.locations))
            soon = every if self._spans is None else [number for number, *_ in self._spans]
        return self._chain.pinned(soon, assume=self._assumes)

    def _compiled_for(
        self, chain: Chain, described: Specification, sinks: Mapping[int, Sink], apart: bool
    ) -> _Compiled:
        task = QueryTask(
            described,
            chain,
            self._pool.size,
            self._spans,
            sinks,
            remember=self._pool.remembers,
            apart=apart,
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

    def _begin(self, compiled: _Compiled) -> None:
        described, chain, task = compiled
        self._assumed = chain.trees.assumed
        if self._files_made:
            self._files_made.begin(self._no_entries())
        sizes = known_sizes(
            chain, self._workload, self._spans, self._pool.size, small=task.small_files
        )
        self._start_pass(task, chain, sizes, self._checkpointing(described, chain))
        running = self._pass
        if running is not None:  # what it does is not wanted any more, and may wait for a server
            self._assumed.when_changed(lambda: running.abort("a file has changed"))

    def _checkpointing(self, described: Specification, chain: Chain) -> Checkpointing | None:
        if self._kept is None:
            return None
        name = "ranges" if self.account.phase == _RANGES else "fill"
        parts = {"bookings": digest(described.text)}
        return self._kept.checkpointing(name, chain, self._spans, parts, lambda partial: None)

    def _next(self, ended: Pass, error: BaseException | None) -> bool:
        changed = self._assumed.changed()
        self._assumed.release()
        is_running = self._state is QueryState.RUNNING
        if changed is not None and self._state is not QueryState.ABORTED:
            if not is_running:
                raise changed
            self._assumes = False
            self._start_phase()
            return True
        if error is not None or not is_running or self.account.phase == _FILL:
            return False
        self._set_axes(ended)
        self.account.phase = _FILL
        self.account.final_phase = True
        self._fill()
        return True

    def abort(self, reason: str = "aborted by the user") -> None:
        """See Query."""
        super().abort(reason)
        self._assumed.give_up()

    def snapshot(self, within: float | None = None) -> tuple[object, ...] | None:
        """See Query. None also before all files are known to be what the pass takes them for."""
        if not self._assumed.is_certain():
            return None
        return super().snapshot(within)

    def prepare(self) -> None:
        """Makes the histograms while workers work, until the query is done."""
        chain = self._chain
        datasets: list[str | None] = [*chain.datasets] if chain.is_fileset else [None]
        for booking in self.bookings:
            histograms = self._histograms_of(booking)
            if histograms is None:
                continue
            for dataset, variation in product(datasets, self._plan.slots[booking.number]):
                if self.done:
                    return
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
        files = [file for file, *_ in self._spans or ()]
        return files.index(first) if first in files else 0 if files else first

    def _results(self, raw: list[object]) -> tuple[object, ...]:
        return tuple(self._value(booking, raw) for booking in self.bookings)

    def _value(self, booking: Booking, raw: list[object]) -> object:
        plan, histograms = self._plan, self._histograms_of(booking)
        if self._chain.is_fileset:
            metadata = self._chain.datasets
            return value_by_dataset(booking, plan, raw, metadata, self._no_entries, histograms)
        return booked_value(booking, plan, raw, histograms)

    def _finish(self, raw: list[object] | None) -> tuple[object, ...]:
        with self._lock:
            if self._values is None:
                raw = self._no_entries() if raw is None else raw
                self._values = self._files_made.made(self._results(raw), raw)
        if self._state is QueryState.RUNNING and self._whole:
            for booking, value in zip(self.bookings, self._values, strict=True):
                booking.set_value(value, self.account)
        elif self._state is QueryState.RUNNING:
            self._origin.regroup(self._before)  # a booking's value is of all of the data
        return self._values

    def final(self) -> tuple[object, ...]:
        """The result of a query that is done."""
        try:
            return super().final()
        except BaseException:
            self.drop()
            raise

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
