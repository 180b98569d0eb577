"""What limits a query with the most workers that were tried, and what would help. Pure: numbers in,
words out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .breakdown import Breakdown

__all__ = ["LIMITS", "Facts", "LimitVerdict", "verdict"]

_MATTERS = 0.15
"""A loss below this part of the workers' time limits nothing."""

LIMITS: Mapping[str, tuple[str, str]] = {
    "CPU": (
        "the workers compute {share:.0%} of the time",
        "more workers help as long as there are cores for them; after that faster cores, or fewer "
        "columns and histograms",
    ),
    "cores": (
        "workers wait {share:.0%} of the time for a core, or threads for Python's lock",
        "fewer workers on each node, more nodes, or nothing else running beside; for selectors in "
        "Python processes instead of threads",
    ),
    "disk": (
        "workers wait for bytes {share:.0%} of the time",
        "faster disks, or the files on more of them; smaller files by stronger compression; fewer "
        "columns; runs over the same files soon after each other, which the system's cache serves",
    ),
    "network": (
        "workers wait for servers {share:.0%} of the time",
        "a copy nearer to the workers, more servers or replicas, a cache on disk "
        "(tm.cache.directory), fewer columns",
    ),
    "packetizer": (
        "workers wait for their next packet {share:.0%} of the time",
        "larger packets, or fewer workers for so short a query",
    ),
    "merging": (
        "results are merged {share:.0%} of the time",
        "smaller or fewer histograms, or mergers on more hosts",
    ),
    "tail": (
        "workers have nothing to do at the end {share:.0%} of the time",
        "smaller clusters in the files, more files than workers, or fewer workers for so short a "
        "query",
    ),
    "start-up": (
        "planning, starting workers and opening files take {share:.0%} of the time",
        "a longer query, workers that are there already, or fewer and larger files",
    ),
}
"""What was found, and what would help, by limit."""


@dataclass(frozen=True)
class Facts:
    """What is known of a query with the most workers."""

    breakdown: Breakdown
    cpu_share_without_data: float = 1.0
    """The part of the time at packets for which the processor works if nothing is read: below 1 if
    workers wait for cores."""
    remote: bool = False
    """Whether files are on servers."""
    reads: bool = True
    """Whether the query reads columns."""


@dataclass(frozen=True)
class LimitVerdict:
    """What limits, and what would help."""

    limit: str
    """One of LIMITS."""
    share: float
    """The part of the workers' time that it takes."""
    found: str
    help: str

    def __str__(self) -> str:
        return f"limited by {self.limit}: {self.found}. What would help: {self.help}."


def verdict(facts: Facts) -> LimitVerdict:
    """The verdict: the largest part of the workers' time that is not spent computing, if it
    matters; else the CPU.

    >>> times = Breakdown(0.0, 0.0, 6.0, 0.0, 0.0, 4.0, 0.0, 0.0)
    >>> verdict(Facts(times)).limit
    'tail'
    """
    shares = _shares(facts)
    computing = shares.pop("CPU")
    limit, share = max(shares.items(), key=lambda item: item[1], default=("CPU", 0.0))
    if share < _MATTERS:
        limit, share = "CPU", computing
    finding, what_helps = LIMITS[limit]
    return LimitVerdict(limit, share, finding.format(share=share), what_helps)


def _shares(facts: Facts) -> dict[str, float]:
    """The parts of the workers' time, by limit. They add up to 1."""
    times = facts.breakdown
    total = times.total or 1.0
    computing = min(times.cpu, times.busy) or times.busy  # 0: it was not measured
    waiting = min(_waiting(facts, computing), times.busy - computing)
    return {
        "CPU": computing / total,
        "cores": (times.busy - computing - waiting) / total,
        "network" if facts.remote else "disk": waiting / total,
        "packetizer": times.asking / total,
        "merging": (times.committing + times.collecting) / total,
        "tail": times.tail / total,
        "start-up": (times.starting + times.opening + times.around) / total,
    }


def _waiting(facts: Facts, computing: float) -> float:
    """Seconds for which workers waited for bytes: for servers, and in reads of near files. A worker
    that has to wait for a core does not work in its reads either: what computing takes longer
    because of that is not the disk's."""
    if not facts.reads:
        return 0.0
    times = facts.breakdown
    stretched = computing / max(facts.cpu_share_without_data, 1e-9)
    return max(min(times.reading, times.busy - stretched), times.waited, 0.0)
