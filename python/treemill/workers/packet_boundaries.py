"""Decides before which entries packets may end, from a file's clusters and baskets. Arithmetic,
without files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from ..frozen import frozen

__all__ = ["PacketBoundaries"]

_PLENTY = 16
"""Pieces per worker: with so many it matters little that workers end at different times."""
_ENOUGH = 4
"""Pieces per worker that are enough if more of them would mean that baskets are read twice."""


@frozen
class PacketBoundaries:
    """The places where packets may end, if `workers` share the dataset. It has `files` of about the
    same size."""

    workers: int
    files: int = 1

    def are_plenty(self, pieces: int) -> bool:
        """Whether so many pieces of each file are enough for all workers."""
        return pieces * self.files >= _PLENTY * self.workers

    def of(
        self,
        entries: int,
        clusters: Iterable[int],
        baskets: Callable[[], int],
        remembered: Callable[[], bool] = lambda: False,
        *,
        closed: bool = False,
    ) -> tuple[int, ...]:
        """The entries of a file before which packets may end, ascending. Packets end at cluster
        boundaries. If there are too few clusters for all workers, they may also end inside a
        cluster, provided that little is read twice: the clusters are `remembered`, or the baskets
        are much smaller than the clusters.

        `clusters`: where they begin. `baskets` gives the number of baskets of the branch that has
        the fewest. `baskets` and `remembered` open the file, and are called only if the clusters
        are too few. Those of all files count if they are small, or if the file is `closed`."""
        from treemill import _core as core  # heavy: core

        cuts = tuple([start for start in clusters if 0 < start < entries])
        pieces = len(cuts) + 1
        if self.are_plenty(pieces) and (closed or entries <= pieces * core.BATCH_ENTRIES):
            return cuts
        if self.workers > 1 and not self.are_plenty(pieces) and remembered():
            # Smaller pieces cost more than they gain, and larger ones are processed in batches.
            most = min(
                max(entries // (_PLENTY * self.workers), core.LEAST_ENTRIES), core.BATCH_ENTRIES
            )
            return tuple(_parts((0, *cuts, entries), most))
        if pieces >= _ENOUGH * self.workers:
            return cuts
        fewest = baskets()
        if fewest < _ENOUGH * pieces:
            return cuts
        step = max(-(-entries // fewest), 1)
        return tuple(sorted({*cuts, *range(step, entries, step)}))


def _parts(boundaries: Sequence[int], most: int) -> Iterator[int]:
    """The first entries of pieces of at most `most` entries, without that of the first piece. The
    pieces between two boundaries differ by at most one entry."""
    for start, stop in pairwise(boundaries):
        parts = -(-(stop - start) // most)
        for part in range(start == 0, parts):
            yield start + (stop - start) * part // parts
