"""How long requests took, counted in bins of equal ratio, so that many readers' counts add up in
little memory. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

__all__ = ["BINS_PER_DECADE", "binned", "joined", "percentile"]

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
