"""The table of a comparison of storages, for pages and for other programs (CSV). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields

from .findings import said_window
from .reading import CellRounds, Reading, lines

__all__ = ["HEAD", "csv_rows", "row_of", "rows"]

HEAD = (
    "storage", "layout", "read", "readers", "as", "window", "MB/s (min to max)", "of a reader",
    "slowest", "events/s", "cores", "CPU s/GB", "asked / wanted", "ms 50 %", "90 %", "99 %",
    "errors", "caches",
)  # fmt: skip
_DERIVED = ("megabytes_per_second", "rate", "cores", "cpu_per_gigabyte", "over_read")


def rows(readings: Sequence[Reading]) -> Iterator[tuple[str, ...]]:
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
