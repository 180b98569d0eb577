"""The panel of ratios: its range, and marks for points that lie outside of it. Knows matplotlib's
axes and numbers only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Some = Sequence[float] | Numbers

__all__ = ["divided", "mark_outside", "set_ratio_range"]

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
