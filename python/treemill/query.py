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
from dataclasses import dataclass
from typing import Any

from .axes import AutomaticAxis, Axis, FixedAxis, axes_from_bins
from .errors import QueryError, TreemillError
from .expression import Expression, parse

__all__ = ["Booking", "Define", "Filter", "Hist", "Node", "Origin", "Scalar", "extents", "spec"]


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

    def evaluate(self, wanted: Booking) -> None:
        """Runs `wanted` and all others that are booked, in one pass over the data."""
        together = self.unevaluated()
        try:
            self._run(together)
        except QueryError:
            if len(together) == 1:
                raise
            # Another booking may be the one that is wrong; that is not this one's affair.
            self._run([wanted])
        if not wanted.done:
            raise TreemillError("the query was stopped before all entries were processed")


@dataclass(frozen=True)
class Filter:
    """Keeps the entries for which the expression is true."""

    expr: Expression
    name: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As the core reads it."""
        return {"kind": "filter", "expr": self.expr.to_json(), "name": self.name}


@dataclass(frozen=True)
class Define:
    """A new column, for what comes after."""

    name: str
    expr: Expression

    def to_json(self) -> dict[str, Any]:
        """As the core reads it."""
        return {"kind": "define", "name": self.name, "expr": self.expr.to_json()}


@dataclass(frozen=True)
class Hist:
    """Wanted: a histogram. Jagged values fill once per item, the event's own once per item beside
    them."""

    exprs: tuple[Expression, ...]
    axes: tuple[Axis, ...]
    weight: Expression | None = None
    name: str | None = None
    labels: tuple[str | None, ...] = ()

    def to_json(self, axes: Sequence[FixedAxis]) -> dict[str, Any]:
        """As the core reads it, with these axes."""
        fills = [
            {"axis": axis.spec, "expr": expr.to_json()}
            for axis, expr in zip(axes, self.exprs, strict=True)
        ]
        weight = None if self.weight is None else self.weight.to_json()
        return {"kind": "hist", "axes": fills, "weight": weight}


@dataclass(frozen=True)
class Scalar:
    """Wanted: one number: `count`, or `sum`, `mean`, `min`, `max` of an expression."""

    kind: str
    expr: Expression | None = None

    def to_json(self) -> dict[str, Any]:
        """As the core reads it."""
        if self.expr is None:
            return {"kind": self.kind}
        return {"kind": self.kind, "expr": self.expr.to_json()}


_numbers = itertools.count()
_NOTHING = object()


class Booking:
    """Something to compute at a node. `value` computes it, and whatever else is booked on the
    dataset and not computed yet, in one pass."""

    def __init__(self, node: Node, wanted: Hist | Scalar) -> None:
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
        """A hist.Hist, an int or a float; None for the mean, min or max of no values."""
        if not self.done:
            self.node.origin.evaluate(self)
        return self._value

    def set_value(self, value: Any) -> None:
        """For whoever ran it."""
        self._value = value
        self.node.origin.discard(self)

    @property
    def title(self) -> str:
        """What it is, in a few words, for displays."""
        if isinstance(self.wanted, Hist):
            return self.wanted.name or " : ".join(e.text for e in self.wanted.exprs)
        expr = self.wanted.expr
        return self.wanted.kind if expr is None else f"{self.wanted.kind}({expr.text})"

    def __repr__(self) -> str:
        state = repr(self._value) if self.done else "not run yet"
        return f"<{type(self.wanted).__name__.lower()} {self.title}: {state}>"


class Node:
    """The entries of a dataset that passed the filters above, with the columns defined above.
    Immutable: every method gives a new node or a booking."""

    __slots__ = ("__weakref__", "origin", "parent", "step")

    def __init__(
        self, origin: Origin, parent: Node | None = None, step: Filter | Define | None = None
    ) -> None:
        self.origin = origin
        self.parent = parent
        self.step = step

    def filter(self, expr: str, name: str | None = None) -> Node:
        """Only the entries for which `expr`, one bool per entry, is true. `name` is for reports."""
        return Node(self.origin, self, Filter(parse(expr), name))

    def define(self, name: str, expr: str) -> Node:
        """A new column `name`, one value or one list per entry."""
        if not isinstance(name, str) or not name.isidentifier():
            raise QueryError(f"a column's name is an identifier as Python's, not {name!r}")
        return Node(self.origin, self, Define(name, parse(expr)))

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
        if not exprs:
            raise QueryError("hist() needs an expression to fill with")
        parsed = tuple(parse(expr) for expr in exprs)
        axes = tuple(axes_from_bins(bins, len(parsed), range))
        labels = (label,) if label is None or isinstance(label, str) else tuple(label)
        if len(labels) > len(parsed):
            raise QueryError(f"{len(labels)} labels for {len(parsed)} axes")
        labels += (None,) * (len(parsed) - len(labels))
        weighted = None if weight is None else parse(weight)
        return Booking(self, Hist(parsed, axes, weighted, name, labels))

    def count(self) -> Booking:
        """Books the number of entries that arrive here, an int."""
        return Booking(self, Scalar("count"))

    def sum(self, expr: str) -> Booking:
        """Books the sum of all values: int for integers, else float."""
        return Booking(self, Scalar("sum", parse(expr)))

    def mean(self, expr: str) -> Booking:
        """Books the mean of all values, a float; None without values."""
        return Booking(self, Scalar("mean", parse(expr)))

    def min(self, expr: str) -> Booking:
        """Books the smallest value; NaN and missing ones are passed over; None without values."""
        return Booking(self, Scalar("min", parse(expr)))

    def max(self, expr: str) -> Booking:
        """Books the largest value; NaN and missing ones are passed over; None without values."""
        return Booking(self, Scalar("max", parse(expr)))

    def draw(
        self, *exprs: str, where: str | None = None, bins: Any = None, weight: str | None = None
    ) -> Any:
        """As TTree::Draw: fills a histogram now, shows it, and gives it back as hist.Hist. "y:x"
        is understood as there; `where` may also select items, as in draw("Jet_pt", "Jet_pt > 30").
        A number selects where it is not 0: what multiplies the bins is `weight`."""
        # A drawing is wanted now and alone, so what else is booked stays booked.
        return self.origin.dataset.show_drawing(self, exprs, where, bins, weight)

    def __repr__(self) -> str:
        steps = [repr(self.origin.dataset)]
        for node in _path(self):
            step = node.step
            if isinstance(step, Filter):
                steps.append(f".filter({step.expr.text!r})")
            elif isinstance(step, Define):
                steps.append(f".define({step.name!r}, {step.expr.text!r})")
        return "".join(steps)


def _path(node: Node) -> list[Node]:
    """The nodes with a step from the dataset down to this one."""
    found: list[Node] = []
    walk: Node | None = node
    while walk is not None and walk.step is not None:
        found.append(walk)
        walk = walk.parent
    return found[::-1]


class _Steps:
    """Numbers the nodes' steps, each once, parents first."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []
        self._index: dict[int, int] = {}

    def at(self, node: Node) -> int | None:
        index: int | None = None
        for each in _path(node):
            known = self._index.get(id(each))
            if known is None:
                assert each.step is not None
                known = len(self.steps)
                self._index[id(each)] = known
                self.steps.append({"parent": index, "action": each.step.to_json()})
            index = known
        return index


def spec(
    bookings: Sequence[Booking],
    axes: Mapping[int, Sequence[FixedAxis]] | None = None,
) -> dict[str, Any]:
    """The bookings of one pass as the core reads them (spec.rs, `Spec`). `axes` has, by the
    booking's number, the axes of those histograms that had automatic ones."""
    steps = _Steps()
    booked = []
    for booking in bookings:
        wanted = booking.wanted
        if isinstance(wanted, Hist):
            fixed = (axes or {}).get(booking.number) or wanted.axes
            result = wanted.to_json([_known(axis) for axis in fixed])
        else:
            result = wanted.to_json()
        booked.append({"at": steps.at(booking.node), "result": result})
    return {"version": 1, "steps": steps.steps, "bookings": booked}


def _known(axis: Axis) -> FixedAxis:
    if isinstance(axis, AutomaticAxis):
        raise QueryError("the range of an automatic axis is not known before a pass over the data")
    return axis


def extents(bookings: Sequence[Booking]) -> tuple[dict[str, Any], dict[tuple[int, int], int]]:
    """The pass that finds automatic ranges: a spec with one `extent` per node and expression, and
    for each (booking's number, dimension) with an automatic axis the index of its extent."""
    steps = _Steps()
    booked: list[dict[str, Any]] = []
    known: dict[tuple[int | None, str], int] = {}
    places: dict[tuple[int, int], int] = {}
    for booking in bookings:
        wanted = booking.wanted
        if not isinstance(wanted, Hist):
            continue
        for dimension, (axis, expr) in enumerate(zip(wanted.axes, wanted.exprs, strict=True)):
            if not isinstance(axis, AutomaticAxis):
                continue
            at = steps.at(booking.node)
            key = (at, expr.text)
            if key not in known:
                known[key] = len(booked)
                booked.append({"at": at, "result": {"kind": "extent", "expr": expr.to_json()}})
            places[booking.number, dimension] = known[key]
    return {"version": 1, "steps": steps.steps, "bookings": booked}, places
