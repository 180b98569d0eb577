"""Looks at a running query now and then, for the progress bar and for feedback.

A query that ends soon is not looked at: nothing is imported or drawn before 0.3 s. Where many that
end soon follow one another, as in a loop over bookings, there is a bar after a second, which says
how many there were.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from .display import in_notebook
from .feedback import pick
from .progress import Progress

if TYPE_CHECKING:
    from .notebook_bar import NotebookBar
    from .progress_bar import ProgressBar

__all__ = ["Feedback", "Watch", "Watched"]

_FIRST_LOOK = 0.3
_BAR_EVERY = 0.1
_ROW = 1.0
"""Seconds that runs follow one another before each has a bar at once."""
_PAUSE = 0.3
"""Seconds between two runs that do not follow one another."""
_FEEDBACK_EVERY = 1.0
_LONGEST_MERGE = 0.5
"""Seconds that the values so far are waited for: this thread is to hear Ctrl-C meanwhile."""
_ASK_AGAIN = 0.1
"""While there are no values yet: the first ones are wanted at once."""

Feedback = Callable[[Any], object] | str | bool
"""What gets the values so far, or the name of the histogram that is drawn; True: the first one."""


class Watched(Protocol):
    """What is looked at."""

    @property
    def progress(self) -> Progress:
        """How far it is."""

    @property
    def titles(self) -> Sequence[str]:
        """Of its values, where these have no names of their own."""

    def snapshot(self, within: float | None = None) -> Any:
        """Values so far."""


class Row:
    """Runs that follow one another. Is told the time."""

    def __init__(self) -> None:
        self.number = 0
        """How many there were, with the one that runs."""
        self._began = self._ended = -math.inf

    def begin(self, now: float) -> bool:
        """A run begins; whether those of this row have lasted so long that it is shown at once."""
        at_once = self._ended == math.inf  # another one runs
        if at_once or now - self._ended > _PAUSE:
            self.number, self._began = 0, now
        self.number += 1
        self._ended = math.inf  # not yet
        return self.number > 1 and now - self._began > _ROW

    def end(self, now: float) -> None:
        """The run has ended."""
        self._ended = now


_row = Row()


class Watch:
    """Ticks when `delay` says so; the caller waits in between."""

    def __init__(
        self,
        query: Watched,
        progress: bool | None,
        feedback: Feedback | None,
    ) -> None:
        self._query = query
        self._wants_bar = wants_bar() if progress is None else progress
        self._bar: ProgressBar | NotebookBar | None = None
        self._name = feedback if isinstance(feedback, str) else None
        self._feedback = feedback if callable(feedback) else None
        if feedback and self._feedback is None and self._wants_bar:
            self._feedback = self._draw
        now = time.monotonic()
        # Only from a terminal a bar can be taken away again.
        self._row = _row.begin(now) and sys.stderr.isatty() and not in_notebook()
        self._next_bar = now + (0.0 if self._row else _FIRST_LOOK)
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
            self._shown().update(self._progress())
            self._next_bar = now + _BAR_EVERY
        if self._feedback is not None and now >= self._next_feedback:
            values = self._query.snapshot(_LONGEST_MERGE)
            if values is not None:
                self._feedback(values)
            self._next_feedback = now + (_FEEDBACK_EVERY if values is not None else _ASK_AGAIN)

    def _progress(self) -> Progress:
        progress = self._query.progress
        if not self._row:
            return progress
        return replace(progress, phase=f"run {_row.number} in a row: {progress.phase}")

    def _draw(self, values: Any) -> None:
        found = pick(values, self._query.titles, self._name)
        if found is not None:
            self._shown().draw(*found)

    def _shown(self) -> ProgressBar | NotebookBar:
        if self._bar is None:
            self._bar = _bar(passing=self._row)
        return self._bar

    def close(self) -> None:
        """The query has ended: the bar shows that, and stays; but for those of short runs in a
        row, which would fill the screen."""
        _row.end(time.monotonic())
        if self._bar is not None:
            if (
                self._feedback == self._draw
                and (values := self._query.snapshot(_LONGEST_MERGE)) is not None
            ):
                self._draw(values)
            self._bar.update(self._progress())
            self._bar.close()


def _bar(passing: bool) -> ProgressBar | NotebookBar:
    if in_notebook():
        from .notebook_bar import NotebookBar  # heavy: rich

        return NotebookBar()
    from .progress_bar import ProgressBar  # heavy: rich

    return ProgressBar(passing)


def wants_bar() -> bool:
    """Whether somebody is looking: a terminal or a notebook."""
    if os.environ.get("TERM") == "dumb":
        return False
    return sys.stderr.isatty() or in_notebook()
