"""The exact ledger of leases: each entry is leased to one site, in the result,
given up, or (in unleased_parts.py) not leased; never two of these, never none. Only notes what
happens."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from . import Coverage, FileSize, Missing, Range, gaps, joined
from .messages import Part

__all__ = ["Done", "LeaseLedger", "parts_left"]

Done = Mapping[int, Sequence[Range]]
"""Ranges by file that are in the result before anything is leased."""

Held = list[Range] | None
"""A site's ranges of a file, ascending; None: all of a file of unknown size."""


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


class LeaseLedger:
    """A record of which site has which entries."""

    def __init__(self) -> None:
        self.cuts: dict[int, tuple[int, ...]] = {}
        """The entries before which packets should end, by file."""
        self.committed_entries = 0
        self._held: dict[int, dict[int, Held]] = {}  # by site and file; no empty lists
        self._committed: dict[int, list[Range]] = defaultdict(list)
        self._missing: list[Missing] = []

    # What others may read.

    @property
    def anything_leased(self) -> bool:
        """True if any site has anything."""
        return any(self._held.values())

    def files_of(self, site: int) -> list[int]:
        """The files of which the site has entries."""
        return list(self._held.get(site, ()))

    def leased(self) -> Iterator[Part]:
        """Returns all leased parts."""
        for site in self._held:
            yield from self.parts_of(site)

    def parts_of(self, site: int) -> Iterator[Part]:
        """Returns all parts that are leased to a site."""
        for file, held in self._held.get(site, {}).items():
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

    def lease(self, site: int, part: Part) -> None:
        """Notes that the site gets the part, which is not leased."""
        files = self._held.setdefault(site, {})
        if part.stop is None:
            files[part.file] = None
        elif part.stop > part.start:
            if part.cuts:
                self.cuts[part.file] = part.cuts
            held = files.get(part.file) or []
            files[part.file] = joined([*held, (part.start, part.stop)])

    def opened(self, site: int, file: int, size: FileSize) -> bool:
        """Notes the size of a file that the site has without one. False if the site
        does not have it so."""
        files = self._held.get(site, {})
        if file not in files or files[file] is not None:
            return False
        self.cuts[file] = size.cuts
        if size.entries:
            files[file] = [(0, size.entries)]
        else:
            del files[file]
        return True

    def take(self, site: int, part: Part) -> None:
        """Takes a part from a site. Raises RuntimeError if it does not have all of it."""
        files = self._held.get(site, {})
        held = files.get(part.file, [])
        if held is None and part.stop is None:
            del files[part.file]
        elif held is None or part.stop is None or not _cut_out(held, part.start, part.stop):
            raise RuntimeError(f"site {site} does not have {part}")
        elif not held:
            del files[part.file]

    def commit(self, site: int, ranges: tuple[tuple[int, int, int], ...]) -> None:
        """Notes that ranges that the site had are in the result."""
        for file, start, stop in ranges:
            self.take(site, Part(file, start, stop))
            self._committed[file].append((start, stop))
            self.committed_entries += stop - start

    def lose(self, site: int) -> list[Part]:
        """Takes all from a site."""
        lost = list(self.parts_of(site))
        self._held.pop(site, None)
        return lost

    def give_up(self, part: Part, reason: str, error: BaseException | None) -> None:
        """Notes that a part that is not leased will not be in the result."""
        self._missing.append(Missing(part.file, part.start, part.stop, reason, error))


def _cut_out(held: list[Range], start: int, stop: int) -> bool:
    """Cuts a range out of one of these; False if none has all of it."""
    i = bisect_right(held, (start, float("inf"))) - 1
    if i < 0 or held[i][1] < stop:
        return False
    first, last = held[i]
    held[i : i + 1] = [each for each in ((first, start), (stop, last)) if each[0] < each[1]]
    return True
