"""Bookings of several datasets, one dataset after the other, shown as one query."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..backends.base import Pool
from ..errors import QueryError
from ..monitoring.watch import Feedback, Watch
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

    def kept(number: int) -> KeptQuery | None:
        return None if folder is None else KeptQuery(folder, number)

    queries = (BookedQuery(group, pool, options, kept(i)) for i, group in enumerate(groups))
    try:
        following = next(queries, None)
        while following is not None:
            query, following = following, next(queries, None)
            with hearing() as news:
                start(query)
                if together is not None:
                    together.start(query)
                if watch is None:
                    watch = Watch(together or query, progress, feedback)
                ahead = None if following is None else following.compile_ahead
                results = wait(query, news, watch, ahead)
            booked = zip(query.bookings, results, strict=True)
            values |= {each.number: value for each, value in booked}
    finally:
        if watch is not None:
            watch.close()
    return values
