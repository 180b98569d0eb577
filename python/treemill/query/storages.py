"""What a histogram keeps in its bins, as hist's storages: which of them a booking can have.

Pure: standard library only. The storage objects of hist and boost-histogram are recognised by the
names of their classes, so that neither library is imported by a query that does not use it.
"""

from __future__ import annotations

from ..errors import QueryError

__all__ = ["COUNTS", "storage_like", "storage_of"]

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
