"""The parts of pictures of histograms: the style, edges, errors, bands, ranges and words. Knows
hist.Hist and matplotlib's axes only.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .histogram_labels import is_profile, outside, quantity
from .screen import in_notebook

if TYPE_CHECKING:
    from types import ModuleType

    import numpy as np
    from boost_histogram.axis import Axis
    from hist import Hist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Edges = Sequence[float] | NDArray[np.float64]

__all__ = [
    "Band",
    "contents_label",
    "draw_band",
    "drawing",
    "drawn_edges",
    "errors_of",
    "finished",
    "frame",
    "set_ratio_range",
    "set_title",
    "set_vertical",
]


@dataclass(frozen=True)
class Band:
    """An area around the first histogram: from `low` to `high` in each bin."""

    low: Edges
    high: Edges
    label: str


@contextmanager
def drawing(size: int) -> Iterator[ModuleType]:
    """Gives pyplot, in mplhep's style, with sizes of its own: mplhep's suit one large picture."""
    import matplotlib

    if not in_notebook():  # a notebook shows the user's own pictures with another backend
        matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt
    import mplhep

    own: dict[str, object] = {"font.size": size, "figure.dpi": 100, "legend.fontsize": 0.8 * size}
    # Formulas are drawn when the picture is shown, without this style: the style's own set of fonts
    # would be looked for in the user's settings then, and matplotlib would say that one is missing.
    own |= {"mathtext.fontset": "dejavusans"}
    with plt.style.context([mplhep.style.ROOT, own]):
        yield plt


def frame(plt: ModuleType, first: Hist, ratio: bool) -> tuple[Figure, Axes, Axes, Edges]:
    """A figure of one panel, or with `ratio` of two, for histograms with the bins of `first`: the
    figure, its upper and its lowest panel, and the edges of the bins."""
    figure, places = plt.subplots(
        2 if ratio else 1,
        1,
        figsize=(7.2, 6.4 if ratio else 4.8),
        sharex=True,
        squeeze=False,
        layout="constrained",
        height_ratios=[3, 1] if ratio else [1],
    )
    main, last = places[0, 0], places[-1, 0]
    return figure, main, last, drawn_edges(first.axes[0], last)


def finished(plt: ModuleType, figure: Figure) -> Figure:
    """Closes the figure for pyplot and gives it back."""
    # Ticks take their style when they are first drawn: draw them while the style is active.
    figure.canvas.draw()
    plt.close(figure)
    return figure


def drawn_edges(axis: Axis, place: Axes, direction: str = "x") -> Edges:
    """The edges at which bins are drawn. Bins of whole numbers and categories are centred on the
    number or the name."""
    edges: NDArray[np.float64]
    if axis.traits.continuous:
        edges = axis.edges
        return edges
    if axis.traits.ordered and type(axis).__name__ == "Integer":
        edges = axis.edges - 0.5
        return edges
    marks = place.xaxis if direction == "x" else place.yaxis
    marks.set_ticks(range(axis.size), [str(axis.value(i)) for i in range(axis.size)])
    marks.set_ticks([], minor=True)
    return [i - 0.5 for i in range(axis.size + 1)]


def errors_of(histogram: Hist) -> list[float]:
    """The square root of each bin's variance; 0 if that is not known."""
    variances = histogram.variances()
    if variances is None:
        return [0.0] * len(histogram.values())
    return [math.sqrt(v) if v > 0 and math.isfinite(v) else 0.0 for v in map(float, variances)]


def draw_band(place: Axes, edges: Edges, band: Band, low: Edges, high: Edges) -> None:
    """Draws the area between `low` and `high`."""
    place.stairs(
        high, edges, baseline=low, fill=True, color="0.7", alpha=0.6, linewidth=0, label=band.label
    )


def set_ratio_range(place: Axes, ratios: Sequence[NDArray[np.float64]]) -> None:
    """Sets a range around 1 that shows most points: single bins may have any ratio."""
    import numpy as np

    values = np.concatenate([np.ones(1), *ratios])
    off = np.abs(values[np.isfinite(values)] - 1)
    reach = min(max(1.5 * float(np.quantile(off, 0.9)), 0.05), 1.0)
    place.set_ylim(1 - reach, 1 + reach)


def set_vertical(place: Axes, histograms: Iterable[Hist], log: bool) -> None:
    """Sets the vertical range: from 0, or from below the smallest content if `log`."""
    shown = [float(v) for h in histograms for v in h.values() if math.isfinite(v)]
    positive = [value for value in shown if value > 0]
    if log and positive:
        place.set_yscale("log")
        place.set_ylim(min(positive) / 2, max(positive) * 2)
    elif not any(is_profile(histogram) for histogram in histograms):
        place.set_ylim(bottom=min(0.0, min(shown, default=0.0)))


def set_title(place: Axes, title: str, histogram: Hist) -> None:
    """Sets the title, with a line that says what the picture does not show."""
    size = float(place.title.get_fontsize()) * 0.75
    lines = textwrap.wrap(title, 62, max_lines=3, placeholder=" …")
    beyond = "" if histogram is None else outside(histogram)
    if beyond:
        lines.append(f"not shown: {beyond}")
    if lines:
        place.set_title("\n".join(lines), fontsize=size, loc="left")


def contents_label(histogram: Hist) -> str:
    """Returns what the vertical axis shows, for bins of which width."""
    what = quantity(histogram)
    axis = histogram.axes[0]
    if histogram.ndim > 1 or is_profile(histogram) or type(axis).__name__ != "Regular":
        return what
    width = (axis.edges[-1] - axis.edges[0]) / axis.size
    unit = re.search(r"\[(.+)\]$", axis.label)
    if unit is None:
        return what if width == 1 else f"{what} / {width:.3g}"
    return f"{what} / {width:.3g} {unit[1]}"
