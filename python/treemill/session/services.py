"""What datasets and nodes ask of the modules above them: to run bookings in one pass, to put the
plan of a pass in words, to draw, scan and describe. Whatever reads, computes or shows is loaded
when it is first used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..query.booking import Booking, Place
from ..query.draw_request import Drawing
from ..query.node import Node
from ..query.quantities import named_columns

if TYPE_CHECKING:
    from ..chain.chain import Chain
    from ..query.description import Description

__all__ = ["SERVICES"]


class _Services:
    """Implements booking.Services; imports are # start-up."""

    def run(self, bookings: Sequence[Booking]) -> None:
        from .front import run  # heavy: numpy

        run(*bookings)

    def arrays(self, booking: Booking, start: int | None, stop: int | None) -> Any:
        from .front import run  # heavy: numpy

        entries = None if start is None and stop is None else (start or 0, stop)
        return run(booking, entries=entries, progress=False)

    def explain(self, data: Chain, bookings: Sequence[Booking]) -> str:
        from ..evaluation.explain import explained  # start-up

        return explained(data, bookings)

    def draw(self, node: Place, wanted: Drawing) -> Any:
        """Fills one histogram and draws it: in a terminal as text; notebooks do by themselves."""
        from ..monitor.screen import in_notebook  # start-up
        from ..monitor.text_histogram import show  # start-up
        from .draw import drawn  # start-up

        made = drawn(_node(node), wanted)
        if not (made.quiet or in_notebook()):
            show(made.histogram, made.title, wanted.log)
        return made.histogram

    def scan(self, node: Place, columns: Sequence[str], where: str | None, count: int) -> None:
        from .listing import scanned  # start-up

        print(scanned(_node(node), columns, where, count))

    def head(self, node: Place, columns: Any, count: int) -> Any:
        """An awkward array."""
        from .listing import first_entries  # start-up

        return first_entries(_node(node), named_columns(columns, _node(node)._names), count)

    def describe(self, node: Place, columns: Sequence[str]) -> Description:
        from .listing import described  # start-up

        return described(_node(node), columns)

    def html(self, title: str, value: Any) -> str:
        from ..monitor.html import of_value  # start-up

        return of_value(title, value)


def _node(place: Place) -> Node:
    """Places that nodes hand over are nodes."""
    assert isinstance(place, Node)
    return place


SERVICES = _Services()
