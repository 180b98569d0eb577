"""The panel of ratios: their errors, its range, and marks for points that lie outside of it. Knows
histograms, and matplotlib's axes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

from ..errors import QueryError
from .picture_parts import errors_of

__all__ = [
    "COMMON",
    "EFFICIENCY",
    "INDEPENDENT",
    "are_counts",
    "divided",
    "efficiency_errors",
    "mark_outside",
    "poisson_interval",
    "set_ratio_range",
]

# Errors of contents that are numbers of events. Pure: numbers only.

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


if TYPE_CHECKING:
    import numpy as np
    from hist import Hist
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Some = Sequence[float] | Numbers


INDEPENDENT, EFFICIENCY, COMMON = "independent", "efficiency", "common"
"""How the errors of two histograms go together: they are of different events; the events of one are
some of the other's; they are of the same events, so that the ratio has hardly an error."""

_NARROWEST, _WIDEST = 0.05, 1.0
"""The panel reaches at least and at most so far from 1."""
_WIDER = 2.0
"""Points for which the panel would become wider than this many times are marked at its edge."""
_MARKS = ((0.05, "v"), (0.95, "^"))
"""Where a mark is, as a share of the panel's height, and in which direction it points."""


def divided(values: Some, base: Some) -> Numbers:
    """The ratios: infinite for something over nothing, and NaN for nothing over nothing."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        ratios: Numbers = np.asarray(values, float) / np.asarray(base, float)
    return ratios


def efficiency_errors(part: Hist, whole: Hist, name: str) -> Numbers:
    """The errors downward and upward of the ratios of a part to the whole that it is of. Of counts
    they are Wilson's interval for a binomial distribution, which is no point at 0 and 1; with
    weights those of TH1::Divide's option B.

    Raises QueryError if it cannot be a part."""
    import numpy as np

    values, of_all = (np.array(each.values(), float) for each in (part, whole))
    squares, all_squares = (np.array(errors_of(each)) ** 2 for each in (part, whole))
    beyond = np.flatnonzero(squares > all_squares * (1 + 1e-9))
    if len(beyond):
        raise QueryError(
            f"the events of {name!r} are not some of the first histogram's: it has more of them in "
            f"bin {beyond[0]}; ratio=True is for histograms of different events"
        )
    ratios = np.nan_to_num(divided(values, of_all))
    if are_counts(values, part.variances()) and are_counts(of_all, whole.variances()):
        count = np.maximum(of_all, 1.0)
        middle = (ratios + 0.5 / count) / (1 + 1 / count)
        half = np.sqrt(ratios * (1 - ratios) / count + 0.25 / count**2) / (1 + 1 / count)
        ends: Numbers = np.abs(np.array([ratios - middle + half, middle + half - ratios]))
        return ends
    error = np.sqrt(np.abs((1 - 2 * ratios) * squares + ratios**2 * all_squares))
    error = divided(error, np.abs(of_all))
    return np.array([error, error])


def set_ratio_range(place: Axes, points: Sequence[Numbers], bands: Sequence[Numbers] = ()) -> None:
    """Sets a range around 1 that shows all points, unless a few far ones would make the others
    small, and most of the bands."""
    usual = 1.5 * max(_off(points, 0.9), _off(bands, 0.9))
    furthest = 1.1 * _off(points, 1.0)
    reach = max(usual, furthest) if furthest <= _WIDER * max(usual, _NARROWEST) else usual
    reach = min(max(reach, _NARROWEST), _WIDEST)
    place.set_ylim(1 - reach, 1 + reach)


def _off(ratios: Sequence[Numbers], quantile: float) -> float:
    """The distance from 1 that this share of the ratios does not exceed; 0 without ratios."""
    import numpy as np

    values = np.concatenate([np.ones(1), *ratios])
    return float(np.quantile(np.abs(values[np.isfinite(values)] - 1), quantile))


def mark_outside(place: Axes, x: Numbers, ratios: Numbers, color: str) -> None:
    """Draws an arrow at the edge of the panel for each ratio beyond it. The range must be set."""
    low, high = place.get_ylim()
    for beyond, (height, marker) in zip((ratios < low, ratios > high), _MARKS, strict=True):
        if beyond.any():
            place.plot(
                x[beyond],
                [height] * int(beyond.sum()),
                linestyle="",
                marker=marker,
                markersize=7,
                color=color,
                transform=place.get_xaxis_transform(),
            )
