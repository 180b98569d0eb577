"""An endurance run as a board for the live page: one line for all of it and one for each storage,
with failures by cause and the jobs' times as histograms. Thread-safe: the page has threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..monitoring.progress import Progress
from ..monitoring.report import MissingEntries, Report
from .load_tests.run_summary import Moment, Tally, efficiency_of

if TYPE_CHECKING:
    from hist import Hist

__all__ = ["LoadTestBoard", "LoadTestState"]

_ALL = "all storages"


@dataclass(frozen=True)
class LoadTestState:
    """A run at one moment, as the page needs it."""

    moment: Moment
    running: Mapping[str, int]
    """Jobs that run, by storage."""
    tallies: Sequence[Tally]
    share: float
    """How much of the run's time or jobs is over, from 0 to 1."""
    done: bool = False
    stopping: bool = False
    """Whether no job begins any more, before its time."""

    @property
    def phase(self) -> str:
        """What it does."""
        if self.done:
            return "ended"
        return "stopping" if self.stopping else "running"


class _Account:
    """One line of the page. Implements KeptAccount, AccountWithCounters and Live."""

    titles: Sequence[str] = ()
    feedback: str | None = None
    traced = False

    def __init__(self, board: LoadTestBoard, name: str) -> None:
        self._board = board
        self.id = self.title = name

    @property
    def done(self) -> bool:
        return self._board.state.done

    @property
    def progress(self) -> Progress:
        state = self._board.state
        mine = self._mine(state)
        events = sum(each.events for each in mine)
        failed = sum(each.failed for each in mine)
        seconds = state.moment.seconds
        return Progress(
            state.phase + (f", {failed:,} failed" if failed else ""),
            events,
            int(events / state.share) if state.share > 0 else 0,
            sum(each.bytes_wanted for each in mine),
            0,
            seconds,
            sum(count for place, count in state.running.items() if self._has(place)),
            seconds,
        )

    @property
    def report(self) -> Report:
        state, mine = self._board.state, self._mine(self._board.state)
        missing = [
            MissingEntries(f"{each.kind}, {each.storage}", 0, None, f"{cause} ({number})")
            for each in mine
            for cause, number in each.causes.items()
        ]
        progress = self.progress
        return Report(
            progress.entries,
            {},
            missing,
            state.moment.seconds,
            progress.bytes_read,
            0,
            progress.workers,
        )

    @property
    def counters(self) -> Sequence[tuple[str, str]]:
        """The numbers of the jobs that have ended, and their CPU efficiency."""
        mine = self._mine(self._board.state)
        efficiency = efficiency_of(mine)
        return [
            ("jobs done", f"{sum(each.done for each in mine):,}"),
            ("jobs failed", f"{sum(each.failed for each in mine):,}"),
            ("CPU efficiency", "unknown" if efficiency is None else f"{efficiency:.0%}"),
        ]

    def snapshot(self, within: float | None = None) -> dict[str, Hist]:
        """Jobs by kind, done and failed, and failures by cause."""
        import hist

        mine = self._mine(self._board.state)
        histograms: dict[str, Hist] = {}
        for title, numbers in (
            ("jobs done", _added((each.kind, each.done) for each in mine)),
            ("jobs failed", _added((each.kind, each.failed) for each in mine)),
            ("failures by cause", _added(pair for each in mine for pair in each.causes.items())),
        ):
            if numbers:
                axis = hist.axis.StrCategory(list(numbers), name=title)
                histograms[title] = hist.Hist(axis, storage=hist.storage.Double())
                histograms[title].view()[:] = list(numbers.values())
        return histograms

    def stop(self, reason: str = "") -> None:
        """Jobs that run may end."""
        self._board.end("stop")

    def abort(self, reason: str = "") -> None:
        """Jobs that run are ended."""
        self._board.end("abort")

    def _has(self, storage: str) -> bool:
        return self.id in (_ALL, storage)

    def _mine(self, state: LoadTestState) -> list[Tally]:
        return [each for each in state.tallies if self._has(each.storage)]


class LoadTestBoard:
    """The board. `put` gives it the run's state, `end` is called with "stop" or "abort"."""

    def __init__(self, title: str, storages: Sequence[str], end: Callable[[str], None]) -> None:
        self._title = title
        self._lock = threading.Lock()
        self._state = LoadTestState(Moment(0.0, 0, 0, 0, 0, 0), {}, [], 0.0)
        # The page shows the last one if none is chosen.
        names = [*storages, _ALL] if len(storages) > 1 else list(storages)
        self._accounts = {name: _Account(self, name) for name in names}
        self.end = end

    @property
    def state(self) -> LoadTestState:
        """The state that was put last."""
        with self._lock:
            return self._state

    def put(self, state: LoadTestState) -> None:
        """The run's state now."""
        with self._lock:
            self._state = state

    def named(self) -> str:
        """See Board."""
        return self._title

    def accounts(self) -> Sequence[_Account]:
        """See Board."""
        return list(self._accounts.values())

    def live(self, name: str) -> _Account | None:
        """See Board."""
        return self._accounts.get(name)

    def trace_page(self, name: str) -> None:
        """See Board: jobs have no traces."""
        return


def _added(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name, number in pairs:
        counts[name] = counts.get(name, 0) + number
    return counts
