"""Bookings, which are things to compute at a place of a query, and what all bookings over one
dataset share. Nothing here reads, computes or draws: that is done by the services of `Origin`,
which come from outside.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Generic, Protocol

from ..errors import TreemillError
from ..public_api import ShownText, public_class
from .quantities import Known, Quantity
from .steps import Filter, Params, Step

__all__ = [
    "OF_DATASETS",
    "Booking",
    "Located",
    "Origin",
    "Place",
    "Services",
    "compute",
    "named_filters",
    "steps_to",
]

# What users look for at bookings and nodes and results and datasets have, and what to write
# there. Pure: data only.

_NAMES = (
    *("axes", "counts", "density", "plot", "project", "show", "stack", "sum", "to_hist"),
    *("to_latex", "to_list", "to_numpy", "tolist", "values", "variances", "view", "items", "keys"),
    *("cumulative", "map", "nominal"),
)
OF_VALUES = (
    {name: f"the result has it: .value.{name}" for name in _NAMES}
    | dict.fromkeys(
        (
            *(
                "[]",
                "bool",
                "in",
                "iteration",
                "float()",
                "int()",
                "complex()",
                "len()",
                "round()",
                "abs()",
                "np.asarray()",
            ),
            *("+", "-", "*", "/", "//", "%", "**", "- before it", "<", "<=", ">", ">="),
        ),
        "the result is its .value",
    )
    | {
        **dict.fromkeys(("GetValue", "GetPtr"), "it is called value"),
        "Draw": "tm.plot(booking) draws its result",
    }
)
"""What to write for what results have and bookings do not; signs are operators."""

_FIRST = "it is a method of datasets: call it there, before filters, definitions and parameters"
OF_DATASETS = {
    **dict.fromkeys(("add_friend", "define_per_file", "select_entries"), _FIRST),
    **{
        name: f"it is of datasets: events.{name}"
        for name in ("aliases", "branches", "files", "index", "metadata", "name")
    },
    "io_report": "it is of datasets: events.io_report()",
    "num_entries": "count() books the number of entries here",
    "read": "arrays(names) computes columns here",
    "show": "it is of datasets: events.show() prints the branches",
    "to_arrow": "arrays(names) computes columns here; awkward.to_arrow_table makes a table of them",
    "to_numpy": "take(name) books a column here, arrays(names) computes several",
}
"""What to write for what datasets have and places below them do not."""


if TYPE_CHECKING:
    from typing import Any

    import awkward
    import hist
    import numpy.typing as npt
    from typing_extensions import TypeVar

    from ..data.chain import Chain
    from ..monitoring.report import Report
    from .description import Description, Drawing

    Value = TypeVar("Value", default=object, covariant=True)
    Array = npt.NDArray[Any]
    """An array whose type of numbers depends on the data."""
else:  # Python's own has no defaults before 3.13
    from typing import TypeVar

    Value = TypeVar("Value", covariant=True)


Groups = dict[int, "int | None"]
"""The groups of bookings, by their numbers. A group is computed together; None: no query has begun
the booking."""


class Services(Protocol):
    """What the session does for bookings and nodes."""

    def run(self, bookings: Sequence[Booking]) -> None:
        """Computes these bookings in one pass."""

    def arrays(
        self, booking: Booking[awkward.Array], start: int | None, stop: int | None
    ) -> awkward.Array:
        """The value of one booking, from some entries of the dataset only."""

    def explain(self, data: Chain, bookings: Sequence[Booking]) -> str:
        """The plan of a pass for these bookings, in words."""

    def draw(self, node: Place, wanted: Drawing) -> hist.Hist:
        """See `Values.draw`."""

    def scan(self, node: Place, columns: Sequence[str], where: str | None, count: int) -> None:
        """See `Values.scan`."""

    def head(
        self, node: Place, columns: str | Sequence[str] | Mapping[str, str], count: int
    ) -> awkward.Array:
        """See `Values.head`."""

    def describe(self, node: Place, columns: Sequence[str]) -> Description:
        """See `Values.describe`."""

    def html(self, title: str, value: object) -> str:
        """The value of a booking, for a notebook."""


class Reported(Protocol):
    """A query that has computed bookings."""

    @property
    def report(self) -> Report:
        """What is in the result, and what is not."""


class Origin:
    """What all nodes over one dataset share: its chain of files, the services that run bookings on
    it, and the bookings that were not computed yet. Those are held weakly, so that a booking that
    the caller does not keep is not run.

    Bookings that no query has begun are computed together when the value of one of them is needed.
    A booking that failed or was interrupted in a query is computed only when its own value is
    needed."""

    def __init__(self, chain: Chain, services: Services) -> None:
        self.chain = chain
        self.services = services
        self._open: dict[int, weakref.ref[Booking]] = {}
        self._groups: Groups = {}
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, object]:
        # A query that is kept on a cluster holds its bookings itself.
        return {"chain": self.chain, "services": self.services}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._open, self._groups, self._lock = {}, {}, threading.Lock()

    def add(self, booking: Booking) -> None:
        """Notes a booking as not computed."""
        with self._lock:
            self._open[booking.number] = weakref.ref(booking)

    def discard(self, booking: Booking) -> None:
        """Notes that a booking has its value."""
        with self._lock:
            self._open.pop(booking.number, None)
            self._groups.pop(booking.number, None)

    def begun(self, bookings: Iterable[Booking]) -> Groups:
        """Notes that a query computes these bookings, so that no other query does. Gives back how
        they were grouped, for `regroup`."""
        before = self._grouping(bookings)
        self.regroup({number: next(_groups) for number in before})
        return before

    def _grouping(self, bookings: Iterable[Booking]) -> Groups:
        with self._lock:
            return {booking.number: self._groups.get(booking.number) for booking in bookings}

    def regroup(self, groups: Groups) -> None:
        """Changes which bookings are computed together."""
        with self._lock:
            self._groups |= {n: group for n, group in groups.items() if n in self._open}

    def companions(self, wanted: Booking | None = None) -> list[Booking]:
        """`wanted` and the bookings that are computed with it, in the order of booking; without
        `wanted` those that no query has begun."""
        with self._lock:
            bookings = [reference() for _, reference in sorted(self._open.items())]
            held = [booking for booking in bookings if booking is not None]
            self._open = {booking.number: weakref.ref(booking) for booking in held}
            self._groups = {n: group for n, group in self._groups.items() if n in self._open}
            mine = None if wanted is None else self._groups.get(wanted.number)
            group = [booking for booking in held if self._groups.get(booking.number) == mine]
        return group if wanted is None or wanted in group else [wanted, *group]

    def explain(self, wanted: Booking | None = None) -> str:
        """The plan of the pass for `wanted` and its companions. Companions that do not compile are
        left out; they raise when their own value is needed."""
        group = self.companions(wanted)
        try:
            return ShownText(self.services.explain(self.chain, group))
        except Exception:
            sound = [each for each in group if each is wanted or self._compiles(each)]
            if len(sound) in (0, len(group)):
                raise
        return ShownText(self.services.explain(self.chain, sound))

    def _compiles(self, booking: Booking) -> bool:
        try:
            self.services.explain(self.chain, [booking])
        except Exception:
            return False
        return True

    def evaluate(self, wanted: Booking) -> None:
        """Runs `wanted` and its companions in one pass over the data. If a companion fails, it
        raises when its own value is needed, and not here."""
        self._evaluate(wanted, self.companions(wanted))
        if not wanted.done:
            raise TreemillError(_STOPPED)

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
        # One of the others fails. Each half is run by itself, which finds it in few passes.
        middle = len(others) // 2
        for half in (others[:middle], others[middle:]):
            together = next(_groups)
            self.regroup({booking.number: together for booking in half})


_STOPPED = "the query was stopped before all entries were processed"
_groups = itertools.count()
_numbers = itertools.count()
_NOTHING = object()


def compute(results: object) -> None:
    """Computes the bookings in mappings, lists and tuples, in one another: all of them in one pass,
    of which each dataset is a part. The others that are booked there are left for later."""
    bookings = (each for each in leaves(results) if isinstance(each, Booking))
    todo = list({id(each): each for each in bookings if not each.done}.values())
    if todo:
        todo[0].node.origin.services.run(todo)
        if not all(each.done for each in todo):
            raise TreemillError(_STOPPED)


def leaves(value: object) -> Iterator[object]:
    """Everything in `value` that is no mapping, list or tuple, in order."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for each in value:
            yield from leaves(each)
    else:
        yield value


class Place:
    """A place in a query, after all steps from the dataset down to here. Immutable."""

    __slots__ = ("__weakref__", "origin", "parent", "step")

    def __init__(
        self, origin: Origin, parent: Place | None = None, step: Step | None = None
    ) -> None:
        self.origin = origin
        self.parent = parent
        self.step = step


def steps_to(place: Place) -> list[Place]:
    """The places with a step from the dataset down to this one."""
    places: list[Place] = []
    walk: Place | None = place
    while walk is not None and walk.step is not None:
        places.append(walk)
        walk = walk.parent
    return places[::-1]


def named_filters(place: Place) -> list[Place]:
    """The places with a filter that has a name, from the dataset down to this one."""
    return [
        each
        for each in steps_to(place)
        if isinstance(each.step, Filter) and each.step.name is not None
    ]


class Located:
    """An object at a place of a query: a node, or a dataset at the root."""

    __slots__ = ()

    def _with(self, params: Params) -> Place:
        """The place with these constants."""
        raise NotImplementedError

    def _names(self) -> Known:
        """Names of all columns there; of those whose values expressions cannot use, the branch."""
        raise NotImplementedError


@public_class("node", "number", "set_value", "wanted", habits=OF_VALUES)
class Booking(Generic[Value]):
    """A result that a query will compute at a node. `value` computes it in one pass with all other
    bookings on the dataset; `treemill.run` computes only the bookings that you give to it."""

    def __init__(self, node: Place, wanted: Quantity) -> None:
        self.node = node
        self.wanted = wanted
        self.number = next(_numbers)
        self._value: Any = _NOTHING  # a Value, which is a result: a covariant type
        self._account: Reported | None = None
        node.origin.add(self)

    @property
    def done(self) -> bool:
        """True if the value is there already."""
        return self._value is not _NOTHING

    @property
    def value(self) -> Value:
        """The result, as documented at the method that booked it. Below `vary` it is a
        `Variations`, a mapping of "nominal" and the names of variations to results, which type
        checkers do not know. The first access computes it, together with everything else that is
        booked on the dataset except bookings that have failed or were interrupted. Such a booking
        runs again when its own value is needed, and raises its own error again."""
        if not self.done:
            self.node.origin.evaluate(self)
        value: Value = self._value
        return value

    @property
    def report(self) -> Report | None:
        """The `Report` of the run that computed the value: which entries are in it, and which are
        not (`report.missing`), if the run left out what fails (`on_error="skip"`). None before."""
        return None if self._account is None else self._account.report

    def set_value(self, value: object, account: Reported | None = None) -> None:
        """Called by the query that has computed it."""
        self._value, self._account = value, account
        self.node.origin.discard(self)

    def __eq__(self, other: object) -> bool:
        """A booking equals itself only. Raises TypeError for a number, which is meant for the
        result."""
        if isinstance(other, Number):
            raise TypeError(
                "'Booking' object is not compared with numbers: the result is its .value"
            )
        return self is other

    __hash__ = object.__hash__

    def __format__(self, spec: str) -> str:
        if spec:
            raise TypeError(
                f"'Booking' object is not formatted by {spec!r}: the result is its .value"
            )
        return str(self)

    def explain(self) -> str:
        """Describe the pass that `value` would make. This opens the first file and reads no entry.

        Returns
        -------
        str
            The columns that are read, filters, lists, and what is computed once. With
            `treemill.remember` also which results are remembered, and why the others are computed.

        Raises
        ------
        QueryError
            If the booking makes no sense for the dataset.

        Examples
        --------
        >>> plan = events.hist("MET_pt", bins=(50, 0, 200)).explain()
        >>> "MET_pt" in plan
        True
        """
        return self.node.origin.explain(self)

    @property
    def title(self) -> str:
        """A few words for displays."""
        return self.wanted.title

    def _repr_html_(self) -> str | None:
        if not self.done:
            return None  # the words of repr
        html: str = self.node.origin.services.html(self.title, self._value)
        return html

    def __repr__(self) -> str:
        state = repr(self._value) if self.done else "not run yet"
        return f"<{type(self.wanted).__name__.lower()} {self.title}: {state}>"
