"""What is said to a user who waits for a cluster that does nothing: it has no workers, or its
scheduler does not answer. Pure.
"""

from __future__ import annotations

__all__ = ["WaitingWords"]

_NO_WORKERS = 3.0
"""Seconds without a worker after which that is said."""
_SILENT = 10.0
"""Seconds without an answer of the scheduler after which that is said. A session asks it twice a
second."""
_AGAIN = 30.0
"""Seconds after which it is said again."""


class WaitingWords:
    """When something is to be said, and what."""

    def __init__(self, address: str, wait: float, began: float) -> None:
        """`address` of the scheduler. `wait`: seconds after which a query without a worker is given
        up."""
        self._address = address
        self._wait = wait
        self._heard = began
        self._alone: float | None = began
        self._said: float | None = None  # when it was said last

    def hear(self, now: float, alone: bool) -> None:
        """The scheduler has answered. `alone`: the query needs workers and has none."""
        if now - self._heard > _SILENT or not alone:
            self._said = None
        self._heard = now
        if not alone:
            self._alone = None
        elif self._alone is None:
            self._alone = now

    def due(self, now: float) -> str | None:
        """What is to be said now, if anything.

        >>> words = WaitingWords("tcp://there:8786", 300.0, began=0.0)
        >>> words.hear(2.9, alone=True)
        >>> words.due(2.9)
        >>> words.due(3.1)[:37]
        'no workers at tcp://there:8786 yet, a'
        >>> words.due(12.0)
        >>> words.due(33.5)[:50]
        'the scheduler tcp://there:8786 has not answered fo'
        """
        words = self._words(now)
        if words is None or (self._said is not None and now - self._said < _AGAIN):
            return None
        self._said = now
        return words

    def _words(self, now: float) -> str | None:
        silent = now - self._heard
        if silent > _SILENT:
            return (
                f"the scheduler {self._address} has not answered for {silent:.0f} s: check whether "
                "its process is stopped or overloaded, and whether the network works"
            )
        if self._alone is None or now - self._alone <= _NO_WORKERS:
            return None
        return (
            f"no workers at {self._address} yet, after {now - self._alone:.0f} s: start some, or "
            "find in their logs why they do not come; the query ends after "
            f"{self._wait:g} s without a worker (wait= of connect())"
        )
