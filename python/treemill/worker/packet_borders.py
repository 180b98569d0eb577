"""Decides before which entries packets may end, from a file's clusters and baskets. Arithmetic,
without files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

__all__ = ["packet_borders"]

_PLENTY = 16
"""Pieces per worker: with so many it matters little that workers end at different times."""
_ENOUGH = 4
"""Pieces per worker that are enough if more of them would mean that baskets are read twice."""
_BATCH = 32 * 1024
"""Entries that the core processes at once at most."""
_LEAST = 4 * 1024
"""Entries: smaller pieces cost more than they gain."""


def packet_borders(
    entries: int,
    clusters: Iterable[int],
    baskets: Callable[[], int],
    workers: int,
    *,
    files: int = 1,
    remembered: Callable[[], bool] = lambda: False,
) -> tuple[int, ...]:
    """The entries before which packets may end, ascending. Packets end at cluster borders. If there
    are too few clusters for all workers, they may also end inside a cluster, provided that little
    is read twice: the clusters are `remembered`, or the baskets are much smaller than the clusters.

    `baskets` gives the number of baskets of the branch that has the fewest. `files` is the number
    of files of about this size. `baskets` and `remembered` are called only if the clusters are too
    few."""
    cuts = tuple(start for start in clusters if 0 < start < entries)
    pieces = len(cuts) + 1
    if workers > 1 and pieces * files < _PLENTY * workers and remembered():
        most = min(max(entries // (_PLENTY * workers), _LEAST), _BATCH)
        return tuple(_parts((0, *cuts, entries), most))
    if pieces >= _ENOUGH * workers:
        return cuts
    fewest = baskets()
    if fewest < _ENOUGH * pieces:
        return cuts
    step = max(-(-entries // fewest), 1)
    return tuple(sorted({*cuts, *range(step, entries, step)}))


def _parts(borders: Sequence[int], most: int) -> Iterator[int]:
    """The first entries of pieces of at most `most` entries, without that of the first piece. The
    pieces between two borders differ by at most one entry."""
    for start, stop in pairwise(borders):
        parts = -(-(stop - start) // most)
        for part in range(start == 0, parts):
            yield start + (stop - start) * part // parts
