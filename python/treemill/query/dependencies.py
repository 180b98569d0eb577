"""What a booking of a pass depends on, and the specification of some of the bookings: for results
that are remembered, and for passes that compute only what is not.

Pure: the query's description only. Which columns a name may mean is decided by the rule of
variations (`steps.mention`): what it takes for unchanged cannot be in a booking's value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from ..frozen import frozen
from ..language.expression import Expression, words
from ..language.function_registry import ExternalFunction, OfFile
from .planning import NumberedStep, PlacedBooking, Specification
from .steps import Relations, mention

__all__ = ["Dependencies", "dependencies", "difference", "restricted"]


@frozen
class Dependencies:
    """What a booking's value depends on, besides the data."""

    parts: tuple[tuple[str, str], ...]
    """What is booked, and the steps, from the last one up: what users call each, and a text that is
    equal for equal ones."""
    words: frozenset[str]
    """All names and attributes in it."""
    functions: tuple[ExternalFunction, ...]
    """What it calls that is no function of the language."""
    sources: tuple[str, ...]
    """The files that what each part calls is of, in words; empty for none."""


def dependencies(specification: Specification, known: Relations) -> list[Dependencies]:
    """What each booking of a specification depends on. A filter counts wherever it stands above the
    booking, a definition only if something below it may mean it. Names of filters and of variations
    do not count."""
    steps = [_Step(each) for each in specification.steps]
    provided = [(json.dumps(key), each) for key, each in specification.provided.items()]
    results: dict[int, str] = {}  # variations share what is booked
    found = []
    for booking in specification.bookings:
        result = booking["result"]
        if id(result) not in results:
            results[id(result)] = _text(result)
        found.append(_of(booking, results[id(result)], steps, provided, known))
    return found


_text = json.JSONEncoder(sort_keys=True).encode
"""A text that is equal for equal values. `json.dumps` would make an encoder for each."""


class _Step:
    """A step, with what is asked of it again and again."""

    def __init__(self, step: NumberedStep) -> None:
        action = cast("Mapping[str, Any]", step["action"])
        self.parent = step["parent"]
        self.defines = frozenset((action["name"],)) if action["kind"] == "define" else None
        self.expr = Expression(action["expr"]["text"], action["expr"]["tree"])
        name = None if self.defines is None else action["name"]
        self.counted = name[1:] if name and name[0] == "n" else None
        """The collection whose items it may count in some file: `Jet` for `nJet`."""
        text = _text([action["kind"], name, self.expr.to_json()])
        self.part = (f"filter {self.expr.text}" if name is None else str(name)), text


def _of(
    booking: PlacedBooking,
    text: str,
    steps: Sequence[_Step],
    provided: Sequence[tuple[str, ExternalFunction]],
    known: Relations,
) -> Dependencies:
    # Walks through trees wherever they stand in what is booked, as through an expression.
    below = [Expression("", cast("Any", booking["result"]))]
    parts = [(_BOOKED, text)]
    named = set(words(below[0].tree))  # once for each: a property that is kept would cost more
    at = booking["at"]
    while at is not None:
        step = steps[at]
        if (
            step.defines is None
            or (step.counted and any(_FIRST_NAME.split(n)[0] == step.counted for n in named))
            or mention(below, step.defines, known)
        ):
            below.append(step.expr)
            named |= step.expr.words
            named.update(step.defines or ())
            parts.append(step.part)
        at = step.parent
    functions = tuple([each for key, each in provided if any(key in inside for _, inside in parts)])
    files = [(json.dumps(x.identity), x.source) for x in functions if isinstance(x, OfFile)]
    sources = tuple([", ".join([name for key, name in files if key in text]) for _, text in parts])
    return Dependencies(tuple(parts), frozenset(named), functions, sources)


_BOOKED = "what is booked"
_FIRST_NAME = re.compile(r"[._@]")


def difference(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """In what the dependencies of a booking differ, in words. Both: digests by what users call
    it, each with a space and the files that it is of behind it, if it is of any.

    >>> difference({"filter x > 1": "a", "sf": "b"}, {"filter x > 2": "c", "sf": "b"})
    'filter x > 1 is now filter x > 2'
    >>> difference({"sf": "a sf_2026.json"}, {"sf": "b sf_2027.json"})
    'sf has changed: sf_2026.json is now sf_2027.json'
    """
    words = []
    for name, text in now.items():
        digest, _, source = text.partition(" ")
        old, _, old_source = before.get(name, text).partition(" ")
        if digest != old:
            moved = f": {old_source} is now {source}" if old_source != source else ""
            words.append(f"{name} has changed{moved if old_source and source else ''}")
    new = [name for name in now if name not in before]
    gone = [name for name in before if name not in now]
    if len(new) == len(gone) == 1:
        return "; ".join([*words, f"{gone[0]} is now {new[0]}"])
    words += [f"{name} is new" for name in new] + [f"{name} was there before" for name in gone]
    return "; ".join(words[:_MOST]) or "the order of its steps has changed"


_MOST = 4


def restricted(whole: Specification, wanted: Sequence[int]) -> Specification:
    """The specification of the bookings with these indices, with the steps above them alone."""
    if [*wanted] == [*range(len(whole.bookings))]:
        return whole  # most files are new or the same
    bookings = [whole.bookings[index] for index in wanted]
    numbers = sorted(set(_above(whole.steps, (each["at"] for each in bookings))))
    new = {old: number for number, old in enumerate(numbers)}

    def moved(place: int | None) -> int | None:
        return None if place is None else new[place]

    steps: list[NumberedStep] = [
        {**whole.steps[old], "parent": moved(whole.steps[old]["parent"])} for old in numbers
    ]
    placed: list[PlacedBooking] = [{**each, "at": moved(each["at"])} for each in bookings]
    named = words(cast("Any", [*(each["action"] for each in steps), *placed]))
    text = json.dumps([steps, placed]) if whole.provided else ""
    called = {key: each for key, each in whole.provided.items() if json.dumps(key) in text}
    return Specification(steps, placed, named, called, whole.relations)


def _above(steps: Sequence[NumberedStep], places: Iterable[int | None]) -> Iterator[int]:
    seen: set[int] = set()
    for place in places:
        at = place
        while at is not None and at not in seen:
            seen.add(at)
            yield at
            at = steps[at]["parent"]
