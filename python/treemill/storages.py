"""What a histogram keeps in its bins, as hist's storages: which of them a booking can have.

Pure: standard library only. The storage objects of hist and boost-histogram are recognised by the
names of their classes, so that neither library is imported by a query that does not use it.
"""

from __future__ import annotations

from typing import Any

from .errors import QueryError

__all__ = ["storage_of"]

# By whether it is a profile and whether it has weights; the first one is that of no storage=.
_STORAGES = {
    (False, False): ("Double", "Weight", "Int64"),
    (False, True): ("Weight", "Double"),
    (True, False): ("Mean", "WeightedMean"),
    (True, True): ("WeightedMean",),
}


def storage_of(given: Any, profile: bool, weighted: bool) -> str:
    """The name of the storage. `given` is one of hist's or boost-histogram's storages, its class,
    its name, or None. Raises QueryError where the booking cannot have it."""
    possible = _STORAGES[profile, weighted]
    if given is None:
        return possible[0]
    kind = given if isinstance(given, type) else type(given)
    name = given if isinstance(given, str) else kind.__name__
    for each in possible:
        if name.lower() == each.lower():
            return each
    what = f"a {'profile' if profile else 'histogram'} with{'' if weighted else 'out'} weights"
    raise QueryError(f"{what} has storage {' or '.join(possible)}, not {name}")
