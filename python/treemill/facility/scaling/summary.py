"""Measurements of one query on one system, by their number of workers: medians, rates, efficiency.
Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from .breakdown import Breakdown
from .measurements import Measurement

__all__ = ["Point", "Summary", "baselines", "linear", "middle", "saturating", "summaries"]

# Rates against the number of workers, and the curves that are fitted to them. Pure.


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


@dataclass(frozen=True)
class Point:
    """The rounds with one number of workers."""

    workers: int
    runs: tuple[Measurement, ...]

    @property
    def seconds(self) -> float:
        """The median."""
        return median(run.seconds for run in self.runs)

    @property
    def rate(self) -> float:
        """Events in a second, the median of the averages."""
        return median(run.rate for run in self.runs)

    @property
    def best_rate(self) -> float:
        """Events in a second at the best time of a run, the median over the rounds; the average if
        there are no traces."""
        peaks = [run.breakdown.peak for run in self.runs if run.breakdown is not None]
        return max(median(peaks), self.rate) if peaks else self.rate

    @property
    def megabytes_per_second(self) -> float:
        """10^6 bytes read in a second, the median of the averages."""
        return median(run.megabytes_per_second for run in self.runs)

    @property
    def best_megabytes_per_second(self) -> float:
        """The highest rate in a part of a run, as the median over the rounds; the average if that
        is unknown."""
        peaks = [run.breakdown.peak_bytes / 1e6 for run in self.runs if run.breakdown is not None]
        average = self.megabytes_per_second
        return max(median(peaks), average) if peaks else average

    @property
    def typical(self) -> Measurement:
        """The run whose time is nearest to the median."""
        return min(self.runs, key=lambda run: abs(run.seconds - self.seconds))

    @property
    def cpu_share(self) -> float | None:
        """The part of the time at packets for which the processor worked; None: not known."""
        shares = [
            run.breakdown.cpu / run.breakdown.busy
            for run in self.runs
            if run.breakdown and run.breakdown.busy > 0 and run.breakdown.cpu > 0
        ]
        return min(fmean(shares), 1.0) if shares else None


@dataclass(frozen=True)
class Summary:
    """One query on one system."""

    system: str
    query: str
    points: tuple[Point, ...]
    """All points, by rising number of workers."""
    baseline: Point | None = None
    """One process of this machine alone, with as many files as were tried."""
    on_host: int | None = None
    """Workers on each host, at most; None: any number."""

    @property
    def name(self) -> str:
        """The system, and how many workers each of its hosts has if that is limited."""
        return self.system if self.on_host is None else f"{self.system}, {self.on_host} a node"

    @property
    def first(self) -> Point:
        """The fewest workers."""
        return self.points[0]

    @property
    def last(self) -> Point:
        """The most workers."""
        return self.points[-1]

    @property
    def traced(self) -> Measurement:
        """The typical run with the most workers, of those with a trace if there are any."""
        runs = [run for run in self.last.runs if run.breakdown is not None]
        return Point(self.last.workers, tuple(runs) or self.last.runs).typical

    def efficiency(self, point: Point) -> float:
        """The rate of a worker, as a part of what it was with the fewest workers."""
        alone = self.first.rate / self.first.workers
        return point.rate / point.workers / alone if alone else 0.0

    def beside_baseline(self, point: Point) -> float | None:
        """The rate of a worker, as a part of the rate in one process; None without a baseline."""
        if self.baseline is None or not self.baseline.rate:
            return None
        return point.rate / point.workers / self.baseline.rate

    @property
    def linear(self) -> Linear | None:
        """The line through the rates."""
        return linear(*self._rates())

    @property
    def saturating(self) -> Saturating | None:
        """The saturating curve through the rates."""
        return saturating(*self._rates())

    def _rates(self) -> tuple[list[float], list[float]]:
        # Medians: one disturbed round must not bend the curve.
        return [float(point.workers) for point in self.points], [p.rate for p in self.points]


def summaries(measurements: Sequence[Measurement]) -> list[Summary]:
    """One for each system, query and number of workers on a host, in the order in which they were
    measured."""
    normal: dict[tuple[str, str, int | None], dict[int, list[Measurement]]] = {}
    for each in measurements:
        if not each.baseline:
            key = each.system, each.query, each.on_host
            normal.setdefault(key, {}).setdefault(each.workers, []).append(each)
    alone = baselines(measurements)
    return [
        Summary(
            system,
            query,
            tuple(Point(n, tuple(by_workers[n])) for n in sorted(by_workers)),
            alone[query][-1] if query in alone else None,
            on_host,
        )
        for (system, query, on_host), by_workers in normal.items()
    ]


def baselines(measurements: Sequence[Measurement]) -> dict[str, list[Point]]:
    """Returns what one process does alone, by query: first with one file, then with all of them."""
    groups: dict[str, dict[int, list[Measurement]]] = {}
    for each in measurements:
        if each.baseline:
            groups.setdefault(each.query, {}).setdefault(each.files, []).append(each)
    return {
        query: [Point(1, tuple(by_files[files])) for files in sorted(by_files)]
        for query, by_files in groups.items()
    }


def middle(runs: Sequence[Measurement]) -> Breakdown | None:
    """The breakdown of the run whose time is nearest to the median, of those that have one."""
    traced = [run for run in runs if run.breakdown is not None]
    return Point(0, tuple(traced)).typical.breakdown if traced else None
