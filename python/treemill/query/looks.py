"""The methods of nodes and datasets that show something at once, as TTree::Draw and TTree::Scan do.
They only describe it: the services of the dataset (session/services.py) make it.

Pure: standard library and errors only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import QueryError
from ..faces import face
from .booking import Located, Place, steps_to
from .steps import Params, Vary

if TYPE_CHECKING:
    import awkward
    import hist

    from .description import Description

__all__ = ["Looks"]


def _nominal(place: Place) -> Place:
    """The place without variations: what is shown are the nominal values."""
    steps = [each.step for each in steps_to(place)]
    if not any(isinstance(step, Vary) for step in steps):
        return place
    node = type(place)
    made = node(place.origin)
    for step in steps:
        if not isinstance(step, Vary):
            made = node(place.origin, made, step)
    return made


@face()
class Looks(Located):
    """Methods of nodes and datasets. Below `vary` they show the nominal values."""

    __slots__ = ()

    def draw(
        self,
        expr: str | Sequence[str],
        where: str | None = None,
        option: str = "",
        *,
        bins: object = None,
        range: object = None,  # noqa: A002 - as numpy and matplotlib call it
        weight: str | None = None,
        profile: bool = False,
        log: bool = False,
        params: Params = None,
    ) -> hist.Hist:
        """Fill a histogram now, show it, and give it back, as TTree::Draw.

        Parameters
        ----------
        expr
            What to fill with; "y:x" or a list, `["x", "y"]`, for several dimensions. It may end in
            ">>h(100,0,1)", the histogram's name and bins.
        where
            The selection. It selects entries; if it has one value per item it selects items, as in
            `draw("Jet_pt", "Jet_pt > 30")`. A number, unlike a condition, is a weight.
        option
            An option of TTree::Draw's: "goff" shows nothing, "prof" is `profile`. Options of
            painting ("colz", "hist", "e" …) change nothing.
        bins, range
            As for `hist`. Without a range, far tails are not shown: the range holds at least 99.9 %
            of the values, and a message says how many are outside.
        weight
            An expression; a selection that is a number is a further weight.
        profile
            If true, "y:x" is the mean of y over x.
        log
            If true, the scale is logarithmic.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        hist.Hist
            The histogram.

        Raises
        ------
        QueryError
            For arguments that make no sense, with the place in the expression.

        Examples
        --------
        >>> pairs = events.draw("Jet_pt:Jet_eta", "Jet_pt > 30", "goff", bins=[(50, -5, 5), 40])
        >>> pairs.ndim
        2
        """
        from .draw_request import Drawing  # start-up

        # A drawing is made now and alone: other bookings stay booked.
        wanted = Drawing(expr, where, option, bins, range, weight, profile, log)
        node = _nominal(self._with(params))
        histogram: hist.Hist = node.origin.services.draw(node, wanted)
        return histogram

    def scan(
        self, *columns: str, where: str | None = None, n: int = 20, params: Params = None
    ) -> None:
        """Print the first entries, with a line for each item of lists, as TTree::Scan.

        Parameters
        ----------
        *columns
            Expressions or globs, also as "a:b"; without any, the first eight branches with numbers.
        where
            The selection of entries.
        n
            The number of entries to list. Reading stops when they are found.
        params
            Constants by name, as for `with_params`.

        Raises
        ------
        QueryError
            For arguments that make no sense, with the place in the expression.

        Examples
        --------
        >>> events.define("half", "0.5").scan("half", n=2)
        Row  half
        ───  ────
          0   0.5
          1   0.5
        """
        for each in columns:
            if not isinstance(each, str):
                raise QueryError(
                    f"scan takes expressions as texts, not {each!r:.60}: an expression gets a name "
                    'by define("name", "expression")'
                )
        node = _nominal(self._with(params))
        node.origin.services.scan(node, columns, where, n)

    def head(
        self,
        columns: str | Sequence[str] | Mapping[str, str] = "*",
        n: int = 5,
        params: Params = None,
    ) -> awkward.Array:
        """Compute the first entries that arrive here. Reading stops when they are found.

        Parameters
        ----------
        columns
            As for `arrays`.
        n
            The number of entries.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        awkward.Array
            Records.

        Raises
        ------
        QueryError
            For arguments that make no sense, with the place in the expression.

        Examples
        --------
        >>> len(events.filter("nMuon >= 2").head(["MET_pt", "Muon_pt"], n=3))
        3
        """
        if isinstance(columns, int):
            raise QueryError(f"head takes columns first: write head(n={columns})")
        node = _nominal(self._with(params))
        return node.origin.services.head(node, columns, n)

    def describe(self, *columns: str, params: Params = None) -> Description:
        """Compute statistics of columns, in one pass over the data.

        Parameters
        ----------
        *columns
            Expressions or globs; without any, all branches with numbers.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        Description
            A mapping of names to how many values there are, how many are missing or not finite,
            mean, standard deviation (of a sample, ddof=1), extremes, approximate quartiles, and
            sizes of branches. It prints as a table.

        Raises
        ------
        QueryError
            For arguments that make no sense, with the place in the expression.

        Examples
        --------
        >>> numbers = events.describe("MET_pt", "Jet_*")
        >>> numbers["MET_pt"].max == events.max("MET_pt").value
        True
        """
        node = _nominal(self._with(params))
        description: Description = node.origin.services.describe(node, columns)
        return description
