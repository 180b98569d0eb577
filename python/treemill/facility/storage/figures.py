"""The figures of a comparison of storages, as panels of lines: what is drawn, not how. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, fields

from ...pictures.line_charts import Panel, Series
from .findings import said_window
from .reading import CellRounds, ReaderSeries, Reading, lines

__all__ = ["HEAD", "Figure", "csv_rows", "drawn", "row_of"]

# The table of a comparison of storages, for pages and for other programs (CSV). Pure.

HEAD = (
    "storage", "layout", "read", "readers", "as", "window", "MB/s (min to max)", "of a reader",
    "slowest", "events/s", "cores", "CPU s/GB", "asked / wanted", "ms 50 %", "90 %", "99 %",
    "errors", "caches",
)  # fmt: skip
_DERIVED = ("megabytes_per_second", "rate", "cores", "cpu_per_gigabyte", "over_read")


def reading_rows(readings: Sequence[Reading]) -> Iterator[tuple[str, ...]]:
    """A row for each cell: medians over its rounds."""
    for line in lines(readings):
        for point in line.points:
            yield (
                line.storage,
                line.layout,
                line.what,
                str(point.readers),
                line.way,
                said_window(line.window).removeprefix("window "),
                *_numbers(point),
                str(point.errors),
                ", ".join(sorted({each.caches for each in point.rounds})),
            )


def _numbers(point: CellRounds) -> Iterator[str]:
    rates = [each.megabytes_per_second for each in point.rounds]
    middle = point.value("megabytes_per_second")
    yield f"{middle:,.1f} ({min(rates):,.1f} to {max(rates):,.1f})"
    yield f"{point.value('typical'):,.1f}"
    yield f"{point.value('slowest'):,.1f}"
    yield f"{point.value('rate'):,.0f}" if point.value("rate") else ""
    yield f"{point.value('cores'):.2f}"
    for name in ("cpu_per_gigabyte", "over_read"):
        value = point.middle(name)
        yield "" if value is None else f"{value:.2f}"
    for name in ("latency_50", "latency_90", "latency_99"):
        value = point.middle(name)
        yield "" if value is None else f"{1e3 * value:.2f}"


def csv_rows(readings: Sequence[Reading]) -> Iterator[list[object]]:
    """The names of the columns, and a row for each reading."""
    names = [each.name for each in fields(Reading)]
    yield [*names, *_DERIVED]
    for each in readings:
        told = asdict(each) | {"errors": sum(each.errors.values())}
        yield [*(told[name] for name in names), *(getattr(each, name) for name in _DERIVED)]


def row_of(reading: Reading) -> str:
    """One reading in a line, for a terminal."""
    failed = sum(reading.errors.values())
    return (
        f"{reading.storage:28} {reading.what:6} {reading.readers:4} {reading.way:10} "
        f"{reading.window / 1e6:4g} MB {reading.megabytes_per_second:9.1f} MB/s "
        f"{reading.rate:12,.0f} events/s {reading.cores:5.2f} cores"
        + (f"  {failed} errors" if failed else "")
    )


Figure = tuple[str, list[list[Panel]]]
"""A title, and rows of panels."""


def drawn(readings: Sequence[Reading]) -> list[Figure]:
    """Rates, events, CPU, bytes in vain and latencies against readers: a panel for each thing that
    is read and each window, a line for each storage and way."""
    series = lines(readings)
    if not series:
        return []
    figures: list[Figure] = [
        ("Storage: throughput of all readers", _panels(series, "megabytes_per_second", "MB/s")),
        ("Storage: throughput of the median reader", _panels(series, "typical", "MB/s")),
    ]
    decoded = [line for line in series if line.what != "whole"]
    if decoded:
        figures.append(("Storage: events of all readers", _panels(decoded, "rate", "events/s")))
    figures += [
        ("Storage: CPU of the readers", _panels(series, "cpu_per_gigabyte", "s of CPU for 1 GB")),
        (
            "Storage: bytes asked beside bytes wanted",
            _panels(series, "over_read", "asked / wanted"),
        ),
        ("Storage: latency of requests, 50 % and 99 %", _latencies(series)),
    ]
    return figures


def _by_panel(series: Sequence[ReaderSeries]) -> dict[tuple[str, int], list[ReaderSeries]]:
    panels: dict[tuple[str, int], list[ReaderSeries]] = {}
    for line in series:
        panels.setdefault((line.what, line.window), []).append(line)
    return dict(sorted(panels.items(), key=lambda item: (item[0][0] != "whole", *item[0])))


def _labels(series: Sequence[ReaderSeries]) -> dict[tuple[str, str, str], tuple[str, int]]:
    """Names and colours of storage, layout and way; only what differs is named."""
    keys = list(dict.fromkeys((line.storage, line.layout, line.way) for line in series))
    several = len({layout for _, layout, _ in keys}) > 1
    return {
        (storage, layout, way): (
            ", ".join([storage, *([layout] if several else []), way]),
            number,
        )
        for number, (storage, layout, way) in enumerate(keys)
    }


def _panels(readers: Sequence[ReaderSeries], name: str, words: str) -> list[list[Panel]]:
    def one(line: ReaderSeries, label: str, color: int) -> list[Series]:
        series = _series(line, lambda point: point.middle(name), label, color)
        single = [
            (float(point.readers), value)
            for point in line.points
            for value in (getattr(each, name) for each in point.rounds)
            if value is not None and len(point.rounds) > 1
        ]
        xs, ys = [x for x, _ in single], [y for _, y in single]
        return [*series, *([Series("", xs, ys, loose=True, color=color)] if single else [])]

    return _grid(readers, words, one)


def _latencies(series: Sequence[ReaderSeries]) -> list[list[Panel]]:
    def one(line: ReaderSeries, label: str, color: int) -> list[Series]:
        def seconds(name: str) -> Callable[[CellRounds], float | None]:
            def of(point: CellRounds) -> float | None:
                value = point.middle(name)
                return None if value is None else 1e3 * value

            return of

        half = _series(line, seconds("latency_50"), label, color)
        most = _series(line, seconds("latency_99"), "", color)
        return [*half, *(Series("", each.x, each.y, True, color=color) for each in most)]

    return _grid(series, "ms", one)


def _series(
    line: ReaderSeries, value: Callable[[CellRounds], float | None], label: str, color: int
) -> list[Series]:
    points = [(float(point.readers), value(point)) for point in line.points]
    known = [(x, y) for x, y in points if y is not None]
    if not known:
        return []
    return [Series(label, [x for x, _ in known], [y for _, y in known], color=color)]


def _grid(
    readers: Sequence[ReaderSeries],
    words: str,
    one: Callable[[ReaderSeries, str, int], list[Series]],
) -> list[list[Panel]]:
    """A row for each thing that is read, a panel in it for each window."""
    labels = _labels(readers)
    rows: dict[str, list[Panel]] = {}
    for (what, window), mine in _by_panel(readers).items():
        series: list[Series] = []
        # In each panel in the same order.
        named = [(labels[line.storage, line.layout, line.way], line) for line in mine]
        for (label, color), line in sorted(named, key=lambda pair: pair[0][1]):
            series += one(line, label, color)
        title = f"{what}, {said_window(window)}"
        panel = Panel(
            title, "readers", words, series, marked=True, log_x=True, whole_x=True, below=True
        )
        rows.setdefault(what, []).append(panel)
    return list(rows.values())
