"""Which query a lost process counts against: the one whose packet it had in hand. If it had packets
of several, each of these runs alone on a process until it has done them: so the next loss tells.
Pure: knows queries by name, and no process.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .view import Span

__all__ = ["LOADING", "Blame"]

LOADING: Span = (-1, 0, None)
"""What a process has in hand that loads the task of a query."""
_ANY_NUMBER = sys.maxsize


@dataclass(eq=False, slots=True)
class _Suspect:
    """A query that may have taken a process down, and has not done since what it had in hand
    then."""

    spans: list[Span] = field(default_factory=list)
    losses: int = 0  # that it alone is to blame for
    most: int | None = None  # turns at once, if it has to be alone
    is_measured: bool = False  # it has to be alone until a process has seen what memory it takes


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
        return suspect.most or (_ANY_NUMBER if suspect.is_measured else None)

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
            if not suspect.is_measured:
                del self._suspects[query]
        return query not in self._suspects

    def end(self, query: str) -> None:
        """The query is over."""
        self._suspects.pop(query, None)


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
