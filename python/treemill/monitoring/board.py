"""What the page wants of a session and its queries. Protocols only: sessions implement them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from .progress import Progress
from .report import Report

__all__ = ["AccountWithCounters", "Board", "KeptAccount", "Live"]


class KeptAccount(Protocol):
    """The account of a query, which outlives it."""

    @property
    def id(self) -> str:
        """Names the query."""

    @property
    def title(self) -> str:
        """The query in a few words."""

    @property
    def feedback(self) -> str | None:
        """The name of the histogram that the user has chosen to see; None: any."""

    @property
    def traced(self) -> bool:
        """True if `Board.trace_page` has a page for the query."""

    @property
    def done(self) -> bool:
        """True if the query has ended, well or not."""

    @property
    def progress(self) -> Progress:
        """The progress of the query."""

    @property
    def report(self) -> Report:
        """Which entries are in the result, which are missing, and why."""


@runtime_checkable
class AccountWithCounters(Protocol):
    """An account with numbers that queries do not have."""

    @property
    def counters(self) -> Sequence[tuple[str, str]]:
        """Each with its name."""


class Live(Protocol):
    """A query that runs, or whose results someone holds."""

    @property
    def titles(self) -> Sequence[str]:
        """The values' titles, if they have no names of their own."""

    def snapshot(self, within: float | None = None) -> object:
        """The values so far; None if there are none, or none within so many seconds."""

    def stop(self, reason: str = ...) -> None:
        """Ends the query soon, with what is done by then."""

    def abort(self, reason: str = ...) -> None:
        """Ends the query at once."""


class Board(Protocol):
    """The queries of a session."""

    def named(self) -> str:
        """The session in a few words."""

    def accounts(self) -> Sequence[KeptAccount]:
        """The queries, oldest first, running or ended."""

    def live(self, name: str) -> Live | None:
        """The query with this id, if it can be asked for values or be stopped."""

    def trace_page(self, name: str) -> str | None:
        """The report of what the query with this id did, from its trace, as an HTML page that runs
        no script; None if there is none."""
