"""What the user gave to `run` or `submit`: bookings, in groups of one dataset each, or a selector
and its data. Knows no worker and no query that runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..backends.base import Pool
from ..errors import QueryError
from ..monitoring.watch import Feedback, SeveralQueries, Watch
from ..query.booking import leaves
from ..query.node import Bookable, Booking, Node, Origin
from ..query.rows import Snapshot
from .booking_run import BookingRun
from .options import RunOptions
from .run import Query
from .run_checkpoint import QueryCheckpoint, folder_for
from .wait import hearing, wait

if TYPE_CHECKING:
    from ..data.chain import Chain
    from .queries import Queries

__all__ = ["as_one", "by_dataset", "computed_by_dataset", "data_of", "is_selector", "mapped"]

# Values in dicts, lists and tuples, in one another, and the same shape with other values. Pure.


def is_shape(value: object) -> bool:
    """True if it is a dict, a list or a tuple."""
    return isinstance(value, Mapping | list | tuple)


def mapped(value: object, change: Callable[[object], object]) -> object:
    """Dicts, lists and tuples as they are in `value`, with what `change` makes of each leaf."""
    if isinstance(value, Mapping):
        return {key: mapped(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        changed = [mapped(each, change) for each in value]
        return changed if isinstance(value, list) else tuple(changed)
    return change(value)


def is_selector(what: Sequence[object]) -> bool:
    """True if a selector was given."""
    return bool(what) and not isinstance(what[0], Booking) and not is_shape(what[0])


def data_of(
    what: Sequence[object], cycles: int | None, *, with_missing: bool
) -> tuple[Chain | None, Node | None]:
    """The dataset of a selector, and the place in its query. Raises QueryError."""
    if cycles is not None:
        if len(what) != 1:
            raise QueryError("cycles= is instead of a dataset: run(selector, cycles=…)")
        return None, None
    if len(what) == 2 and isinstance(what[1], Bookable):
        data = what[1]
        return data.node.origin.chain, data if isinstance(data, Node) else None
    if len(what) == 2 and (isinstance(what[1], Mapping) or hasattr(what[1], "model_dump")):
        from ..data.chain import chain_of  # start-up

        return chain_of(what[1], with_missing=with_missing), None
    names = ", ".join(type(each).__name__ for each in what)
    raise QueryError(
        "run() takes bookings, as events.hist(…) and events.count() give them, or a selector and "
        f"a dataset, not {names}"
    )


def as_one(groups: Sequence[Sequence[Booking]]) -> SeveralQueries:
    """Returns what shows the queries of several datasets as one."""
    chains = [group[0].node.origin.chain for group in groups]
    return SeveralQueries([(each.name, len(each.files)) for each in chains])


def by_dataset(bookings: Sequence[object]) -> list[list[Booking]]:
    """The bookings in groups, in order and each once. Raises QueryError for what is no booking, and
    for two that would write the same file."""
    groups: dict[int, tuple[Origin, dict[int, Booking]]] = {}
    for booking in leaves(tuple(bookings)):
        if not isinstance(booking, Booking):
            raise QueryError(
                "run() takes bookings, as events.hist(…) and events.count() give them, "
                f"alone or in dicts, lists and tuples, not {type(booking).__name__}"
            )
        origin = booking.node.origin
        groups.setdefault(id(origin), (origin, {}))[1][booking.number] = booking
    if not bookings:
        raise QueryError("run() needs at least one booking")
    grouped = [list(group.values()) for _, group in groups.values()]
    files = [each for group in grouped for each in group if isinstance(each.wanted, Snapshot)]
    if len(files) > 1:
        from .booked_files import check_paths  # start-up

        check_paths(files)
    return grouped


# Bookings of several datasets, one dataset after the other, shown as one query.


def computed_by_dataset(
    groups: Sequence[Sequence[Booking]],
    options: RunOptions,
    pool: Pool,
    started: Queries,
    progress: bool | None,
    feedback: Feedback | None,
) -> dict[int, object]:
    """Values by the bookings' numbers. Each group is of one dataset. `started` takes the queries
    that begin. Raises QueryError if one trace is asked for of several queries."""
    if options.values["trace"] is not None and len(groups) > 1:
        raise QueryError(
            f"trace= is for one dataset, and the bookings are of {len(groups)}: run each dataset's "
            "bookings with a trace of their own"
        )
    values: dict[int, object] = {}
    if not groups:
        return values
    together = as_one(groups) if len(groups) > 1 else None
    folder = (
        None
        if options.values["checkpoint"] is None
        else folder_for(options.values["checkpoint"], pool)
    )
    watch: Watch | None = None

    def kept(number: int) -> QueryCheckpoint | None:
        return None if folder is None else QueryCheckpoint(folder, number)

    runs = (BookingRun(group, pool, options, kept(i)) for i, group in enumerate(groups))
    try:
        following = next(runs, None)
        while following is not None:
            computes, following = following, next(runs, None)
            query = Query(computes, pool, options)
            with hearing() as news:
                started.start(query, feedback)
                if together is not None:
                    together.start(query)
                if watch is None:
                    watch = Watch(together or query, progress, feedback)
                ahead = None if following is None else following.compile_ahead
                results = wait(query, news, watch, ahead)
            booked = zip(computes.bookings, results, strict=True)
            values |= {each.number: value for each, value in booked}
    finally:
        if watch is not None:
            watch.close()
    return values
