"""What the readings say of the storages, in lines: what each gives and what limits, which is
faster, what a window gains, what is read in vain, errors. Pure: readings in, words out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields

from ...pictures.line_charts import Panel, Series
from .reading import CellRounds, ReaderSeries, Reading, lines

__all__ = [
    "HEAD",
    "Figure",
    "csv_rows",
    "drawn",
    "findings",
    "layout_ratios",
    "limit",
    "ratios",
    "row_of",
    "said_window",
]

_ENOUGH = 0.9
"""So much of the best rate is as good as all of it."""
_BUSY = 0.85
"""The cores work for the readers for so much of the time: then they limit."""
_WORTH = 1.1
"""Ratios from which on a difference is said."""
_UNFAIR = 0.5
"""The slowest reader has less than this part of the median reader's rate: that is said."""
_MOST_CAUSES = 5

_LIMITS: Mapping[str, str] = {
    "CPU": "the CPU of the readers' machine limits ({cores:.1f} of {all} cores work for them): "
    "more or faster cores, fewer branches, or another compression would help",
    "storage": "the storage or the way to it limits ({cores:.1f} of {all} cores work): more "
    "servers, or a faster network, would help",
    "readers": "more readers than were tried may get more",
}


def findings(readings: Sequence[Reading], cores: int | None) -> Iterator[str]:
    """The lines. `cores`: of the readers' machine, if it is known."""
    if not readings:
        return
    series = lines(readings)
    for place in dict.fromkeys((each.storage, each.layout) for each in series):
        mine = [each for each in series if (each.storage, each.layout) == place]
        yield _capacity(max(mine, key=lambda line: _rate(line.best)), cores)
        yield from _window(mine)
        yield from _vain(mine)
        yield from _unfair(mine)
    yield from _compared(series)
    yield _errors(readings)


def said_window(window: int) -> str:
    """The window in MB.

    >>> said_window(60_000_000)
    'window 60 MB'
    """
    return f"window {window / 1e6:g} MB"


def limit(line: ReaderSeries, cores: int | None) -> str:
    """Returns what limits the best point of a line: "CPU", "storage", or "readers" if the highest
    rate was reached with the most readers only."""
    best = line.best
    working = best.value("cores")
    if cores is not None and working >= _BUSY * min(cores, best.readers):
        # One reader's core is not the machine's.
        return "CPU" if best.readers >= cores else "readers"
    if len(line.points) > 1 and _enough(line) == line.points[-1].readers:
        return "readers"
    return "storage"


def ratios(series: Sequence[ReaderSeries]) -> dict[tuple[str, str], dict[str, float]]:
    """Throughput by (what is read, layout) and storage, as parts of the fastest storage's: the
    geometric mean over the cells that all storages have. Only where there are several."""
    return _grouped(series, lambda line: (line.what, line.layout), lambda line: line.storage)


def layout_ratios(series: Sequence[ReaderSeries]) -> dict[tuple[str, str], dict[str, float]]:
    """Returns the ratios by (what is read, storage) and layout: they show the cost of unordered
    baskets."""
    return _grouped(series, lambda line: (line.what, line.storage), lambda line: line.layout)


def _grouped(
    series: Sequence[ReaderSeries],
    group: Callable[[ReaderSeries], tuple[str, str]],
    name: Callable[[ReaderSeries], str],
) -> dict[tuple[str, str], dict[str, float]]:
    shares_by_key: dict[tuple[str, str], dict[str, float]] = {}
    for key in dict.fromkeys(map(group, series)):
        rates: dict[str, dict[tuple[str, int, int], float]] = {}
        for line in series:
            if group(line) == key:
                cells = rates.setdefault(name(line), {})
                for point in line.points:
                    cells[line.way, line.window, point.readers] = _rate(point)
        common = set.intersection(*(set(cells) for cells in rates.values()))
        common = {cell for cell in common if all(cells[cell] > 0 for cells in rates.values())}
        if len(rates) < 2 or not common:
            continue
        means = {
            each: math.exp(sum(math.log(cells[cell]) for cell in common) / len(common))
            for each, cells in rates.items()
        }
        best = max(means.values())
        shares_by_key[key] = {each: mean / best for each, mean in means.items()}
    return shares_by_key


def _rate(point: CellRounds) -> float:
    return point.value("megabytes_per_second")


def _place(line: ReaderSeries) -> str:
    return f"{line.storage} ({line.layout})"


def _cell(line: ReaderSeries) -> str:
    return f"{line.what}, {line.way}, {said_window(line.window)}"


def _enough(line: ReaderSeries) -> int:
    """The fewest readers that get nearly all."""
    most = _rate(line.best)
    return next(each.readers for each in line.points if _rate(each) >= _ENOUGH * most)


def _capacity(line: ReaderSeries, cores: int | None) -> str:
    best = line.best
    if not _rate(best):
        return f"{line.storage}: nothing could be read"
    enough = _enough(line)
    plural = "reader gets" if enough == 1 else "readers get"
    why = _LIMITS[limit(line, cores)].format(cores=best.value("cores"), all=cores or "?")
    return (
        f"{_place(line)}: {_rate(best):,.0f} MB/s at most ({_cell(line)}, "
        f"readers: {best.readers}); {enough} {plural} {_ENOUGH:.0%} of it; {why}"
    )


def _window(mine: Sequence[ReaderSeries]) -> Iterator[str]:
    """Returns what the largest window gains over the smallest one with the fewest readers."""
    for what in dict.fromkeys(each.what for each in mine):
        gains = []
        of_what = [each for each in mine if each.what == what]
        windows = sorted({each.window for each in of_what})
        for way in dict.fromkeys(each.way for each in of_what):
            few = [each for each in of_what if (each.way, each.window) == (way, windows[0])]
            many = [each for each in of_what if (each.way, each.window) == (way, windows[-1])]
            if few and many and _rate(few[0].points[0]):
                gains.append(_rate(many[0].points[0]) / _rate(few[0].points[0]))
        if not gains or len(windows) < 2:
            continue
        gain = math.exp(sum(math.log(max(each, 1e-9)) for each in gains) / len(gains))
        if gain >= _WORTH or gain <= 1 / _WORTH:
            yield (
                f"{_place(mine[0])}, {what}: {said_window(windows[-1])} gives {gain:.1f} times the "
                f"rate of {said_window(windows[0])}, with the fewest readers"
            )


def _vain(mine: Sequence[ReaderSeries]) -> Iterator[str]:
    worst = max(mine, key=lambda line: max(point.value("over_read") for point in line.points))
    share = max(point.value("over_read") for point in worst.points)
    if share >= _WORTH:
        yield (
            f"{_place(worst)}: up to {share:.2f} times the bytes wanted were asked for "
            f"({_cell(worst)}), with what opening files and the end of the time have cost"
        )


def _unfair(mine: Sequence[ReaderSeries]) -> Iterator[str]:
    points = [
        (point.value("slowest") / point.value("typical"), line, point)
        for line in mine
        for point in line.points
        if point.value("typical") > 0
    ]
    if not points:
        return
    share, line, point = min(points, key=lambda each: each[0])
    if share < _UNFAIR:
        yield (
            f"{_place(line)}: of {point.readers} readers ({_cell(line)}) the slowest had "
            f"{share:.0%} of the median one's rate"
        )


def _compared(series: Sequence[ReaderSeries]) -> Iterator[str]:
    for (what, layout), shares in ratios(series).items():
        ordered = sorted(shares.items(), key=lambda item: -item[1])
        said = ", ".join(f"{storage} {share:.2f}" for storage, share in ordered)
        yield f"compared, {what} ({layout}): {said}"
    for (what, storage), shares in layout_ratios(series).items():
        (worst, share), (best, _) = sorted(shares.items(), key=lambda item: item[1])
        yield (
            f"compared, {what} at {storage}: {best} gives {1 / share:.1f} times the rate of {worst}"
        )


def _errors(readings: Sequence[Reading]) -> str:
    causes: Counter[str] = Counter()
    for each in readings:
        causes.update(each.errors)
    most = max(each.readers for each in readings)
    if not causes:
        return f"no errors in {len(readings)} measurements with up to {most} readers"
    said = "; ".join(f"{cause} ({number})" for cause, number in causes.most_common(_MOST_CAUSES))
    more = "; …" if len(causes) > _MOST_CAUSES else ""
    return f"{causes.total()} errors in {len(readings)} measurements: {said}{more}"


# The figures of a comparison of storages, as panels of lines: what is drawn, not how. Pure.

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
