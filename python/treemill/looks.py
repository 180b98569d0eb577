"""What is looked at at once, as TTree::Draw and TTree::Scan have it, for nodes and datasets:
described here, and made by the services of the dataset (services.py).

Pure: standard library and errors only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .booking import Place
from .draw_request import Drawing
from .faces import face

if TYPE_CHECKING:
    import hist

    from .description import Description

__all__ = ["Looks"]


@face()
class Looks:
    """The methods of nodes, and so of datasets."""

    __slots__ = ()

    def _with(self, params: Any) -> Place:
        """The node with these constants."""
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
        node = self._with(params)
        made: hist.Hist[Any] = node.origin.services.draw(node, wanted)
        return made

    def scan(
        self, *columns: str, where: str | None = None, n: int = 20, params: Any = None
    ) -> None:
        """As TTree::Scan: prints the first entries, with a line for each item of lists.

        Parameters:
            columns: expressions or globs, also as "a:b"; without them the first eight branches with
                numbers.
            where: the selection of entries.
            n: how many entries are listed. No more is read than it takes to find them.
            params: constants by name, as for `with_params`.

        Raises: QueryError for what makes no sense.

            events.scan("MET_pt", "Muon.pt", where="nMuon >= 2", n=5)
        """
        node = self._with(params)
        node.origin.services.scan(node, columns, where, n)

    def head(
        self, columns: str | Sequence[str] | Mapping[str, str] = "*", n: int = 5, params: Any = None
    ) -> Any:
        """The first `n` entries that arrive here, as an awkward array of records; no more is read
        than it takes to find them. `columns` as for `arrays`. Raises QueryError for what makes no
        sense.

            events.filter("nMuon >= 2").head(["MET_pt", "Muon_pt"])
        """
        node = self._with(params)
        return node.origin.services.head(node, columns, n)

    def describe(self, *columns: str, params: Any = None) -> Description:
        """Columns in numbers, by one pass over the data: how many values, missing ones and ones
        that are not finite, mean, standard deviation (of a sample, ddof=1), extremes, approximate
        quartiles, and the sizes of branches. `columns` are expressions or globs; without them all
        branches with numbers. Gives a mapping of names to `treemill.listing.Column`, which prints
        as a table. Raises QueryError for what makes no sense.

            print(events.describe("MET_pt", "Jet_*"))
            events.describe("MET_pt")["MET_pt"].max
        """
        node = self._with(params)
        found: Description = node.origin.services.describe(node, columns)
        return found
