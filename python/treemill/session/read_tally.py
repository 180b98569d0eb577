"""What reading takes in a query: in its passes, and before, between and after them, where files are
opened. Values of the last run in this process outlive its session.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from ..io_report import IOReport

if TYPE_CHECKING:
    from .._core import Control
    from ..backends.base import Pass

__all__ = ["ReadTally", "begin_run", "last_run"]


class ReadTally:
    """The reading of one query."""

    def __init__(self) -> None:
        self._before = IOReport()
        """What all but the last pass have read, and what was read between them."""
        self._pass: Callable[[], Pass | None] = lambda: None
        self._of_pass = IOReport()
        """What the last pass has read, if it is not there any more."""
        self._beside: Control | None = None
        _runs[-1].append(self)

    def prepare(self) -> None:
        """Counts from now on what this process reads outside of passes: before the first one, and
        when one has ended."""
        from .._core import Control  # heavy: core

        self._beside = Control()

    def begin(self, running: Pass) -> None:
        """Counts a pass from its beginning."""
        self.pause()
        self._before = self.so_far()
        # Workers may tell something after its end; to wait for it must not keep its results.
        self._of_pass, self._pass = IOReport(), weakref.ref(running)

    def pause(self) -> None:
        """Counts nothing more, until a pass begins, but what workers of the last one still tell."""
        running, beside = self._pass(), self._beside
        if running is not None:
            self._of_pass = running.io
        if beside is not None:
            self._before, self._beside = self._before.plus(IOReport.of(beside)), None

    def so_far(self) -> IOReport:
        """All that was counted."""
        running, beside = self._pass(), self._beside
        report = self._before.plus(self._of_pass if running is None else running.io)
        return report if beside is None else report.plus(IOReport.of(beside))


_runs: list[list[ReadTally]] = [[]]
"""The queries of the last run in this process."""


def begin_run() -> None:
    """The queries that are made from now on are those of a new run."""
    _runs[:] = [[]]


def last_run() -> IOReport:
    """What the queries of the last run in this process have read so far, together."""
    queries: Sequence[ReadTally] = list(_runs[-1])
    return reduce(IOReport.plus, (query.so_far() for query in queries), IOReport())
