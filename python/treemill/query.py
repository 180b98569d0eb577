"""A query's description: filters and defined columns as a graph of immutable nodes, and bookings
(histograms, counts, sums …) at them. Nothing here reads, computes or draws.

A description can be made and sent anywhere.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from .axes import axes_from_bins, names_of
from .booking import Booking, Origin, Place, steps_to
from .errors import QueryError
from .expression import Constant, Weight, constant, parse, weighted
from .faces import face
from .looks import Looks
from .quoting import unquoted
from .saving import Saves
from .steps import Define, Filter, Step, Vary, vary_step
from .storages import storage_like, storage_of
from .wanted import (
    MOST_BYTES,
    MOST_UNIQUE,
    Flow,
    Hist,
    Moments,
    Quantiles,
    Rows,
    Scalar,
    Unique,
    Wanted,
    named_columns,
)

if TYPE_CHECKING:
    import awkward
    import numpy.typing as npt
    from hist import Hist as Filled

    from .cutflow import CutFlow

    Array = npt.NDArray[Any]

__all__ = ["Bookable", "Booking", "Node", "Origin", "steps_to"]

Params = Mapping[str, Constant | Sequence[Constant]] | None
"""Constants, or lists of them, by name, for the expressions of one call: see `Node.with_params`."""


def _column_name(name: object) -> str:
    """What a column is called that a user calls so."""
    found = unquoted(name) if isinstance(name, str) else None
    if found is None:
        raise QueryError(
            "a column's name is an identifier as Python's, with or without dots, or in backticks: "
            f"`x-y`; not {name!r}"
        )
    return found


def _check_no_array(expr: object) -> None:
    if not isinstance(expr, str) and hasattr(expr, "__len__"):
        raise QueryError(
            "an array goes with all entries of the dataset: define it there, before filters and "
            "other definitions"
        )


@face("node")
class Bookable(Looks, Saves):
    """What is filtered, gets columns and has things booked: a node, and a dataset, which does it at
    its root."""

    __slots__ = ()

    @property
    def node(self) -> Node:
        """The place of the query that all methods mean."""
        raise NotImplementedError

    def _with(self, params: Params) -> Node:
        return self.with_params(params) if params else self.node

    def filter(
        self,
        expr: str,
        name: str | None = None,
        params: Params = None,
    ) -> Node:
        """Only the entries for which `expr`, one bool per entry, is true. `name` is for reports;
        `params`: see `with_params`."""
        return self._with(params).below(Filter(parse(expr), name))

    def define(self, name: str, expr: str, params: Params = None) -> Node:
        """A new column `name`, one value or one list per entry; `params`: see `with_params`. An
        array is a column of the dataset itself: see `Dataset.define`."""
        _check_no_array(expr)
        return self._with(params).below(Define(_column_name(name), parse(expr)))

    def with_params(self, params: Mapping[str, Constant | Sequence[Constant]]) -> Node:
        """Constants, or lists of them, by name, for all expressions below: `with_params({"cut":
        30})` and then `filter("MET_pt > cut")`. No branch may be called so: `define` gives columns
        anew."""
        node = self.node
        for name, value in params.items():
            node = node.below(Define(_column_name(name), constant(value), is_param=True))
        return node

    def vary(
        self,
        columns: str | Sequence[str],
        variations: Mapping[str, Any],
        name: str | None = None,
        params: Params = None,
    ) -> Node:
        """Books what is below in variations, too, in the same pass: `vary("Jet_pt", {"up":
        "Jet_pt*1.02", "down": "Jet_pt*0.98"})`. The value of a booking is then a mapping of
        "nominal", "Jet_pt:up" and "Jet_pt:down" to what it would be alone; only of those that can
        change it. For several columns that vary together give a list, and for each tag a mapping
        of columns to expressions, or a list. `name` stands before the colon. Of several `vary`,
        one is applied at a time, as in RDataFrame; equal names and tags go together."""
        return self._with(params).below(vary_step(columns, variations, name))

    def hist(
        self,
        *exprs: str,
        bins: Any = None,
        weight: Weight = None,
        range: Any = None,  # noqa: A002 - as numpy and matplotlib call it
        name: str | None = None,
        label: str | Sequence[str | None] | None = None,
        storage: Any = None,
        params: Params = None,
    ) -> Booking[Filled[Any]]:
        """Books a histogram of one expression per dimension.

        `bins`, `range`: see `treemill.axes.axes_from_bins`; without them the range is found by a
        first pass over the same columns. `weight`: an expression, or a number; bins then hold the
        sums of weights and of their squares (storage Weight), else counts (storage Double).
        `storage`: one of hist's or its name, "Weight" without weights too, so that both can be
        added; else that of a histogram which `bins` is, if it is not Double. `name` names the
        histogram, `label` the axis, or each of the axes.
        """
        return self._with(params)._binned("hist", exprs, bins, range, weight, name, label, storage)

    def profile(
        self,
        *exprs: str,
        sample: str,
        bins: Any = None,
        weight: Weight = None,
        range: Any = None,  # noqa: A002 - as for hist
        name: str | None = None,
        label: str | Sequence[str | None] | None = None,
        storage: Any = None,
        params: Params = None,
    ) -> Booking[Filled[Any]]:
        """Books the mean of `sample` in each bin, as ROOT's TProfile: a hist.Hist with storage
        Mean, with `weight` (or that `storage`) WeightedMean. Else as `hist`."""
        return self._with(params)._binned(
            "profile", exprs, bins, range, weight, name, label, storage, sample
        )

    def _binned(
        self,
        method: str,
        exprs: Sequence[str],
        bins: Any,
        limits: Any,
        weight: Weight,
        name: str | None,
        label: str | Sequence[str | None] | None,
        storage: Any,
        sample: str | None = None,
    ) -> Booking:
        if not exprs:
            raise QueryError(f"{method}() needs an expression to fill with")
        parsed = tuple(parse(expr) for expr in exprs)
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
        by = weighted(weight)
        return Booking(self.node, Hist(parsed, axes, by, name, labels, sampled, kept))

    def count(self) -> Booking[int]:
        """Books the number of entries that arrive here, an int."""
        return Booking(self.node, Scalar("count"))

    def sum(self, expr: str, params: Params = None) -> Booking[float]:
        """Books the sum of all values: int for integers, else float."""
        return self._booked(Scalar("sum", parse(expr)), params)

    def mean(
        self, expr: str, weight: Weight = None, params: Params = None
    ) -> Booking[float | None]:
        """Books the mean of all values, a float; None without values."""
        if weight is not None:
            return self._booked(Moments("mean", parse(expr), weighted(weight)), params)
        return self._booked(Scalar("mean", parse(expr)), params)

    def std(
        self,
        expr: str,
        weight: Weight = None,
        ddof: int = 0,
        params: Params = None,
    ) -> Booking[float | None]:
        """Books the standard deviation of all values, a float; None without values. The divisor is
        N - `ddof`, as numpy's (RDataFrame's StdDev has ddof=1); with weights it is their sum."""
        return self._booked(_moments("std", expr, weight, ddof), params)

    def var(
        self,
        expr: str,
        weight: Weight = None,
        ddof: int = 0,
        params: Params = None,
    ) -> Booking[float | None]:
        """Books the variance: the square of `std`."""
        return self._booked(_moments("var", expr, weight, ddof), params)

    def min(self, expr: str, params: Params = None) -> Booking[float | None]:
        """Books the smallest value; NaN and missing ones are passed over; None without values."""
        return self._booked(Scalar("min", parse(expr)), params)

    def max(self, expr: str, params: Params = None) -> Booking[float | None]:
        """Books the largest value; NaN and missing ones are passed over; None without values."""
        return self._booked(Scalar("max", parse(expr)), params)

    def unique(self, expr: str, limit: int = MOST_UNIQUE, params: Params = None) -> Booking[Array]:
        """Books the different values, a numpy array, ascending; NaN, if any, once and last. Raises
        QueryError where there are more than `limit`."""
        return self._booked(Unique(parse(expr), limit), params)

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
    ) -> Booking[Any]:
        """Books quantiles of all values, a numpy array (for one probability a float); None without
        values; NaN is passed over. Between ranks they are linear, as numpy's. The value at each
        rank is off by less than 0.05 % of itself, whatever the distribution, and does not depend
        on the packets; small integers are exact."""
        single = isinstance(probabilities, (int, float))
        asked = [probabilities] if isinstance(probabilities, (int, float)) else probabilities
        numbers = tuple(float(q) for q in asked)
        if wrong := [q for q in numbers if not 0 <= q <= 1]:
            raise QueryError(f"probabilities are from 0 to 1, not {wrong[0]:g}")
        return self._booked(Quantiles(parse(expr), numbers, single), params)

    @overload
    def take(
        self, columns: str, limit: int = MOST_BYTES, params: Params = None
    ) -> Booking[Array | awkward.Array]: ...

    @overload
    def take(
        self,
        columns: Sequence[str] | Mapping[str, str],
        limit: int = MOST_BYTES,
        params: Params = None,
    ) -> Booking[awkward.Array]: ...

    def take(
        self,
        columns: str | Sequence[str] | Mapping[str, str],
        limit: int = MOST_BYTES,
        params: Params = None,
    ) -> Booking[Any]:
        """Books values of the entries that arrive here, in the order of entries.

        Parameters:
            columns: one expression; or a list of expressions, where `"Jet_*"` stands for all
                columns of such names, defined ones included; or a mapping of names to expressions.
            limit: in bytes. All of it is in memory: QueryError if it is more.
            params: constants by name, as for `with_params`.

        Returns: of one expression its values, a numpy array if there is one per entry, else an
        awkward array; of a list or a mapping an awkward array of records. `arrays` gives the
        latter now.

            met = events.take("MET_pt")
            muons = events.filter("nMuon >= 2").take(["Muon_*", "MET_pt"])
        """
        if isinstance(columns, str):
            return self._booked(Rows("take", ((columns, parse(columns)),), limit), params)
        return self._booked(Rows("arrays", named_columns(columns, self._names), limit), params)

    def arrays(
        self,
        names: str | Sequence[str] | Mapping[str, str] | None = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> awkward.Array:
        """Columns of the entries that arrive here, computed now.

        Parameters:
            names: expressions or globs, or a mapping of names to expressions; None: all columns.
            start, stop: only of these entries of the dataset, counted before any filter; negative
                ones from its end.

        Returns: an awkward array of records, in the order of entries. `take` books the same.

        Raises: QueryError for a name that there is not, UnsupportedError for a branch that cannot
        be read.

            events.filter("nMuon >= 2").arrays(["MET_pt", "Muon_*"])
        """
        node = self.node
        columns = "*" if names is None else names
        booking = node._booked(
            Rows("arrays", named_columns(columns, node._names), sys.maxsize), None
        )
        return node.origin.services.arrays(booking, start, stop)

    def report(self, weight: Weight = None) -> Booking[CutFlow]:
        """Books how many entries each named filter down to here lets through: a `CutFlow`.
        `weight`, one number per event that is known at the first of these filters, counts them by
        it."""
        names = [n.step.name for n in steps_to(self.node) if isinstance(n.step, Filter)]
        if not any(names):
            raise QueryError('no filter down to here has a name: filter(expr, name="two muons")')
        return Booking(self.node, Flow(weighted(weight)))

    def _booked(self, wanted: Wanted, params: Params) -> Booking:
        return Booking(self._with(params), wanted)

    def _names(self) -> Iterable[str]:
        """Names of all columns here that have values which expressions can use; the dataset's come
        from its first file."""
        branches = self.node.origin.chain.branches.values()
        # The numbers of items of a collection whose members are columns themselves.
        counts = {b.counter for b in branches if b.counter and b.name.startswith(f"{b.counter}.")}
        names = [b.name for b in branches if b.name not in counts and b.has_values]
        steps = [place.step for place in steps_to(self.node)]
        names += [step.name for step in steps if isinstance(step, Define) and not step.is_param]
        return dict.fromkeys(names)

    def explain(self) -> str:
        """The plan of the pass over what is booked and that no query has begun, as
        `Booking.explain`."""
        origin = self.node.origin
        return origin.explain(None if origin.companions() else self.count())


@face("below", "node", "origin", "parent", "step")
class Node(Place, Bookable):
    """The entries of a dataset that passed the filters above, with the columns defined above.
    Immutable: every method gives a new node or a booking."""

    __slots__ = ()

    @property
    def node(self) -> Node:
        """Itself."""
        return self

    def below(self, step: Step) -> Node:
        """The node after one more step."""
        return Node(self.origin, self, step)

    def __repr__(self) -> str:
        steps = [repr(self.origin.chain)]
        for node in steps_to(self):
            step = node.step
            if isinstance(step, Filter):
                steps.append(f".filter({step.expr.text!r})")
            elif isinstance(step, Define):
                steps.append(f".define({step.name!r}, {step.expr.text!r})")
            elif isinstance(step, Vary):
                steps.append(f".vary({', '.join(step.variation_names())})")
        return "".join(steps)


def _moments(kind: str, expr: str, weight: Weight, ddof: int) -> Moments:
    if isinstance(ddof, bool) or not isinstance(ddof, int) or ddof < 0:
        raise QueryError(f"ddof is a number of degrees of freedom, not {ddof!r}")
    if weight is not None and ddof:
        raise QueryError("with weights the divisor is their sum: ddof is for counts")
    return Moments(kind, parse(expr), weighted(weight), ddof)
