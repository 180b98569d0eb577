"""What the core computes in one pass, as data: numbered steps, and bookings at them (spec.rs).

Pure: standard library and the query's steps only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NotRequired, TypedDict

from ..language.function_registry import ExternalFunction
from .steps import Define

__all__ = ["NumberedStep", "PlacedBooking", "Specification", "SpecifiedRelations"]

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
        steps = ", ".join([_text(step, known) for step in self.steps])
        bookings = ", ".join([_text(booking, known) for booking in self.bookings])
        text = f'{{"version": {_VERSION}, "steps": [{steps}], "bookings": [{bookings}]'
        return (
            f'{text}, "relations": {json.dumps(self.relations)}}}'
            if self.relations
            else f"{text}}}"
        )

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


def _text(item: NumberedStep | PlacedBooking, known: dict[int, str]) -> str:
    """Returns the same as `json.dumps`. `known`: texts of what items have in common, by the
    identity of the objects. An action or a result stands in an item for each variation."""
    parts = []
    for key, value in item.items():
        if isinstance(value, Mapping):
            text = known.get(id(value))
            if text is None:
                text = known[id(value)] = json.dumps(value)
        else:
            text = json.dumps(value)
        parts.append(f'"{key}": {text}')
    return f"{{{', '.join(parts)}}}"
