"""Axes with known bins in the form of the core's query format (spec.rs, `Axis`).

Pure: standard library only. Knows numbers, and no object of the user's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NotRequired, TypeAlias, TypedDict, Unpack

from ..errors import QueryError

if TYPE_CHECKING:
    import boost_histogram.storage

    _Kind: TypeAlias = boost_histogram.storage.Storage
    Storage: TypeAlias = str | _Kind | type[_Kind] | None
    """What users give as `storage=`: a storage, its class or its name."""

__all__ = [
    "COUNTS",
    "AxisSpecification",
    "Flags",
    "Function",
    "Transform",
    "equal_bins",
    "fits",
    "integer",
    "regular",
    "storage_like",
    "storage_of",
    "variable",
]

# What a histogram keeps in its bins, as hist's storages: which of them a booking can have. Pure:
# standard library only. The storage objects of hist and boost-histogram are recognised by the
# names of their classes, so that neither library is imported by a query that does not use it.

COUNTS = ("Int64", "AtomicInt64")
"""Storages of whole numbers."""

# By whether it is a profile and whether it has weights; the first one is that of no storage=.
_STORAGES = {
    (False, False): ("Double", "Weight", *COUNTS, "Unlimited"),
    (False, True): ("Weight", "Double", "Unlimited", *COUNTS),
    (True, False): ("Mean", "WeightedMean"),
    (True, True): ("WeightedMean", "Mean"),
}


def storage_of(given: object, profile: bool, weighted: bool) -> str:
    """The name of the storage. `given` is one of hist's or boost-histogram's storages, its class,
    its name, or None. Raises QueryError if the booking cannot have it."""
    possible = _STORAGES[profile, weighted]
    if given is None:
        return possible[0]
    kind = given if isinstance(given, type) else type(given)
    name = given if isinstance(given, str) else kind.__name__
    for each in possible:
        if name.lower() == each.lower():
            return each
    what = f"a {'profile' if profile else 'histogram'} with{'' if weighted else 'out'} weights"
    hint = "; profile(…, sample=) fills it" if not profile and "Mean" in name else ""
    raise QueryError(f"{what} has storage {' or '.join(possible)}, not {name}{hint}")


def storage_like(histogram: object, profile: bool, weighted: bool) -> str | None:
    """The storage of a histogram whose axes are taken for a booking, if the booking can have it and
    it was chosen: Double is what histograms have of themselves, and a histogram of counts was not
    made for weights. None for what is no histogram."""
    name = getattr(getattr(histogram, "storage_type", None), "__name__", "Double")
    if weighted and name in COUNTS:
        return None
    return name if name != "Double" and name in _STORAGES[profile, weighted] else None


class Flags(TypedDict, total=False):
    """Which flow bins an axis has, and whether it goes round."""

    underflow: bool
    overflow: bool
    circular: bool


class Function(TypedDict):
    """The function in whose values bins are equal: log, sqrt, or pow with its power."""

    kind: str
    power: NotRequired[float]


class Transform(TypedDict):
    """A function, and the range of the axis in its values."""

    function: Function
    min: float
    delta: float


class Regular(Flags):
    """Equal bins."""

    kind: Literal["regular"]
    bins: int
    start: float
    stop: float


class Transformed(Regular):
    """Bins that are equal in the values of a function."""

    transform: Transform


class VariableBins(Flags):
    """Bins between edges; JSON has no infinite numbers, so that these are words."""

    kind: Literal["variable"]
    edges: list[float | str]


class Integer(Flags):
    """One bin per integer."""

    kind: Literal["integer"]
    start: int
    stop: int


class IntCategory(TypedDict):
    """One bin for each of these integers."""

    kind: Literal["int_category"]
    categories: list[int]
    overflow: bool


class StrCategory(TypedDict):
    """One bin for each of these strings."""

    kind: Literal["str_category"]
    categories: list[str]
    overflow: bool


class Boolean(TypedDict):
    """A bin for False and one for True."""

    kind: Literal["boolean"]


AxisSpecification = (
    Regular | Transformed | VariableBins | Integer | IntCategory | StrCategory | Boolean
)


def fits(value: int) -> bool:
    """True if hist's axes of integers, which have 32 bits, can hold it."""
    return -(1 << 31) <= value < 1 << 31


def regular(bins: int, start: float, stop: float, **flags: Unpack[Flags]) -> Regular:
    """Equal bins in `[start, stop)`. Raises QueryError for a range that is none."""
    if not (math.isfinite(start) and math.isfinite(stop) and start < stop):
        raise QueryError(f"an axis needs a finite range with lo < hi, got ({start:g}, {stop:g})")
    return equal_bins(bins, start, stop, flags)


def equal_bins(bins: int, start: float, stop: float, flags: Flags) -> Regular:
    """Equal bins from `start` to `stop`, which may be the smaller number."""
    return {"kind": "regular", "bins": bins, "start": start, "stop": stop, **_flags(flags)}


def variable(edges: Sequence[float], **flags: Unpack[Flags]) -> VariableBins:
    """Bins between ascending edges. Raises QueryError for others."""
    rising = all(a < b for a, b in pairwise(edges))
    if len(edges) < 2 or not rising:
        hint = ""
        if len(edges) == 3 and edges[1] < edges[2] and edges[0] >= 1:
            hint = f"; for equal bins write a tuple: ({edges[0]:g}, {edges[1]:g}, {edges[2]:g})"
        elif len(edges) == 2:
            hint = "; for equal bins write a tuple of three: (n, lo, hi)"
        raise QueryError(f"edges must be two or more ascending numbers{hint}")
    written = [number if math.isfinite(number) else str(number) for number in edges]
    return {"kind": "variable", "edges": written, **_flags(flags)}


def integer(start: int, stop: int, **flags: Unpack[Flags]) -> Integer:
    """One bin per integer in `[start, stop)`."""
    return {"kind": "integer", "start": start, "stop": stop, **_flags(flags)}


def _flags(given: Flags) -> Flags:
    return {"underflow": True, "overflow": True, "circular": False, **given}
