"""Values below `vary`: the nominal one and those of the variations, which add and scale together.

Knows nothing of how they came about. Histograms are told by their axes: hist is imported when one
is made.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from os import PathLike
from typing import Any

__all__ = ["NOMINAL", "Variations"]

NOMINAL = "nominal"


class Variations(dict[str, Any]):
    """The nominal value and those of variations by name, "nominal" first.

    A variation that is booked and cannot change the value is none of the keys, and `v[name]` is
    then the nominal value; another name is a KeyError. Values are added, subtracted, multiplied
    and divided variation by variation; where one side has no such variation its nominal value
    counts, as that of a process that the variation does not touch.

        varied = events.vary("MET_pt", {"up": "MET_pt * 1.1", "down": "MET_pt * 0.9"})
        both = varied.hist("MET_pt", bins=(50, 0, 200)).value * 0.5
        both["MET_pt:up"], both.nominal
    """

    def __init__(
        self, values: Mapping[str, Any] | Iterable[Any] = (), unchanged: Iterable[str] = ()
    ) -> None:
        super().__init__(values)
        self.unchanged = frozenset(unchanged) - self.keys()
        """Names of variations that do not change the value."""

    @property
    def nominal(self) -> Any:
        """What there would be without variations."""
        return self[NOMINAL]

    def __missing__(self, name: str) -> Any:
        if name in self.unchanged:
            return self.nominal
        known = [*self, *sorted(self.unchanged)]
        near = get_close_matches(str(name), known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
        raise KeyError(f"no variation {name!r}; {hint}")

    def map(self, function: Callable[[Any], Any]) -> Variations:
        """What `function` makes of each value: `v.map(lambda h: h[::2j])`."""
        return Variations({name: function(value) for name, value in self.items()}, self.unchanged)

    # Arithmetic.

    def __add__(self, other: Any) -> Variations:
        return self._with(other, operator.add)

    def __radd__(self, other: Any) -> Variations:
        # sum() begins with 0.
        return self if isinstance(other, int) and other == 0 else self._with(other, _swapped_add)

    def __sub__(self, other: Any) -> Variations:
        return self._with(other, operator.sub)

    def __mul__(self, other: Any) -> Variations:
        return self._with(other, operator.mul)

    def __rmul__(self, other: Any) -> Variations:
        return self._with(other, operator.mul)

    def __truediv__(self, other: Any) -> Variations:
        return self._with(other, operator.truediv)

    def _with(self, other: Any, do: Callable[[Any, Any], Any]) -> Variations:
        if not isinstance(other, Variations):
            return self.map(lambda value: do(value, other))
        names = dict.fromkeys([*self, *other])
        mine = ((self.get(name, self.nominal), other.get(name, other.nominal)) for name in names)
        made = {name: do(*pair) for name, pair in zip(names, mine, strict=True)}
        return Variations(made, self.unchanged | other.unchanged)

    # Histograms.

    def to_hist(self, name: str = "variation") -> Any:
        """One histogram of all: a hist.Hist with an axis of categories, called `name`, before the
        others. Raises TypeError where the values are no histograms."""
        import hist

        first = self._histogram()
        axis = hist.axis.StrCategory(list(self), name=name, label=name, overflow=False)
        made = hist.Hist(axis, *first.axes, storage=first.storage_type(), name=first.name)
        view: Any = made.view(flow=True)
        for index, value in enumerate(self.values()):
            view[index] = value.view(flow=True)
        return made

    def band(self) -> tuple[Any, Any]:
        """The contents' lower and upper ends in each bin: the differences to the nominal ones,
        those downwards and those upwards, each added in quadrature. Raises TypeError where the
        values are no histograms."""
        import numpy as np

        middle = np.asarray(self._histogram().values(), float)
        off = [np.asarray(value.values(), float) - middle for value in self.values()]
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
    ) -> Any:
        """Draws the nominal histogram with a band of all variations (`kind="band"`; see `band`) or
        with a line for each (`kind="lines"`). Else as `treemill.plot`."""
        from .histograms import plot_variations  # start-up

        return plot_variations(self, self.band, path, kind, title, log, ratio)

    def _histogram(self) -> Any:
        if not hasattr(self.nominal, "axes"):
            raise TypeError(f"{self.nominal!r} is not a histogram")
        return self.nominal

    def _repr_html_(self) -> str:
        from ..monitor.html import of_variations  # start-up

        return of_variations(self)


def _swapped_add(mine: Any, other: Any) -> Any:
    return other + mine
