"""Makes the specification of one pass from its bookings: numbers the steps, unfolds the variations,
and notes which of the core's results make which booking's value.

Pure: standard library, errors, axes and the query's description only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, NotRequired, TypedDict

from ..errors import QueryError
from ..language.expression import Expression, parse
from ..language.function_registry import ExternalFunction, lasting
from .axes import AutomaticAxis, Axis, FixedAxis, GrowingAxis
from .axis_ranges import MOST_OF_ALL
from .booking import Booking, Place, named_filters, steps_to
from .quantities import Flow, Hist, Quantiles, Quantity, Scalar, Unique
from .rows import Rows, Snapshot, check_variation
from .steps import (
    Define,
    Filter,
    Relations,
    Step,
    Vary,
    affects,
    changed_after,
    check_step,
    mention,
    relations_in,
)

if TYPE_CHECKING:
    from ..data.chain import Chain

__all__ = [
    "NOMINAL",
    "NumberedStep",
    "PlacedBooking",
    "Plan",
    "Specification",
    "SpecifiedRelations",
    "extents",
    "plan",
]

# What the core computes in one pass, as data: numbered steps, and bookings at them (spec.rs).

_VERSION = 1


class NumberedStep(TypedDict):
    """A filter or a definition, whose number is its place in the list of steps."""

    parent: int | None
    """The number of the step before; None: the dataset itself."""
    action: Mapping[str, object]
    variation: NotRequired[str]


class PlacedBooking(TypedDict):
    """What is computed at a step."""

    at: int | None
    """The number of the step; None: the dataset itself."""
    result: Mapping[str, object]
    variation: NotRequired[str]


class SpecifiedRelations(TypedDict):
    """How members that refer to other objects are known."""

    formats: Sequence[str] | None
    """Those whose references are followed; None: all."""
    ids: Mapping[str, int]
    """What stands for collections, by their names."""
    classes: Mapping[str, str]
    """The classes of collections' items, by the collections' names."""


class Specification:
    """Steps and bookings of one pass. Immutable."""

    def __init__(
        self,
        steps: Sequence[NumberedStep] = (),
        bookings: Sequence[PlacedBooking] = (),
        words: Iterable[str] = (),
        provided: Mapping[str, ExternalFunction] | None = None,
        relations: SpecifiedRelations | None = None,
    ) -> None:
        """`words`: all names and attributes in the expressions. `provided`: what they call that is
        no function of the language, by its identity. `relations`: how references are known; None:
        by the columns alone."""
        self.steps = tuple(steps)
        self.bookings = tuple(bookings)
        self.words = frozenset(words)
        self.provided = dict(provided or {})
        self.relations = relations

    @cached_property
    def text(self) -> str:
        """Gives the form that the core reads."""
        known: dict[int, str] = {}
        steps = json.dumps(self.steps)
        if any("variation" in booking for booking in self.bookings):
            bookings = f"[{', '.join([_text(booking, known) for booking in self.bookings])}]"
        else:
            bookings = json.dumps(self.bookings)
        text = f'{{"version": {_VERSION}, "steps": {steps}, "bookings": {bookings}'
        return (
            f'{text}, "relations": {json.dumps(self.relations)}}}'
            if self.relations
            else f"{text}}}"
        )

    @property
    def lasting_text(self) -> str:
        """The text as it is in every process. A checkpoint is of this: a later process has what is
        pickled of functions, and not the locks and the sessions that they hold."""
        text = self.text
        for key in self.provided:
            text = text.replace(json.dumps(key), json.dumps(lasting(key)))
        return text

    def relating(self, relations: SpecifiedRelations) -> Specification:
        """The specification with references that are known like this."""
        return Specification(self.steps, self.bookings, self.words, self.provided, relations)

    def after(self, defines: Sequence[Define]) -> Specification:
        """The specification with these columns defined before all else."""
        first: list[NumberedStep] = []
        for define in defines:
            first.append({"parent": len(first) - 1 if first else None, "action": define.to_json()})
        added = len(first)
        if not added:
            return self

        def moved(place: int | None) -> int:
            return added - 1 if place is None else place + added

        steps: list[NumberedStep] = [
            {**step, "parent": moved(step["parent"])} for step in self.steps
        ]
        bookings: list[PlacedBooking] = [
            {**booking, "at": moved(booking["at"])} for booking in self.bookings
        ]
        return Specification(
            [*first, *steps],
            bookings,
            self.words.union(*(define.expr.words for define in defines)),
            self.provided,
            self.relations,
        )

    def __reduce__(self) -> tuple[type[Specification], tuple[object, ...]]:
        return Specification, (
            self.steps,
            self.bookings,
            self.words,
            self.provided,
            self.relations,
        )


def _text(booking: PlacedBooking, known: dict[int, str]) -> str:
    """Returns the same as `json.dumps`. `known`: texts of results, by the identity of the objects:
    a result stands in a booking for each variation, and may have axes of many edges."""
    result = booking["result"]
    text = known.get(id(result))
    if text is None:
        text = known[id(result)] = json.dumps(result)
    at = "null" if booking["at"] is None else booking["at"]
    varied = f', "variation": {json.dumps(booking["variation"])}' if "variation" in booking else ""
    return f'{{"at": {at}, "result": {text}{varied}}}'


NOMINAL = "nominal"
_ENTRY = Define("entry@", parse("local_entry_number"))
"""What rows of variations are joined by."""


@dataclass(frozen=True)
class Joined:
    """Results whose rows go to one file."""

    variations: list[tuple[str, int, frozenset[str]]]
    """Their names, indices of results, and the columns that they change. The nominal is first."""
    tree: str


_NOTHING = Specification()


@dataclass
class Plan:
    """A pass."""

    specification: Specification = _NOTHING
    slots: dict[int, dict[str, list[int]]] = field(default_factory=dict)
    """Indices of the core's results, by the booking's number and the variation."""
    names: dict[int, list[str]] = field(default_factory=dict)
    """Names of all variations above a booking, in order, by its number; without the nominal one."""
    rows: dict[int, Rows] = field(default_factory=dict)
    """Bookings of rows, by the index of the core's result."""
    joined: dict[int, Joined] = field(default_factory=dict)
    """Files with variations, by the index of the nominal result."""

    def varied(self, booking: Booking) -> bool:
        """True if the booking has a value for each variation."""
        return booking.number in self.names

    def variations(self, booking: Booking) -> list[str]:
        """Names of all variations above it, in order, the nominal one first."""
        return [NOMINAL, *self.names.get(booking.number, ())]

    def unchanged(self, booking: Booking) -> set[str]:
        """Names of the variations that cannot change its value."""
        return set(self.names.get(booking.number, ())) - self.slots[booking.number].keys()


class _Above:
    """A place of a query with a step, and where to go on above it. Thousands of bookings may stand
    on one way down, each below the one before: they share what is above them, and nobody goes all
    the way up for each. Knows what is above it only, so that a plan is gone when nobody has it."""

    def __init__(self, place: Place, parent: _Above | None) -> None:
        assert place.step is not None
        self.step: Step = place.step
        self.parent = parent
        self._is_checked = False
        self.depth: int = parent.depth + 1 if parent else 0
        self._is_vary = isinstance(self.step, Vary)
        self._above = (parent.plain, parent.vary) if parent else (None, None)

    @property
    def plain(self) -> _Above | None:
        """The nearest filter or definition, from here up."""
        return self._above[0] if self._is_vary else self

    @property
    def vary(self) -> _Above | None:
        """The nearest step with variations, from here up."""
        return self if self._is_vary else self._above[1]

    def check(self, chain: Chain) -> None:
        """Raises QueryError for a constant or varied column, from here up, that cannot be, by the
        columns of the first file of the dataset."""
        walk: _Above | None = self
        unchecked: list[_Above] = []
        while walk is not None and not walk._is_checked:
            unchecked.append(walk)
            walk = walk.parent
        for each in reversed(unchecked):
            check_step(each.step, chain, each.defined)
            each._is_checked = True

    def defined(self) -> Iterator[str]:
        """Names of the columns that were defined from here up, the nearest first."""
        walk = self.plain
        while walk is not None:
            if isinstance(walk.step, Define) and not walk.step.is_param:
                yield walk.step.name
            walk = walk.parent.plain if walk.parent else None


class _Places:
    """The places of a query, and what variations change at them."""

    def __init__(self) -> None:
        self._known: dict[int, _Above | None] = {}
        self._varied: dict[int, dict[str, list[_Above]]] = {}
        self._changed: dict[tuple[int, str], frozenset[str] | None] = {}
        self._relations: dict[int, Relations] = {}

    def above(self, place: Place) -> _Above | None:
        """What is at a place and above it. None: no step."""
        way: list[Place] = []
        walk: Place | None = place
        while walk is not None and walk.step is not None and id(walk) not in self._known:
            way.append(walk)
            walk = walk.parent
        known = self._known.get(id(walk))
        for each in reversed(way):
            known = self._known[id(each)] = _Above(each, known)
        return known

    def _checked(self, booking: Booking) -> _Above | None:
        """What is above a booking, of which the constants and variations can be."""
        above = self.above(booking.node)
        if above is not None:
            above.check(booking.node.origin.chain)
        return above

    def _variations(self, above: _Above) -> Mapping[str, Sequence[_Above]]:
        """Names of the variations from there up, in order, each with the steps that have it, the
        first one first: found once for all places below one step with variations."""
        nearest = walk = above.vary
        if nearest is None:
            return {}
        known = self._varied.get(id(nearest))
        if known is None:
            known = self._varied[id(nearest)] = {}
            steps: list[_Above] = []
            while walk is not None:
                steps.append(walk)
                walk = walk.parent.vary if walk.parent else None
            for each in reversed(steps):
                assert isinstance(each.step, Vary)
                for name in each.step.variation_names():
                    known.setdefault(name, []).append(each)
        return known

    def way(self, above: _Above, variation: str) -> Iterator[tuple[_Above, str | None]]:
        """The places from there up whose steps count in a variation, each with its name as long as
        there are steps above that have it: above them all is as without it."""
        own = list(self._variations(above).get(variation, ()))
        walk: _Above | None = above
        while walk is not None:
            tag = variation if own else None
            if own and (walk.plain is None or own[-1].depth > walk.plain.depth):
                walk = own.pop()
            elif walk.plain is None:
                return
            else:
                walk = walk.plain
            yield walk, tag
            walk = walk.parent

    def names(self, booking: Booking) -> list[str]:
        """Names of all variations above a booking, in order, without the nominal one. Raises
        QueryError for a constant or varied column that cannot be."""
        above = self._checked(booking)
        return list(self._variations(above)) if above else []

    def variations(self, booking: Booking) -> list[str]:
        """Names of the variations that change the booking's value, the nominal one first. Raises
        QueryError as `names` does."""
        above = self._checked(booking)
        if above is None or above.vary is None:
            return [NOMINAL]
        exprs = booking.wanted.expressions()
        known = self._relations.get(id(booking.node.origin))
        if known is None:
            chain = booking.node.origin.chain
            known = self._relations[id(booking.node.origin)] = relations_in(chain)
        affecting = (
            name
            for name in self._variations(above)
            if mention(exprs, self._changed_at(above, name, known), known)
        )
        return [NOMINAL, *affecting]

    def _changed_at(self, above: _Above, variation: str, known: Relations) -> frozenset[str] | None:
        """The columns that are others there in the variation; see `changed_by`."""
        way: list[_Above] = []
        changed: frozenset[str] | None = frozenset()
        for each, tag in self.way(above, variation):
            if tag is None:
                break
            if (id(each), variation) in self._changed:
                changed = self._changed[id(each), variation]
                break
            way.append(each)
        for each in reversed(way):
            changed = changed_after(changed, each.step, variation, known)
            self._changed[id(each), variation] = changed
        return changed


class _Numbering:
    """Numbers the nodes' steps, parents first. A step has a number for each variation in which it
    differs."""

    def __init__(self) -> None:
        self.places = _Places()
        self.steps: list[NumberedStep] = []
        self.words: set[str] = set()
        """All names and attributes in expressions."""
        self.provided: dict[str, ExternalFunction] = {}
        """What expressions call that is no function of the language."""
        self._index: dict[tuple[int, str | None], int | None] = {}
        self._actions: dict[int, Mapping[str, object]] = {}

    def specification(self, booked: Sequence[PlacedBooking]) -> Specification:
        """These bookings at the steps."""
        return Specification(self.steps, booked, self.words, self.provided)

    def at(self, node: Place, variation: str) -> int | None:
        """The number of the last step above a place in a variation; None: there is no step."""
        above = self.places.above(node)
        way: list[tuple[_Above, str | None]] = []
        index: int | None = None
        for each, tag in self.places.way(above, variation) if above else ():
            if (id(each), tag) in self._index:
                index = self._index[id(each), tag]
                break
            way.append((each, tag))
        for each, tag in reversed(way):
            index = self._index[id(each), tag] = self._number(each, tag, index)
        return index

    def _number(self, above: _Above, tag: str | None, index: int | None) -> int | None:
        """Numbers the step of a place, in the variation `tag`, after the step `index`."""
        step = above.step
        added: Sequence[Filter | Define]
        if isinstance(step, Vary):
            assert tag is not None
            added = [*step.required(lambda: set(above.defined())), *step.defines(tag)]
        else:
            added = [step]
        for one in added:
            self.words |= one.expr.words
            if (constants := one.expr.provided) is not None:
                self.provided[constants.identity] = constants
            numbered: NumberedStep = {"parent": index, "action": self._action(one, step)}
            if tag:
                numbered["variation"] = tag
            self.steps.append(numbered)
            index = len(self.steps) - 1
        return index

    def _action(self, one: Filter | Define, step: Step) -> Mapping[str, object]:
        """The form that the core reads: one object for a step in all variations."""
        if one is not step:  # made for one variation
            return one.to_json()
        known = self._actions.get(id(step))
        if known is None:
            known = self._actions[id(step)] = one.to_json()
        return known


def plan(
    bookings: Sequence[Booking],
    axes: Mapping[int, Sequence[FixedAxis]] | None = None,
    files: Mapping[int, Snapshot] = MappingProxyType({}),
) -> Plan:
    """Plans the pass for these bookings. `axes`: the axes of histograms that had automatic ones, by
    the booking's number. `files`: the snapshots that leave columns out, in the same way."""
    numbering = _Numbering()
    booked: list[PlacedBooking] = []
    planned = Plan()
    counts: dict[tuple[int | None, str | None], int] = {}
    places = numbering.places
    for booking in bookings:
        wanted = files.get(booking.number, booking.wanted)
        if names := places.names(booking):
            planned.names[booking.number] = names
        variations = places.variations(booking)
        numbering.words.update(*[expr.words for expr in wanted.expressions()])
        if isinstance(wanted, Hist):
            fixed = (axes or {}).get(booking.number) or wanted.axes
            result = wanted.to_json([_known(axis) for axis in fixed])
        else:
            result = wanted.to_json()
        slots = planned.slots.setdefault(booking.number, {})
        together = None
        counted = None  # the weight that entries are counted with
        if isinstance(wanted, Flow) and wanted.weight is not None:
            counted = json.dumps(wanted.weight.tree)
        if isinstance(wanted, Snapshot) and planned.varied(booking):
            _check_entry_numbers(booking)
            together = Joined([], wanted.target.tree)
            numbering.words.update(_ENTRY.expr.words)
            result = replace(
                wanted, columns=(*wanted.columns, (_ENTRY.name, _ENTRY.expr))
            ).to_json()
        for variation in variations:
            slots[variation] = columns = []
            for node in _places(booking):
                at = numbering.at(node, variation)
                if isinstance(wanted, Flow):
                    # The entries that leave one filter arrive at the next: count them once.
                    columns.append(counts.setdefault((at, counted), len(booked)))
                    if columns[-1] < len(booked):
                        continue
                else:
                    columns.append(len(booked))
                if together is not None:
                    assert isinstance(wanted, Snapshot)
                    changed = _changed(booking.node, wanted.columns, variation)
                    if changed:
                        check_variation(variation, wanted.target.kind)
                    together.variations.append((variation, len(booked), changed))
                    planned.joined[slots[NOMINAL][0]] = together
                if isinstance(wanted, Rows) and (together is None or variation == NOMINAL):
                    planned.rows[len(booked)] = wanted
                booked.append({"at": at, "result": result})
                if variation != NOMINAL:
                    booked[-1]["variation"] = variation
    planned.specification = numbering.specification(booked)
    return planned


def _places(booking: Booking) -> list[Place]:
    """The nodes at which the core is asked: for a cut flow before and after each named filter."""
    if not isinstance(booking.wanted, Flow):
        return [booking.node]
    places: list[Place] = []
    for node in named_filters(booking.node)[booking.wanted.first :]:
        assert node.parent is not None
        places += [node.parent, node]
    return places


def _steps(node: Place) -> list[Step]:
    return [each.step for each in steps_to(node) if each.step is not None]


def _changed(
    node: Place, columns: Iterable[tuple[str, Expression]], variation: str
) -> frozenset[str]:
    """The columns whose values a variation changes."""
    steps = [step for step in _steps(node) if not isinstance(step, Filter)]
    known = relations_in(node.origin.chain)
    return frozenset(name for name, expr in columns if affects(steps, [expr], variation, known))


def _check_entry_numbers(booking: Booking) -> None:
    """Raises QueryError if a column has the name by which rows of variations are joined."""
    name = _ENTRY.expr.text
    known = {*booking.node.origin.chain.branches, *booking.node.origin.chain.aliases}
    known |= {step.name for step in _steps(booking.node) if isinstance(step, Define)}
    if name in known:
        raise QueryError(f"snapshot() below vary() needs {name}, and a column has this name")


def _known(axis: Axis) -> FixedAxis:
    if not isinstance(axis, FixedAxis):
        raise QueryError("the range of an automatic axis is not known before a pass over the data")
    return axis


def extents(
    bookings: Sequence[Booking],
) -> tuple[Specification, dict[tuple[int, int], list[int]]]:
    """Plans the pass that finds automatic ranges, and gives the indices of its results for each
    (booking's number, dimension) with such an axis. Each node and expression has one `extent`, with
    quantiles if far tails may be left out; categories that grow have `unique`. All variations share
    an axis, so that they can be compared bin by bin: its range is the nominal one, and its
    categories are those of all variations, because other values would be lost."""
    numbering = _Numbering()
    booked: list[PlacedBooking] = []
    known: dict[tuple[int | None, str], int] = {}
    places: dict[tuple[int, int], list[int]] = {}
    varied = numbering.places.variations
    for booking in bookings:
        wanted = booking.wanted
        if not isinstance(wanted, Hist):
            continue
        for dimension, (axis, expr) in enumerate(zip(wanted.axes, wanted.exprs, strict=True)):
            if isinstance(axis, FixedAxis):
                continue
            grows = isinstance(axis, GrowingAxis)
            wanted_here: list[Quantity] = [Scalar("extent", expr)]
            if grows:
                # A value fills nothing if another value of its entry or item is missing.
                beside = (each for i, each in enumerate(wanted.expressions()) if i != dimension)
                wanted_here = [Unique(expr, beside=tuple(beside))]
            if isinstance(axis, AutomaticAxis) and axis.most:
                wanted_here.append(Quantiles(expr, MOST_OF_ALL, bounded=True))
            numbers = places.setdefault((booking.number, dimension), [])
            for variation in varied(booking) if grows else [NOMINAL]:
                at = numbering.at(booking.node, variation)
                for asked in wanted_here:
                    numbering.words.update(*(expr.words for expr in asked.expressions()))
                    key = (at, json.dumps(asked.to_json()))
                    if key not in known:
                        known[key] = len(booked)
                        booked.append({"at": at, "result": asked.to_json()})
                    numbers.append(known[key])
    return numbering.specification(booked), places
