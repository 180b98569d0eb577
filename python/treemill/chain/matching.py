"""Which entries of one chain of trees belong to which of another: by their numbers over the borders
of files, or by the values of two columns, as ROOT's TTreeIndex. Pure: numbers and numpy arrays.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

__all__ = ["Index", "pieces", "runs", "starts"]

Array = Any


def starts(sizes: Iterable[int]) -> tuple[int, ...]:
    """The first entry of each file of a chain, and behind them the chain's length."""
    return tuple(accumulate(sizes, initial=0))


def pieces(borders: Sequence[int], start: int, stop: int) -> list[tuple[int, int, int]]:
    """Entries `[start, stop)` of a chain with such `starts`, as (file, first, last) in the files'
    own numbers; none for no entries."""
    found = []
    file = max(bisect_right(borders, start) - 1, 0)
    while start < stop and file + 1 < len(borders):
        end = min(stop, borders[file + 1])
        if end > start:
            found.append((file, start - borders[file], end - borders[file]))
            start = end
        file += 1
    return found


def runs(numbers: Array, cuts: Sequence[int], size: int) -> list[tuple[int, int]]:
    """Ranges of a file of `size` entries that are worth reading for these entries (ascending): of
    its clusters, which begin at `cuts`, those that have one of them, neighbours united, the ends
    cut to what is wanted."""
    if len(numbers) == 0:
        return []
    edges = np.unique(np.array([0, *(cut for cut in cuts if 0 < cut < size), size], np.int64))
    wanted = np.unique(np.searchsorted(edges, numbers, side="right") - 1)
    breaks = np.flatnonzero(np.diff(wanted) > 1)
    first = np.concatenate([[0], breaks + 1])
    last = np.concatenate([breaks, [len(wanted) - 1]])
    found = []
    for a, b in zip(wanted[first], wanted[last], strict=True):
        inside = numbers[np.searchsorted(numbers, edges[a]) :]
        end = numbers[np.searchsorted(numbers, edges[b + 1]) - 1]
        found.append((int(inside[0]), int(end) + 1))
    return found


class Index:
    """Entries by the values of two integer columns."""

    def __init__(self, majors: Array, minors: Array) -> None:
        """One value per entry each. Of entries with the same values the first is found."""
        majors, minors = np.asarray(majors, np.int64), np.asarray(minors, np.int64)
        # A pair becomes one number by the places of its values among those that there are.
        self._majors, major = np.unique(majors, return_inverse=True)
        self._minors, minor = np.unique(minors, return_inverse=True)
        keys = major * max(len(self._minors), 1) + minor
        self._keys, self._entries = np.unique(keys, return_index=True)

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, majors: Array, minors: Array) -> Array:
        """The entry of each pair, -1 where there is none."""
        major, known = _places(self._majors, np.asarray(majors, np.int64))
        minor, also = _places(self._minors, np.asarray(minors, np.int64))
        place, there = _places(self._keys, major * max(len(self._minors), 1) + minor)
        found = np.full(len(major), -1, np.int64)
        there &= known & also
        found[there] = self._entries[place[there]]
        return found


def _places(ordered: Array, values: Array) -> tuple[Array, Array]:
    """Where values are in an ascending array, and whether they are."""
    if len(ordered) == 0:
        return np.zeros(len(values), np.int64), np.zeros(len(values), bool)
    place = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return place, ordered[place] == values
