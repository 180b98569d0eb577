"""The methods of nodes and datasets that book numbers made from all values of an expression.
Computes nothing.

Pure: standard library, errors and the query only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from ..errors import QueryError
from ..faces import face
from ..language.expression import Weight, parse, weighted
from .booking import Booking, Located
from .quantities import MOST_SECTIONS, MOST_UNIQUE, Moments, Quantiles, Scalar, Sections, Unique
from .steps import Params

if TYPE_CHECKING:
    from ..data.sections import LumiSections
    from .booking import Array

__all__ = ["Statistics"]


@face()
class Statistics(Located):
    """Methods of nodes and datasets. Missing values and NaN are passed over unless a method says
    otherwise."""

    __slots__ = ()

    def count(self) -> Booking[int]:
        """Book the number of entries that arrive here.

        Returns
        -------
        Booking
            Its value is an int.

        Examples
        --------
        >>> events.filter("MET_pt < 0").count().value
        0
        """
        return Booking(self._with(None), Scalar("count"))

    def sum(self, expr: str, params: Params = None) -> Booking[float]:
        """Book the sum of all values.

        Parameters
        ----------
        expr
            An expression: one value per entry, or a list of values.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        Booking
            Its value is an int for integers, else a float.

        Raises
        ------
        QueryError
            For an expression that makes no sense.

        Examples
        --------
        >>> events.sum("nMuon").value == events.sum("len(Muon_pt)").value
        True
        """
        return Booking(self._with(params), Scalar("sum", parse(expr)))

    def mean(
        self, expr: str, weight: Weight = None, params: Params = None
    ) -> Booking[float | None]:
        """Book the mean of all values.

        Parameters
        ----------
        expr
            An expression: one value per entry, or a list of values.
        weight
            An expression, one value for each of `expr`, or a number.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        Booking
            Its value is a float; None without values.

        Raises
        ------
        QueryError
            For an expression that makes no sense.

        Examples
        --------
        >>> events.mean("Jet_pt", weight="2.0").value > 0
        True
        """
        if weight is not None:
            return Booking(self._with(params), Moments("mean", parse(expr), weighted(weight)))
        return Booking(self._with(params), Scalar("mean", parse(expr)))

    def std(
        self,
        expr: str,
        weight: Weight = None,
        ddof: int = 0,
        params: Params = None,
    ) -> Booking[float | None]:
        """Book the standard deviation of all values.

        Parameters
        ----------
        expr
            An expression: one value per entry, or a list of values.
        weight
            An expression, one value for each of `expr`, or a number.
        ddof
            The divisor is the number of values minus `ddof`, as numpy's (RDataFrame's StdDev has
            1); with weights it is their sum.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        Booking
            Its value is a float; None without values.

        Raises
        ------
        QueryError
            For an expression that makes no sense.

        Examples
        --------
        >>> abs(events.std("MET_pt").value ** 2 / events.var("MET_pt").value - 1) < 1e-12
        True
        """
        return Booking(self._with(params), _moments("std", expr, weight, ddof))

    def var(
        self,
        expr: str,
        weight: Weight = None,
        ddof: int = 0,
        params: Params = None,
    ) -> Booking[float | None]:
        """Book the variance of all values, the square of `std`.

        Parameters
        ----------
        expr, weight, ddof, params
            As for `std`.

        Returns
        -------
        Booking
            Its value is a float; None without values.

        Raises
        ------
        QueryError
            For an expression that makes no sense.

        Examples
        --------
        >>> events.var("1.0").value
        0.0
        """
        return Booking(self._with(params), _moments("var", expr, weight, ddof))

    def min(self, expr: str, params: Params = None) -> Booking[float | None]:
        """Book the smallest value.

        Parameters
        ----------
        expr
            An expression: one value per entry, or a list of values.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        Booking
            Its value is an int for integers, else a float; None without values.

        Raises
        ------
        QueryError
            For an expression that makes no sense.

        Examples
        --------
        >>> events.min("nMuon").value
        0
        """
        return Booking(self._with(params), Scalar("min", parse(expr)))

    def max(self, expr: str, params: Params = None) -> Booking[float | None]:
        """Book the largest value.

        Parameters
        ----------
        expr
            An expression: one value per entry, or a list of values.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        Booking
            Its value is an int for integers, else a float; None without values.

        Raises
        ------
        QueryError
            For an expression that makes no sense.

        Examples
        --------
        >>> events.max("MET_pt").value > events.min("MET_pt").value
        True
        """
        return Booking(self._with(params), Scalar("max", parse(expr)))

    def unique(self, expr: str, limit: int = MOST_UNIQUE, params: Params = None) -> Booking[Array]:
        """Book the different values.

        Parameters
        ----------
        expr
            An expression: one value per entry, or a list of values.
        limit
            The largest number of different values.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        Booking
            Its value is a numpy array, ascending; NaN, if any, comes once and last.

        Raises
        ------
        QueryError
            If there are more than `limit` values, when the query is run.

        Examples
        --------
        >>> events.unique("nMuon >= 2").value.tolist()
        [False, True]
        """
        return Booking(self._with(params), Unique(parse(expr), limit))

    def lumi_sections(
        self,
        *,
        run: str = "run",
        luminosity_block: str = "luminosityBlock",
        limit: int = MOST_SECTIONS,
    ) -> Booking[LumiSections]:
        """Book the set of luminosity sections of the entries here, for the luminosity.

        Sections without any entry are not seen: for NanoAOD, book it on the tree LuminosityBlocks.

        Parameters
        ----------
        run, luminosity_block
            The columns' names.
        limit
            The largest number of sections.

        Returns
        -------
        Booking
            Its value is a `LumiSections`, which saves itself as a JSON file of the form that
            `treemill.lumi_mask` reads.

        Raises
        ------
        QueryError
            For other columns than integers, when the query is run.

        Examples
        --------
        >>> done = events.lumi_sections(luminosity_block="nMuon").value
        >>> done.save("processed.json")
        >>> tm.lumi_mask("processed.json").sections == done
        True
        """
        from ..data.mask import number_of  # start-up

        number = parse(number_of(run, luminosity_block))
        return Booking(self._with(None), Sections(number, limit))

    @overload
    def approx_quantiles(
        self, expr: str, probabilities: float, params: Params = None
    ) -> Booking[float | None]: ...

    @overload
    def approx_quantiles(
        self, expr: str, probabilities: Sequence[float], params: Params = None
    ) -> Booking[Array | None]: ...

    def approx_quantiles(
        self, expr: str, probabilities: float | Sequence[float], params: Params = None
    ) -> Booking[float | Array | None]:
        """Book quantiles of all values, linear between ranks as numpy's.

        The value at each rank is off by less than 0.05 % of itself, whatever the distribution and
        the packets; small integers are exact.

        Parameters
        ----------
        expr
            An expression: one value per entry, or a list of values.
        probabilities
            One, or a list of them, from 0 to 1.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        Booking
            Its value is a numpy array, for one probability a float; None without values.

        Raises
        ------
        QueryError
            For a number that is not a probability, and for an expression that makes no sense.

        Examples
        --------
        >>> low, median, high = events.approx_quantiles("MET_pt", [0.1, 0.5, 0.9]).value
        >>> bool(low < median < high)
        True
        """
        single = isinstance(probabilities, (int, float))
        asked = [probabilities] if isinstance(probabilities, (int, float)) else probabilities
        numbers = tuple(float(q) for q in asked)
        if wrong := [q for q in numbers if not 0 <= q <= 1]:
            raise QueryError(f"probabilities are from 0 to 1, not {wrong[0]:g}")
        return Booking(self._with(params), Quantiles(parse(expr), numbers, single))


def _moments(kind: str, expr: str, weight: Weight, ddof: int) -> Moments:
    if isinstance(ddof, bool) or not isinstance(ddof, int) or ddof < 0:
        raise QueryError(f"ddof is a number of degrees of freedom, not {ddof!r}")
    if weight is not None and ddof:
        raise QueryError("with weights the divisor is their sum: ddof is for counts")
    return Moments(kind, parse(expr), weighted(weight), ddof)
