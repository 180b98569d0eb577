"""How sure a median of ratios is, and on which side of a limit. Pure: no clock, no run."""

from collections.abc import Sequence
from math import comb
from statistics import median

SURE = 0.95
"""How likely the median of all starts that there could be lies in the interval."""


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """The narrowest pair of measured ratios, as many above as below, between which the median lies
    with a probability of at least `SURE`, whatever the ratios' distribution; the extremes if there
    are too few for that.

    Source: H. A. David and H. N. Nagaraja, *Order Statistics*, section 7.1.

    >>> interval([1.0, 1.1, 0.9, 1.02, 1.01, 0.99, 1.03, 0.98, 1.04])
    (0.98, 1.04)
    """
    ordered, count = sorted(ratios), len(ratios)
    outside, place = 2.0**-count, 0
    while 2 * (place + 1) < count:
        outside += comb(count, place + 1) / 2.0**count
        if 1 - 2 * outside < SURE:
            break
        place += 1
    return ordered[place], ordered[count - 1 - place]


def is_decided(ratios: Sequence[float], limit: float) -> bool:
    """Whether the median is surely above or surely not above the limit."""
    low, high = interval(ratios)
    return low > limit or high <= limit


def verdict(ratios: Sequence[float], limit: float) -> str:
    """What the ratios say of the limit: "slower" if the median's interval is above it, "not sure"
    if only the median is, and nothing if the median is not."""
    if median(ratios) <= limit:
        return ""
    return "slower" if is_decided(ratios, limit) else "not sure"
