"""Looks at a running query now and then, for the progress bar and for feedback.

A query that ends soon is not looked at: nothing is imported or drawn before 0.3 s.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from .feedback import Progress

if TYPE_CHECKING:
    from .progress import ProgressBar

__all__ = ["Watch", "Watched"]

_FIRST_LOOK = 0.3
_BAR_EVERY = 0.1
_FEEDBACK_EVERY = 1.0


class Watched(Protocol):
    """What is looked at."""

    @property
    def progress(self) -> Progress:
        """How far it is."""

    def snapshot(self) -> tuple[Any, ...] | None:
        """Values so far."""


class Watch:
    """Ticks when `delay` says so; the caller waits in between."""

    def __init__(
        self,
        query: Watched,
        progress: bool | None,
        feedback: Callable[[tuple[Any, ...]], object] | None,
    ) -> None:
        self._query = query
        self._feedback = feedback
        self._wants_bar = wants_bar() if progress is None else progress
        self._bar: ProgressBar | None = None
        now = time.monotonic()
        self._next_bar = now + _FIRST_LOOK
        self._next_feedback = now + _FEEDBACK_EVERY

    def delay(self) -> float:
        """Seconds until the next tick; infinite where none is needed."""
        times = []
        if self._wants_bar:
            times.append(self._next_bar)
        if self._feedback is not None:
            times.append(self._next_feedback)
        return max(min(times, default=math.inf) - time.monotonic(), 0.0)

    def tick(self) -> None:
        """Draws and calls what is due."""
        now = time.monotonic()
        if self._wants_bar and now >= self._next_bar:
            if self._bar is None:
                from .progress import ProgressBar

                self._bar = ProgressBar()
            self._bar.update(self._query.progress)
            self._next_bar = now + _BAR_EVERY
        if self._feedback is not None and now >= self._next_feedback:
            values = self._query.snapshot()
            if values is not None:
                self._feedback(values)
            self._next_feedback = now + _FEEDBACK_EVERY

    def close(self) -> None:
        """The query has ended: the bar shows that, and stays."""
        if self._bar is not None:
            self._bar.update(self._query.progress)
            self._bar.close()


def wants_bar() -> bool:
    """Whether somebody is looking: a terminal or a notebook."""
    if os.environ.get("TERM") == "dumb":
        return False
    return sys.stderr.isatty() or "ipykernel" in sys.modules
