"""Bookings: things to compute at a place of a query, once they are run; and what all over one
dataset share. Nothing here reads, computes or draws: the services of `Origin` do, which come from
outside.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol

from ..errors import TreemillError
from ..faces import face
from .draw_request import Drawing
from .quantities import Wanted
from .steps import Params, Step

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Value = TypeVar("Value", default=Any, covariant=True)
else:  # Python's own has no defaults before 3.13
    from typing import TypeVar

    Value = TypeVar("Value", covariant=True)

__all__ = ["Booking", "Located", "Origin", "Place", "Services", "steps_to"]

Groups = dict[int, "int | None"]
"""Which bookings are computed together, by their numbers; None: what no query has begun."""


class Services(Protocol):
    """What those who run queries do for bookings and nodes."""

    def run(self, bookings: Sequence[Booking]) -> None:
        """Computes these bookings in one pass."""

    def arrays(self, booking: Booking, start: int | None, stop: int | None) -> Any:
        """The value of one booking, of some entries of the dataset."""

    def explain(self, data: Any, bookings: Sequence[Booking]) -> str:
        """The plan of a pass for these bookings, in words."""

    def draw(self, node: Place, wanted: Drawing) -> Any:
        """See `Looks.draw`."""

    def scan(self, node: Place, columns: Sequence[str], where: str | None, count: int) -> None:
        """See `Looks.scan`."""

    def head(self, node: Place, columns: Any, count: int) -> Any:
        """See `Looks.head`."""

    def describe(self, node: Place, columns: Sequence[str]) -> Any:
        """See `Looks.describe`."""

    def html(self, title: str, value: Any) -> str:
        """What a booking computed, for a notebook."""


class Origin:
    """What all nodes over one dataset share: its chain of files, the services that run bookings on
    it, and the bookings that were not computed yet (held weakly: a booking that the caller does not
    keep is not run).

    Bookings that no query has begun are computed together when one of them is asked for. One that
    a query has begun, and that failed or was interrupted there, is computed only when it is asked
    for itself."""

    def __init__(self, chain: Any, services: Services) -> None:
        """`chain`: chain.Chain, of which a query's description asks for files, branches and aliases
        only."""
        self.chain = chain
        self.services = services
        self._open: dict[int, weakref.ref[Booking]] = {}
        self._groups: Groups = {}
        self._lock = threading.Lock()

    def add(self, booking: Booking) -> None:
        """Notes a booking as not computed."""
        with self._lock:
            self._open[booking.number] = weakref.ref(booking)

    def discard(self, booking: Booking) -> None:
        """The booking has its value."""
        with self._lock:
            self._open.pop(booking.number, None)
            self._groups.pop(booking.number, None)

    def begun(self, bookings: Iterable[Booking]) -> Groups:
        """A query computes these: no other one takes them along. Gives back how they were grouped,
        for `regroup`."""
        before = self._grouping(bookings)
        self.regroup({number: next(_groups) for number in before})
        return before

    def _grouping(self, bookings: Iterable[Booking]) -> Groups:
        with self._lock:
            return {booking.number: self._groups.get(booking.number) for booking in bookings}

    def regroup(self, groups: Groups) -> None:
        """From now on these bookings are computed together, group by group."""
        with self._lock:
            self._groups |= {n: group for n, group in groups.items() if n in self._open}

    def companions(self, wanted: Booking | None = None) -> list[Booking]:
        """`wanted` and what is computed along with it, in the order of booking; None: what no query
        has begun."""
        with self._lock:
            found = [reference() for _, reference in sorted(self._open.items())]
            held = [booking for booking in found if booking is not None]
            self._open = {booking.number: weakref.ref(booking) for booking in held}
            self._groups = {n: group for n, group in self._groups.items() if n in self._open}
            mine = None if wanted is None else self._groups.get(wanted.number)
            group = [booking for booking in held if self._groups.get(booking.number) == mine]
        return group if wanted is None or wanted in group else [wanted, *group]

    def explain(self, wanted: Booking | None = None) -> str:
        """The plan of the pass for `wanted` and its companions. Those that do not compile are left
        out: they raise when they are asked for themselves."""
        group = self.companions(wanted)
        try:
            return self.services.explain(self.chain, group)
        except Exception:
            sound = [each for each in group if each is wanted or self._compiles(each)]
            if len(sound) in (0, len(group)):
                raise
        return self.services.explain(self.chain, sound)

    def _compiles(self, booking: Booking) -> bool:
        try:
            self.services.explain(self.chain, [booking])
        except Exception:
            return False
        return True

    def evaluate(self, wanted: Booking) -> None:
        """Runs `wanted` and its companions in one pass over the data. Errors of companions are not
        the affair of `wanted`, and come when they are asked for themselves."""
        self._evaluate(wanted, self.companions(wanted))
        if not wanted.done:
            raise TreemillError("the query was stopped before all entries were processed")

    def _evaluate(self, wanted: Booking, group: Sequence[Booking]) -> None:
        others = [booking for booking in group if booking is not wanted]
        before = self._grouping(others)
        try:
            self.services.run(group)
            return
        except Exception:
            self.regroup(before)
            if not others:
                self.begun([wanted])
                raise
        wrong = [booking for booking in others if not self._compiles(booking)]
        if wrong:
            self.begun(wrong)
            self._evaluate(wanted, [booking for booking in group if booking not in wrong])
            return
        self._evaluate(wanted, [wanted])
        # One of the others fails. Halves that go on by themselves find out which in few passes.
        middle = len(others) // 2
        for half in (others[:middle], others[middle:]):
            together = next(_groups)
            self.regroup({booking.number: together for booking in half})


_groups = itertools.count()
_numbers = itertools.count()
_NOTHING = object()


class Place:
    """Where in a query: all steps from the dataset down to here. Immutable."""

    __slots__ = ("__weakref__", "origin", "parent", "step")

    def __init__(
        self, origin: Origin, parent: Place | None = None, step: Step | None = None
    ) -> None:
        self.origin = origin
        self.parent = parent
        self.step = step


def steps_to(place: Place) -> list[Place]:
    """The places with a step from the dataset down to this one."""
    found: list[Place] = []
    walk: Place | None = place
    while walk is not None and walk.step is not None:
        found.append(walk)
        walk = walk.parent
    return found[::-1]


class Located:
    """What is at a place of a query: a node, and a dataset at its root."""

    __slots__ = ()

    def _with(self, params: Params) -> Place:
        """The place with these constants."""
        raise NotImplementedError

    def _names(self) -> Iterable[str]:
        """Names of all columns there."""
        raise NotImplementedError


@face("node", "number", "set_value", "wanted")
class Booking(Generic[Value]):
    """Something to compute at a node. `value` computes it, in one pass with all else that is booked
    on the dataset and that no query has begun; `treemill.run` computes what it is given."""

    def __init__(self, node: Place, wanted: Wanted) -> None:
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
    def value(self) -> Value:
        """What the method that booked it says; below `vary` a `Variations`, a mapping of
        "nominal" and the names of variations to it, which type checkers do not know. Computed when
        it is first asked for, along with what else is booked on the dataset, but for bookings that
        have failed or were interrupted.
        One of these runs again when it is asked for itself, and raises its own error again."""
        if not self.done:
            self.node.origin.evaluate(self)
        value: Value = self._value
        return value

    def set_value(self, value: Any) -> None:
        """From the query that computed it."""
        self._value = value
        self.node.origin.discard(self)

    def explain(self) -> str:
        """The plan of the pass that `value` would make, in words: columns read, filters, lists,
        what is shared. Opens the first file; reads no entry."""
        return self.node.origin.explain(self)

    @property
    def title(self) -> str:
        """What it is, in a few words, for displays."""
        return self.wanted.title

    def _repr_html_(self) -> str | None:
        if not self.done:
            return None  # the words of repr
        html: str = self.node.origin.services.html(self.title, self._value)
        return html

    def __repr__(self) -> str:
        state = repr(self._value) if self.done else "not run yet"
        return f"<{type(self.wanted).__name__.lower()} {self.title}: {state}>"
