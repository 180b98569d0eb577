"""The parts that are not leased, and the choice among them: first those that lie near a site, then
those that it can help others with. Knows sites by name."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from dataclasses import dataclass, field

from ..frozen import replaced
from .messages import Part

__all__ = ["Reach", "UnleasedParts"]

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
