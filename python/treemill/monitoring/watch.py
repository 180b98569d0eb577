"""Looks at a running query now and then, for the progress bar and for feedback.

Nothing is imported or drawn in a query's first 0.3 s. If many short queries follow one another, as
in a loop over bookings, a bar appears after a second and says how many there were.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Protocol, cast

from .._system.process import in_notebook, wants_bar
from ..errors import QueryError, check_flag, warn
from ..io_report import IOReport
from .progress import Progress, histograms, pick

if TYPE_CHECKING:
    from hist import Hist

    from .progress_bar import NotebookBar, ProgressBar

__all__ = ["Feedback", "SeveralQueries", "Watch", "Watched", "check_watched"]

_FIRST_LOOK = 0.3
_BAR_EVERY = 0.1
_ROW = 1.0
"""Seconds for which runs must have followed one another before each has a bar at once."""
_PAUSE = 0.3
"""Seconds: a run that begins later after the last one does not follow it."""
_FEEDBACK_EVERY = 1.0
_LONGEST_MERGE = 0.5
"""Seconds that `snapshot` may take: this thread also handles Ctrl-C."""
_ASK_AGAIN = 0.1
"""Seconds between looks while there are no values yet."""

Feedback = Callable[..., object] | str | bool
"""A function that is called with the values so far, or the name of the histogram to draw, or True
for the first histogram."""


def check_watched(progress: object, feedback: object) -> None:
    """Raises QueryError for what `progress=` or `feedback=` cannot be."""
    if progress is not None:
        check_flag("progress", progress)
    if feedback is None or callable(feedback) or isinstance(feedback, bool):
        return
    if not isinstance(feedback, str) or not feedback:
        raise QueryError(
            "feedback is a function, True, or the name of a histogram among the values, not "
            f"{feedback!r:.60}"
        )


class Watched(Protocol):
    """A query, as far as `Watch` needs it."""

    @property
    def progress(self) -> Progress:
        """The progress of the query."""

    @property
    def titles(self) -> Sequence[str]:
        """The values' titles, if they have no names of their own."""

    def measured(self, name: str) -> object:
        """The histogram with this name of what workers have done; None if there is none."""

    def snapshot(self, within: float | None = None) -> object:
        """The values so far; None if there are none, or none within this many seconds."""


class ConsecutiveRuns:
    """Counts runs that follow one another. The caller gives the time."""

    def __init__(self) -> None:
        self.number = 0
        """How many runs there were, including the current one."""
        self._began = self._ended = -math.inf

    def begin(self, now: float) -> bool:
        """Notes that a run begins. True if the runs of this row have lasted so long that the bar is
        shown at once."""
        at_once = self._ended == math.inf  # another run has not ended
        if at_once or now - self._ended > _PAUSE:
            self.number, self._began = 0, now
        self.number += 1
        self._ended = math.inf  # not yet
        return self.number > 1 and now - self._began > _ROW

    def end(self, now: float) -> None:
        """Notes that the run has ended."""
        self._ended = now


_row = ConsecutiveRuns()


class Watch:
    """Shows a query. The caller waits for `delay()` seconds and calls `tick()`, again and again."""

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
        # Only a terminal can remove a bar again.
        in_row = _row.begin(now)
        self._row = in_row and self._wants_bar and sys.stderr.isatty() and not in_notebook()
        self._next_bar = now + (0.0 if self._row else _FIRST_LOOK)
        self._next_feedback = now + _FEEDBACK_EVERY

    def delay(self) -> float:
        """Seconds until the next tick; infinite if no tick is needed."""
        times = []
        if self._wants_bar:
            times.append(self._next_bar)
        if self._feedback is not None:
            times.append(self._next_feedback)
        return max(min(times, default=math.inf) - time.monotonic(), 0.0)

    def tick(self) -> None:
        """Draws the bar and calls the feedback function, if they are due."""
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

    def _draw(self, values: object) -> bool:
        """Draws the histogram that is meant; False if there is none."""
        item = pick(values, self._query.titles, self._name)
        if item is None and self._name is not None:
            measured = self._query.measured(self._name)
            item = None if measured is None else (self._name, cast("Hist", measured))
        if item is not None:
            self._shown().draw(*item)
        return item is not None

    def _warn_of_unknown_name(self, values: object) -> None:
        """To be called at the end of the query: results may get their histograms late."""
        names = [name for name, _ in histograms(values, self._query.titles)]
        warn(
            f"feedback={self._name!r} drew nothing, because the query has no such histogram. "
            f"Its histograms: {', '.join(names) or 'none'}"
        )

    def _shown(self) -> ProgressBar | NotebookBar:
        if self._bar is None:
            self._bar = _bar(passing=self._row)
        return self._bar

    def close(self) -> None:
        """Shows the final state of the query, which has ended. The bar stays on the screen, unless
        the query is one of several short runs in a row."""
        _row.end(time.monotonic())
        if self._bar is not None:
            if (
                self._feedback == self._draw
                and (values := self._query.snapshot(_LONGEST_MERGE)) is not None
                and not self._draw(values)
                and self._name is not None
            ):
                self._warn_of_unknown_name(values)
            self._bar.update(self._progress())
            self._bar.close()


def _bar(passing: bool) -> ProgressBar | NotebookBar:
    if in_notebook():
        from .progress_bar import NotebookBar  # heavy: rich

        return NotebookBar()
    from .progress_bar import ProgressBar  # heavy: rich

    return ProgressBar(passing)


# The progress of several queries that run one after another, as that of one query: a run over
# several datasets has one progress bar. Pure.


class SeveralQueries:
    """Implements `Watched` for a sequence of queries. `start` must be called for each of them."""

    def __init__(self, datasets: Sequence[tuple[str, int]]) -> None:
        """`datasets` gives the name and the number of files of each dataset, in running order."""
        self._datasets = datasets
        self._ended: list[Progress] = []
        self._current: Watched | None = None

    def start(self, query: Watched) -> None:
        """Makes this query the current one. The previous query has ended."""
        if self._current is not None:
            self._ended.append(self._current.progress)
        self._current = query

    @property
    def progress(self) -> Progress:
        """The sums over all queries. A query that has not started is estimated: its files are taken
        to have as many entries as the files of the others have on average."""
        now = None if self._current is None else self._current.progress
        begun = self._ended if now is None else [*self._ended, now]
        files = [number for _, number in self._datasets]
        expected = sum(each.expected for each in begun)
        rest = sum(files[len(begun) :])
        seconds = sum(each.seconds for each in begun)
        return Progress(
            phase="" if now is None else self._phase(len(begun), now.phase),
            entries=sum(each.entries for each in begun),
            expected=expected + expected * rest // max(sum(files[: len(begun)]), 1),
            bytes_read=sum(each.bytes_read for each in begun),
            bytes_decompressed=sum(each.bytes_decompressed for each in begun),
            bytes_from_cache=sum(each.bytes_from_cache for each in begun),
            io=reduce(IOReport.plus, (each.io for each in begun), IOReport()),
            seconds=seconds,
            workers=0 if now is None else now.workers,
            pass_seconds=seconds,
        )

    def _phase(self, number: int, phase: str) -> str:
        name = self._datasets[number - 1][0]
        return f"{name} ({number} of {len(self._datasets)}): {phase}"

    @property
    def titles(self) -> Sequence[str]:
        """The titles of the current query's values."""
        return () if self._current is None else self._current.titles

    def measured(self, name: str) -> object:
        """The current query's; see `Query.measured`."""
        return None if self._current is None else self._current.measured(name)

    def snapshot(self, within: float | None = None) -> object:
        """The current query's values so far; see `Query.snapshot`."""
        return None if self._current is None else self._current.snapshot(within)
