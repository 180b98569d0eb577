"""What the readings say of the storages, in lines: what each gives and what limits, which is
faster, what a window gains, what is read in vain, errors. Pure: readings in, words out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from .reading import CellRounds, ReaderSeries, Reading, lines

__all__ = ["findings", "layout_ratios", "limit", "ratios", "said_window"]

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
