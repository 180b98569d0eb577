"""Bookings of several datasets, one dataset after the other, shown as one query."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..backend.base import Pool
from ..errors import QueryError
from ..monitor.watch import Feedback, Watch
from ..query.node import Booking
from .booking_run import BookedQuery
from .keeping import KeptQuery, folder_for
from .options import RunOptions
from .run_arguments import as_one
from .wait import hearing, wait

__all__ = ["computed_by_dataset"]


def computed_by_dataset(
    groups: Sequence[Sequence[Booking]],
    options: RunOptions,
    pool: Pool,
    start: Callable[[BookedQuery], BookedQuery],
    progress: bool | None,
    feedback: Feedback | None,
) -> dict[int, object]:
    """Values by the bookings' numbers. Each group is of one dataset. `start` starts a query. Raises
    QueryError if one trace is asked for of several queries."""
    if options.trace is not None and len(groups) > 1:
        raise QueryError(
            f"trace= is for one dataset, and the bookings are of {len(groups)}: run each dataset's "
            "bookings with a trace of their own"
        )
    values: dict[int, object] = {}
    if not groups:
        return values
    together = as_one(groups) if len(groups) > 1 else None
    folder = None if options.checkpoint is None else folder_for(options.checkpoint, pool)
    watch: Watch | None = None
    try:
        for number, group in enumerate(groups):
            kept = None if folder is None else KeptQuery(folder, number)
            with hearing() as news:
                query = start(BookedQuery(group, pool, options, kept))
                if together is not None:
                    together.start(query)
                if watch is None:
                    watch = Watch(together or query, progress, feedback)
                results = wait(query, news, watch)
            values |= {each.number: value for each, value in zip(group, results, strict=True)}
    finally:
        if watch is not None:
            watch.close()
    return values
