"""Rates against the number of workers, and the curves that are fitted to them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Linear", "Saturating", "linear", "saturating"]


@dataclass(frozen=True)
class Linear:
    """R(n) = R₁ n: each worker adds as much as the first one."""

    first: float
    """R₁, the rate of one worker."""

    def at(self, workers: float) -> float:
        """The rate of so many workers."""
        return self.first * workers


@dataclass(frozen=True)
class Saturating:
    """R(n) = R₁ n / (1 + s (n - 1)): a part s of each worker's time is spent at something that all
    share, such as a disk, so that the rate stays below R₁ / s."""

    first: float
    """R₁, the rate of one worker."""
    shared: float
    """s, from 0 (workers do not disturb each other) to 1 (only one works at a time)."""

    def at(self, workers: float) -> float:
        """The rate of so many workers."""
        return self.first * workers / (1 + self.shared * (workers - 1))

    @property
    def limit(self) -> float:
        """The rate that no number of workers exceeds; infinite if nothing is shared."""
        return self.first / self.shared if self.shared > 0 else float("inf")


def linear(workers: Sequence[float], rates: Sequence[float]) -> Linear | None:
    """The line through 0 with the least relative deviations; None without points.

    >>> round(linear([1, 2], [10.0, 20.0]).first, 6)
    10.0
    """
    # In 1 / rate the relative deviations of R₁ n are n R₁ / rate - 1.
    points = [(n, rate) for n, rate in zip(workers, rates, strict=True) if n > 0 and rate > 0]
    if not points:
        return None
    scaled = [n / rate for n, rate in points]
    return Linear(sum(scaled) / sum(each * each for each in scaled))


def saturating(workers: Sequence[float], rates: Sequence[float]) -> Saturating | None:
    """The saturating curve with the least relative deviations; None if there are fewer than two
    numbers of workers.

    The time of one worker for one event, n / R(n), is a straight line over n - 1.

    >>> fit = saturating([1, 2, 4], [10.0, 10 * 2 / 1.5, 10 * 4 / 2.5])
    >>> round(fit.first, 6), round(fit.shared, 6)
    (10.0, 0.5)
    """
    points = [(n - 1, n / r) for n, r in zip(workers, rates, strict=True) if n > 0 and r > 0]
    if len({x for x, _ in points}) < 2:
        return None
    weights = [1 / (y * y) for _, y in points]
    total = sum(weights)
    x_mean = sum(w * x for w, (x, _) in zip(weights, points, strict=True)) / total
    y_mean = sum(w * y for w, (_, y) in zip(weights, points, strict=True)) / total
    square = sum(w * (x - x_mean) ** 2 for w, (x, _) in zip(weights, points, strict=True))
    mixed = sum(w * (x - x_mean) * (y - y_mean) for w, (x, y) in zip(weights, points, strict=True))
    slope = mixed / square
    intercept = y_mean - slope * x_mean
    if slope <= 0 or intercept <= 0:  # faster than n times, by noise or by caches
        fit = linear(workers, rates)
        return None if fit is None else Saturating(fit.first, 0.0)
    return Saturating(1 / intercept, min(slope / intercept, 1.0))
