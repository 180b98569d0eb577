"""A query's description: filters and defined columns as a graph of immutable nodes, and bookings
(histograms, counts, sums …) at them. Nothing here reads, computes or draws.

Standard library, errors, expression and axes only: a description can be made and sent anywhere.
How bookings are run is given to `Origin` from outside.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .axes import axes_from_bins
from .errors import QueryError, TreemillError
from .expression import Constant, constant, parse
from .snapshot_format import snapshot_format
from .steps import Define, Filter, Step, Vary, vary_step
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

__all__ = ["Booking", "Node", "Origin", "steps_to"]


class Origin:
    """What all nodes over one dataset share: the dataset itself, how to run bookings on it, and
    which of them were not evaluated yet (held weakly: a booking that nobody keeps is not run)."""

    def __init__(self, dataset: Any, run: Callable[[Sequence[Booking]], None]) -> None:
        self.dataset = dataset
        self._run = run
        self._open: dict[int, weakref.ref[Booking]] = {}
        self._lock = threading.Lock()

    def add(self, booking: Booking) -> None:
        """Notes a booking as not evaluated."""
        with self._lock:
            self._open[booking.number] = weakref.ref(booking)

    def discard(self, booking: Booking) -> None:
        """The booking has its value, or its owner has gone."""
        with self._lock:
            self._open.pop(booking.number, None)

    def unevaluated(self) -> list[Booking]:
        """In the order in which they were booked."""
        with self._lock:
            found = [reference() for _, reference in sorted(self._open.items())]
            self._open = {b.number: weakref.ref(b) for b in found if b is not None}
        return [booking for booking in found if booking is not None]

    def together_with(self, wanted: Booking) -> list[Booking]:
        """`wanted` and all others that are booked, but for those that do not compile: they raise
        when they are asked for themselves, and are not the affair of `wanted`."""
        others = [booking for booking in self.unevaluated() if booking is not wanted]
        return sorted([wanted, *filter(self._compiles, others)], key=lambda b: b.number)

    def _compiles(self, booking: Booking) -> bool:
        try:
            self.dataset.explained([booking])
        except QueryError:
            return False
        return True

    def evaluate(self, wanted: Booking) -> None:
        """Runs `wanted` and all others that are booked, in one pass over the data."""
        together = self.unevaluated()
        try:
            self._run(together)
        except QueryError:
            sound = self.together_with(wanted)
            if len(sound) == len(together):
                raise
            self._run(sound)
        if not wanted.done:
            raise TreemillError("the query was stopped before all entries were processed")


_numbers = itertools.count()
_NOTHING = object()


class Booking:
    """Something to compute at a node. `value` computes it, and whatever else is booked on the
    dataset and not computed yet, in one pass."""

    def __init__(self, node: Node, wanted: Wanted) -> None:
        self.node = node
        self.wanted = wanted
        self.number = next(_numbers)
        self._value: Any = _NOTHING
        node.origin.add(self)

    @property
    def done(self) -> bool:
        """Whether the value is there already."""
        return self._value is not _NOTHING

    @property
    def value(self) -> Any:
        """What the method that booked it says; below `vary` a `Variations`, a mapping of
        "nominal" and the names of variations to it."""
        if not self.done:
            self.node.origin.evaluate(self)
        return self._value

    def set_value(self, value: Any) -> None:
        """For whoever ran it."""
        self._value = value
        self.node.origin.discard(self)

    def explain(self) -> str:
        """The plan of the pass that `value` would make, in words: columns read, filters, lists,
        what is shared. Opens the first file; reads no entry."""
        origin = self.node.origin
        together = origin.unevaluated()
        together = together if self in together else [self, *together]
        try:
            return str(origin.dataset.explained(together))
        except QueryError:
            sound = origin.together_with(self)
            if len(sound) == len(together):
                raise
            return str(origin.dataset.explained(sound))

    @property
    def title(self) -> str:
        """What it is, in a few words, for displays."""
        return self.wanted.title

    def __repr__(self) -> str:
        state = repr(self._value) if self.done else "not run yet"
        return f"<{type(self.wanted).__name__.lower()} {self.title}: {state}>"


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.isidentifier():
        raise QueryError(f"a column's name is an identifier as Python's, not {name!r}")


class Node:
    """The entries of a dataset that passed the filters above, with the columns defined above.
    Immutable: every method gives a new node or a booking."""

    __slots__ = ("__weakref__", "origin", "parent", "step")

    def __init__(
        self, origin: Origin, parent: Node | None = None, step: Step | None = None
    ) -> None:
        self.origin = origin
        self.parent = parent
        self.step = step

    def filter(
        self,
        expr: str,
        name: str | None = None,
        params: Mapping[str, Constant] | None = None,
    ) -> Node:
        """Only the entries for which `expr`, one bool per entry, is true. `name` is for reports;
        `params`: see `with_params`."""
        node = self.with_params(params or {})
        return Node(self.origin, node, Filter(parse(expr), name))

    def define(self, name: str, expr: str, params: Mapping[str, Constant] | None = None) -> Node:
        """A new column `name`, one value or one list per entry; `params`: see `with_params`."""
        _check_name(name)
        node = self.with_params(params or {})
        return Node(self.origin, node, Define(name, parse(expr)))

    def with_params(self, params: Mapping[str, Constant]) -> Node:
        """Constants by name, for all expressions below: `with_params({"cut": 30})` and then
        `filter("MET_pt > cut")`. They hide columns of the same name, as definitions do."""
        node = self
        for name, value in params.items():
            _check_name(name)
            node = Node(self.origin, node, Define(name, constant(value)))
        return node

    def vary(
        self, columns: str | Sequence[str], variations: Mapping[str, Any], name: str | None = None
    ) -> Node:
        """Books what is below in variations, too, in the same pass: `vary("Jet_pt", {"up":
        "Jet_pt*1.02", "down": "Jet_pt*0.98"})`. The value of a booking is then a mapping of
        "nominal", "Jet_pt:up" and "Jet_pt:down" to what it would be alone; only of those that can
        change it. For several columns that vary together give a list, and for each tag a mapping
        of columns to expressions, or a list. `name` stands before the colon. Of several `vary`,
        one is applied at a time, as in RDataFrame; equal names and tags go together."""
        return Node(self.origin, self, vary_step(columns, variations, name))

    def hist(
        self,
        *exprs: str,
        bins: Any = None,
        weight: str | None = None,
        range: Any = None,  # noqa: A002 - as numpy and matplotlib call it
        name: str | None = None,
        label: str | Sequence[str | None] | None = None,
    ) -> Booking:
        """Books a histogram of one expression per dimension.

        `bins`, `range`: see `treemill.axes.axes_from_bins`; without them the range is found by a
        first pass over the same columns. `weight`: an expression; bins then hold the sums of
        weights and of their squares (storage Weight), else counts (storage Double). `name` names
        the histogram, `label` the axis, or each of the axes.
        """
        return self._binned("hist", exprs, bins, range, weight, name, label)

    def profile(
        self,
        *exprs: str,
        sample: str,
        bins: Any = None,
        weight: str | None = None,
        range: Any = None,  # noqa: A002 - as for hist
        name: str | None = None,
        label: str | Sequence[str | None] | None = None,
    ) -> Booking:
        """Books the mean of `sample` in each bin, as ROOT's TProfile: a hist.Hist with storage
        Mean, with `weight` WeightedMean. Else as `hist`."""
        return self._binned("profile", exprs, bins, range, weight, name, label, sample)

    def _binned(
        self,
        method: str,
        exprs: Sequence[str],
        bins: Any,
        limits: Any,
        weight: str | None,
        name: str | None,
        label: str | Sequence[str | None] | None,
        sample: str | None = None,
    ) -> Booking:
        if not exprs:
            raise QueryError(f"{method}() needs an expression to fill with")
        parsed = tuple(parse(expr) for expr in exprs)
        axes = tuple(axes_from_bins(bins, len(parsed), limits))
        labels = (label,) if label is None or isinstance(label, str) else tuple(label)
        if len(labels) > len(parsed):
            raise QueryError(f"{len(labels)} labels for {len(parsed)} axes")
        labels += (None,) * (len(parsed) - len(labels))
        weighted = None if weight is None else parse(weight)
        sampled = None if sample is None else parse(sample)
        return Booking(self, Hist(parsed, axes, weighted, name, labels, sampled))

    def count(self) -> Booking:
        """Books the number of entries that arrive here, an int."""
        return Booking(self, Scalar("count"))

    def sum(self, expr: str) -> Booking:
        """Books the sum of all values: int for integers, else float."""
        return Booking(self, Scalar("sum", parse(expr)))

    def mean(self, expr: str, weight: str | None = None) -> Booking:
        """Books the mean of all values, a float; None without values."""
        if weight is not None:
            return Booking(self, Moments("mean", parse(expr), parse(weight)))
        return Booking(self, Scalar("mean", parse(expr)))

    def std(self, expr: str, weight: str | None = None, ddof: int = 0) -> Booking:
        """Books the standard deviation of all values, a float; None without values. The divisor is
        N - `ddof`, as numpy's (RDataFrame's StdDev has ddof=1); with weights it is their sum."""
        return Booking(self, _moments("std", expr, weight, ddof))

    def var(self, expr: str, weight: str | None = None, ddof: int = 0) -> Booking:
        """Books the variance: the square of `std`."""
        return Booking(self, _moments("var", expr, weight, ddof))

    def min(self, expr: str) -> Booking:
        """Books the smallest value; NaN and missing ones are passed over; None without values."""
        return Booking(self, Scalar("min", parse(expr)))

    def max(self, expr: str) -> Booking:
        """Books the largest value; NaN and missing ones are passed over; None without values."""
        return Booking(self, Scalar("max", parse(expr)))

    def unique(self, expr: str, limit: int = MOST_UNIQUE) -> Booking:
        """Books the different values, a numpy array, ascending; NaN, if any, once and last. Raises
        QueryError where there are more than `limit`."""
        return Booking(self, Unique(parse(expr), limit))

    def approx_quantiles(self, expr: str, probabilities: float | Sequence[float]) -> Booking:
        """Books quantiles of all values, a numpy array (for one probability a float); None without
        values; NaN is passed over. Between ranks they are linear, as numpy's. The value at each
        rank is off by less than 0.05 % of itself, whatever the distribution, and does not depend
        on the packets; small integers are exact."""
        single = isinstance(probabilities, (int, float))
        asked = [probabilities] if isinstance(probabilities, (int, float)) else probabilities
        numbers = tuple(float(q) for q in asked)
        if not numbers or not all(0 <= q <= 1 for q in numbers):
            raise QueryError("probabilities are from 0 to 1")
        return Booking(self, Quantiles(parse(expr), numbers, single))

    def take(self, expr: str, limit: int = MOST_BYTES) -> Booking:
        """Books all values of an expression in the order of entries: a numpy array where there is
        one per entry, else an awkward array. As for `arrays`."""
        return Booking(self, Rows("take", ((expr, parse(expr)),), limit))

    def arrays(
        self, columns: str | Sequence[str] | Mapping[str, str], limit: int = MOST_BYTES
    ) -> Booking:
        """Books columns of the entries that arrive here: an awkward array of records, in the order
        of entries. `columns` are expressions, or a mapping of names to them. It is all in memory:
        QueryError where it is more than `limit` bytes."""
        return Booking(self, Rows("arrays", named_columns(columns), limit))

    def snapshot(
        self,
        path: str,
        columns: str | Sequence[str] | Mapping[str, str],
        tree: str = "Events",
        format: str | None = None,  # noqa: A002 - what it is called elsewhere
    ) -> Booking:
        """Books a file with columns of the entries that arrive here, in the order of entries; what
        it holds is written as it comes, so it may be larger than memory. `columns` as for `arrays`.
        The suffix says what it is: .root (a TTree, or with format="rntuple" an RNTuple, called
        `tree`), .parquet, .feather or .arrow. The file appears when it is complete; an older one is
        replaced in the same moment. The value is a `SnapshotFile`."""
        for node in steps_to(self):
            if isinstance(node.step, Vary):
                raise QueryError("snapshot() below vary() is not supported: book it above")
        target, kind = snapshot_format(path, format)
        wanted = Rows("snapshot", named_columns(columns), path=target, kind=kind, tree=tree)
        return Booking(self, wanted)

    def report(self, weight: str | None = None) -> Booking:
        """Books how many entries each named filter down to here lets through: a `CutFlow`.
        `weight`, one number per event that is known at the first of these filters, counts them by
        it."""
        names = [n.step.name for n in steps_to(self) if isinstance(n.step, Filter)]
        if not any(names):
            raise QueryError('no filter down to here has a name: filter(expr, name="two muons")')
        return Booking(self, Flow(None if weight is None else parse(weight)))

    def draw(
        self, *exprs: str, where: str | None = None, bins: Any = None, weight: str | None = None
    ) -> Any:
        """As TTree::Draw: fills a histogram now, shows it, and gives it back as hist.Hist. "y:x"
        is understood as there; `where` may also select items, as in draw("Jet_pt", "Jet_pt > 30").
        A number selects where it is not 0: what multiplies the bins is `weight`."""
        # A drawing is wanted now and alone, so what else is booked stays booked.
        return self.origin.dataset.show_drawing(self, exprs, where, bins, weight)

    def explain(self) -> str:
        """The plan of the pass over what is booked and not computed yet, as `Booking.explain`."""
        booked = self.origin.unevaluated()
        return str(self.origin.dataset.explained(booked or [self.count()]))

    def __repr__(self) -> str:
        steps = [repr(self.origin.dataset)]
        for node in steps_to(self):
            step = node.step
            if isinstance(step, Filter):
                steps.append(f".filter({step.expr.text!r})")
            elif isinstance(step, Define):
                steps.append(f".define({step.name!r}, {step.expr.text!r})")
            elif isinstance(step, Vary):
                steps.append(f".vary({', '.join(step.variation_names())})")
        return "".join(steps)


def _moments(kind: str, expr: str, weight: str | None, ddof: int) -> Moments:
    if isinstance(ddof, bool) or not isinstance(ddof, int) or ddof < 0:
        raise QueryError(f"ddof is a number of degrees of freedom, not {ddof!r}")
    if weight is not None and ddof:
        raise QueryError("with weights the divisor is their sum: ddof is for counts")
    return Moments(kind, parse(expr), None if weight is None else parse(weight), ddof)


def steps_to(node: Node) -> list[Node]:
    """The nodes with a step from the dataset down to this one."""
    found: list[Node] = []
    walk: Node | None = node
    while walk is not None and walk.step is not None:
        found.append(walk)
        walk = walk.parent
    return found[::-1]
