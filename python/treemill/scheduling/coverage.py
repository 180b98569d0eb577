"""Which entries are in a result, and which are not: plain values, and ranges that are joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..frozen import frozen
from .entities import Range
from .events import Packet

__all__ = ["Coverage", "Missing", "Ranges", "gaps", "joined", "joined_missing", "ranges_of"]

Ranges = Mapping[int, Sequence[Range]]
"""Entries, as ranges by file."""


@frozen
class Missing:
    """Entries `[start, stop)` of a file that are not in the result, and why. `stop` None: the file
    was never opened, so that its number of entries is not known."""

    file: int
    start: int
    stop: int | None
    reason: str
    error: BaseException | None = None


@frozen
class Coverage:
    """The entries that are in the result, as ascending ranges by file, and those that are not."""

    processed: dict[int, list[Range]]
    missing: list[Missing]

    @property
    def entries(self) -> int:
        """Number of entries in the result."""
        return sum(stop - start for ranges in self.processed.values() for start, stop in ranges)


def joined(ranges: Iterable[Range]) -> list[Range]:
    """The ranges in their order, neighbours as one. Raises RuntimeError if two overlap."""
    merged: list[Range] = []
    for start, stop in sorted(ranges):
        if merged and start < merged[-1][1]:
            raise RuntimeError(f"entries {start}..{merged[-1][1]} were committed twice")
        if merged and merged[-1][1] == start:
            merged[-1] = (merged[-1][0], stop)
        else:
            merged.append((start, stop))
    return merged


def gaps(ranges: Sequence[Range], entries: int) -> list[Range]:
    """The ranges of a file with this many entries between these, which are ascending and touch
    nowhere. Raises ValueError if they go beyond its end.

    >>> gaps([(0, 10), (30, 40)], 50)
    [(10, 30), (40, 50)]
    """
    ends = [0, *(stop for _, stop in ranges)]
    if ends[-1] > entries:
        raise ValueError(f"of {entries} entries, those up to {ends[-1]} are said to be done")
    starts = [*(start for start, _ in ranges), entries]
    return [each for each in zip(ends, starts, strict=True) if each[0] < each[1]]


def joined_missing(given_up: Iterable[Missing]) -> list[Missing]:
    """Returns what is missing, in its order; neighbours that miss for the same reason as one."""
    merged: list[Missing] = []
    for each in sorted(given_up, key=lambda m: (m.file, m.start)):
        last = merged[-1] if merged else None
        if (
            last is not None
            and (last.file, last.stop, last.reason) == (each.file, each.start, each.reason)
            and last.error is each.error
        ):
            merged[-1] = Missing(last.file, last.start, each.stop, last.reason, last.error)
        else:
            merged.append(each)
    return merged


def ranges_of(packets: Iterable[Packet]) -> dict[int, list[Range]]:
    """The entries of these packets, with neighbours joined. Raises RuntimeError if two overlap."""
    ranges: dict[int, list[Range]] = {}
    for packet in packets:
        ranges.setdefault(packet.file, []).append((packet.start, packet.stop))
    return {file: joined(each) for file, each in ranges.items()}
