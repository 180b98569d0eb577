"""The methods of nodes and datasets that book a summary of all values of an expression: histograms,
profiles and numbers. Computes nothing.

Pure: standard library, errors and the query only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from ..errors import QueryError, check_whole
from ..language.expression import Weight, parse, weighted
from ..public_api import public_class
from .axes import axes_from_bins, names_of
from .axis_specification import storage_like, storage_of
from .booking import Booking, Located, steps_to
from .quantities import (
    MOST_SECTIONS,
    MOST_UNIQUE,
    Hist,
    Moments,
    Quantiles,
    Scalar,
    Sections,
    Unique,
)
from .steps import Params, Vary

if TYPE_CHECKING:
    from hist import Hist as Filled

    from ..data.luminosity import LumiSections
    from .axes import Bins, Range
    from .axis_specification import Storage
    from .booking import Array

__all__ = ["StatisticsMethods"]

VARIATION = "variation"
"""What stands for variations among items of the metadata."""

Labels = str | Sequence[str | None] | None


@public_class()
class StatisticsMethods(Located):
    """The methods of nodes and datasets that book a summary of all values: histograms, profiles,
    counts and statistics. Missing values and NaN are passed over unless a method says otherwise."""

    __slots__ = ()

    def hist(
        self,
        *exprs: str,
        bins: Bins = None,
        weight: Weight = None,
        range: Range = None,  # noqa: A002 - as numpy and matplotlib call it
        name: str | None = None,
        label: Labels = None,
        storage: Storage = None,
        params: Params = None,
        stack: str | Sequence[str] | None = None,
    ) -> Booking[Filled]:
        """Book a histogram.

        Parameters
        ----------
        *exprs
            One expression per dimension. Each value fills; each item of a list does.
        bins
            For each dimension the number of bins, `(number, low, high)`, a list of edges, or an
            axis of hist or boost-histogram. For several dimensions, give a list of these.
        weight
            An expression or a number. With a weight, bins hold sums of weights and of their squares
            (storage Weight); without a weight, they hold counts (storage Double).
        range
            `(low, high)`, or a list of these for several dimensions. If you give no range and an
            axis needs one, a first pass over the same columns finds it.
        name
            The histogram's name.
        label
            The axis's label, or a list of one for each axis.
        storage
            One of hist's storages or its name, such as "Weight" for a histogram without weights
            that will be added to others with weights. None: the storage of `bins` if this is a
            histogram with a storage other than Double, and otherwise as for `weight`.
        params
            Constants by name, as for `with_params`.
        stack
            On a fileset: "dataset", or an item of the metadata such as "process". The value is then
            one histogram with a category axis of this name before the others. After `vary`:
            "variation", for one histogram with an axis of "nominal" and all variations. For both,
            give a list. None: one histogram for each sample and each variation that changes it.

        Returns
        -------
        Booking
            Its value is a `hist.Hist`. After `vary`, it is a `Variations` of these, and on a
            fileset a `ByDataset` of either.

        Raises
        ------
        QueryError
            If an argument makes no sense; the error names the place in the expression. When the
            query runs: if a column does not exist.

        Examples
        --------
        >>> pt = events.hist("Muon_pt", bins=(50, 0, 100), weight="1.5")
        >>> muons = events.filter("nMuon >= 1")
        >>> both = muons.hist("Muon_eta[0]", "MET_pt", bins=[20, (10, 0, 200)])
        >>> pt.value.axes[0].size, both.value.ndim
        (50, 2)
        """
        more = (name, label, storage, params)
        return self._binned("hist", exprs, bins, range, weight, *more, stack=stack)

    def profile(
        self,
        *exprs: str,
        sample: str,
        bins: Bins = None,
        weight: Weight = None,
        range: Range = None,  # noqa: A002 - as for hist
        name: str | None = None,
        label: Labels = None,
        storage: Storage = None,
        params: Params = None,
    ) -> Booking[Filled]:
        """Book the mean of `sample` in each bin, as ROOT's TProfile does.

        Parameters
        ----------
        sample
            The expression whose mean is taken.
        *exprs, bins, weight, range, name, label, storage, params
            As for `hist`.

        Returns
        -------
        Booking
            Its value is a `hist.Hist` with storage Mean, or WeightedMean with a weight.

        Raises
        ------
        QueryError
            For arguments that make no sense.

        Examples
        --------
        >>> response = events.profile("MET_pt", sample="sum(Jet_pt)", bins=(10, 0, 100))
        >>> response.value.kind.name
        'MEAN'
        """
        more = (name, label, storage, params, sample)
        return self._binned("profile", exprs, bins, range, weight, *more)

    def _binned(
        self,
        method: str,
        exprs: Sequence[str],
        bins: Bins,
        limits: Range,
        weight: Weight,
        name: str | None,
        label: Labels,
        storage: Storage,
        params: Params,
        sample: str | None = None,
        stack: str | Sequence[str] | None = None,
    ) -> Booking:
        stacked = _stacked(stack)
        if not exprs:
            raise QueryError(f"{method}() needs an expression to fill with")
        parsed = tuple([parse(expr) for expr in exprs])
        axes = tuple(axes_from_bins(bins, len(parsed), limits))
        names_of(axes)
        labels = tuple(label) if isinstance(label, list | tuple) else (label,)
        if not all(word is None or isinstance(word, str) for word in (name, *labels)):
            raise QueryError(f"names and labels are strings; got {name!r}, {label!r}")
        if len(labels) > len(parsed):
            raise QueryError(f"{len(labels)} labels for {len(parsed)} axes")
        labels += (None,) * (len(parsed) - len(labels))
        sampled = None if sample is None else parse(sample)
        kind = sample is not None, weight is not None
        kept = storage_of(storage_like(bins, *kind) if storage is None else storage, *kind)
        wanted = Hist(parsed, axes, weighted(weight), name, labels, sampled, kept, *stacked)
        node = self._with(params)
        if stacked[1] and not any(isinstance(each.step, Vary) for each in steps_to(node)):
            raise QueryError(f'stack="{VARIATION}" is for histograms below vary()')
        if stacked[0] is not None and not node.origin.chain.is_fileset:
            raise QueryError(
                "stack= is for the samples of a fileset: treemill.fileset({name: files, …})"
            )
        return Booking(node, wanted)

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
            If the expression is not valid. When the query runs: if a column does not exist, or if
            a type does not fit.

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
            If the expression is not valid. When the query runs: if a column does not exist, or if
            a type does not fit.

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
            The divisor is the number of values minus `ddof`, as in NumPy (RDataFrame's StdDev has
            1). With weights, the divisor is their sum.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        Booking
            Its value is a float; None without values.

        Raises
        ------
        QueryError
            If the expression is not valid. When the query runs: if a column does not exist, or if
            a type does not fit.

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
            If the expression is not valid. When the query runs: if a column does not exist, or if
            a type does not fit.

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
            If the expression is not valid. When the query runs: if a column does not exist, or if
            a type does not fit.

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
            If the expression is not valid. When the query runs: if a column does not exist, or if
            a type does not fit.

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
            Its value is a NumPy array in ascending order. NaN comes once and last if the values
            have any.

        Raises
        ------
        QueryError
            When the query runs: if the expression has more than `limit` different values.

        Examples
        --------
        >>> events.unique("nMuon >= 2").value.tolist()
        [False, True]
        """
        check_whole("limit", limit)
        return Booking(self._with(params), Unique(parse(expr), limit))

    def lumi_sections(
        self,
        *,
        run: str = "run",
        luminosity_block: str = "luminosityBlock",
        limit: int = MOST_SECTIONS,
    ) -> Booking[LumiSections]:
        """Book the set of luminosity sections of the entries here, from which the luminosity
        follows.

        The set lacks sections without any entry: for NanoAOD, book it on the tree LuminosityBlocks.

        Parameters
        ----------
        run, luminosity_block
            The columns' names.
        limit
            The largest number of sections.

        Returns
        -------
        Booking
            Its value is a `LumiSections`, whose `save` writes a JSON file that `treemill.lumi_mask`
            reads.

        Raises
        ------
        QueryError
            When the query runs: if the columns are not integers.

        Examples
        --------
        >>> done = events.lumi_sections(luminosity_block="nMuon").value
        >>> done.save("processed.json")
        >>> tm.lumi_mask("processed.json").sections == done
        True
        """
        check_whole("limit", limit)
        from ..data.luminosity import number_of  # start-up

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
        """Book quantiles of all values, linear between ranks as in NumPy.

        The value at each rank is off by less than 0.05 % of itself, for every distribution and any
        packets; small integers are exact.

        Parameters
        ----------
        expr
            An expression: one value per entry, or a list of values.
        probabilities
            A probability from 0 to 1, or a list of them.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        Booking
            Its value is a NumPy array, or a float for one probability; it is None without values.

        Raises
        ------
        QueryError
            If a number is not a probability, or if the expression is not valid. When the query
            runs: if a column does not exist, or if a type does not fit.

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


def _stacked(stack: str | Sequence[str] | None) -> tuple[str | None, bool]:
    """The item of the metadata by which samples are stacked, and whether variations are."""
    if stack is None:
        return None, False
    named = [stack] if isinstance(stack, str) else stack
    several = list(named) if isinstance(named, Sequence) else []
    items = [each for each in several if each != VARIATION]
    if not several or len(items) > 1 or not all(isinstance(each, str) for each in several):
        raise QueryError(
            f'stack= is an item of the metadata, "{VARIATION}", or a list of both; got {stack!r}'
        )
    return (items[0] if items else None), VARIATION in several
