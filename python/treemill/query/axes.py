"""What a user may write as `bins=`, turned into axes in the form of the core's query format
(spec.rs, `Axis`).

Pure: standard library only. hist's and boost-histogram's axis objects are recognised by the names
of their classes, so that neither library is imported by a query that does not use it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..errors import QueryError, UnsupportedError

__all__ = [
    "DEFAULT_BINS",
    "AutomaticAxis",
    "Axis",
    "FixedAxis",
    "GrowingAxis",
    "axes_from_bins",
    "fits",
    "integer",
    "names_of",
    "regular",
]

DEFAULT_BINS = 100
"""Bins of an automatic axis; also the most integers that get one bin each."""
ALL, MOST = "all", "most"
"""Ranges that come from the data: of every value, or without the far tails (axis_ranges.py)."""
_MAX_BINS = 100_000_000


@dataclass(frozen=True)
class FixedAxis:
    """An axis whose bins are known: as the core reads it, and the user's own object, if any."""

    spec: dict[str, Any]
    given: Any = None


@dataclass(frozen=True)
class AutomaticAxis:
    """An axis whose range comes from the data, with this many bins (None: a hundred, or one for
    each of a few integers)."""

    bins: int | None = None
    most: bool = False
    """Whether it may leave out the far tails."""


@dataclass(frozen=True)
class GrowingAxis:
    """An axis that takes whatever comes. Of categories it has those that the user gave, and after
    them the others, ascending: so it does not depend on the order of events, as the library's does.
    Of integers it has all from the first to the last."""

    given: Any
    categories: tuple[Any, ...] = ()

    def grown(self, values: Sequence[Any]) -> FixedAxis:
        """The axis with these values too. Raises QueryError for what it cannot have."""
        kind = _library(self.given)
        if kind != "StrCategory":
            values = [int(value) for value in values]  # bools are integers here
        axis = self._stretched(values) if kind == "Integer" else self._with_categories(values)
        axis.__dict__.update(self.given.__dict__)  # name, label, what else the user gave it
        return FixedAxis(_from_object(axis), axis)

    def _stretched(self, values: Sequence[int]) -> Any:
        first = int(self.given.edges[0])
        low = min([first, *values])
        high = max([first + int(self.given.size), *(value + 1 for value in values)])
        if not (fits(low) and fits(high)):
            raise QueryError(
                f"an Integer axis takes integers of 32 bits, and {low} to {high - 1} came: give "
                "its whole range, without growth"
            )
        _bins(max(high - low, 1))
        return type(self.given)(low, high, growth=True)

    def _with_categories(self, values: Sequence[Any]) -> Any:
        known = set(self.categories)
        categories = [*self.categories, *(value for value in values if value not in known)]
        large = [v for v in categories if isinstance(v, int) and not fits(v)]
        if large:
            raise QueryError(
                f"an IntCategory axis takes integers of 32 bits, and {large[0]} came: number the "
                "categories otherwise, or book unique(…)"
            )
        return type(self.given)(categories, growth=True)


Axis = FixedAxis | AutomaticAxis | GrowingAxis


def axes_from_bins(bins: Any, dimensions: int, range: Any = None) -> list[Axis]:  # noqa: A002
    """One axis per dimension.

    For one dimension `bins` is None (range and bins from the data), a number of bins (range from
    the data, or `range=(lo, hi)`), a tuple `(n, lo, hi)`, a list or array of ascending edges, or an
    axis object of hist or boost-histogram. For several it is a list of these, one per dimension;
    None or one number stand for all of them. A histogram of hist or boost-histogram stands for its
    axes, as does one that is being made (`hist.new.Reg(10, 0, 1)`). Of ranges from the data, "all"
    holds every value, "most" leaves out far tails.
    """
    ranges = _ranges(range, dimensions)
    if _library(bins) == "Histogram" or _is_unfinished(bins):
        bins = list(bins.axes)
    if bins is None or _is_int(bins):
        return [_axis(bins, r) for r in ranges]
    if dimensions == 1:
        # hist users write a list of axes also where there is one.
        only = bins[0] if _is_list_of_forms(bins) and len(bins) == 1 else bins
        return [_axis(only, ranges[0])]
    forms = list(bins) if isinstance(bins, (list, tuple)) else None
    if forms is None or len(forms) != dimensions:
        raise QueryError(
            f"bins= of a histogram of {dimensions} dimensions is a list of {dimensions}: "
            f"[(50, 0, 200), …]; got {_shown(bins)}"
        )
    return [_axis(form, r) for form, r in zip(forms, ranges, strict=True)]


_Range = tuple[float, float] | str | None


def _ranges(given: Any, dimensions: int) -> list[_Range]:
    if given is None or isinstance(given, str):
        return [_found(given)] * dimensions
    per_axis = [given] if dimensions == 1 and _is_pair(given) else given
    if not isinstance(per_axis, (list, tuple)) or len(per_axis) != dimensions:
        raise QueryError(f"range= is (lo, hi), or a list of {dimensions} of them")
    if not all(r is None or isinstance(r, str) or _is_pair(r) for r in per_axis):
        raise QueryError("range= is (lo, hi), or a list of such pairs")
    return [(float(r[0]), float(r[1])) if _is_pair(r) else _found(r) for r in per_axis]


def _found(word: str | None) -> str | None:
    if word not in (None, ALL, MOST):
        raise QueryError(f'range= is (lo, hi), "{ALL}" or "{MOST}", not {word!r}')
    return word


def _axis(form: Any, limits: _Range) -> Axis:
    if form is None or _is_int(form):
        count = None if form is None else _bins(form)
        if isinstance(limits, tuple):
            return FixedAxis(regular(count or DEFAULT_BINS, *limits))
        return AutomaticAxis(count, limits == MOST)
    if isinstance(limits, tuple):
        raise QueryError("range= goes with a number of bins only")
    if isinstance(form, tuple) and len(form) == 3 and _is_int(form[0]):
        return FixedAxis(regular(_bins(form[0]), form[1], form[2]))
    if _library(form) in ("IntCategory", "StrCategory") and form.traits.growth:
        return GrowingAxis(form, tuple(form.value(i) for i in _indices(form)))
    if _library(form) == "Integer" and form.traits.growth:
        return GrowingAxis(form)
    if _library(form) is not None:
        return FixedAxis(_from_object(form), form)
    values = form.tolist() if hasattr(form, "tolist") else form
    if isinstance(values, (list, tuple, range)) and all(_is_number(v) for v in values):
        return FixedAxis(variable(values))
    raise QueryError(
        "bins= is a number, (n, lo, hi), a list of edges or an axis of hist or boost-histogram; "
        f"got {_shown(form)}"
    )


def fits(value: int) -> bool:
    """Whether hist's axes of integers can hold it: those have 32 bits."""
    return -(1 << 31) <= value < 1 << 31


def regular(bins: int, start: Any, stop: Any, **flags: bool) -> dict[str, Any]:
    """Spec of equal bins in `[start, stop)`."""
    if not (_is_number(start) and _is_number(stop)):
        raise QueryError(f"the range of an axis is two numbers, not {_shown((start, stop))}")
    start, stop = float(start), float(stop)
    if not (math.isfinite(start) and math.isfinite(stop) and start < stop):
        raise QueryError(f"an axis needs a finite range with lo < hi, got ({start:g}, {stop:g})")
    return _equal_bins(bins, start, stop, flags)


def _equal_bins(bins: int, start: float, stop: float, flags: dict[str, bool]) -> dict[str, Any]:
    return {"kind": "regular", "bins": bins, "start": start, "stop": stop, **_flags(flags)}


def variable(edges: Sequence[Any], **flags: bool) -> dict[str, Any]:
    """Spec of bins between ascending edges. Infinite ones, which JSON does not have, are words."""
    numbers = [float(e) for e in edges]
    rising = all(a < b for a, b in pairwise(numbers))
    if len(numbers) < 2 or not rising:
        hint = ""
        if len(numbers) == 3 and numbers[1] < numbers[2] and numbers[0] >= 1:
            hint = f"; for equal bins write a tuple: ({edges[0]}, {edges[1]}, {edges[2]})"
        raise QueryError(f"edges must be two or more ascending numbers{hint}")
    written = [number if math.isfinite(number) else str(number) for number in numbers]
    return {"kind": "variable", "edges": written, **_flags(flags)}


def integer(start: int, stop: int, **flags: bool) -> dict[str, Any]:
    """Spec of one bin per integer in `[start, stop)`."""
    return {"kind": "integer", "start": int(start), "stop": int(stop), **_flags(flags)}


def _flags(given: dict[str, bool]) -> dict[str, bool]:
    return {"underflow": True, "overflow": True, "circular": False} | given


# Axis objects of hist and boost-histogram.


def names_of(axes: Sequence[Axis]) -> list[str]:
    """The names of the user's own axes, which may not be the same. Raises QueryError."""
    given = [getattr(getattr(axis, "given", None), "name", "") for axis in axes]
    names = [str(name) for name in given if name]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise QueryError(f"two axes of one histogram are called {twice!r}")
    return names


def _is_unfinished(value: Any) -> bool:
    """Whether it is what `hist.new.Reg(…)` gives before its storage is named."""
    kind = type(value)
    return kind.__module__.split(".")[0] == "hist" and kind.__name__ == "ConstructProxy"


def _library(value: Any) -> str | None:
    """Which class of boost_histogram.axis this is made from, by name."""
    for kind in type(value).__mro__:
        if kind.__module__.split(".")[0] == "boost_histogram":
            return kind.__name__
    return None


_GROW = ("Integer", "IntCategory", "StrCategory")


def _from_object(axis: Any) -> dict[str, Any]:
    kind = _library(axis) or ""
    traits = axis.traits
    if traits.growth and kind not in _GROW:
        raise UnsupportedError(
            f"{axis!r} grows as it is filled, which depends on the order of events: "
            "give its whole range"
        )
    flags = {
        "underflow": bool(traits.underflow),
        "overflow": bool(traits.overflow),
        "circular": bool(traits.circular),
    }
    if kind == "Regular":
        start, stop = float(axis.edges[0]), float(axis.edges[-1])
        # Its range may fall.
        made = _equal_bins(int(axis.size), start, stop, flags)
        transform = getattr(axis, "transform", None)
        return made if transform is None else made | {"transform": _transform(axis, transform)}
    if kind == "Variable":
        if traits.circular and not all(math.isfinite(edge) for edge in axis.edges):
            raise QueryError(f"{axis!r} has no finite turn to go round")
        edges = _circular_edges(axis) if traits.circular else [float(e) for e in axis.edges]
        return variable(edges, **flags)
    if kind == "Integer":
        first = int(axis.edges[0])
        return integer(first, first + int(axis.size), **flags)
    if kind == "IntCategory":
        values = [int(axis.value(i)) for i in _indices(axis)]
        return {"kind": "int_category", "categories": values, "overflow": flags["overflow"]}
    if kind == "StrCategory":
        names = [str(axis.value(i)) for i in _indices(axis)]
        return {"kind": "str_category", "categories": names, "overflow": flags["overflow"]}
    if kind == "Boolean":
        return {"kind": "boolean"}
    raise UnsupportedError(f"axes of type {type(axis).__name__} are not supported")


def _circular_edges(axis: Any) -> list[float]:
    """Of a circular Variable axis: boost-histogram names others than it fills by (`axis.edges` has
    2 for 2.5), so that where bins begin is found by asking which bin a number falls into."""
    first, last = float(axis.edges[0]), float(axis.edges[-1])
    found = [first]
    for number in range(1, int(axis.size)):
        below, above = found[-1], last
        while below < (middle := below / 2 + above / 2) < above:
            if int(axis.index(middle)) < number:
                below = middle
            else:
                above = middle
        found.append(above)
    return [*found, last]


def _transform(axis: Any, transform: Any) -> dict[str, Any]:
    # The range in the function's values is kept, but shown nowhere else.
    low, delta = (float(x) for x in axis._ax.__getstate__()[-2:])
    ends = [float(transform.forward(float(axis.edges[i]))) for i in (0, -1)]
    if not (math.isclose(ends[0], low, abs_tol=1e-9) and math.isclose(ends[1], low + delta)):
        raise UnsupportedError(f"the range of {axis!r} is not known: give its edges, as a list")
    return {"function": _function(axis, transform), "min": low, "delta": delta}


def _function(axis: Any, transform: Any) -> dict[str, Any]:
    if _library(transform) == "Pow":
        return {"kind": "pow", "power": float(transform.power)}
    # The library's own functions only: another one may bear their name.
    library = sys.modules[type(transform).__module__]
    for name in ("log", "sqrt"):
        if transform == getattr(library, name, None):
            return {"kind": name}
    raise UnsupportedError(f"{axis!r} has a transform of its own: give its edges, as a list")


def _indices(axis: Any) -> range:
    return range(int(axis.size))


# Small judgements on what the user gave.


def _bins(value: Any) -> int:
    if not 1 <= int(value) <= _MAX_BINS:
        raise QueryError(f"the number of bins must be 1 to {_MAX_BINS}, not {value}")
    return int(value)


def _is_int(value: Any) -> bool:
    # numpy's integers too, by what they can do, without importing numpy.
    return not isinstance(value, bool) and hasattr(value, "__index__") and not _has_length(value)


def _is_number(value: Any) -> bool:
    if isinstance(value, (bool, str, bytes)) or _has_length(value):
        return False
    return hasattr(value, "__float__") or hasattr(value, "__index__")


def _has_length(value: Any) -> bool:
    return bool(getattr(value, "ndim", 0)) or isinstance(value, (list, tuple, str, bytes))


def _is_pair(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2 and all(map(_is_number, value))


def _is_list_of_forms(bins: Any) -> bool:
    return isinstance(bins, (list, tuple)) and any(not _is_number(b) for b in bins)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
