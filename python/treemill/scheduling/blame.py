"""Which query a lost process counts against: the one whose packet it had in hand. If it had packets
of several, each of these runs alone on a process until it has done them: so the next loss tells.

A process may also die of what its queries have kept there from packet to packet, whoever has a
packet in hand then. So what it keeps between packets is put down to the queries that were at work
while it grew, in equal parts: nobody has more than the one that fills it. If a process is lost that
had kept much, no packet counts, and the query with most of such parts runs alone, for longer than
that process took to fill: if it fills further ones there, it is given up; if others are filled
meanwhile, another query is the next to run alone.
Pure: knows queries and processes by name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ..frozen import frozen
from .view import Span

__all__ = ["LOADING", "Blame", "Filled"]

LOADING: Span = (-1, 0, None)
"""What a process has in hand that loads the task of a query."""
_ANY_NUMBER = sys.maxsize

_FULL = 0.5
"""The part of its limit that a process keeps between packets, at least, if it died of that."""
_GROWN = 0.25
"""The part of its limit by which it has grown since its first query, at least."""
_LATE_SECONDS = 5.0
"""What a process keeps is known once its packets are done. If it was told so shortly before the
process was lost, it may have grown since by as much as it had when it was told."""
_CERTAIN = 0.5
"""If a query was alone while it grew by such a part of that, the query has filled it. More cannot
be asked: what grows while its last neighbours end their packets is put down to these, too."""
_LOSSES = 3
"""Processes that a query may fill while it is alone."""
_LEAST_SECONDS = 60.0
_LONGER = 1.5
"""A query that may have filled a process is alone for so many times as long as that took."""


@frozen
class Filled:
    """What follows if a process is lost that had kept much from packet to packet."""

    kept: int
    """The bytes by which it had grown."""
    suspect: str | None = None
    """The query that is to be alone from now on."""
    seconds: float = 0.0
    """For so long, if it fills no other process."""
    cleared: tuple[str, ...] = ()
    """Those that need not be alone any more for what they might have kept."""
    given_up: str | None = None
    """The query that goes on with filling processes."""


@dataclass(eq=False, slots=True)
class _Process:
    """What a process keeps between packets."""

    least: int  # what it had before its first query, or has had since
    keeps: int
    limit: int
    told: float  # when
    grew: int = 0  # by what was told last
    parts: dict[str, float] = field(default_factory=dict)  # of its growth, by query
    alone: dict[str, float] = field(default_factory=dict)  # of these, when no other one was there
    since: dict[str, float] = field(default_factory=dict)  # when the query was put down first


@dataclass(eq=False, slots=True)
class _Suspect:
    """A query that may have taken a process down, and has not done since what it had in hand
    then."""

    spans: list[Span] = field(default_factory=list)
    losses: int = 0  # that it alone is to blame for
    most: int | None = None  # turns at once, if it has to be alone
    is_measured: bool = False  # it has to be alone until a process has seen what memory it takes
    filled: int | None = None  # processes, while it was alone; None: it need not be for that

    @property
    def is_apart(self) -> bool:
        """True if it has to be alone, with any number of turns."""
        return self.is_measured or self.filled is not None


class Blame:
    """The queries that are suspected.

    >>> blame = Blame()
    >>> blame.lost({"mine": [(0, 0, 10)], "yours": [(3, 0, 10)]})  # no one knows
    >>> blame.done("yours", (3, 0, 10))
    True
    >>> blame.lost({"mine": [(0, 0, 10)]})
    'mine'
    >>> blame.most("mine"), blame.most("yours")
    (1, None)
    """

    def __init__(self) -> None:
        self._suspects: dict[str, _Suspect] = {}
        self._processes: dict[str, _Process] = {}
        self._scores: dict[str, float] = {}  # what of lost processes is put down to queries

    def lost(self, in_hand: Mapping[str, Sequence[Span]]) -> str | None:
        """A process was lost that had this in hand, by query. Returns the query that is to blame;
        None: that is not known, or nobody is."""
        for query, spans in in_hand.items():
            suspect = self._noted(query, spans)
            if len(in_hand) == 1:
                suspect.losses += 1
                # The first time any machine may have failed. Later it should be known which packet.
                if suspect.losses > 1 or suspect.most is not None:
                    suspect.most = 1
            elif suspect.most is None:
                suspect.most = _ANY_NUMBER
        return next(iter(in_hand)) if len(in_hand) == 1 else None

    def measure(self, query: str) -> None:
        """A query may take too much memory: it is to be alone until that is measured."""
        self._noted(query, ()).is_measured = True

    def measured(self, query: str) -> bool:
        """It is measured. Returns True if the query is suspected of nothing more."""
        suspect = self._suspects.get(query)
        if suspect is not None:
            suspect.is_measured = False
        return self._cleared(query)

    def _noted(self, query: str, spans: Sequence[Span]) -> _Suspect:
        suspect = self._suspects.setdefault(query, _Suspect())
        suspect.spans += spans
        return suspect

    def suspects(self, query: str) -> bool:
        """True if the query may have taken a process down."""
        return query in self._suspects

    def most(self, query: str) -> int | None:
        """The most turns at once, on a process of its own, that the query may have; None: it need
        not be alone."""
        suspect = self._suspects.get(query)
        if suspect is None:
            return None
        return suspect.most or (_ANY_NUMBER if suspect.is_apart else None)

    def done(self, query: str, span: Span) -> bool:
        """A worker of the query has done these entries, or (without an end) has opened the file.
        Returns True if it is suspected of nothing more."""
        suspect = self._suspects.get(query)
        if suspect is None:
            return False
        suspect.spans = [rest for each in suspect.spans for rest in _without(each, span)]
        return self._cleared(query)

    def _cleared(self, query: str) -> bool:
        suspect = self._suspects.get(query)
        if suspect is not None and not suspect.spans:
            suspect.most, suspect.losses = None, 0
            if not suspect.is_apart:
                del self._suspects[query]
        return query not in self._suspects

    def end(self, query: str) -> None:
        """The query is over."""
        self._suspects.pop(query, None)
        self._scores.pop(query, None)
        for process in self._processes.values():
            for parts in (process.parts, process.alone, process.since):
                parts.pop(query, None)

    # What processes keep.

    def keeps(self, name: str, keeps: int, limit: int, worked: Sequence[str], now: float) -> None:
        """A process, which may have `limit` bytes, keeps so many between packets. `worked`: the
        queries that were at work there since it was told last; none, if it is told first."""
        process = self._processes.get(name)
        if process is None or not worked:
            process = self._processes[name] = _Process(keeps, keeps, limit, now)
        process.grew, process.told = max(keeps - process.keeps, 0), now
        before, process.keeps = process.keeps - process.least, keeps
        process.least = min(process.least, keeps)
        grown = keeps - process.least - before
        if grown > 0:
            for query in worked:
                part = process.parts.get(query, 0.0) + grown / len(worked)
                process.parts[query] = part
                process.since.setdefault(query, now)
            if len(worked) == 1:
                process.alone[worked[0]] = process.alone.get(worked[0], 0.0) + grown
        elif before > 0:
            for parts in (process.parts, process.alone):
                for query in parts:
                    parts[query] *= (before + grown) / before

    def filled(
        self,
        name: str,
        queries: Collection[str],
        is_alone: Callable[[str], bool],
        now: float,
    ) -> Filled | None:
        """A process was lost. `queries`: those that are not over. `is_alone`: whether one has to be
        alone now. Returns what follows if the process had kept much; None: what it had in hand
        tells who is to blame."""
        process = self._processes.pop(name, None)
        if process is None:
            return None
        kept = process.keeps - process.least
        late = process.grew if now - process.told <= _LATE_SECONDS else 0
        if process.keeps + late < _FULL * process.limit or kept + late < _GROWN * process.limit:
            return None
        parts = {query: part for query, part in process.parts.items() if query in queries}
        if len(queries) == 1 and not any(map(is_alone, parts)):
            return None  # it does no harm to others, and may end all the same
        for query, part in parts.items():
            self._scores[query] = self._scores.get(query, 0.0) + part / kept
        likely = [query for query in parts if 2 * parts[query] >= max(parts.values())]
        tried = [query for query in self.hoarders if query in likely]
        if likely and not tried:
            suspect = max(likely, key=self._scores.__getitem__)
            self._noted(suspect, ()).filled = 0
            seconds = max(_LONGER * (now - process.since[suspect]), _LEAST_SECONDS)
            return Filled(kept, suspect, seconds)
        for query in tried:
            if process.alone.get(query, 0.0) >= _CERTAIN * kept and is_alone(query):
                return self._filled_alone(query, kept)
        return Filled(kept)

    def _filled_alone(self, guilty: str, kept: int) -> Filled:
        suspect = self._suspects[guilty]
        suspect.filled = (suspect.filled or 0) + 1
        cleared = tuple(
            each for each in self.hoarders if each != guilty and self.has_been_alone(each)
        )
        return Filled(kept, None, 0.0, cleared, guilty if suspect.filled >= _LOSSES else None)

    def gone(self, name: str) -> None:
        """A process is gone, and nobody is to blame."""
        self._processes.pop(name, None)

    @property
    def hoarders(self) -> list[str]:
        """The queries that are alone because of what they might have kept."""
        return [each for each, suspect in self._suspects.items() if suspect.filled is not None]

    def has_been_alone(self, query: str) -> bool:
        """The query was alone for long enough, and has filled no process. Returns True if it is
        suspected of nothing more."""
        self._suspects[query].filled = None
        self._scores.pop(query, None)  # another one comes first
        return self._cleared(query)


def _without(span: Span, done: Span) -> list[Span]:
    """What is left of a span.

    >>> _without((0, 10, 30), (0, 15, 20))
    [(0, 10, 15), (0, 20, 30)]
    """
    (file, start, stop), (of, first, last) = span, done
    if file == LOADING[0]:
        return []  # it has loaded
    if file != of:
        return [span]
    if stop is None or last is None:
        return [] if stop is None else [span]
    return [(file, a, b) for a, b in ((start, min(stop, first)), (max(start, last), stop)) if a < b]
