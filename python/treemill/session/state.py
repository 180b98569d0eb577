"""The words for a query's course: the state that the user has put it in, and the news of it.
Pure."""

from __future__ import annotations

from enum import Enum, auto

__all__ = ["QueryNews", "QueryState"]


class QueryState(Enum):
    """What the user has asked of a query since its start."""

    RUNNING = auto()
    """Nothing: it ends when all entries are processed."""
    STOPPED = auto()
    """The query is to end soon: what is done by then becomes the result."""
    ABORTED = auto()
    """The query is to end at once: there is no result."""


class QueryNews(Enum):
    """What a thread that waits for a query hears."""

    AT_WORK = auto()
    """All workers of the last pass have got their first packets. May never come."""
    DONE = auto()
    """The query has ended, well or not."""
    INTERRUPT = auto()
    """The user has pressed Ctrl-C."""
