"""The services that datasets and nodes ask for: to run bookings in one pass, to explain the plan of
a pass, to draw, scan and describe. They run in the default session. Modules that read, compute or
show are loaded when they are first used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from ..errors import QueryError
from ..query.booking import Booking, Place
from ..query.node import Node
from ..query.quantities import named_columns

if TYPE_CHECKING:
    from typing import Unpack

    import awkward as ak
    from hist import Hist

    from ..data.chain import Chain
    from ..io_report import IOReport
    from ..query.description import Description, Drawing
    from .options import RunKeywords

__all__ = ["SERVICES"]


class _Services:
    """Implements query.booking.Services."""

    def run(self, bookings: Sequence[Booking]) -> None:
        _computed(bookings)

    def arrays(self, booking: Booking[ak.Array], start: int | None, stop: int | None) -> ak.Array:
        entries = None if start is None and stop is None else (start or 0, stop)
        value = _computed([booking], False, entries=entries)
        return cast("ak.Array", value)

    def io_report(self) -> IOReport:
        """Returns what reading took in the last run of this process."""
        from .query_account import last_run  # start-up

        return last_run()

    def explain(self, data: Chain, bookings: Sequence[Booking]) -> str:
        from .listing import explained  # start-up

        return explained(data, bookings)

    def draw(self, node: Place, wanted: Drawing) -> Hist:
        """Fills a histogram and prints it as text; a notebook draws what it gets."""
        from .._system.process import in_notebook  # start-up
        from ..pictures.text_histogram import show  # start-up
        from .draw import drawn  # start-up

        plot = drawn(_node(node), wanted)
        if not (plot.quiet or in_notebook()):
            show(plot.histogram, plot.title, wanted.log)
        return plot.histogram

    def scan(self, node: Place, columns: Sequence[str], where: str | None, count: int) -> None:
        from .listing import scanned  # start-up

        print(scanned(_node(node), columns, where, count))

    def head(
        self, node: Place, columns: str | Sequence[str] | Mapping[str, str], count: int
    ) -> ak.Array:
        """The first entries as an awkward array."""
        from .listing import first_entries  # start-up

        return first_entries(_node(node), named_columns(columns, _node(node)._names), count)

    def describe(self, node: Place, columns: Sequence[str]) -> Description:
        from .listing import described  # start-up

        return described(_node(node), columns)

    def html(self, title: str, value: object) -> str:
        from ..pictures.html import of_value  # start-up

        return of_value(title, value)


def _computed(
    bookings: Sequence[Booking], progress: bool | None = None, **options: Unpack[RunKeywords]
) -> object:
    from .options import RunOptions  # start-up
    from .session import default_session  # heavy: numpy

    return default_session().compute(bookings, RunOptions(**options), progress)


def _node(place: Place) -> Node:
    """The node: nodes give themselves as places. Raises QueryError for those of filesets."""
    assert isinstance(place, Node)
    if place.origin.chain.is_fileset:
        raise QueryError(
            "draw(), scan(), head() and describe() work on one sample: write fs[name].draw(…), or "
            "use treemill.dataset(…) with the same fileset"
        )
    return place


SERVICES = _Services()
