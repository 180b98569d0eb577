"""Finds ranges of axes from the data if the user gives none: round edges that hold all values, or
all but far tails.

Pure: standard library only. Sums are done in decimals, so that edges are the numbers that are
shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext

from ..errors import QueryError
from .axes import DEFAULT_BINS, FixedAxis
from .axis_specification import Regular, fits, integer, regular

__all__ = ["MOST_OF_ALL", "Extent", "automatic_axis"]

Extent = tuple[float, float, int] | None
"""The smallest and the largest finite value, both ints for integers and bools for bools, and the
number of values; None if there is no value."""

MOST_OF_ALL = (0.0005, 0.9995)
"""Quantiles between which 99.9 % of the values lie."""
_FAR = 0.5
"""A tail is far if it is longer than this part of the range of 99.9 % of the values."""
_FROM_ZERO = Decimal("0.2")
"""An axis starts at 0 if its first value is positive and nearer to 0 than this part of its
range."""


def automatic_axis(
    extent: Extent, bins: int | None = None, most: Sequence[float] | None = None
) -> FixedAxis:
    """Makes an axis with round edges that holds every value of the extent. `most`: the quantiles of
    `MOST_OF_ALL`; the axis then leaves out far tails, and ends at the quantile if the values beyond
    would make it longer by more than a half.

    There are a hundred bins, or `bins`, whose width has one digit or is 12, 15 or 25 times a power
    of ten; the first edge is a multiple of ten widths, of one, or of a tenth, or as far from 0 as
    the last one. Integers that span at most a
    hundred values get one bin for each value, more of them 40 to 100 bins, each with a whole number
    of values; bools get two bins. No values at all: 0 to 1. Neither the extent nor the quantiles
    depend on the order in which events are read, so the axis does not either.
    """
    if extent is None:
        return FixedAxis(regular(bins or DEFAULT_BINS, 0.0, 1.0))
    low, high, _ = extent
    if bins is None and isinstance(low, bool) and isinstance(high, bool):
        return FixedAxis({"kind": "boolean"})
    whole = isinstance(low, int) and isinstance(high, int)
    if most is not None and not (whole and int(high) - int(low) < DEFAULT_BINS):
        low, high = _without_tails(low, high, *most)
    few = whole and int(high) - int(low) < DEFAULT_BINS
    if few and bins is None and fits(int(low)) and fits(int(high) + 1):
        return FixedAxis(integer(int(low), int(high) + 1))
    with localcontext() as context:
        context.prec = 60
        context.Emax, context.Emin = 100_000, -100_000
        return FixedAxis(_nice(Decimal(low), Decimal(high), bins, whole))


def _without_tails(low: float, high: float, below: float, above: float) -> tuple[float, float]:
    """The extent without its far tails."""
    first, last = max(low, below), min(high, above)
    if isinstance(low, int):
        first, last = math.floor(first), math.ceil(last)
    near = (last - first) * _FAR
    if near <= 0:
        return low, high
    return (first if first - low > near else low), (last if high - last > near else high)


_WIDTHS = tuple(Decimal(m) for m in ("1", "2", "2.5", "5"))
_MORE_WIDTHS = tuple(Decimal(m) for m in ("1", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "8"))


# Sums of a few of these are still doubles.
_LARGEST = Decimal("1e307")


def _nice(low: Decimal, high: Decimal, bins: int | None, whole: bool) -> Regular:
    if max(abs(low), abs(high)) > _LARGEST:
        raise QueryError(
            f"values reach from {low:.3g} to {high:.3g}: too far for a range of their own; "
            "give bins=(n, lo, hi)"
        )
    span = high - low
    # Bins as fine as the steps of doubles make no sense.
    floor = max(abs(low), abs(high)) * Decimal("1e-12")
    if span <= floor:
        span = max(abs(low) * Decimal("0.1"), floor) if low else Decimal(1)
        low, high = low - span / 2, high + span / 2
    elif 0 < low < span * _FROM_ZERO:
        low, span = Decimal(0), high
    if not whole:
        bins = bins or DEFAULT_BINS
    mantissas = _MORE_WIDTHS if bins else _WIDTHS
    width = _width_at_least(span / (bins or DEFAULT_BINS), mantissas, whole)
    for _ in range(20):
        # Edges at multiples of ten widths, or of less if the values do not fit in so many bins.
        for grid in (10 * width, width, width / 10)[0 if bins else 1 :]:
            if whole:
                grid = max(grid.to_integral_value(ROUND_FLOOR), Decimal(1))
            binning = _edges(low, high, width, grid, bins)
            if binning is not None:
                return regular(*binning)
        width = _width_at_least(width * Decimal("1.01"), mantissas, whole)
    return regular(bins or 1, float(low), math.nextafter(float(high), math.inf))


def _edges(
    low: Decimal, high: Decimal, width: Decimal, grid: Decimal, bins: int | None
) -> tuple[int, float, float] | None:
    """The number of bins, the first and the last edge; None if so many bins are too few."""
    # The first edge is inclusive and the last is not, after rounding to double too.
    start = (low / grid).to_integral_value(ROUND_FLOOR) * grid
    if float(start) > float(low):
        start -= grid
    if bins is not None and low < 0 < high and -low < bins * width / 2 > high:
        start = -bins * width / 2  # 0 in the middle
    count = bins or int(((high - start) / width).to_integral_value(ROUND_FLOOR)) + 1
    if bins is None and float(start + count * width) <= float(high):
        count += 1
    first, last = float(start), float(start + count * width)
    return (count, first, last) if first <= float(low) and float(high) < last else None


def _width_at_least(least: Decimal, mantissas: Sequence[Decimal], whole: bool) -> Decimal:
    if whole:
        least = max(least.to_integral_value(ROUND_CEILING), Decimal(1))
    power = Decimal(1).scaleb(least.adjusted())
    for scale in (power, power * 10):
        for mantissa in mantissas:
            width = mantissa * scale
            if width >= least and not (whole and width % 1):
                return width
    return power * 10
