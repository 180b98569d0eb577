"""How many entries the next packet should have, from what has been measured.

A packet should last a quarter of the time that is left for the whole query: long at first, so that
asking costs nothing, short near the end, so that all workers finish together.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sizing:
    """The knobs; times in seconds."""

    first: int = 50_000
    """Entries of a worker's first packet, before anything is measured."""
    shortest: float = 0.3
    longest: float = 20.0
    share: float = 0.25
    """Of the expected time left."""
    least: float = 0.0
    """No packet is shorter, not even at the end: what it costs its worker, however few its
    entries are."""
    ask: float = 50e-6
    """What a packet costs the one who hands it out. Packets are never so short, not even at the
    end, that answering all workers takes more than half of the time."""
    merge: float = 200e-6
    """What a commit costs, likewise."""
    tail: float = 0.0
    """So long before the end, and not only during the last two shortest packets, commits are as
    frequent as can be borne."""


CLUSTER = Sizing(shortest=3.0)
"""Where asking costs a round trip over a network and the client hears of thousands of workers."""


@dataclass
class Rates:
    """Each worker's measured speed, entries per second."""

    _rate: dict[int, float] = field(default_factory=dict)
    _sum: float = 0.0

    def measured(self, worker: int, entries: int, seconds: float) -> None:
        """A packet took this long. The newest counts half: other tenants come and go."""
        rate = entries / max(seconds, 1e-6)
        old = self._rate.get(worker)
        new = rate if old is None else (old + rate) / 2
        self._rate[worker] = new
        self._sum += new - (old or 0.0)

    def forget(self, worker: int) -> None:
        """The worker is gone."""
        self._sum -= self._rate.pop(worker, 0.0)

    def of(self, worker: int) -> float | None:
        """The worker's; None before its first packet is done."""
        return self._rate.get(worker)

    def total(self, workers: int) -> float:
        """Of `workers` workers, those not measured yet as fast as the others on average."""
        return self.mean() * workers

    def mean(self) -> float:
        """Of the measured workers; 0 before any is."""
        return max(self._sum, 0.0) / len(self._rate) if self._rate else 0.0


def packet_entries(
    sizing: Sizing, rate: float | None, total_rate: float, entries_left: float, workers: int
) -> int:
    """Entries of the next packet for a worker with this rate, when `entries_left` are unassigned
    and `workers` share them."""
    fair = entries_left / max(workers, 1)
    if total_rate <= 0.0:
        return max(1, int(min(sizing.first, fair)))
    time_left = entries_left / total_rate
    floor = max(2 * sizing.ask * workers, sizing.least)
    if rate is None:  # as fast as the others, but let it show so before it gets more
        mean = total_rate / max(workers, 1)
        seconds = max(min(sizing.shortest, time_left), floor)
        return max(1, int(mean * seconds))
    seconds = min(max(time_left * sizing.share, sizing.shortest), sizing.longest)
    # Never more than this worker's part of what is left, so that none waits for another.
    return max(1, int(rate * max(min(seconds, time_left), floor)))
