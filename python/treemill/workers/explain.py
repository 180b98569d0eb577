"""Puts the plan of a pass in words: what is read, what is filtered first, which lists are gone
through, what is computed once, and the programs' steps. Compiles for the dataset's first file;
reads no entry."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..query.axes import FixedAxis, axes_from_bins
from ..query.planning import plan
from ..query.quantities import Hist
from .file_query import PerFile

if TYPE_CHECKING:
    from ..data.chain import Chain
    from ..query.node import Booking

__all__ = ["explained"]


def explained(chain: Chain, bookings: Sequence[Booking]) -> str:
    """Says what one pass for these bookings does. Raises QueryError for what is wrong with them."""
    ranged = [booking for booking in bookings if _automatic(booking)]
    # The plan does not depend on the bins: axes that are not known yet get any bins.
    axes = {booking.number: _some_axes(booking) for booking in ranged}
    specification = plan(bookings, axes).specification
    description = json.loads(PerFile(specification).bind(chain, 0).explain())
    columns, first = description["columns"], description["columns_of_filters"]
    parts = [
        ("first", "a pass over the same columns finds the ranges of " + _titles(ranged))
        if ranged
        else ("", ""),
        ("filters", [f"{n}. {text}" for n, text in enumerate(description["filters"], 1)]),
        ("reads for filters", ", ".join(columns[:first])),
        ("reads where an entry passes" if first else "reads", ", ".join(columns[first:])),
        ("lists", description["levels"]),
        ("computed once", description["shared"]),
        ("calls", description["calls"]),
        ("programs", description["programs"]),
        ("books", [booking.title for booking in bookings]),
    ]
    return "\n".join(line for head, body in parts for line in _part(head, body))


def _part(head: str, body: str | Iterable[str]) -> Iterable[str]:
    lines = [body] if isinstance(body, str) else list(body)
    if any(lines):
        yield f"{head}:"
        yield from (f"  {line}" for line in lines)


def _automatic(booking: Booking) -> bool:
    wanted = booking.wanted
    return isinstance(wanted, Hist) and not all(isinstance(a, FixedAxis) for a in wanted.axes)


def _some_axes(booking: Booking) -> list[FixedAxis]:
    assert isinstance(booking.wanted, Hist)
    axes = booking.wanted.axes
    some = axes_from_bins((1, 0.0, 1.0), 1)[0]
    assert isinstance(some, FixedAxis)
    return [axis if isinstance(axis, FixedAxis) else some for axis in axes]


def _titles(bookings: Iterable[Booking]) -> str:
    return ", ".join(booking.title for booking in bookings)
