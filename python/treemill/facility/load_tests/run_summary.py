"""An endurance run's account in words, figures and a table. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ...pictures.line_charts import Panel, Series
from ..storage.findings import Figure
from ..storage.reading import binned, joined, percentile

__all__ = [
    "HEAD",
    "JobEnd",
    "LoadTestSummary",
    "Moment",
    "Tally",
    "drawn",
    "efficiency_of",
    "findings",
    "line_of",
    "rows",
]

# What is kept of an endurance run: sums by kind of job and storage, and the run's course, in
# bounded memory however long it is. Pure: it is told the time.

_KEPT_CAUSES = 50
"""Causes of failures that are told apart, for each kind of job and storage."""
_OTHERS = "other causes"
_MOST_MOMENTS = 400


@dataclass(frozen=True)
class JobEnd:
    """What came of one job. Times are in seconds."""

    seconds: float
    cpu: float
    events: int = 0
    bytes_wanted: int = 0
    bytes_asked: int = 0
    cause: str | None = None
    """Why it failed; None: it did not."""


@dataclass(frozen=True)
class Tally:
    """The jobs of a kind at a storage. Failed jobs count in `failed`, `causes`, `cpu` and `seconds`
    only."""

    kind: str
    storage: str
    done: int = 0
    failed: int = 0
    events: int = 0
    bytes_wanted: int = 0
    bytes_asked: int = 0
    cpu: float = 0.0
    seconds: float = 0.0
    """The time of all jobs together."""
    seconds_50: float | None = None
    """Within which half of the jobs that did not fail had ended."""
    seconds_90: float | None = None
    seconds_99: float | None = None
    causes: Mapping[str, int] = field(default_factory=dict)

    @property
    def efficiency(self) -> float:
        """CPU time / wall time of the jobs."""
        return self.cpu / self.seconds if self.seconds > 0 else 0.0


def efficiency_of(tallies: Sequence[Tally]) -> float | None:
    """CPU time / wall time of all these jobs; None before any has ended.

    >>> efficiency_of([Tally("a", "h", cpu=1.0, seconds=2.0), Tally("b", "h", seconds=2.0)])
    0.25
    """
    seconds = sum(each.seconds for each in tallies)
    return sum(each.cpu for each in tallies) / seconds if seconds > 0 else None


@dataclass(frozen=True)
class Moment:
    """What there was in all at a time."""

    seconds: float
    """The time since the start of the run."""
    running: int
    done: int
    failed: int
    events: int
    bytes_wanted: int


@dataclass
class _JobSums:
    done: int = 0
    failed: int = 0
    events: int = 0
    bytes_wanted: int = 0
    bytes_asked: int = 0
    cpu: float = 0.0
    seconds: float = 0.0
    times: dict[int, int] = field(default_factory=dict)
    causes: Counter[str] = field(default_factory=Counter)

    def add(self, ended: JobEnd) -> None:
        self.cpu += ended.cpu
        self.seconds += ended.seconds
        if ended.cause is not None:
            known = ended.cause in self.causes or len(self.causes) < _KEPT_CAUSES
            self.causes[ended.cause if known else _OTHERS] += 1
            self.failed += 1
            return
        self.done += 1
        self.events += ended.events
        self.bytes_wanted += ended.bytes_wanted
        self.bytes_asked += ended.bytes_asked
        self.times = joined([self.times, binned([ended.seconds])])


class LoadTestSummary:
    """Takes what came of each job; `course` is the run so far, in some hundred moments."""

    def __init__(self, kinds: Sequence[str], storages: Sequence[str]) -> None:
        self.kinds, self.storages = list(kinds), list(storages)
        self._sums = {(kind, place): _JobSums() for kind in self.kinds for place in self.storages}
        self._course: list[Moment] = []
        self._apart = 0.0

    def add(self, kind: str, storage: str, ended: JobEnd) -> None:
        """A job has ended."""
        self._sums[kind, storage].add(ended)

    def look(self, now: float, running: int) -> None:
        """Notes how far the run is, unless it was noted just before. When there are too many notes,
        every second one goes, and new ones have to lie twice as far apart."""
        if self._course and now - self._course[-1].seconds < self._apart:
            return
        self._course.append(self.moment(now, running))
        if len(self._course) > _MOST_MOMENTS:
            self._course = self._course[::2]
            self._apart = max(2 * self._apart, self._course[-1].seconds / len(self._course))

    def moment(self, now: float, running: int) -> Moment:
        """Returns how far the run is."""
        sums = self._sums.values()
        return Moment(
            now,
            running,
            sum(each.done for each in sums),
            sum(each.failed for each in sums),
            sum(each.events for each in sums),
            sum(each.bytes_wanted for each in sums),
        )

    @property
    def course(self) -> list[Moment]:
        """The moments so far."""
        return list(self._course)

    def tallies(self) -> list[Tally]:
        """The sums so far."""
        return [
            Tally(
                kind,
                storage,
                each.done,
                each.failed,
                each.events,
                each.bytes_wanted,
                each.bytes_asked,
                each.cpu,
                each.seconds,
                percentile(each.times, 50),
                percentile(each.times, 90),
                percentile(each.times, 99),
                dict(each.causes),
            )
            for (kind, storage), each in self._sums.items()
        ]


HEAD = (
    "job", "storage", "done", "failed", "events", "MB", "asked / wanted", "CPU / wall",
    "s 50 %", "90 %", "99 %", "causes",
)  # fmt: skip
_MOST_CAUSES = 5
_PARTS = 60
"""Rates are averages over so many parts of the run, at most."""


def findings(tallies: Sequence[Tally], course: Sequence[Moment]) -> Iterator[str]:
    """One line for each storage, and one for what failed."""
    if not tallies:
        return
    seconds = course[-1].seconds if course else 0.0
    for storage in dict.fromkeys(each.storage for each in tallies):
        mine = [each for each in tallies if each.storage == storage]
        done, failed = sum(each.done for each in mine), sum(each.failed for each in mine)
        events, read = sum(e.events for e in mine), sum(e.bytes_wanted for e in mine)
        ratio = efficiency_of(mine)
        efficiency = "unknown" if ratio is None else f"{ratio:.0%}"
        share = failed / (done + failed) if done + failed else 0.0
        line = (
            f"{storage}: {done:,} jobs in {seconds:,.0f} s, {failed:,} failed ({share:.1%}), "
            f"CPU efficiency {efficiency}"
        )
        if seconds > 0:
            line += f", {events / seconds:,.0f} events/s, {read / 1e6 / seconds:,.1f} MB/s"
        yield line
    causes: Counter[str] = Counter()
    for each in tallies:
        causes.update(each.causes)
    if causes:
        common = causes.most_common(_MOST_CAUSES)
        said = "; ".join(f"{cause} ({number})" for cause, number in common)
        yield f"failures: {said}" + ("; …" if len(causes) > _MOST_CAUSES else "")
    else:
        yield "no job failed"


def rows(tallies: Sequence[Tally]) -> Iterator[tuple[str, ...]]:
    """A row for each kind of job at each storage."""
    for each in tallies:
        ratio = each.bytes_asked / each.bytes_wanted if each.bytes_wanted else None
        times = (each.seconds_50, each.seconds_90, each.seconds_99)
        yield (
            each.kind,
            each.storage,
            f"{each.done:,}",
            f"{each.failed:,}",
            f"{each.events:,}",
            f"{each.bytes_wanted / 1e6:,.1f}",
            "" if ratio is None else f"{ratio:.2f}",
            f"{each.efficiency:.0%}",
            *("" if time is None else f"{time:.2f}" for time in times),
            "; ".join(f"{cause} ({number})" for cause, number in each.causes.items()),
        )


def drawn(course: Sequence[Moment]) -> list[Figure]:
    """Jobs, rates and failures against time."""
    parts = _thinned(course)
    if len(parts) < 2:
        return []
    spans = [*pairwise(parts)]
    middles = [(one.seconds + other.seconds) / 2 for one, other in spans]

    def rate(name: str, scale: float = 1.0) -> list[float]:
        return [
            (getattr(other, name) - getattr(one, name))
            / scale
            / max(other.seconds - one.seconds, 1e-9)
            for one, other in spans
        ]

    times = [each.seconds for each in course]
    jobs = [
        Series("running", times, [float(each.running) for each in course]),
    ]
    ends = [Series("done", middles, rate("done")), Series("failed", middles, rate("failed"))]
    grid = [
        [
            Panel("jobs at once", "s", "jobs", jobs, steps=True),
            Panel("jobs that ended", "s", "jobs/s", ends),
        ],
        [
            Panel("events", "s", "events/s", [Series("", middles, rate("events"))]),
            Panel("bytes", "s", "MB/s", [Series("", middles, rate("bytes_wanted", 1e6))]),
        ],
    ]
    return [("Endurance run: jobs and rates against time", grid)]


def line_of(moment: Moment) -> str:
    """Returns how far the run is, for a terminal."""
    return (
        f"{moment.seconds:8,.0f} s  {moment.running:4} running {moment.done:7,} done "
        f"{moment.failed:5,} failed  {moment.events:14,} events "
        f"{moment.bytes_wanted / 1e6:12,.1f} MB"
    )


def _thinned(course: Sequence[Moment]) -> list[Moment]:
    step = -(-len(course) // _PARTS) or 1
    return [*course[::step]]
