"""The values of a booking below `vary`: the nominal one and those of the variations, which add and
scale together.

Knows no query. A value that has axes is a histogram; hist is imported only to make one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from os import PathLike
from typing import TYPE_CHECKING, overload

from ..errors import QueryError, check_text, listed
from .listing import as_html, as_text

if TYPE_CHECKING:
    from hist import Hist

__all__ = ["NOMINAL", "Variations", "alike", "plus", "split", "systematic"]

if TYPE_CHECKING:
    import hist
    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray
    from typing_extensions import TypeVar

    Value = TypeVar("Value", default=object)
    Made = TypeVar("Made")
else:  # Python's own has no defaults before 3.13
    from typing import TypeVar

    Value = TypeVar("Value")


NOMINAL = "nominal"


class Variations(Mapping[str, Value]):
    """The nominal value and the values of the variations by name, "nominal" first.

    An immutable mapping. A variation that was booked but cannot change the value is not among the
    keys: `v[name]` and `v.get(name)` then give the nominal value. `v[name]` raises KeyError for
    other names. Values are added, subtracted, multiplied and divided variation by variation. If one
    side lacks a variation, its nominal value counts, because the variation does not change this
    side. A histogram without variations cannot be on the left, because its operators are hist's.
    Write `Variations({"nominal": data}) - background`.

    >>> varied = events.vary("MET_pt", {"up": "MET_pt * 1.1", "down": "MET_pt * 0.9"})
    >>> both = varied.hist("MET_pt", bins=(50, 0, 200)).value * 0.5
    >>> list(both)
    ['nominal', 'MET_pt:up', 'MET_pt:down']
    """

    def __init__(
        self,
        values: Mapping[str, Value] | Iterable[tuple[str, Value]] = (),
        unchanged: Iterable[str] = (),
    ) -> None:
        self._values = dict(values)
        self.unchanged = frozenset(unchanged) - self._values.keys()
        """Names of variations that do not change the value."""

    @property
    def nominal(self) -> Value:
        """The value without variations."""
        return self[NOMINAL]

    def __getitem__(self, name: str) -> Value:
        if name in self._values:
            return self._values[name]
        if name in self.unchanged:
            return self.nominal
        known = [*self, *sorted(self.unchanged)]
        near = get_close_matches(str(name), known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
        raise KeyError(f"no variation {name!r}; {hint}")

    @overload
    def get(self, name: str, default: None = None, /) -> Value | None: ...

    @overload
    def get(self, name: str, default: Value, /) -> Value: ...

    @overload
    def get(self, name: str, default: Made, /) -> Value | Made: ...

    def get(self, name: str, default: object = None, /) -> object:
        """Get what `[]` gives, or the default where `[]` raises KeyError."""
        return self[name] if name in self or name in self.unchanged else default

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return as_text(self)

    __str__ = __repr__

    def map(self, function: Callable[[Value], Made]) -> Variations[Made]:
        """Apply a function to each value.

        Parameters
        ----------
        function
            It takes a value, and returns the one that replaces it.

        Returns
        -------
        Variations
            The results of the function, by the same names.

        Examples
        --------
        >>> up = events.vary("MET_pt", {"up": "MET_pt * 1.1"}).hist("MET_pt", bins=(50, 0, 200))
        >>> up.value.map(lambda h: len(h.axes[0]))
        {'nominal': 50, 'MET_pt:up': 50}
        """
        return Variations({name: function(value) for name, value in self.items()}, self.unchanged)

    # Arithmetic.

    def __add__(self, other: object) -> Variations[Value]:
        return self._with(other, operator.add)

    def __radd__(self, other: object) -> Variations[Value]:
        if isinstance(other, int) and other == 0:
            return self  # sum() begins with 0
        return self._with(other, lambda right, left: operator.add(left, right))

    def __sub__(self, other: object) -> Variations[Value]:
        return self._with(other, operator.sub)

    def __rsub__(self, other: object) -> Variations[Value]:
        return self._with(other, lambda right, left: operator.sub(left, right))

    def __mul__(self, other: object) -> Variations[Value]:
        return self._with(other, operator.mul)

    def __rmul__(self, other: object) -> Variations[Value]:
        return self._with(other, operator.mul)

    def __truediv__(self, other: object) -> Variations[Value]:
        return self._with(other, operator.truediv)

    def __rtruediv__(self, other: object) -> Variations[Value]:
        return self._with(other, lambda right, left: operator.truediv(left, right))

    def _with(self, other: object, do: Callable[[object, object], Value]) -> Variations[Value]:
        if not isinstance(other, Variations):
            return self.map(lambda value: do(value, other))
        names = dict.fromkeys([*self, *other])
        mine = ((self.get(name, self.nominal), other.get(name, other.nominal)) for name in names)
        values = {name: do(*pair) for name, pair in zip(names, mine, strict=True)}
        return Variations(values, self.unchanged | other.unchanged)

    # Histograms.

    def to_hist(self, name: str = "variation", names: Sequence[str] | None = None) -> hist.Hist:
        """Make one histogram of all, with an axis of categories before the others.

        Parameters
        ----------
        name
            The name of that axis.
        names
            Its categories; None: the names of the mapping. If a variation does not change the
            histogram, its category has the nominal contents.

        Returns
        -------
        hist.Hist
            The histograms, side by side.

        Raises
        ------
        QueryError
            If the values are not histograms of the same bins and storage, or if a name is that of
            no variation.

        Examples
        --------
        >>> up = events.vary("MET_pt", {"up": "MET_pt * 1.1"}).hist("MET_pt", bins=(50, 0, 200))
        >>> list(up.value.to_hist().axes["variation"])
        ['nominal', 'MET_pt:up']
        """
        import hist

        check_text("name", name)
        values = self._histograms()
        first = values[NOMINAL]
        chosen = list(self) if names is None else listed("names", names)
        unknown = next((each for each in chosen if each not in {*self, *self.unchanged}), None)
        if unknown is not None:
            raise QueryError(f"there is no variation {unknown!r}", suggestions=[*self])
        axis = hist.axis.StrCategory(chosen, name=name, label=name, overflow=False)
        histogram = hist.Hist(axis, *first.axes, storage=first.storage_type(), name=first.name)
        view = histogram.view(flow=True)
        for index, variation in enumerate(chosen):
            view[index] = values.get(variation, first).view(flow=True)
        return histogram

    def band(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Get the lower and the upper end of the contents of each bin.

        Differences to the nominal histogram are added in quadrature, downward and upward ones
        separately.

        Returns
        -------
        lower, upper
            Arrays of the shape of the histogram, without its flow bins.

        Raises
        ------
        QueryError
            If the values are not histograms of the same bins and storage.

        Examples
        --------
        >>> up = events.vary("MET_pt", {"up": "MET_pt * 1.1"}).hist("MET_pt", bins=(50, 0, 200))
        >>> lower, upper = up.value.band()
        >>> bool((lower <= upper).all())
        True
        """
        import numpy as np

        values = self._histograms()
        middle = np.asarray(values[NOMINAL].values(), float)
        off = [np.asarray(value.values(), float) - middle for value in values.values()]
        low = np.sqrt(sum(np.minimum(each, 0.0) ** 2 for each in off))
        high = np.sqrt(sum(np.maximum(each, 0.0) ** 2 for each in off))
        return middle - low, middle + high

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        kind: str = "band",
        title: str = "",
        log: bool = False,
        ratio: bool = False,
    ) -> Figure:
        """Draw the nominal histogram with its variations.

        Parameters
        ----------
        path
            The file of the picture; None: none is written.
        kind
            "band": one band of all variations, see `band`; "lines": a line for each.
        title, log, ratio
            As for `treemill.plot`.

        Returns
        -------
        matplotlib.figure.Figure
            The picture.

        Raises
        ------
        QueryError
            If the values are not histograms of the same bins and storage, or if there is no such
            kind.
        UnsupportedError
            If matplotlib or mplhep is not installed. It is an ImportError, too.

        Examples
        --------
        >>> up = events.vary("MET_pt", {"up": "MET_pt * 1.1"}).hist("MET_pt", bins=(50, 0, 200))
        >>> figure = up.value.plot("met.png", kind="lines", ratio=True)
        """
        from .histograms import plot_variations  # start-up

        return plot_variations(self, self.band, path, kind, title, log, ratio)

    def _histograms(self) -> dict[str, hist.Hist]:
        if not hasattr(self.nominal, "axes"):
            raise QueryError(f"{self.nominal!r} is not a histogram")
        return dict(alike(self._values))

    def _repr_html_(self) -> str:
        from ..pictures.html import of_variations  # start-up

        return as_html(self) or of_variations(self)


# Histograms side by side, and those with an axis of categories, taken apart. Knows no booking and
# no file.

VARIATION = "variation"
"""The name of an axis of variations."""


def alike(histograms: Mapping[str, hist.Hist]) -> Mapping[str, hist.Hist]:
    """The histograms with the same axes: those that have grown get the categories of all. Raises
    QueryError if they differ in anything else."""
    (first_name, first), *others = histograms.items()
    if all(
        each.axes == first.axes and each.storage_type is first.storage_type for _, each in others
    ):
        return histograms
    frame = first
    for name, each in others:
        frame = plus(frame, each, f"{first_name!r} and {name!r}")
    empty = frame.copy().reset()
    return {name: empty + each for name, each in histograms.items()}


def plus(total: hist.Hist, each: hist.Hist, names: str) -> hist.Hist:
    """The sum of two histograms. `names`: what messages call them. Raises QueryError if they cannot
    be added."""
    try:
        return total + each
    except (TypeError, ValueError):
        raise QueryError(
            f"the histograms of {names} cannot be stacked, because they have different axes or "
            f"storages: {_form(total)} and {_form(each)}. Book them with the same bins= and "
            "storage="
        ) from None


def _form(histogram: hist.Hist) -> str:
    axes = ", ".join(map(repr, histogram.axes))
    return f"{axes:.200} ({histogram.storage_type.__name__})"


def split(values: Variations[Hist], axis: str | int) -> dict[str, Variations[Hist]]:
    """Histograms by the categories of the axis of this name or number, without it; nothing if there
    is no such axis. Raises QueryError if they have no other, or if the axes of one differ."""
    axes = values.nominal.axes
    places = [axis] if isinstance(axis, int) else [i for i, a in enumerate(axes) if a.name == axis]
    if not places or axes[places[0]].traits.continuous:
        return {}
    if len(axes) == 1:
        raise QueryError(f"a histogram has no other axis than {axis!r}")
    values = Variations(alike(dict(values)), values.unchanged)  # categories have one order then
    axes = values.nominal.axes
    parts = {}
    for i in range(axes[places[0]].size):
        place = {places[0]: i}
        parts[str(axes[places[0]].value(i))] = values.map(lambda each, at=place: each[at])  # type: ignore[misc]
    return parts


def systematic(values: Variations[Hist]) -> Variations[Hist]:
    """The variations of a histogram that has them on an axis; others as they are."""
    parts = split(values, VARIATION) if len(values) == 1 else {}
    if parts and NOMINAL not in parts:
        raise QueryError(f'the axis "{VARIATION}" has no category "{NOMINAL}"')
    return Variations({name: each.nominal for name, each in parts.items()}) if parts else values
