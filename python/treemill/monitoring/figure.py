"""A histogram as plain numbers for the page: one or two axes, numbers or categories. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..pictures.histogram_labels import filled, is_logarithmic

if TYPE_CHECKING:
    from boost_histogram.axis import Axis
    from hist import Hist

__all__ = ["MOST_BINS", "figure"]

MOST_BINS = 40_000
"""A histogram with more bins is not sent."""


def figure(title: str, histogram: Hist) -> dict[str, object] | None:
    """The axes and the values without flow bins, as JSON takes them; None for a histogram that the
    page cannot draw: of no or more than two axes, or of more bins than a screen has."""
    values = histogram.values()
    if not 1 <= histogram.ndim <= 2:
        return None
    axes = [_axis(axis) for axis in histogram.axes]
    if histogram.ndim == 2 and is_logarithmic(histogram.axes[1]):  # most of its decades are empty
        first, last = filled(values.sum(axis=0))
        axes[1]["edges"] = [float(edge) for edge in histogram.axes[1].edges[first : last + 1]]
        values = values[:, first:last]
    if values.size > MOST_BINS:
        return None
    if histogram.ndim == 2 and histogram.axes[1].name == "time":  # time goes to the right
        axes, values = axes[::-1], values.T
    flat = [float(value) for value in values.T.reshape(-1)]
    return {
        "title": title,
        "about": str(histogram.label or ""),
        "axes": axes,
        "values": [value if math.isfinite(value) else None for value in flat],
    }


def _axis(axis: Axis) -> dict[str, object]:
    label = str(axis.label or axis.name or "")
    if axis.traits.discrete:
        return {"label": label, "names": [str(each) for each in axis]}
    return {"label": label, "edges": [float(edge) for edge in axis.edges]}
