"""Bookings that are computed along with a selector: by the core, in the same pass and packets.

Knows the query's description and how the core's results become values; runs nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..data.rows import Sink
from ..errors import QueryError, UnsupportedError
from ..query.axes import FixedAxis
from ..query.node import Booking
from ..query.planning import plan
from ..query.quantities import Hist
from ..query.rows import Snapshot
from ..results.values import booked_value, value_by_dataset
from .query_task import QueryTask
from .workload import no_entries

if TYPE_CHECKING:
    from ..data.chain import Chain

__all__ = ["BookedValues"]


class BookedValues:
    """The bookings of one run of a selector, by their names in the output."""

    def __init__(
        self,
        booked: Mapping[str, object],
        own: Chain | None,
        chain: Chain | None,
        workers: int,
    ) -> None:
        """`own`: the chain that bookings must be on; `chain`: the same one as the run sees it.
        Raises QueryError or UnsupportedError for a booking that cannot be computed with it."""
        self._booked = {name: _checked(name, each, own) for name, each in booked.items()}
        self._plan = plan(list(self._booked.values()))
        sinks = {index: Sink(rows.limit) for index, rows in self._plan.rows.items()}
        assert chain is not None
        self._chain = chain
        described = self._plan.specification
        self.task = QueryTask(described, chain, workers, None, sinks, apart=chain.is_fileset)

    @property
    def text(self) -> str:
        """The specification of the bookings."""
        return self._plan.specification.text

    def values(self, raw: Sequence[object]) -> dict[str, object]:
        """The bookings' values, from the core's results."""
        return {name: self._value(booking, raw) for name, booking in self._booked.items()}

    def _value(self, booking: Booking[Any], raw: Sequence[object]) -> object:
        if not self._chain.is_fileset:
            return booked_value(booking, self._plan, raw)
        return value_by_dataset(booking, self._plan, raw, self._chain.datasets, self._no_entries)

    def _no_entries(self) -> Sequence[object]:
        return no_entries(self.task.workload(0), self._chain.first)


def _checked(name: str, booking: object, chain: Chain | None) -> Booking[Any]:
    if not isinstance(booking, Booking):
        raise QueryError(
            f"book({name!r}, …) takes a booking, as events.hist(…) gives it, "
            f"not {type(booking).__name__}"
        )
    if chain is None or booking.node.origin.chain is not chain:
        raise QueryError(f"{name} is booked on another dataset than the selector runs on")
    wanted = booking.wanted
    if isinstance(wanted, Hist) and not all(isinstance(axis, FixedAxis) for axis in wanted.axes):
        raise QueryError(f"{name}: a histogram in a selector needs bins=(number, low, high)")
    if isinstance(wanted, Snapshot):
        raise UnsupportedError(
            f"{name}: a selector books no snapshots: write a treemill.FileOutput"
        )
    return booking
