"""Which entries of a dataset a query goes through: all, those of some files, a range of the chain;
and for how many workers that is.

Knows chains, and the sizes of files; knows no query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from operator import index
from typing import TYPE_CHECKING, TypeAlias

from ..errors import QueryError, TreemillError
from ..scheduling import FileSize
from ..workers.packets_and_chunks import PacketBoundaries, chunk_of
from ..workers.workload import Span

if TYPE_CHECKING:
    from ..backends.base import Pool
    from ..data.chain import Chain
    from ..workers.workload import P, Workload

__all__ = [
    "Entries",
    "first_chunks",
    "known_sizes",
    "subset",
    "useful_workers",
]

Entries: TypeAlias = int | tuple[int | None, int | None] | range | slice | None
"""Entries of a chain: a number from the start, or a pair (start, stop), range or slice, in which
negative numbers count from the end; None: all."""


def subset(chain: Chain, entries: Entries, max_files: int | None) -> list[Span] | None:
    """The parts of files that hold these entries; None for all. Opens only the files whose sizes
    the range of entries depends on."""
    files = len(chain.locations)
    if max_files is not None:
        if isinstance(max_files, bool) or not isinstance(max_files, int) or max_files < 1:
            raise QueryError(f"max_files must be 1 or more, not {max_files!r}")
        files = min(files, max_files)
    if chain.selected is not None:
        selected = chain.selected
        chosen = selected if entries is None else selected.sliced(*_range(entries))
        parts = chosen.parts(chain.sizes.__getitem__)
        spans: list[Span] = [span for span in parts if span[0] < files]
        return spans or [(0, 0, 0)]
    if entries is None:
        if max_files is None:
            return None
        return [(file, 0, None) for file in range(files)]
    start, stop = _range(entries)
    return [part for part in chain.parts(start, stop) if part[0] < files] or [(0, 0, 0)]


def first_chunks(
    chain: Chain, spans: Sequence[Span] | None, chunksize: int, most: int, *, skip: bool
) -> list[Span]:
    """The parts of files that hold the first `most` chunks of each sample, as coffea's Runner
    counts them, within `spans` (None: all entries). Opens only the files that these lie in. `skip`:
    a file that cannot be opened has no chunk; the run that meets it again will name it."""
    if spans is None:
        spans = [(file, 0, None) for file in range(len(chain.locations))]
    seen: Counter[str] = Counter()
    parts: list[Span] = []
    for file, first, stop in spans:
        dataset = chain.constants.file(file).dataset
        left = most - seen[dataset]
        if left <= 0:
            continue
        try:
            entries = chain.sizes[file][0]
        except TreemillError:
            if not skip:
                raise
            parts.append((file, first, stop))
            continue
        chunk = chunk_of(entries, chunksize)
        begin = first // chunk
        last = min(entries if stop is None else stop, entries, (begin + left) * chunk)
        parts.append((file, first, max(last, first)))
        seen[dataset] += max(-(-last // chunk) - begin, 1)
    return parts or [(0, 0, 0)]


def _range(entries: object) -> tuple[int | None, int | None]:
    if isinstance(entries, int) and not isinstance(entries, bool):
        if entries < 0:
            raise QueryError(
                f"entries={entries} is no number of entries: ({entries}, None) are the last ones, "
                f"(None, {entries}) all but these"
            )
        return 0, entries
    ends: tuple[object, ...] = ()
    if isinstance(entries, (range, slice)) and entries.step in (None, 1):
        ends = entries.start, entries.stop
    if isinstance(entries, tuple) and len(entries) == 2:
        ends = entries
    with suppress(TypeError):
        if ends:
            start, stop = (None if end is None else index(end) for end in ends)  # type: ignore[arg-type]
            return start, stop
    raise QueryError(f"entries are a number, a pair (start, stop) or a range, not {entries!r}")


_MANY = 256
"""Small files, more of which are not looked at beforehand: that takes as long as to read them."""


def known_sizes(
    chain: Chain,
    workload: Workload[P],
    parts: Sequence[Span] | None,
    workers: int,
    *,
    small: bool = False,
) -> list[FileSize | None]:
    """Sizes of the files, or of the parts of files, that have been opened before, or that are known
    from a list with enough clusters for these workers; None for the others. Opens no file. `small`:
    whether workers may get several files at once; of many, only what a list says is known."""
    if small and parts is None and len(chain.locations) > _MANY:
        verified = [location.verified for location in chain.locations]
        return [None if v is None else FileSize(v.entries, v.clusters) for v in verified]
    boundaries = PacketBoundaries(workers, len(chain.locations))
    numbers = range(len(chain.locations)) if parts is None else [file for file, _, _ in parts]
    known: list[FileSize | None] = []
    ahead: int | None = None  # what the first of them wants: it is open, and the others are alike
    for place, number in enumerate(numbers):
        try:
            listed, size = chain.sizes.peek(number), None
            # Where packets may end in a file of few clusters its worker says, which opens it.
            if listed is not None and (
                not chain.is_closed(number) or boundaries.are_plenty(len(listed[1]))
            ):
                ahead = workload.ahead(place) if ahead is None else 0
                size = FileSize(*workload.size(place), ahead)
        except TreemillError:  # the file has gone: the worker that opens it will say so
            size = None
        known.append(size)
    return known


def useful_workers(sizes: Sequence[FileSize | None], pool: Pool, share: int = 0) -> int:
    """The number of the pool's workers that can have a packet each. `share`: the entries that each
    of several workers of one process should have at least."""
    size = pool.size
    share = share if pool.remembers else 0  # these are of this process, and share its lock
    packets = entries = 0
    for each in sizes:
        if each is None:
            return size
        if each.entries:
            packets += 1 + sum(1 for cut in each.cuts if cut < each.entries)
            entries += each.entries
        if packets >= size and entries >= share * size:
            return size
    most = min(packets, size) if not share else min(packets, size, -(-entries // share))
    return max(most, 1)
