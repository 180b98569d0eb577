"""Errors of contents that are numbers of events. Pure: numbers only."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from statistics import NormalDist

__all__ = ["are_counts", "poisson_interval"]

_BEYOND = NormalDist().cdf(-1.0)
"""The probability of one side beyond one standard deviation."""
_MANY = 100
"""Counts from here on have the interval by an approximation, which is off by less than 1e-4 of the
error."""


def are_counts(values: Iterable[float], variances: Iterable[float] | None) -> bool:
    """True if the contents are numbers of events without weights: whole, and each its own
    variance."""
    if variances is None:
        return False
    pairs = zip(map(float, values), map(float, variances), strict=True)
    return all(value >= 0 and value == variance and value.is_integer() for value, variance in pairs)


@lru_cache(maxsize=4096)
def poisson_interval(count: int) -> tuple[float, float]:
    """The central interval of 68.27 % for the mean of a Poisson distribution (Garwood's), as
    TH1::kPoisson has it: 0 has the interval up to 1.84."""
    low = 0.0 if count == 0 else _mean(count, -1.0, lambda mean: 1 - _at_most(count - 1, mean))
    return low, _mean(count + 1, 1.0, lambda mean: _at_most(count, mean))


def _mean(degrees: int, sigma: float, beyond: Callable[[float], float]) -> float:
    """The mean at which the probability `beyond` is that of one side."""
    # Wilson and Hilferty's approximation of the quantiles of a chi-squared distribution.
    share = 1 / (9 * degrees)
    near = degrees * (1 - share + sigma * math.sqrt(share)) ** 3
    if degrees > _MANY:
        return near
    low, high = near / 2, near * 2
    for _ in range(60):
        middle = (low + high) / 2
        is_above = (beyond(middle) < _BEYOND) == (sigma > 0)
        low, high = (low, middle) if is_above else (middle, high)
    return (low + high) / 2


def _at_most(count: int, mean: float) -> float:
    """The probability of at most so many events."""
    term = total = math.exp(-mean)
    for number in range(1, count + 1):
        term *= mean / number
        total += term
    return total
