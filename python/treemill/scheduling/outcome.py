"""What a query has come to: the entries that are in its result, those that are not, and how many
there are. It can be asked while the query runs and afterwards, when nothing else is kept of what
led it. Changes nothing.
"""

from __future__ import annotations

from .coverage import Coverage
from .entities import Totals
from .ledger import Ledger

__all__ = ["Outcome"]


class Outcome:
    """The entries of one query."""

    def __init__(self, totals: Totals, ledger: Ledger) -> None:
        self._totals = totals
        self._ledger = ledger

    @property
    def committed_entries(self) -> int:
        """The number of entries in the result so far."""
        return self._ledger.committed_entries

    @property
    def expected_entries(self) -> int:
        """Entries of all files; a file of unknown size counts as many as the others on average."""
        return self._totals.expected

    def coverage(self, held: bool = False) -> Coverage:
        """Returns which entries are in the result (`held`: or in a merger's partial), which are
        not, and why. Final once the query is over."""
        return self._ledger.coverage(held)

    def outcome(self) -> Outcome:
        """This alone, for when the query is over."""
        return Outcome(self._totals, self._ledger)
