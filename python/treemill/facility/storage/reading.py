"""What readers of one cell say, and what that is together: rates, bytes asked and wanted, CPU,
latencies, errors. Plain values; pure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from .matrix import Cell

__all__ = [
    "CellRounds",
    "ReaderOutcome",
    "ReaderSeries",
    "Reading",
    "binned",
    "joined",
    "lines",
    "percentile",
    "reading_of",
]

# How long requests took, counted in bins of equal ratio, so that many readers' counts add up in
# little memory. Pure.

BINS_PER_DECADE = 20
"""A percentile is known to about 6 %."""
_SHORTEST = 1e-7
"""Seconds; shorter ones count as this."""


def binned(seconds: Iterable[float]) -> dict[int, int]:
    """Counts by bin.

    >>> binned([0.001, 0.001, 0.1])
    {-60: 2, -20: 1}
    """
    logs = (math.log10(max(each, _SHORTEST)) for each in seconds)
    return dict(Counter(round(BINS_PER_DECADE * log) for log in logs))


def joined(many: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """Several counts as one."""
    total: Counter[int] = Counter()
    for each in many:
        total.update(each)
    return dict(total)


def percentile(counts: Mapping[int, int], percent: float) -> float | None:
    """Seconds within which so many percent of the requests were answered; None if there were
    none.

    >>> counts = binned([0.001] * 98 + [0.1] * 2)
    >>> percentile(counts, 50), percentile(counts, 99)
    (0.001, 0.1)
    """
    total = sum(counts.values())
    if not total:
        return None
    wanted = max(math.ceil(total * percent / 100), 1)
    cumulative = 0
    for number in sorted(counts):
        cumulative += counts[number]
        if cumulative >= wanted:
            return float(10 ** (number / BINS_PER_DECADE))
    return float(10 ** (max(counts) / BINS_PER_DECADE))


@dataclass(frozen=True)
class ReaderOutcome:
    """What one reader has done."""

    seconds: float = 0.0
    """The time from the start of all readers to the end of this one."""
    bytes_wanted: int = 0
    """Stored bytes of what it has read."""
    events: int = 0
    files: int = 0
    """Files that it has opened, each time."""
    errors: Mapping[str, int] = field(default_factory=dict)
    """The number of errors, by cause."""


@dataclass(frozen=True)
class Reading:
    """One cell as it was measured once. Times are in seconds."""

    storage: str
    protocol: str
    layout: str
    way: str
    readers: int
    what: str
    window: int
    round: int
    seconds: float
    """Until the last reader's end."""
    bytes_wanted: int
    bytes_asked: int
    """The bytes that servers were asked for and gave, opening included."""
    events: int
    files: int
    requests: int
    cpu: float
    """The CPU time of the readers, on this machine."""
    slowest: float
    """The lowest rate of all readers, in 10^6 wanted bytes a second."""
    typical: float
    """The median of the same."""
    latency_50: float | None
    """Within which half of the requests were answered."""
    latency_90: float | None
    latency_99: float | None
    errors: Mapping[str, int] = field(default_factory=dict)
    caches: str = ""
    window_used: int = 0
    """The window, or less where there was no memory for so many."""

    @property
    def megabytes_per_second(self) -> float:
        """10^6 bytes wanted in a second, of all readers together."""
        return self.bytes_wanted / 1e6 / self.seconds if self.seconds > 0 else 0.0

    @property
    def rate(self) -> float:
        """Events in a second, of all readers together."""
        return self.events / self.seconds if self.seconds > 0 else 0.0

    @property
    def cores(self) -> float:
        """CPU time / wall time: cores that worked for the readers."""
        return self.cpu / self.seconds if self.seconds > 0 else 0.0

    @property
    def cpu_per_gigabyte(self) -> float | None:
        """Seconds of CPU for 10^9 bytes wanted; None if nothing was read."""
        return self.cpu * 1e9 / self.bytes_wanted if self.bytes_wanted else None

    @property
    def over_read(self) -> float | None:
        """Bytes asked / bytes wanted; None if nothing was read."""
        return self.bytes_asked / self.bytes_wanted if self.bytes_wanted else None


def reading_of(
    cell: Cell,
    outcomes: Sequence[ReaderOutcome],
    *,
    bytes_asked: int,
    requests: int,
    cpu: float,
    latencies: Sequence[Mapping[int, int]],
    caches: str = "",
    window_used: int | None = None,
) -> Reading:
    """Returns what the readers have done together. A reader that never told counts as one that has
    read nothing."""
    rates = [each.bytes_wanted / 1e6 / each.seconds if each.seconds else 0.0 for each in outcomes]
    rates += [0.0] * (cell.readers - len(rates))
    counts = joined(latencies)
    errors: Counter[str] = Counter()
    for each in outcomes:
        errors.update(each.errors)
    target = cell.target
    return Reading(
        target.storage,
        target.protocol,
        target.layout,
        cell.way,
        cell.readers,
        cell.what,
        cell.window,
        cell.round,
        max((each.seconds for each in outcomes), default=0.0),
        sum(each.bytes_wanted for each in outcomes),
        bytes_asked,
        sum(each.events for each in outcomes),
        sum(each.files for each in outcomes),
        requests,
        cpu,
        min(rates),
        median(rates),
        percentile(counts, 50),
        percentile(counts, 90),
        percentile(counts, 99),
        dict(errors),
        caches,
        cell.window if window_used is None else window_used,
    )


@dataclass(frozen=True)
class CellRounds:
    """The rounds of one cell."""

    readers: int
    rounds: tuple[Reading, ...]

    def middle(self, name: str) -> float | None:
        """The median of a property of Reading over the rounds that have it; None if none has."""
        values = [getattr(each, name) for each in self.rounds]
        known = [float(each) for each in values if each is not None]
        return median(known) if known else None

    def value(self, name: str) -> float:
        """Gives what `middle` gives; 0 if no round has it."""
        return self.middle(name) or 0.0

    @property
    def errors(self) -> int:
        """The errors of all rounds."""
        return sum(sum(each.errors.values()) for each in self.rounds)


@dataclass(frozen=True)
class ReaderSeries:
    """Cells that differ in their number of readers only."""

    storage: str
    layout: str
    way: str
    what: str
    window: int
    points: tuple[CellRounds, ...]
    """All points, by rising number of readers."""

    @property
    def best(self) -> CellRounds:
        """The one with the highest throughput."""
        return max(self.points, key=lambda point: point.value("megabytes_per_second"))


def lines(readings: Sequence[Reading]) -> list[ReaderSeries]:
    """The readings, in the order in which their cells first came."""
    groups: dict[tuple[str, str, str, str, int], dict[int, list[Reading]]] = {}
    for each in readings:
        key = (each.storage, each.layout, each.way, each.what, each.window)
        groups.setdefault(key, {}).setdefault(each.readers, []).append(each)
    return [ReaderSeries(*key, tuple(_points(by_readers))) for key, by_readers in groups.items()]


def _points(by_readers: Mapping[int, Sequence[Reading]]) -> Iterator[CellRounds]:
    for readers in sorted(by_readers):
        yield CellRounds(readers, tuple(by_readers[readers]))
