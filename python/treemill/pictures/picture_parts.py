"""The parts of pictures of histograms: the style, edges, errors, bands, ranges and titles. Knows
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

from .._system.terminal import in_notebook
from .histogram_labels import is_profile, outside, quantity
from .picture_words import check_formulas, fit_words, shortened

if TYPE_CHECKING:
    from types import ModuleType

    import numpy as np
    from boost_histogram.axis import Axis
    from hist import Hist
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis as Marks
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from .legends import Legend

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
    "set_title",
    "set_vertical",
]

_UNIT = re.compile(r"(?<=[\s$])\[([^\[\]]+)\]$")
"""The unit at a label's end, after a space: `Muon_pt[0]` ends with an index."""
_LONG_NAME = 24
"""Characters of a category's name below its bin."""


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
    # Words are drawn when the picture is shown, without this style. The style's own set of fonts
    # for formulas would be looked for in the user's settings then, and matplotlib would say that
    # one is missing. Words would be measured with the style's other fonts, and drawn with the
    # user's.
    own |= {"mathtext.fontset": "dejavusans"}
    own |= {"font.sans-serif": matplotlib.rcParams["font.sans-serif"]}
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


def finished(plt: ModuleType, figure: Figure, legend: Legend | None = None) -> Figure:
    """Makes words and the legend fit, closes the figure for pyplot and gives it back. Raises
    ValueError for a formula that cannot be drawn."""
    from matplotlib.text import Text

    said = [each.get_text() for each in figure.findobj(Text)]
    check_formulas([*said, *(legend.names if legend else ())])
    # What fits is known when there is a layout. Ticks take their style when they are first drawn,
    # so that each change of the layout is followed by another one while the style is active.
    figure.draw_without_rendering()
    if fit_words(figure):
        figure.draw_without_rendering()
    if legend is not None:
        legend.draw()
        figure.draw_without_rendering()
    plt.close(figure)
    return figure


def drawn_edges(axis: Axis, place: Axes, direction: str = "x") -> Edges:
    """The edges at which bins are drawn. Bins of whole numbers and categories are centred on the
    number or the name, and bins without an end get one."""
    marks = place.xaxis if direction == "x" else place.yaxis
    edges: NDArray[np.float64]
    if axis.traits.continuous:
        edges = axis.edges
        return _with_ends(edges, marks)
    if axis.traits.ordered and type(axis).__name__ == "Integer":
        edges = axis.edges - 0.5
        return edges
    names = [str(axis.value(i)) for i in range(axis.size)]
    marks.set_ticks(range(axis.size), shortened(names, _LONG_NAME))
    marks.set_ticks([], minor=True)
    return [i - 0.5 for i in range(axis.size + 1)]


def _with_ends(edges: NDArray[np.float64], marks: Marks) -> Edges:
    """Finite edges. An infinite bin is as wide as its neighbour, and its tick says that it is
    infinite."""
    import numpy as np

    infinite = np.isinf(edges)
    if not infinite.any():
        return edges
    inner, drawn = edges[~infinite], np.array(edges)
    widths = np.diff(inner) if len(inner) > 1 else np.ones(1)
    low, high = (inner[0], inner[-1]) if len(inner) else (0.0, 0.0)
    drawn[infinite] = np.where(edges[infinite] < 0, low - widths[0], high + widths[-1])
    ticks = marks.get_major_locator().tick_values(low, high) if low < high else inner
    named = {float(tick): f"{tick:g}" for tick in ticks if low <= tick <= high}
    named |= {x: r"$-\infty$" if x < low else r"$\infty$" for x in map(float, drawn[infinite])}
    marks.set_ticks([*named], [*named.values()])
    marks.set_ticks([], minor=True)
    return drawn


def errors_of(histogram: Hist) -> list[float]:
    """The square root of each bin's variance; 0 if that is not known. Of a mean it is the spread
    over the root of the effective number of entries, whatever the scale of the weights."""
    variances = histogram.variances()
    if variances is None:
        return [0.0] * len(histogram.values())
    if (
        histogram.storage_type.__name__ == "WeightedMean"
    ):  # boost-histogram: over the sum of weights
        weights = histogram.view()["sum_of_weights"]
        numbers = histogram.counts()
        variances = [
            v * w / n if n > 0 else 0.0 for v, w, n in zip(variances, weights, numbers, strict=True)
        ]
    return [math.sqrt(v) if v > 0 and math.isfinite(v) else 0.0 for v in map(float, variances)]


def draw_band(place: Axes, edges: Edges, band: Band, low: Edges, high: Edges) -> Artist:
    """Draws the area between `low` and `high`."""
    return place.stairs(
        high, edges, baseline=low, fill=True, color="0.7", alpha=0.6, linewidth=0, label=band.label
    )


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
    """Returns what the vertical axis shows, and for bins of which width, if all have the same."""
    what = quantity(histogram)
    axis = histogram.axes[0]
    if histogram.ndim > 1 or is_profile(histogram) or not axis.traits.continuous:
        return what
    width = abs(float(axis.edges[-1] - axis.edges[0])) / axis.size
    if not all(math.isclose(abs(each), width, rel_tol=1e-6) for each in axis.widths):
        return what
    unit = _UNIT.search(axis.label)
    if unit is None:
        return what if width == 1 else f"{what} / {width:.3g}"
    return f"{what} / {width:.3g} {unit[1]}"
