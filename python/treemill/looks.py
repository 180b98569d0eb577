"""What is looked at at once, as TTree::Draw and TTree::Scan have it, for nodes and datasets:
described here, made by those whom the dataset asks (drawing.py).

Pure: standard library only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import hist

    from .booking import Origin

__all__ = ["Drawing", "Looks"]


@dataclass(frozen=True)
class Drawing:
    """What `draw` was given."""

    expr: str | Sequence[str]
    where: str | None = None
    option: str = ""
    bins: Any = None
    range: Any = None
    weight: str | None = None
    profile: bool = False
    log: bool = False


class Looks:
    """The methods of nodes, and so of datasets."""

    __slots__ = ()

    origin: Origin

    def with_params(self, params: Any) -> Any:
        """A node with these constants."""
        raise NotImplementedError

    def draw(
        self,
        expr: str | Sequence[str],
        where: str | None = None,
        option: str = "",
        *,
        bins: Any = None,
        range: Any = None,  # noqa: A002 - as numpy and matplotlib call it
        weight: str | None = None,
        profile: bool = False,
        log: bool = False,
        params: Any = None,
    ) -> hist.Hist[Any]:
        """As TTree::Draw: fills a histogram now, shows it, and gives it back.

        Parameters:
            expr: what to fill with; "y:x" or a list, `["x", "y"]`, for several dimensions; it may
                end in ">>h(100,0,1)", the histogram's name and bins.
            where: the selection. It selects entries, or where it has one value per item, items, as
                in `draw("Jet_pt", "Jet_pt > 30")`; a number, unlike a condition, is a weight.
            option: TTree::Draw's: "goff" shows nothing, "prof" is `profile`; how ROOT paints
                ("colz", "hist", "e" …) changes nothing.
            bins, range: as for `hist`; but without a range far tails are not shown: the range
                holds at least 99.9 % of the values, and what is outside is said.
            weight: an expression, besides a selection that is a number.
            profile: of "y:x" the mean of y over x.
            log: with a logarithmic scale.
            params: constants by name, as for `with_params`.

        Returns: a hist.Hist.

        Raises: QueryError, about the expression that is wrong.

            events.draw("Jet_pt:Jet_eta", "Jet_pt > 30", bins=[(50, -5, 5), (50, 0, 200)])
        """
        # A drawing is wanted now and alone, so what else is booked stays booked.
        wanted = Drawing(expr, where, option, bins, range, weight, profile, log)
        drawn: hist.Hist[Any] = self.origin.dataset.show_drawing(
            self.with_params(params or {}), wanted
        )
        return drawn
