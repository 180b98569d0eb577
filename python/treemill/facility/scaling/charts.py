"""The figures of a report, as panels of lines: what is drawn, not how. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import median

from ...pictures.line_charts import Panel, Series
from ..load_tests.run_summary import drawn as of_jobs
from ..storage.findings import drawn as of_storages
from .measurements import ResultsFile, StorageScan
from .summary import Point, Summary, middle, summaries

__all__ = ["Figure", "compared", "figures"]

Figure = tuple[str, list[list[Panel]]]
"""A title, and rows of panels."""

_BINS = 20
"""The number of bins of latencies."""
_SHORTEST = 1e-5
"""Seconds: latencies below are drawn as this."""


def figures(results: ResultsFile) -> list[Figure]:
    """Makes all figures of one file of results."""
    overview = summaries(results.measurements)
    drawn: list[Figure] = []
    if overview:
        by_query = _by_query(overview)
        drawn = [
            ("Query time against the number of workers", [_times(each) for each in by_query]),
            ("Events per second", [_rates(each) for each in by_query]),
            ("Rate of a worker, and efficiency", [_efficiencies(each) for each in by_query]),
        ]
        reading = [
            many for many in by_query if any(each.last.megabytes_per_second for each in many)
        ]
        if reading:
            drawn.insert(2, ("Megabytes per second", [_megabytes(each) for each in reading]))
        on_hosts = [panel for each in by_query for panel in _on_hosts(each)]
        if on_hosts:
            drawn.append(("Rates against the workers of a node", [on_hosts]))
        drawn = [(title, _grid([each for row in rows for each in row])) for title, rows in drawn]
        traced = [[each for each in many if middle(each.last.runs)] for many in by_query]
        traced = [many for many in traced if many]
        if traced:
            drawn += [
                (
                    "Active workers against time, with the most workers",
                    [_active(many) for many in traced],
                ),
                (
                    "How long workers waited for a packet, with the most workers",
                    _grid([_latencies(many) for many in traced]),
                ),
            ]
    if results.storage:
        drawn.append(("Storage: readers and throughput", [[_storage(results.storage)]]))
    return [
        *drawn,
        *of_storages(results.readings),
        *of_jobs(results.course),
    ]


def compared(results: Sequence[tuple[str, ResultsFile]]) -> Figure | None:
    """Query times of several files of results, with the same query and system in one panel. None
    if they have none in common."""
    named = [(name, summaries(each.measurements)) for name, each in results]
    panels = []
    for first in named[0][1]:
        key = (first.name, first.query)
        lines = [
            (name, each)
            for name, summaries_of_file in named
            for each in summaries_of_file
            if (each.name, each.query) == key
        ]
        if len(lines) > 1:
            series = [line for name, each in lines for line in _line(name, each, _seconds)]
            panels.append(
                Panel(
                    f"{first.query}, {first.name}",
                    "workers",
                    "query (s)",
                    series,
                    marked=True,
                    whole_x=True,
                )
            )
    return ("The files compared: query time", _grid(panels)) if panels else None


def _by_query(overview: Sequence[Summary]) -> list[list[Summary]]:
    queries = dict.fromkeys(each.query for each in overview)
    return [[each for each in overview if each.query == query] for query in queries]


def _grid(panels: Sequence[Panel]) -> list[list[Panel]]:
    """Two in a row."""
    return [list(panels[i : i + 2]) for i in range(0, len(panels), 2)]


def _seconds(point: Point) -> float:
    return point.seconds


def _line(
    label: str, summary: Summary, value: Callable[[Point], float], color: int | None = None
) -> list[Series]:
    points = summary.points
    xs = [float(point.workers) for point in points]
    return [Series(label, xs, [value(point) for point in points], color=color)]


def _times(many: Sequence[Summary]) -> list[Panel]:
    series = []
    for number, each in enumerate(many):
        series += _line(each.name, each, _seconds, number)
        runs = [(float(p.workers), run.seconds) for p in each.points for run in p.runs]
        series.append(
            Series("", [n for n, _ in runs], [s for _, s in runs], loose=True, color=number)
        )
    first = many[0]
    ideal = [first.first.seconds * first.first.workers / point.workers for point in first.points]
    if all(run.entries == first.first.runs[0].entries for p in first.points for run in p.runs):
        xs = [float(point.workers) for point in first.points]
        series.append(Series("ideal", xs, ideal, dashed=True))
    return [Panel(first.query, "workers", "query (s)", series, marked=True, whole_x=True)]


def _rates(many: Sequence[Summary]) -> list[Panel]:
    series: list[Series] = []
    for number, each in enumerate(many):
        series += _line(f"{each.name}, average", each, lambda point: point.rate, number)
        best = _line(f"{each.name}, maximum", each, lambda point: point.best_rate, number)
        series += [Series(one.label, one.x, one.y, loose=True, color=number) for one in best]
        series += _fits(each, number)
    return [
        Panel(many[0].query, "workers", "events/s", series, marked=True, whole_x=True, below=True)
    ]


def _fits(summary: Summary, color: int) -> list[Series]:
    curve, line = summary.saturating, summary.linear
    if curve is None or line is None:
        return []
    few, most = summary.first.workers, summary.last.workers
    xs = [few + (most - few) * i / 40 for i in range(41)]
    label = f"R₁n/(1+s(n-1)), s = {curve.shared:.2f}"
    fits = [Series(label, xs, [curve.at(x) for x in xs], dashed=True, color=color)]
    if curve.shared:  # else both are the same
        fits.append(Series("R₁n", xs, [line.at(x) for x in xs], dotted=True, color=color))
    return fits


def _on_hosts(many: Sequence[Summary]) -> list[Panel]:
    """The rates with the most workers that there were, against how many a host had. Nothing if no
    system was tried with several numbers."""
    series: list[Series] = []
    for number, system in enumerate(dict.fromkeys(each.system for each in many)):
        points = sorted(
            (each.on_host, each.last.rate)
            for each in many
            if each.system == system and each.on_host is not None
        )
        if len(points) > 1:
            xs = [float(on_host) for on_host, _ in points]
            first = points[0][1] / xs[0]
            series.append(Series(system, xs, [rate for _, rate in points], color=number))
            series.append(Series("ideal", xs, [first * x for x in xs], dashed=True, color=number))
    if not series:
        return []
    labels = "workers on each node", "events/s"
    return [Panel(many[0].query, *labels, series, marked=True, whole_x=True, below=True)]


def _megabytes(many: Sequence[Summary]) -> list[Panel]:
    series: list[Series] = []
    for number, each in enumerate(many):
        series += _line(
            f"{each.name}, average", each, lambda point: point.megabytes_per_second, number
        )
        best = _line(
            f"{each.name}, maximum", each, lambda point: point.best_megabytes_per_second, number
        )
        series += [Series(one.label, one.x, one.y, loose=True, color=number) for one in best]
    return [Panel(many[0].query, "workers", "MB/s", series, marked=True, whole_x=True, below=True)]


def _efficiencies(many: Sequence[Summary]) -> list[Panel]:
    series: list[Series] = []
    for number, each in enumerate(many):
        series += _line(f"{each.name}, to its first", each, each.efficiency, number)
        beside = [(float(p.workers), each.beside_baseline(p)) for p in each.points]
        known = [(n, share) for n, share in beside if share is not None]
        if known:
            xs, ys = [n for n, _ in known], [share for _, share in known]
            label = f"{each.name}, to one process"
            series.append(Series(label, xs, ys, dashed=True, color=number))
    return [
        Panel(
            many[0].query,
            "workers",
            "rate of a worker",
            series,
            marked=True,
            whole_x=True,
            below=True,
        )
    ]


def _active(many: Sequence[Summary]) -> list[Panel]:
    panels = []
    for number, each in enumerate(many):
        run = middle(each.last.runs)
        assert run is not None
        series = [Series("", run.times, run.active, color=number)]
        plural = "worker" if each.last.workers == 1 else "workers"
        title = f"{each.query}, {each.name}, {each.last.workers} {plural}"
        panels.append(
            Panel(title, "time (s)", "workers at a packet", series, steps=True, whole_y=True)
        )
    return panels


def _latencies(many: Sequence[Summary]) -> Panel:
    series = []
    for each in many:
        latencies = [
            latency
            for run in each.last.runs
            if run.breakdown is not None
            for latency in run.breakdown.latencies
        ]
        if latencies:
            middle_one = f", median {1e3 * median(latencies):.2f} ms"
            series.append(Series(f"{each.name}{middle_one}", *_histogram(latencies)))
    return Panel(many[0].query, "ms", "packets", series, log_x=True, steps=True, whole_y=True)


def _histogram(values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Edges in ms, and counts, with as many bins in each decade."""
    logs = [math.log10(max(value, _SHORTEST)) for value in values]
    low, high = min(logs), max(logs)
    width = max((high - low) / _BINS, 1e-3)
    counts = [0.0] * (_BINS + 2)  # an empty one on each side
    for each in logs:
        counts[1 + min(int((each - low) / width), _BINS - 1)] += 1
    return [1e3 * 10 ** (low + i * width) for i in range(-1, _BINS + 1)], counts


def _storage(storage: Sequence[StorageScan]) -> Panel:
    series = []
    for number, system in enumerate(dict.fromkeys(each.system for each in storage)):
        mine = [each for each in storage if each.system == system]
        readers = sorted({each.readers for each in mine})
        medians = [
            median(each.megabytes_per_second for each in mine if each.readers == n) for n in readers
        ]
        xs = [float(n) for n in readers]
        series.append(Series(system, xs, medians, color=number))
        runs = [(float(each.readers), each.megabytes_per_second) for each in mine]
        series.append(
            Series("", [n for n, _ in runs], [rate for _, rate in runs], loose=True, color=number)
        )
    return Panel("all readers together", "readers", "MB/s", series, marked=True, whole_x=True)
