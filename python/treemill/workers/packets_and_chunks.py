"""Decides before which entries of a file packets may end, and how many entries a selector's chunks
have, from the time that the last chunks took. Pure: it has no clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from ..frozen import frozen
from ..scheduling import Cost

__all__ = ["COFFEAS_CHUNK", "FIRST_CHUNK", "FIRST_OF_COFFEA", "PACKET_SECONDS", "PacketBoundaries"]

# Decides before which entries packets may end, from a file's clusters and baskets. Arithmetic,
# without files.

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


__all__ += ["SECONDS_OF_COFFEA", "SHARE_OF_COFFEA", "ChunkPace", "chunk_of"]

PACKET_SECONDS = 1.0
"""Seconds after which a packet ends early, between two chunks: workers commit between packets, and
a selector may be a thousand times slower than the packetizer assumes."""
FIRST_CHUNK = 500
"""Entries of a worker's first chunk."""
FIRST_OF_COFFEA = 50_000
"""The same of coffea's events. Processors take 60 ms for each chunk of NanoAOD's events to fill a
few histograms, and hardly more for so many entries. They are made for chunks of 100,000."""
SHARE_OF_COFFEA = 50_000
"""Entries of coffea's events for each thread, at least, because threads share Python's lock: two
threads take as long for two chunks of half the size as one thread, and not half of it."""
_SMALLEST_CHUNK = 100
_LARGEST_CHUNK = 200_000
CHUNK_SECONDS = 0.5
SECONDS_OF_COFFEA = 2.0
"""The same of coffea's events: most packets are one chunk then. What the first chunks took tells
little of the next file's, and each chunk more costs a processor what it makes for a chunk: graphs,
models, corrections."""
_GROWTH = 12
"""Factor by which chunks grow while they take less than a quarter of `CHUNK_SECONDS`, at least:
most of a small chunk's time is Python's overhead, whatever the number of its entries."""
_CHUNK_BYTES = 64_000_000
"""Bytes of one chunk at most, counting the uncompressed columns that the selector touches."""


COFFEAS_CHUNK = 100_000
"""Entries of a chunk of coffea's Runner, unless it is told."""


def chunk_of(entries: int, chunksize: int) -> int:
    """The entries of each chunk but the last of a file with so many entries, if they are to be
    about `chunksize`: as coffea's Runner cuts files."""
    return max(math.ceil(entries / max(round(entries / chunksize), 1)), 1)


class ChunkPace:
    """Chooses the size of one worker's next chunk."""

    def __init__(self, first: int = FIRST_CHUNK, wanted: float = CHUNK_SECONDS) -> None:
        """`first`: the entries of the first chunk. `wanted`: seconds that chunks should take."""
        self._first = first
        self._wanted = wanted
        self._cost = Cost()
        self._rate = 0.0  # of the last chunk, entries per second
        self._fitting = 0.0  # entries of the next chunk that fit into its time

    def took(self, entries: int, seconds: float) -> None:
        """Notes that a chunk of this many entries took this time. Where a large part of the time
        does not depend on the entries, fewer of them would save nothing."""
        seconds = max(seconds, 1e-6)
        self._rate = entries / seconds
        beyond = self._cost.measured(entries, seconds)
        fitting = beyond * max(self._wanted - self._cost.fixed, 0.0)
        self._fitting = self._cost.worth(max(fitting, _SMALLEST_CHUNK))
        if seconds < self._wanted / 4:
            self._fitting = max(self._fitting, _GROWTH * entries)

    def chunk(self, bytes_per_entry: float) -> int:
        """Number of entries of the next chunk."""
        if not self._fitting:
            return self._first
        fitting = min(self._fitting, _CHUNK_BYTES / max(bytes_per_entry, 1.0))
        return max(_SMALLEST_CHUNK, min(_LARGEST_CHUNK, int(fitting)))

    def ahead(self, bytes_per_entry: float) -> int:
        """Number of entries whose columns may be read at once."""
        fitting = _CHUNK_BYTES / max(bytes_per_entry, 1.0)
        if self._rate:
            fitting = min(fitting, max(self._rate * PACKET_SECONDS, self._fitting))
        return int(fitting)
