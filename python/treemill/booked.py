"""Bookings while they run: a pass that finds automatic ranges, if any, and one that fills."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .axes import AutomaticAxis, FixedAxis, automatic_axis
from .backend.passes import Pass, Pool
from .errors import QueryError, TreemillError
from .query import Booking, Hist, extents, spec
from .results import result
from .running import Query
from .subset import known_sizes
from .task import QueryTask, Span

if TYPE_CHECKING:
    from .dataset import Dataset

__all__ = ["BookedQuery"]

_RANGES, _FILL = "finding ranges", "filling"


class BookedQuery(Query):
    """The handle on bookings of one dataset."""

    def __init__(
        self,
        dataset: Dataset,
        bookings: Sequence[Booking],
        pool: Pool,
        skip_errors: bool,
        spans: Sequence[Span] | None,
        *,
        whole: bool,
    ) -> None:
        """`whole`: whether the spans are all that the dataset has."""
        super().__init__(dataset.files, pool, skip_errors, spans)
        self.bookings = tuple(bookings)
        self.title = ", ".join(booking.title for booking in bookings)
        self._dataset = dataset
        self._whole = whole
        self._axes: dict[int, list[FixedAxis]] = {}
        self._places: dict[tuple[int, int], int] = {}
        self._phase = _FILL

    def start(self) -> None:
        """Compiles the query and starts its first pass; returns at once. Raises what is wrong with
        the query or the first file."""
        described, self._places = extents(self.bookings)
        if self._places:
            self._phase = _RANGES
            self._final_phase = False
        else:
            described = spec(self.bookings)
        self._compile(described)

    def _compile(self, described: dict[str, Any]) -> None:
        task = QueryTask(json.dumps(described), self._dataset, self._pool.size, self._spans)
        self._trees = task.trees(0)
        try:
            self._trees.bound(0)  # errors of the query show here, before any worker has to start
            self._trees.size(0)
        except QueryError:
            raise
        except TreemillError:
            if not self._skip_errors:
                raise
        self._start_pass(task, known_sizes(self._dataset, self._trees, self._spans))

    def _next(self, ended: Pass) -> bool:
        if self._phase == _FILL:
            return False
        self._set_axes(ended)
        self._phase = _FILL
        self._final_phase = True
        self._compile(spec(self.bookings, self._axes))
        return True

    def _results(self, raw: list[Any] | None) -> tuple[Any, ...]:
        if raw is None:  # not one entry
            raw = self._trees.bound(0).partial().results()
        return tuple(
            result(booking, each, self._axes.get(booking.number))
            for booking, each in zip(self.bookings, raw or [], strict=True)
        )

    def _finish(self, raw: list[Any] | None) -> tuple[Any, ...]:
        values = self._results(raw)
        if self._stopped is None and self._whole:
            for booking, value in zip(self.bookings, values, strict=True):
                booking.set_value(value)
        return values

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
