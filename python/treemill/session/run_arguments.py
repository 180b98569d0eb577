"""What the user gave to `run` or `submit`: bookings, in groups of one dataset each, or a selector
and its data. Knows no worker and no query that runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import QueryError
from ..monitoring.several_queries import SeveralQueries
from ..query.node import Bookable, Booking, Node, Origin
from ..query.rows import Snapshot
from .node_chain import chain_at
from .shapes import is_shape, leaves

if TYPE_CHECKING:
    from ..data.chain import Chain

__all__ = ["as_one", "by_dataset", "data_of", "is_selector"]


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
        return chain_at(data.node), data if isinstance(data, Node) else None
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
    chains = [chain_at(group[0].node) for group in groups]
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
