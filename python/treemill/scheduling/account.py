"""The exact account of a lessor: each entry that it has is leased to one sub-master, in the result,
given up, or (in unleased_parts.py) not leased; never two of these, never none. Only notes what
happens."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from . import Coverage, FileSize, Missing, News, Range, gaps, joined
from .messages import Part

__all__ = ["Done", "LeaseAccount", "parts_left"]

Done = Mapping[int, Sequence[Range]]
"""Ranges by file that are in the result before anything is leased."""

Held = list[Range] | None
"""A sub-master's ranges of a file, ascending; None: all of a file of unknown size."""


def parts_left(file: int, size: FileSize | None, done: Sequence[Range]) -> list[Part]:
    """The parts of a file without the ranges that are done. Raises ValueError if the file does not
    have them, or if its size is not known.

    >>> parts_left(0, FileSize(50), [(0, 10), (30, 40)])
    [Part(file=0, start=10, stop=30, cuts=()), Part(file=0, start=40, stop=50, cuts=())]
    """
    if size is not None:
        between = gaps(joined(done), size.entries)
        return [Part(file, start, stop, size.cuts) for start, stop in between]
    if done:
        raise ValueError(f"entries of file {file} are done, and its size is not known")
    return [Part(file, 0, None)]


class LeaseAccount:
    """A record of which sub-master has which entries."""

    def __init__(self) -> None:
        self.cuts: dict[int, tuple[int, ...]] = {}
        """The entries before which packets should end, by file."""
        self.committed_entries = 0
        self._held: dict[int, dict[int, Held]] = {}  # by sub-master and file; no empty lists
        self._committed: dict[int, list[Range]] = defaultdict(list)
        self._missing: list[Missing] = []
        self._news: dict[int, list[Range]] = defaultdict(list)

    # What others may read.

    @property
    def anything_leased(self) -> bool:
        """True if any sub-master has anything."""
        return any(self._held.values())

    def has_anything(self, sub: int) -> bool:
        """True if the sub-master has anything."""
        return bool(self._held.get(sub))

    def files_of(self, sub: int) -> list[int]:
        """The files of which the sub-master has entries."""
        return list(self._held.get(sub, ()))

    @property
    def has_news(self) -> bool:
        """True if anything has come into the result since `take_news`."""
        return bool(self._news)

    def leased(self) -> Iterator[Part]:
        """Returns all leased parts."""
        for sub in self._held:
            yield from self.parts_of(sub)

    def parts_of(self, sub: int) -> Iterator[Part]:
        """Returns all parts that are leased to a sub-master."""
        for file, held in self._held.get(sub, {}).items():
            if held is None:
                yield Part(file, 0, None)
            else:
                yield from (self.part(file, start, stop) for start, stop in held)

    def part(self, file: int, start: int, stop: int) -> Part:
        """A part of a file of known size."""
        return Part(file, start, stop, self.cuts.get(file, ()))

    def coverage(self) -> Coverage:
        """Returns what is in the result, and what is given up."""
        processed = {file: joined(self._committed[file]) for file in sorted(self._committed)}
        missing = sorted(self._missing, key=lambda each: (each.file, each.start))
        return Coverage(processed, missing)

    # What happens.

    def begin_with(self, file: int, done: Sequence[Range]) -> None:
        """Notes ranges that are in the result before anything is leased."""
        self._committed[file] = joined(done)
        self.committed_entries += sum(stop - start for start, stop in done)

    def lease(self, sub: int, part: Part) -> None:
        """Notes that the sub-master gets the part, which is not leased."""
        files = self._held.setdefault(sub, {})
        if part.stop is None:
            files[part.file] = None
        elif part.stop > part.start:
            if part.cuts:
                self.cuts[part.file] = part.cuts
            held = files.get(part.file) or []
            files[part.file] = joined([*held, (part.start, part.stop)])

    def opened(self, sub: int, file: int, size: FileSize) -> bool:
        """Notes the size of a file that the sub-master has without one. False if the sub-master
        does not have it so."""
        files = self._held.get(sub, {})
        if file not in files or files[file] is not None:
            return False
        self.cuts[file] = size.cuts
        if size.entries:
            files[file] = [(0, size.entries)]
        else:
            del files[file]
        return True

    def take(self, sub: int, part: Part) -> None:
        """Takes a part from a sub-master. Raises RuntimeError if it does not have all of it."""
        files = self._held.get(sub, {})
        held = files.get(part.file, [])
        if held is None and part.stop is None:
            del files[part.file]
        elif held is None or part.stop is None or not _cut_out(held, part.start, part.stop):
            raise RuntimeError(f"sub-master {sub} does not have {part}")
        elif not held:
            del files[part.file]

    def commit(self, sub: int, ranges: tuple[tuple[int, int, int], ...]) -> None:
        """Notes that ranges that the sub-master had are in the result."""
        for file, start, stop in ranges:
            self.take(sub, Part(file, start, stop))
            self._committed[file].append((start, stop))
            self._news[file].append((start, stop))
            self.committed_entries += stop - start

    def lose(self, sub: int) -> list[Part]:
        """Takes all from a sub-master."""
        lost = list(self.parts_of(sub))
        self._held.pop(sub, None)
        return lost

    def give_up(self, part: Part, reason: str, error: BaseException | None) -> None:
        """Notes that a part that is not leased will not be in the result."""
        self._missing.append(Missing(part.file, part.start, part.stop, reason, error))

    def take_news(self) -> News:
        """Returns what has come into the result since the last call."""
        news, self._news = self._news, defaultdict(list)
        return News({file: joined(news[file]) for file in sorted(news)}, [])


def _cut_out(held: list[Range], start: int, stop: int) -> bool:
    """Cuts a range out of one of these; False if none has all of it."""
    i = bisect_right(held, (start, float("inf"))) - 1
    if i < 0 or held[i][1] < stop:
        return False
    first, last = held[i]
    held[i : i + 1] = [each for each in ((first, start), (stop, last)) if each[0] < each[1]]
    return True
