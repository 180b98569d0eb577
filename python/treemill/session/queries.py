"""The queries of a session: the accounts of the last ones, and the queries that can still be asked.
Thread-safe. Implements the dashboard's `Board`."""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from ..errors import WorkerError
from .query_account import Account
from .run import Query

if TYPE_CHECKING:
    from ..monitoring.watch import Feedback

__all__ = ["Queries"]

Started = TypeVar("Started", bound=Query)

_REMEMBERED = 100
"""Queries of which a session keeps the account."""


class Queries:
    """A session's queries."""

    def __init__(self, named: Callable[[], str]) -> None:
        """`named`: gives the session in a few words."""
        self.named = named
        self._process = os.getpid()
        self._accounts: deque[Account] = deque(maxlen=_REMEMBERED)
        self._there: weakref.WeakSet[Query] = weakref.WeakSet()  # ended ones may be in it
        self._lock = threading.Lock()

    def add(self, query: Query) -> None:
        """Adds the newest query. Raises WorkerError in a process that was forked from the
        session's: threads do not come along, so that the query would never end."""
        if os.getpid() != self._process:
            raise WorkerError(
                "this session was made before this process was forked, and its workers are in the "
                "other process: make another one here by treemill.connect()"
            )
        query.account.reading.prepare()
        with self._lock:
            self._accounts.append(query.account)
            self._there.add(query)

    def start(self, query: Started, feedback: Feedback | None) -> Started:
        """Adds the newest query, and starts its first pass. `feedback`: the name of the histogram
        that the user has chosen to see while it runs, if it is one."""
        query.account.feedback = feedback if isinstance(feedback, str) else None
        self.add(query)
        query.start()
        return query

    def accounts(self) -> Sequence[Account]:
        """The accounts of the last hundred queries, oldest first."""
        with self._lock:
            return tuple(self._accounts)

    def there(self) -> Sequence[Query]:
        """The queries that run, and those that the caller holds."""
        with self._lock:
            return list(self._there)

    def live(self, name: str) -> Query | None:
        """The query with this id, if it is still there."""
        return next((query for query in self.there() if query.id == name), None)

    def trace_page(self, name: str) -> str | None:
        """The report of the trace of a query that has ended, as an HTML page; None if there is no
        such query, or it has no trace."""
        account = next((each for each in self.accounts() if each.id == name), None)
        if account is None or not account.done or account.recorded is None:
            return None
        from ..monitoring.summary import summary  # start-up
        from ..monitoring.trace_page import page  # start-up

        recorded = account.recorded(account)
        return page(summary(recorded)) if recorded.last_phase.rows else None
