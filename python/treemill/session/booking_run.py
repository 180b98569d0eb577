"""Bookings while they run: a pass that finds automatic ranges, if any, and one that fills."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..arrays.rows import Sink
from ..backend.base import Pass, Pool
from ..errors import QueryError, TreemillError
from ..evaluation.task import QueryTask
from ..query.axes import AutomaticAxis, FixedAxis, GrowingAxis
from ..query.axis_ranges import automatic_axis
from ..query.node import Booking
from ..query.planning import Plan, extents, plan
from ..query.quantities import Hist
from ..query.specification import Specification
from ..results.values import categories, empty, result
from ..results.variations import Variations
from .booked_files import BookedFiles
from .options import RunOptions
from .run import Query
from .subset import known_sizes

if TYPE_CHECKING:
    pass

__all__ = ["BookedQuery"]


_RANGES, _FILL = "finding ranges", "filling"


class BookedQuery(Query):
    """The handle on bookings of one dataset."""

    def __init__(
        self,
        bookings: Sequence[Booking],
        pool: Pool,
        options: RunOptions,
    ) -> None:
        self._origin = bookings[0].node.origin
        chain = self._origin.chain
        super().__init__(chain.files, pool, options.skip_errors, options.spans(chain))
        self.bookings = tuple(bookings)
        self.titles = [booking.title for booking in bookings]
        self.title = self.account.title = ", ".join(self.titles)
        self._chain = chain
        self._whole = options.whole
        self._axes: dict[int, list[FixedAxis]] = {}
        self._places: dict[tuple[int, int], list[int]] = {}
        self._plan = Plan()
        self._files_made = BookedFiles(bookings, chain, options.whole and not self._skip_errors)
        self._values: tuple[Any, ...] | None = None
        self._empty: dict[tuple[int, str], Any] = {}  # by booking and variation
        self.account.phase = _FILL

    def start(self) -> None:
        """Compiles the query and starts its first pass; returns at once. Raises what is wrong with
        the query or the first file."""
        described, self._places = extents(self.bookings)
        if self._places:
            self.account.phase = _RANGES
            self.account.final_phase = False
            self._compile(described)
        else:
            self._fill()
        self._before = self._origin.begun(self.bookings)

    def _fill(self) -> None:
        self._plan = plan(self.bookings, self._axes)
        self._compile(self._plan.specification, self._files_made.sinks(self._plan))

    def _compile(self, described: Specification, sinks: Mapping[int, Sink] | None = None) -> None:
        task = QueryTask(
            described,
            self._chain,
            self._pool.size,
            self._spans,
            sinks or {},
            remember=self._pool.remembers,
        )
        self._workload = task.workload(0)
        try:
            self._workload.bound(0)  # errors of the query show here, before any worker has to start
            self._workload.size(0)
        except QueryError:
            raise
        except TreemillError:
            if not self._skip_errors:
                raise
        if self._files_made:
            self._files_made.begin(self._workload.bound(0).partial().results())
        self._start_pass(task, known_sizes(self._chain, self._workload, self._spans))

    def _next(self, ended: Pass) -> bool:
        if self.account.phase == _FILL:
            return False
        self._set_axes(ended)
        self.account.phase = _FILL
        self.account.final_phase = True
        self._fill()
        return True

    def prepare(self) -> None:
        """Makes histograms while workers work, until these are done."""
        for booking in self.bookings:
            if not isinstance(booking.wanted, Hist):
                continue
            for variation in self._plan.slots[booking.number]:
                if self._done:
                    return
                made = empty(booking, self._axes.get(booking.number))
                self._empty[booking.number, variation] = made

    def _results(self, raw: list[Any] | None) -> tuple[Any, ...]:
        if raw is None:  # not one entry
            raw = self._workload.bound(0).partial().results()
        return tuple(self._value(booking, raw or []) for booking in self.bookings)

    def _value(self, booking: Booking, raw: list[Any]) -> Any:
        axes = self._axes.get(booking.number)
        values = Variations(unchanged=self._plan.unchanged(booking))
        for variation, slots in self._plan.slots[booking.number].items():
            # Given away: who asks again gets another one.
            into = self._empty.pop((booking.number, variation), None)
            values[variation] = result(booking, [raw[slot] for slot in slots], axes, into)
        return values if self._plan.varied(booking) else values.nominal

    def _finish(self, raw: list[Any] | None) -> tuple[Any, ...]:
        with self._lock:
            if self._values is None:
                if raw is None:
                    raw = self._workload.bound(0).partial().results()
                self._values = self._files_made.made(self._results(raw), raw or [])
        if self._stopped is None and self._whole:
            for booking, value in zip(self.bookings, self._values, strict=True):
                booking.set_value(value)
        elif self._stopped is None:
            self._origin.regroup(self._before)  # a part of the data is no value of theirs
        return self._values

    def final(self) -> Any:
        """The result of a query that is done."""
        try:
            return super().final()
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        """Removes what was written for files that will not be made."""
        self._files_made.drop()

    def _set_axes(self, ended: Pass) -> None:
        found: list[Any] | None = ended.merged.results()
        for booking in self.bookings:
            if not isinstance(booking.wanted, Hist):
                continue
            axes: list[FixedAxis] = []
            for dimension, axis in enumerate(booking.wanted.axes):
                if isinstance(axis, AutomaticAxis):
                    at = self._places[booking.number, dimension]
                    extent, *most = [None] if found is None else [found[place] for place in at]
                    axis = automatic_axis(extent, axis.bins, *most)
                elif isinstance(axis, GrowingAxis):
                    at = self._places[booking.number, dimension]
                    raw = [] if found is None else [categories(found[i]) for i in at]
                    axis = axis.grown(sorted({value for values in raw for value in values}))
                axes.append(axis)
            self._axes[booking.number] = axes
