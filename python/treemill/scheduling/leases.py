"""What is leased, to whom, and what not: the messages between sites and what leases to them, the
parts that are not leased, and the exact ledger. Each entry is leased to one site, in the result,
given up, or not leased; never two of these, never none. Only notes what happens: lease_scheduler.py
decides.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from ..frozen import frozen, replaced
from . import (
    Committed,
    Coverage,
    FileSize,
    Finish,
    Halt,
    Missing,
    Range,
    Stop,
    Tick,
    WorkerLost,
    gaps,
    joined,
)

__all__ = [
    "Done",
    "LeaseLedger",
    "Reach",
    "UnleasedParts",
    "parts_left",
]

# The messages between the scheduler of leases and its sites: plain values. Messages of one site
# arrive in their order. Files are numbered as in the dataset. A site is a worker to those that lead
# the pass: its loss is WorkerLost, with all that it had not handed up, and what it hands up is
# Committed, with its ranges.


@frozen
class Part:
    """Entries `[start, stop)` of a file; stop None: all of a file of unknown size. `cuts`: the
    entries of the file before which packets should end."""

    file: int
    start: int
    stop: int | None
    cuts: tuple[int, ...] = ()

    @property
    def entries(self) -> int | None:
        """The number of its entries, if it is known."""
        return None if self.stop is None else self.stop - self.start

    @property
    def size(self) -> FileSize | None:
        """The part's size and its cuts, counted from its start."""
        if self.stop is None:
            return None
        if not self.start:
            return FileSize(self.stop, self.cuts)
        cuts = tuple(cut - self.start for cut in self.cuts if self.start < cut < self.stop)
        return FileSize(self.stop - self.start, cuts)


# From a site to the scheduler of leases.


@frozen
class SiteJoined:
    """A site has joined, with nothing in hand. `name`: by which files are near to it or not. No
    other one has or had its number."""

    site: int
    name: str


@frozen
class Standing:
    """How a site stands: its workers, the entries per second of all of them (0: not measured
    yet), and the entries that none of them has begun."""

    site: int
    workers: int
    rate: float
    left: float


@frozen
class Asked:
    """The site asks for more. Grant is the answer, at any time later."""

    site: int


@frozen
class Opened:
    """The size of a file that was leased without one has become known."""

    site: int
    file: int
    size: FileSize


@frozen
class Returned:
    """These parts, of which no entry was begun, are not the site's any more. Answer to
    TakeBack."""

    site: int
    parts: tuple[Part, ...]


@frozen
class Failed:
    """The site has tried this part in vain, as often as it may. stop None: the file could not
    be opened."""

    site: int
    part: Part
    error: BaseException


@frozen
class Ended:
    """Answer to Halt: the site has handed up all that it will."""

    site: int


Upward = SiteJoined | WorkerLost | Standing | Asked | Opened | Returned | Failed | Committed | Ended
LeaseEvent = Upward | Tick | Stop


# From the scheduler of leases to its sites. Halt and Finish are for all of them.


@frozen
class Grant:
    """These parts are leased to the site: answer to Asked, or what another one
    has returned for it."""

    site: int
    parts: tuple[Part, ...]


@frozen
class TakeBack:
    """Others have less to do: the site answers Returned with about this many entries that no
    worker has begun, of the files `among`, or with none."""

    site: int
    entries: int
    among: frozenset[int] | None = None


Downward = Grant | TakeBack | Halt | Finish


# The parts that are not leased, and the choice among them: first those that lie near a site, then
# those that it can help others with. Knows sites by name.

Rate = Callable[[Set[str]], float]
"""Entries per second of these sites together."""


@dataclass(frozen=True)
class Reach:
    """The sites that a file is near to; if there are none, it is equally near to all. `only`:
    whether no other site can read it."""

    near: frozenset[str] = frozenset()
    only: bool = False


@dataclass(eq=False)
class _Pile:
    reach: Reach
    parts: deque[Part] = field(default_factory=deque)
    entries: int = 0
    unknown: int = 0

    def count(self, part: Part, sign: int) -> None:
        if part.stop is None:
            self.unknown += sign
        else:
            self.entries += sign * (part.stop - part.start)

    def left(self, mean: float) -> float:
        return self.entries + self.unknown * mean


class UnleasedParts:
    """The parts that are not leased."""

    def __init__(self, reach: Callable[[int], Reach]) -> None:
        """`reach`: which sites a file is near to."""
        self._reach = reach
        self._piles: dict[Reach, _Pile] = {}
        self._tried = _Pile(Reach())  # parts of files that a site cannot open
        self._barred: dict[int, set[str]] = {}  # by file: sites that cannot open it

    def __bool__(self) -> bool:
        return any(pile.parts for pile in self._all)

    @property
    def _all(self) -> Iterator[_Pile]:
        yield from self._piles.values()
        yield self._tried

    def __iter__(self) -> Iterator[Part]:
        for pile in self._all:
            yield from pile.parts

    def left(self, mean: float) -> float:
        """Entries; a file of unknown size counts `mean`."""
        return sum(pile.left(mean) for pile in self._all)

    def add(self, part: Part) -> None:
        """Adds a part."""
        if part.file in self._barred:
            pile = self._tried
        else:
            reach = self._reach(part.file)
            pile = self._piles.get(reach) or self._piles.setdefault(reach, _Pile(reach))
        pile.parts.append(part)
        pile.count(part, 1)

    def bar(self, site: str, file: int) -> None:
        """Notes that a site cannot open a file, of which nothing is in the pool."""
        self._barred.setdefault(file, set()).add(site)

    def may_read(self, site: str, file: int) -> bool:
        """True if the site may try to read the file."""
        reach = self._reach(file)
        return site not in self._barred.get(file, ()) and not (
            reach.only and site not in reach.near
        )

    @property
    def restricted(self) -> bool:
        """True if there may be files that some sites cannot read."""
        return bool(self._barred) or any(reach.only for reach in self._piles)

    def take(self, site: str, wanted: float, mean: float, rate: Rate) -> list[Part]:
        """Takes out about this many entries that the site may read: its own first, then those that
        are near to no site, then those of the sites that have most left for their rate."""
        mean = max(mean, 1.0)
        parts: list[Part] = []
        for pile in sorted(
            (pile for pile in self._piles.values() if pile.parts),
            key=lambda pile: _order(pile, site, mean, rate),
        ):
            if pile.reach.only and site not in pile.reach.near:
                continue
            while pile.parts and wanted >= 1:
                part = self._pop(pile, wanted)
                parts.append(part)
                wanted -= mean if part.stop is None else part.stop - part.start
        for part in [*self._tried.parts] if wanted >= 1 else ():
            if wanted >= 1 and self.may_read(site, part.file):
                self._tried.parts.remove(part)
                self._tried.count(part, -1)
                parts.append(part)
                wanted -= mean if part.stop is None else part.stop - part.start
        return parts

    def take_out_of_reach(self, sites: Collection[str]) -> list[Part]:
        """Takes out the parts that none of these sites may read."""
        if not self.restricted:
            return []
        lost = []
        for pile in self._all:
            for part in list(pile.parts):
                if not any(self.may_read(site, part.file) for site in sites):
                    pile.parts.remove(part)
                    pile.count(part, -1)
                    lost.append(part)
        return lost

    def clear(self) -> list[Part]:
        """Takes out everything."""
        parts = [*self]
        for pile in self._all:
            pile.parts.clear()
            pile.entries = pile.unknown = 0
        return parts

    def _pop(self, pile: _Pile, wanted: float) -> Part:
        part = pile.parts.popleft()
        pile.count(part, -1)
        cut = _cut(part, wanted)
        if cut is None:
            return part
        rest = replaced(part, start=cut)
        pile.parts.appendleft(rest)
        pile.count(rest, 1)
        return replaced(part, stop=cut)


def _order(pile: _Pile, site: str, mean: float, rate: Rate) -> tuple[int, float]:
    near = pile.reach.near
    if site in near:
        return 0, len(near)
    if not near:
        return 1, 0.0
    return 2, -pile.left(mean) / (rate(near) or 1.0)


def _cut(part: Part, wanted: float) -> int | None:
    """Returns where a part is cut, so that about this many entries come before; None: it is taken
    whole."""
    if part.stop is None or part.stop - part.start <= wanted:
        return None
    target = part.start + max(int(wanted), 1)
    cuts: Sequence[int] = part.cuts
    i = bisect_right(cuts, target)
    if i > 0 and cuts[i - 1] > part.start:
        target = cuts[i - 1]
    elif i < len(cuts):
        target = cuts[i]
    elif cuts:
        return None
    return target if target < part.stop else None


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

    def files(self) -> Collection[int]:
        """The files of which entries are in the result."""
        return self._committed.keys()

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
