"""Makes axes of what a user may write as `bins=`.

Pure: standard library only. Axis objects of hist and boost-histogram are recognised by the names of
their classes, so that a query that does not use these libraries does not import them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, SupportsFloat, SupportsIndex, TypeAlias, TypeGuard, cast

from ..errors import QueryError, UnsupportedError
from ..frozen import frozen
from ..pictures.histogram_labels import edges_of
from .axis_specification import (
    AxisSpecification,
    Flags,
    Function,
    Regular,
    Transform,
    equal_bins,
    fits,
    integer,
    regular,
    variable,
)

if TYPE_CHECKING:
    import boost_histogram
    import hist
    from boost_histogram.axis import Axis as UserAxis
    from boost_histogram.axis.transform import AxisTransform
    from hist.quick_construct import ConstructProxy

    from ..data.array_columns import SupportsArray

    AxisBins: TypeAlias = (
        int | tuple[int, float, float] | Sequence[float] | SupportsArray | UserAxis | None
    )
    """Bins of one axis."""
    # One sequence of both, edges and axes: else mypy does not know what a list is.
    Bins: TypeAlias = (
        AxisBins | Sequence[AxisBins | float] | boost_histogram.Histogram | ConstructProxy
    )
    """What users give as `bins=`: see `axes_from_bins`."""
    AxisRange: TypeAlias = Sequence[float] | SupportsArray | Literal["all", "most"] | None
    Range: TypeAlias = AxisRange | Sequence[AxisRange | float]
    """What users give as `range=`: (lo, hi), for one axis or for each."""

__all__ = [
    "DEFAULT_BINS",
    "AutomaticAxis",
    "Axis",
    "FixedAxis",
    "GrowingAxis",
    "axes_from_bins",
    "names_of",
]

DEFAULT_BINS = 100
"""Bins of an automatic axis; also the most integers that get one bin each."""
ALL, MOST = "all", "most"
"""Ranges that come from the data: those of all values, or without the far tails
(axis_ranges.py)."""
_MAX_BINS = 100_000_000


@frozen
class FixedAxis:
    """An axis whose bins are known: as the core reads it, and the user's own object, if any."""

    spec: AxisSpecification
    given: UserAxis | None = None


@frozen
class AutomaticAxis:
    """An axis whose range comes from the data, with this many bins (None: a hundred, or one for
    each of a few integers)."""

    bins: int | None = None
    most: bool = False
    """Whether it may leave out the far tails."""


@frozen
class GrowingAxis:
    """An axis that grows to hold all values. An axis of categories has those that the user gave,
    and after them the others, ascending. Unlike the library's it does not depend on the order of
    events. An axis of integers has all from the first to the last."""

    given: UserAxis
    categories: tuple[int | str, ...] = ()

    def grown(self, values: Sequence[float | str]) -> FixedAxis:
        """The axis with these values too. Raises QueryError for a value that it cannot have."""
        kind = _library(self.given)
        if kind == "Integer":
            axis = self._stretched(_whole(values))
        elif kind == "StrCategory":
            axis = self._with_categories(_strings(values))
        else:
            axis = self._with_categories(_whole(values))
        axis.__dict__.update(self.given.__dict__)  # name, label and all else that the user set
        return FixedAxis(_from_object(axis), axis)

    def _stretched(self, values: Sequence[int]) -> UserAxis:
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

    def _with_categories(self, values: Sequence[float | str]) -> UserAxis:
        known = set(self.categories)
        categories = [*self.categories, *(value for value in values if value not in known)]
        large = [v for v in categories if isinstance(v, int) and not fits(v)]
        if large:
            raise QueryError(
                f"an IntCategory axis takes integers of 32 bits, and {large[0]} came: number the "
                "categories otherwise, or book unique(…)"
            )
        odd = [v for v in categories if isinstance(v, str) and not _is_text(v)]
        if odd:
            raise QueryError(
                f"a StrCategory axis takes text, and {odd[0]!r} came, which is not UTF-8: give the "
                "categories that are wanted, without growth, and the others go to the overflow"
            )
        return type(self.given)(categories, growth=True)


def _is_text(value: str) -> bool:
    """True if this was UTF-8 in its file: bytes that are not are lone surrogates."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _strings(values: Sequence[float | str]) -> Sequence[str]:
    """The values, which must be strings."""
    if any(not isinstance(value, str) for value in values):
        raise QueryError(
            "an axis of string categories takes strings, and these are numbers: use a regular "
            "axis, or IntCategory for integers"
        )
    return cast("Sequence[str]", values)


def _whole(values: Sequence[float | str]) -> list[int]:
    """The values of integers or bools as integers."""
    if not all(float(value).is_integer() for value in values):
        raise QueryError(
            "this axis takes integers, and these are floats: use a regular axis, or int(…)"
        )
    return [int(value) for value in values]


Axis = FixedAxis | AutomaticAxis | GrowingAxis


def axes_from_bins(
    bins: object,
    dimensions: int,
    range: object = None,  # noqa: A002 - as users call it
) -> list[Axis]:
    """Makes one axis per dimension.

    For one dimension `bins` is None (range and bins from the data), a number of bins (range from
    the data, or `range=(lo, hi)`), a tuple `(n, lo, hi)`, a list or array of ascending edges, or an
    axis object of hist or boost-histogram. For several it is a list of these, one per dimension;
    None or one number stand for all of them. A histogram of hist or boost-histogram stands for its
    axes, and so does an unfinished one (`hist.new.Reg(10, 0, 1)`). If the range comes from the
    data, "all" holds every value and "most" leaves out far tails.
    """
    ranges = _ranges(range, dimensions)
    if _has_axes(bins):
        bins = list(bins.axes)
    if bins is None or _is_int(bins):
        return [_axis(bins, r) for r in ranges]
    if dimensions == 1:
        # hist's users write a list of axes for one dimension too.
        if isinstance(bins, (list, tuple)) and len(bins) == 1 and not _is_number(bins[0]):
            bins = bins[0]
        if isinstance(bins, (list, tuple)) and len(bins) > 1 and all(map(_is_form, bins)):
            raise QueryError(
                f"bins= has {len(bins)} axes, and there is one expression: give an expression for "
                'each axis, as in hist("x", "y", bins=[(50, 0, 200), (50, 0, 200)])'
            )
        return [_axis(bins, ranges[0])]
    forms = list(bins) if isinstance(bins, (list, tuple)) else None
    if forms is None or len(forms) != dimensions:
        raise QueryError(
            f"bins= of a histogram of {dimensions} dimensions is a list of {dimensions}: "
            f"[(50, 0, 200), …]; got {_shown(bins)}"
        )
    return [_axis(form, r) for form, r in zip(forms, ranges, strict=True)]


_Range = tuple[float, float] | str | None


def _ranges(wanted: object, dimensions: int) -> list[_Range]:
    if wanted is None or isinstance(wanted, str):
        return [_found(wanted)] * dimensions
    wanted = _listed(wanted)
    per_axis = [wanted] if dimensions == 1 and _is_pair(wanted) else wanted
    if not isinstance(per_axis, (list, tuple)) or len(per_axis) != dimensions:
        several = "" if dimensions == 1 else f", or a list of {dimensions} such pairs"
        raise QueryError(f"range= is (lo, hi){several}; got {_shown(wanted)}")
    return [_range(each) for each in per_axis]


def _range(wanted: object) -> _Range:
    if wanted is None or isinstance(wanted, str):
        return _found(wanted)
    wanted = _listed(wanted)
    if not _is_pair(wanted):
        raise QueryError(f"range= is (lo, hi) for each axis; got {_shown(wanted)}")
    return float(wanted[0]), float(wanted[1])


def _is_form(given: object) -> bool:
    """Whether it is an axis, rather than an edge of one."""
    return _is_axis(given) or (isinstance(given, (list, tuple)) and len(given) > 0)


def _listed(given: object) -> object:
    """NumPy's arrays as lists."""
    return given.tolist() if hasattr(given, "tolist") else given


def _found(word: str | None) -> str | None:
    if word not in (None, ALL, MOST):
        raise QueryError(f'range= is (lo, hi), "{ALL}" or "{MOST}", not {word!r}')
    return word


def _axis(form: object, limits: _Range) -> Axis:
    if form is None or _is_int(form):
        count = None if form is None else _bins(form)
        if isinstance(limits, tuple):
            return FixedAxis(regular(count or DEFAULT_BINS, *limits))
        return AutomaticAxis(count, limits == MOST)
    if isinstance(limits, tuple):
        raise QueryError("range= needs bins= as a number: bins=50, range=(0, 200)")
    if isinstance(form, tuple) and len(form) == 3 and _is_int(form[0]):
        if not (_is_number(form[1]) and _is_number(form[2])):
            raise QueryError(f"the range of an axis is two numbers, not {_shown(form[1:])}")
        return FixedAxis(regular(_bins(form[0]), float(form[1]), float(form[2])))
    if _is_axis(form):
        if _library(form) in ("IntCategory", "StrCategory") and form.traits.growth:
            return GrowingAxis(form, tuple(form.value(i) for i in _indices(form)))
        if _library(form) == "Integer" and form.traits.growth:
            return GrowingAxis(form)
        return FixedAxis(_from_object(form), form)
    values = form.tolist() if hasattr(form, "tolist") else form
    if isinstance(values, (list, tuple, range)) and all(_is_number(v) for v in values):
        return FixedAxis(variable([float(v) for v in values]))
    raise QueryError(
        "bins= is a number, (n, lo, hi), a list of edges or an axis of hist or boost-histogram; "
        f"got {_shown(form)}"
    )


# Axis objects of hist and boost-histogram.


def names_of(axes: Sequence[Axis]) -> list[str]:
    """The names of the user's own axes, which may not be the same. Raises QueryError."""
    names = []
    for axis in axes:
        if name := getattr(getattr(axis, "given", None), "name", ""):
            names.append(str(name))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise QueryError(f"two axes of one histogram are called {twice!r}")
    return names


def _has_axes(value: object) -> TypeGuard[hist.Hist]:
    """Whether it is a histogram, or what `hist.new.Reg(…)` gives before its storage is named."""
    kind = type(value)
    is_unfinished = kind.__module__.split(".")[0] == "hist" and kind.__name__ == "ConstructProxy"
    return is_unfinished or _library(value) == "Histogram"


def _is_axis(value: object) -> TypeGuard[UserAxis]:
    return _library(value) is not None


def _library(value: object) -> str | None:
    """The class of boost-histogram that this is made from, by name; None for other things."""
    for kind in type(value).__mro__:
        if kind.__module__.split(".")[0] == "boost_histogram":
            return kind.__name__
    return None


_GROW = ("Integer", "IntCategory", "StrCategory")


def _from_object(axis: UserAxis) -> AxisSpecification:
    kind = _library(axis) or ""
    traits = axis.traits
    if traits.growth and kind not in _GROW:
        raise UnsupportedError(
            f"{axis!r} grows as it is filled, which depends on the order of events: "
            "give its whole range"
        )
    flags: Flags = {
        "underflow": bool(traits.underflow),
        "overflow": bool(traits.overflow),
        "circular": bool(traits.circular),
    }
    if kind == "Regular":
        start, stop = float(axis.edges[0]), float(axis.edges[-1])
        # Its range may fall.
        equal: Regular = equal_bins(int(axis.size), start, stop, flags)
        transform = getattr(axis, "transform", None)
        return equal if transform is None else {**equal, "transform": _transform(axis, transform)}
    if kind == "Variable":
        if traits.circular and not all(math.isfinite(edge) for edge in axis.edges):
            raise QueryError(f"{axis!r} is circular, and its edges are not finite")
        return variable(edges_of(axis), **flags)
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


def _transform(axis: UserAxis, transform: AxisTransform) -> Transform:
    # No other attribute has the range in the function's values.
    low, delta = (float(x) for x in axis._ax.__getstate__()[-2:])
    ends = [float(transform.forward(float(axis.edges[i]))) for i in (0, -1)]
    if not (math.isclose(ends[0], low, abs_tol=1e-9) and math.isclose(ends[1], low + delta)):
        raise UnsupportedError(f"the range of {axis!r} is not known: give its edges, as a list")
    return {"function": _function(axis, transform), "min": low, "delta": delta}


def _function(axis: UserAxis, transform: AxisTransform) -> Function:
    if _library(transform) == "Pow":
        return {"kind": "pow", "power": float(transform.power)}
    # Only the library's own functions: another function may have the same name.
    library = sys.modules[type(transform).__module__]
    for name in ("log", "sqrt"):
        if transform == getattr(library, name, None):
            return {"kind": name}
    raise UnsupportedError(f"{axis!r} has a transform of its own: give its edges, as a list")


def _indices(axis: UserAxis) -> range:
    return range(int(axis.size))


# Small judgements on what the user gave.


def _bins(value: SupportsIndex) -> int:
    if not 1 <= int(value) <= _MAX_BINS:
        raise QueryError(f"the number of bins must be 1 to {_MAX_BINS}, not {value}")
    return int(value)


def _is_int(value: object) -> TypeGuard[SupportsIndex]:
    # NumPy's integers too, by what they can do, without importing NumPy.
    return not isinstance(value, bool) and hasattr(value, "__index__") and not _has_length(value)


def _is_number(value: object) -> TypeGuard[SupportsFloat]:
    if isinstance(value, (bool, str, bytes)) or _has_length(value):
        return False
    return hasattr(value, "__float__") or hasattr(value, "__index__")


def _has_length(value: object) -> bool:
    return bool(getattr(value, "ndim", 0)) or isinstance(value, (list, tuple, str, bytes))


def _is_pair(value: object) -> TypeGuard[Sequence[SupportsFloat]]:
    return isinstance(value, (list, tuple)) and len(value) == 2 and all(map(_is_number, value))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
