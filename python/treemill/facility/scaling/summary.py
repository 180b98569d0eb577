"""Measurements of one query on one system, by their number of workers: medians, rates, efficiency.
Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from .breakdown import Breakdown
from .fits import Linear, Saturating, linear, saturating
from .measurements import Measurement

__all__ = ["Point", "Summary", "baselines", "middle", "summaries"]


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
