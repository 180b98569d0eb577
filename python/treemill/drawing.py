"""TTree::Draw: one histogram, filled now; and histograms as text. Knows what a selection may be
there that a filter may not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .clike import dimensions
from .errors import QueryError
from .query import Booking, Node

__all__ = ["drawn", "show"]


def show(histogram: Any, title: str = "") -> None:
    """Prints a histogram as text, as wide as the terminal: a hist.Hist, or one that is booked,
    which is computed if it was not yet. Of `Variations` the nominal one. `title`: else that of
    the booking."""
    from .monitor.display import show as show_text

    if isinstance(histogram, Booking):
        title, histogram = title or histogram.title, histogram.value
    histogram = getattr(histogram, "nominal", histogram)
    if not hasattr(histogram, "axes"):
        raise TypeError(f"{histogram!r} is not a histogram")
    show_text(histogram, title)


def drawn(
    node: Node,
    exprs: Sequence[str],
    where: str | None = None,
    bins: Any = None,
    weight: str | None = None,
) -> tuple[Any, str]:
    """The histogram (hist.Hist) and its title. A single expression may be "y:x" or "z:y:x". `where`
    selects entries, or where it has one bool per item, items.

    Raises QueryError where the expressions cannot be understood.
    """
    from .session import run

    title = " : ".join(exprs) + (f"  where {where}" if where else "")
    split = dimensions(exprs[0]) if len(exprs) == 1 else list(exprs)
    refused: QueryError | None = None
    for booking in _bookings(node, split, where, bins, weight):
        try:
            return run(booking), title
        except QueryError as error:
            # What is wrong with the plain form is what the user should hear of.
            refused = refused or error
    assert refused is not None
    raise refused


def _bookings(
    node: Node, exprs: list[str], where: str | None, bins: Any, weight: str | None
) -> Iterator[Booking]:
    """The ways in which it may be meant, the usual one first. Which it is only the core knows, when
    it has seen the columns' types."""
    if where is None:
        yield node.hist(*exprs, bins=bins, weight=weight)
        return
    yield node.filter(where).hist(*exprs, bins=bins, weight=weight)
    # The line ends close comments.
    first, *others = exprs
    selected = f"only(({first}\n), ({where}\n))"
    yield node.hist(selected, *others, bins=bins, weight=weight)
