"""Bookings: things to compute at a place of a query, once they are run; and what all over one
dataset share. Nothing here reads, computes or draws: how bookings are run is given to `Origin`
from outside.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import QueryError, TreemillError
from .wanted import Wanted

if TYPE_CHECKING:
    from .query import Node

__all__ = ["Booking", "Origin", "steps_to"]

_Made = TypeVar("_Made")


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

    def together(self, wanted: Booking, do: Callable[[Sequence[Booking]], _Made]) -> _Made:
        """What `do` makes of `wanted` and all others that are booked. Where some of those do not
        compile they are left out: they raise when they are asked for themselves, and are not the
        affair of `wanted`."""
        booked = self.unevaluated()
        booked = booked if wanted in booked else [wanted, *booked]
        try:
            return do(booked)
        except QueryError:
            sound = [each for each in booked if each is wanted or self._compiles(each)]
            if len(sound) == len(booked):
                raise
            return do(sound)

    def _compiles(self, booking: Booking) -> bool:
        try:
            self.dataset.explained([booking])
        except QueryError:
            return False
        return True

    def evaluate(self, wanted: Booking) -> None:
        """Runs `wanted` and all others that are booked, in one pass over the data."""
        self.together(wanted, self._run)
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
        return str(origin.together(self, origin.dataset.explained))

    @property
    def title(self) -> str:
        """What it is, in a few words, for displays."""
        return self.wanted.title

    def __repr__(self) -> str:
        state = repr(self._value) if self.done else "not run yet"
        return f"<{type(self.wanted).__name__.lower()} {self.title}: {state}>"


def steps_to(node: Node) -> list[Node]:
    """The nodes with a step from the dataset down to this one."""
    found: list[Node] = []
    walk: Node | None = node
    while walk is not None and walk.step is not None:
        found.append(walk)
        walk = walk.parent
    return found[::-1]
