"""What limits a query with the most workers that were tried, and what would help. Pure: numbers in,
words out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .breakdown import Breakdown

__all__ = ["LIMITS", "Facts", "Verdict", "verdict"]

_MATTERS = 0.15
"""A loss below this part of the workers' time limits nothing."""

LIMITS: Mapping[str, tuple[str, str]] = {
    "CPU": (
        "the workers compute {share:.0%} of the time",
        "more workers help as long as there are cores for them; after that faster cores, or fewer "
        "columns and histograms",
    ),
    "cores": (
        "an event takes {slowdown:.1f} times as long as with {fewest}, also without data",
        "the cores have more to do than they can: fewer workers on each node, more nodes, or "
        "nothing else running beside",
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
        "larger packets, fewer workers for so short a query, or sub-masters",
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
"""By limit: what was found, and what would help."""


@dataclass(frozen=True)
class Facts:
    """What is known of a query with the fewest and with the most workers."""

    breakdown: Breakdown
    """With the most workers."""
    workers: int
    fewest: int
    slowdown: float = 1.0
    """How much longer an event takes at a worker with the most workers than with the fewest."""
    slowdown_of_cpu: float | None = None
    """The same of the query that reads nothing; None: it was not measured."""
    cpu_share: float | None = None
    """The part of the time at packets for which the processor worked; None: not known."""
    cpu_share_of_cpu: float = 1.0
    """The same of the query that reads nothing: below 1 if there are fewer cores than workers."""
    waited: float = 0.0
    """Seconds for which workers waited for servers, all together."""
    remote: bool = False
    """Whether files are on servers."""
    reads: bool = True
    """Whether the query reads columns."""


@dataclass(frozen=True)
class Verdict:
    """What limits, and what would help."""

    limit: str
    """One of LIMITS."""
    share: float
    """The part of the workers' time that it takes."""
    found: str
    help: str

    def __str__(self) -> str:
        return f"limited by {self.limit}: {self.found}. What would help: {self.help}."


def verdict(facts: Facts) -> Verdict:
    """The verdict: the largest part of the workers' time that is not spent computing, if it
    matters; else the CPU.

    >>> times = Breakdown(0.0, 0.0, 6.0, 0.0, 0.0, 4.0, 0.0, 0.0)
    >>> verdict(Facts(times, workers=4, fewest=1)).limit
    'tail'
    """
    shares = _shares(facts)
    computing = shares.pop("CPU")
    limit, share = max(shares.items(), key=lambda item: item[1], default=("CPU", 0.0))
    if share < _MATTERS:
        limit, share = "CPU", computing
    found, what_helps = LIMITS[limit]
    return Verdict(
        limit,
        share,
        found.format(share=share, slowdown=facts.slowdown, fewest=facts.fewest),
        what_helps,
    )


def _shares(facts: Facts) -> dict[str, float]:
    """The parts of the workers' time, by limit. They add up to 1."""
    times = facts.breakdown
    total = times.total or 1.0
    waiting = min(_waiting(facts), 1.0) * times.busy
    crowded = 0.0
    if not (facts.reads and facts.slowdown_of_cpu is None):
        slowdown = facts.slowdown_of_cpu if facts.reads else facts.slowdown
        crowded = (times.busy - waiting) * (1 - 1 / max(slowdown or 1.0, 1.0))
    return {
        "CPU": (times.busy - waiting - crowded) / total,
        "cores": crowded / total,
        "network" if facts.remote else "disk": waiting / total,
        "packetizer": times.asking / total,
        "merging": (times.committing + times.collecting) / total,
        "tail": times.tail / total,
        "start-up": (times.starting + times.opening + times.around) / total,
    }


def _waiting(facts: Facts) -> float:
    """The part of the time at packets in which workers waited for bytes: what was measured, or
    what has come on top of the time of few workers and that the cores do not explain."""
    busy = facts.breakdown.busy
    if not facts.reads or busy <= 0:
        return 0.0
    known = [facts.waited / busy]
    if facts.cpu_share is not None:
        known.append(1 - facts.cpu_share / max(facts.cpu_share_of_cpu, facts.cpu_share, 1e-9))
    elif facts.slowdown_of_cpu is not None:
        known.append(1 - max(facts.slowdown_of_cpu, 1.0) / max(facts.slowdown, 1.0))
    return max(0.0, *known)
