"""An index of entries by the values of two integer columns, as ROOT's TTreeIndex. Pure: numpy
arrays only.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Index"]

Integers: TypeAlias = NDArray[np.int64]


class Index:
    """Entries by the values of two integer columns."""

    def __init__(self, majors: Integers, minors: Integers) -> None:
        """One value per entry each. If entries have the same values the first one is found."""
        majors, minors = np.asarray(majors, np.int64), np.asarray(minors, np.int64)
        # Each pair becomes one number: by the ranks of its two values among all values.
        self._majors, major = np.unique(majors, return_inverse=True)
        self._minors, minor = np.unique(minors, return_inverse=True)
        keys = major * max(len(self._minors), 1) + minor
        self._keys, self._entries = np.unique(keys, return_index=True)

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, majors: Integers, minors: Integers) -> Integers:
        """The entry of each pair of values, -1 for a pair that no entry has."""
        major, has_major = _ranks(self._majors, np.asarray(majors, np.int64))
        minor, has_minor = _ranks(self._minors, np.asarray(minors, np.int64))
        rank, is_found = _ranks(self._keys, major * max(len(self._minors), 1) + minor)
        is_found &= has_major & has_minor
        entries = np.full(len(major), -1, np.int64)
        entries[is_found] = self._entries[rank[is_found]]
        return entries


def _ranks(ordered: Integers, values: Integers) -> tuple[Integers, NDArray[np.bool_]]:
    """Returns where values stand in an ascending array, and whether they are in it."""
    if len(ordered) == 0:
        return np.zeros(len(values), np.int64), np.zeros(len(values), np.bool_)
    rank = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return rank, ordered[rank] == values
