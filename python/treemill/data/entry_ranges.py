"""Ranges of entries, counted over a chain or within its files: where each file begins, which parts
of files a range of the chain covers, which clusters hold given entries. Pure: numbers only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Part", "parts_between", "parts_of", "ranges_of_clusters", "starts"]

Part = tuple[int, int, int]
"""Some entries of one file: the file's number, the first entry, the entry after the last one."""


def starts(sizes: Iterable[int]) -> tuple[int, ...]:
    """The number of each file's first entry in the chain, and the length of the chain at the end.
    `sizes`: the number of entries of each file."""
    return tuple(accumulate(sizes, initial=0))


def parts_between(firsts: Sequence[int], start: int, stop: int) -> list[Part]:
    """The parts of files that entries `[start, stop)` of the chain lie in. `firsts`: the `starts`
    of all files."""
    from bisect import bisect_right  # start-up

    parts = []
    file = max(bisect_right(firsts, start) - 1, 0)
    while start < stop and file + 1 < len(firsts):
        end = min(stop, firsts[file + 1])
        if end > start:
            parts.append((file, start - firsts[file], end - firsts[file]))
            start = end
        file += 1
    return parts


def parts_of(sizes: Iterable[int], start: int, stop: int | None) -> Iterator[Part]:
    """Does what `parts_between` does without looking at all sizes: `sizes` is not asked for files
    after `stop`. There is always at least one part, so that types are known of no entries too."""
    begin, is_empty = 0, True
    for file, entries in enumerate(sizes):
        first = min(max(start - begin, 0), entries)
        last = entries if stop is None else min(max(stop - begin, first), entries)
        if last > first:
            is_empty = False
            yield file, first, last
        begin += entries
        if stop is not None and begin >= stop:
            break
    if is_empty:
        yield 0, 0, 0


def ranges_of_clusters(
    entries: NDArray[np.int64], clusters: Sequence[int], size: int
) -> list[tuple[int, int]]:
    """The ranges of a file of `size` entries to read for these entries, which are ascending. Each
    range covers neighbouring clusters that hold one of the entries, without what lies before the
    first and after the last of them. `clusters`: where clusters begin."""
    import numpy as np

    if len(entries) == 0:
        return []
    edges = np.unique(np.array([0, *(cut for cut in clusters if 0 < cut < size), size], np.int64))
    wanted = np.unique(np.searchsorted(edges, entries, side="right") - 1)
    breaks = np.flatnonzero(np.diff(wanted) > 1)
    first = np.concatenate([[0], breaks + 1])
    last = np.concatenate([breaks, [len(wanted) - 1]])
    ranges = []
    for a, b in zip(wanted[first], wanted[last], strict=True):
        inside = entries[np.searchsorted(entries, edges[a]) :]
        end = entries[np.searchsorted(entries, edges[b + 1]) - 1]
        ranges.append((int(inside[0]), int(end) + 1))
    return ranges
