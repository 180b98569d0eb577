"""What titles and axes of a drawn histogram say: what its bins hold, what an axis shows, how much
lies outside. Knows histograms only by their attributes; draws nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from boost_histogram.axis import Axis
    from hist import Hist
    from numpy.typing import NDArray

__all__ = [
    "axis_label",
    "edges_of",
    "filled",
    "in_digits",
    "is_logarithmic",
    "is_profile",
    "outside",
    "quantity",
    "total",
    "weights_of",
    "with_ends",
]


def is_profile(histogram: Hist) -> bool:
    """True if the bins hold means."""
    return "Mean" in type(histogram.storage_type()).__name__


def quantity(histogram: Hist) -> str:
    """Returns what the bins hold: entries, sums of weights, or means, and of which quantity."""
    if is_profile(histogram):
        return f"Mean of {histogram.label}" if histogram.label else "Mean"
    return "Sum of weights" if "Weight" in type(histogram.storage_type()).__name__ else "Entries"


def axis_label(axis: Axis) -> str:
    """The axis' label, or its name if it has no label."""
    return str(axis.label or axis.name or "")


def edges_of(axis: Axis) -> list[float]:
    """The edges by which an axis of numbers is filled. boost-histogram names others of a circular
    one with edges of its own (`axis.edges` has 2 for 2.5): these are found by asking which bin a
    number falls into."""
    first, last = float(axis.edges[0]), float(axis.edges[-1])
    if not (axis.traits.circular and axis.traits.continuous and type(axis).__name__ == "Variable"):
        return [float(edge) for edge in axis.edges]
    edges = [first]
    for number in range(1, int(axis.size)):
        below, above = edges[-1], last
        while below < (middle := below / 2 + above / 2) < above:
            if int(axis.index(middle)) < number:
                below = middle
            else:
                above = middle
        edges.append(above)
    return [*edges, last]


def with_ends(edges: Sequence[float]) -> list[float]:
    """Finite edges, at which bins are drawn: an infinite bin is as wide as its neighbour."""
    inner = [edge for edge in edges if math.isfinite(edge)]
    first, last = (inner[1] - inner[0], inner[-1] - inner[-2]) if len(inner) > 1 else (1.0, 1.0)
    low, high = (inner[0], inner[-1]) if inner else (0.0, 0.0)
    ends = {-math.inf: low - first, math.inf: high + last}
    return [ends.get(edge, edge) for edge in edges]


def is_logarithmic(axis: Axis) -> bool:
    """True if the axis' bins are equally wide in the logarithm."""
    return repr(getattr(axis, "transform", None)) == "log"


def filled(values: Sequence[float]) -> tuple[int, int]:
    """The bins from the first to behind the last that has something; all if none has."""
    bins = [at for at, value in enumerate(values) if value]
    return (bins[0], bins[-1] + 1) if bins else (0, len(values))


def outside(histogram: Hist) -> str:
    """Says in a few words what lies outside of the axes; empty if nothing does."""
    inside, everything = total(histogram, False), total(histogram, True)
    if everything == inside:
        return ""
    axis = histogram.axes[0]
    beyond = [("outside", everything - inside)]
    if histogram.ndim == 1 and axis.traits.ordered and not axis.traits.circular:
        flow = _flow(histogram)
        first = int(axis.traits.underflow)
        below = sum(flow[:first])
        above = sum(flow[first + axis.size :])
        beyond = [("below", below), ("above", above)]
    return ", ".join(
        f"{in_digits(value)} {where}{_share(value, everything)}" for where, value in beyond if value
    )


def _share(part: float, whole: float) -> str:
    return f" ({100 * part / whole:.2g} %)" if 0 < part < whole else ""


def _flow(histogram: Hist) -> list[float]:
    """The contents of all bins, including underflow and overflow; for a profile the entries."""
    contents = histogram.counts if is_profile(histogram) else histogram.values
    return [float(value) for value in contents(flow=True).ravel()]


def total(histogram: Hist, flow: bool) -> float:
    """The sum of the bins, with underflow and overflow if `flow`; for a profile the entries."""
    contents = histogram.counts if is_profile(histogram) else histogram.values
    return float(contents(flow=flow).sum())


def weights_of(histogram: Hist) -> NDArray[np.float64]:
    """The weights by which means of several bins are joined: sums of weights, or entries."""
    is_weighted = histogram.storage_type.__name__ == "WeightedMean"
    weights: NDArray[np.float64] = (
        histogram.view()["sum_of_weights"] if is_weighted else histogram.counts()
    )
    return weights


def in_digits(value: float) -> str:
    """The number with four digits; a large one with all digits before the point."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e8 else f"{value:.4g}"
