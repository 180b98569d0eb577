"""What workers hand over: their partial results merged into one, as commits come in.

Merge arithmetic only (the partials' own); which entries a commit covers is the ledger's account.
"""

from __future__ import annotations

import threading
from typing import Any

__all__ = ["Merged"]


class Merged:
    """The master's partial. Thread-safe: workers commit while others look."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._partial: Any = None

    def commit(self, partial: Any) -> None:
        """Takes over a worker's partial; the worker does not touch it any more."""
        with self._lock:
            if self._partial is None:
                self._partial = partial
            else:
                self._partial.merge(partial)

    def results(self) -> list[Any] | None:
        """The results as of now, one per booking; None before the first commit."""
        with self._lock:
            return None if self._partial is None else list(self._partial.results())
