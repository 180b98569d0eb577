"""Draws histograms with matplotlib in mplhep's style: each in a panel of its own, or several in one
panel with a legend and their ratios. Knows hist.Hist and labels only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ..errors import QueryError
from .histogram_labels import axis_label, edges_of, filled, is_logarithmic, is_profile
from .picture_parts import (
    Band,
    Legend,
    contents_label,
    draw_band,
    drawing,
    drawn_edges,
    errors_of,
    finished,
    frame,
    set_title,
    set_vertical,
    styles,
)
from .ratios import (
    COMMON,
    EFFICIENCY,
    INDEPENDENT,
    divided,
    efficiency_errors,
    mark_outside,
    set_ratio_range,
)

if TYPE_CHECKING:
    import numpy as np
    from boost_histogram.axis import Axis
    from hist import Hist
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.container import Container
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from .picture_parts import Edges

__all__ = ["Band", "overlaid", "paneled", "save"]


def save(
    histograms: Sequence[Hist],
    titles: Sequence[str],
    path: str | Path | BinaryIO,
    log: bool = False,
    form: str | None = None,
) -> None:
    """Writes one picture with a panel for each histogram to `path`. The suffix decides the format;
    an open file gets that of `form`, or PNG. A histogram of more than two dimensions is drawn as
    its projections.

    Raises ImportError if matplotlib or mplhep is missing."""
    paneled(histograms, titles, log).savefig(path, format=form)


def paneled(histograms: Sequence[Hist], titles: Sequence[str], log: bool = False) -> Figure:
    """Draws the picture that `save` writes."""
    panels = [
        each
        for histogram, title in zip(histograms, titles, strict=True)
        for each in _panels(histogram, title)
    ]
    count = len(panels)
    columns = min(count, 3 if count > 4 else 2 if count > 1 else 1)
    rows = -(-count // columns)
    with drawing(20 if count == 1 else 13) as plt:
        figure, axes = plt.subplots(
            rows, columns, figsize=(6.4 * columns, 4.8 * rows), squeeze=False, layout="constrained"
        )
        for place, panel in zip(axes.flat, panels, strict=False):
            _picture(*panel, place, figure, log)
        for place in axes.flat[count:]:
            place.set_visible(False)
        return finished(plt, figure)


def overlaid(
    histograms: Mapping[str, Hist],
    title: str = "",
    log: bool = False,
    ratio: str = "",
    band: Band | None = None,
) -> Figure:
    """Draws histograms of one dimension with equal axes into one panel. The keys are the labels in
    the legend. `ratio` adds a panel with the ratios to the first histogram, with errors of this
    kind of `RATIOS`.

    Raises QueryError if the histograms cannot be drawn together."""
    first = next(iter(histograms.values()))
    _check(histograms, first)
    with drawing(16) as plt:
        figure, main, last, edges = frame(plt, first, bool(ratio))
        entries: list[tuple[Artist | Container, str]] = []
        if band is not None:
            entries.append((draw_band(main, edges, band, band.low, band.high), band.label))
        # A colour's name, such as C1, would be looked up in the style of the time of saving.
        own = styles(histograms, plt.rcParams["axes.prop_cycle"].by_key()["color"])
        for label, histogram in histograms.items():
            look = own[label]
            drawn = _line(main, histogram, edges, label, look.color, look.dashes)
            entries.append((drawn, label))
        if ratio:
            colors = [each.color for each in own.values()]
            _ratios(last, histograms, edges, band, colors, ratio)
        main.set_xlim(edges[0], edges[-1])
        last.set_xlabel(axis_label(first.axes[0]))
        main.set_ylabel(contents_label(first))
        set_vertical(main, histograms.values(), log)
        set_title(main, title, first if len(histograms) == 1 else None)
        return finished(plt, figure, Legend(main, entries) if len(entries) > 1 else None)


def _check(histograms: Mapping[str, Hist], first: Hist) -> None:
    if any(histogram.ndim != 1 for histogram in histograms.values()):
        raise QueryError("only histograms of one dimension can be drawn into one picture")
    if any(histogram.axes[0] != first.axes[0] for histogram in histograms.values()):
        # Axes with different labels or names are unequal, but have the same bins.
        others = [_places(histogram.axes[0]) for histogram in histograms.values()]
        if any(other != others[0] for other in others):
            raise QueryError("histograms with different axes cannot be drawn into one picture")


def _places(axis: Axis) -> list[object]:
    if axis.traits.continuous:
        return [*edges_of(axis)]
    return [axis.value(i) for i in range(axis.size)]


def _panels(histogram: Hist, title: str) -> list[tuple[Hist, str]]:
    if histogram.ndim <= 2:
        return [(histogram, title)]
    axes = enumerate(histogram.axes)
    return [
        (histogram.project(i), ": ".join(filter(None, (title, axis_label(axis)))))
        for i, axis in axes
    ]


def _picture(histogram: Hist, title: str, place: Axes, figure: Figure, log: bool) -> None:
    if histogram.ndim == 1:
        edges = drawn_edges(histogram.axes[0], place)
        if is_profile(histogram):
            _line(place, histogram, edges)
        else:
            place.stairs(histogram.values(), edges, fill=True, alpha=0.35, color="C0")
            place.stairs(histogram.values(), edges, linewidth=1.2, color="C0")
        place.set_xlim(edges[0], edges[-1])
        place.set_xlabel(axis_label(histogram.axes[0]))
        place.set_ylabel(contents_label(histogram))
        set_vertical(place, [histogram], log)
    else:
        _field(histogram, place, figure, log)
    set_title(place, title, histogram)


def _field(histogram: Hist, place: Axes, figure: Figure, log: bool) -> None:
    import numpy as np
    from matplotlib.colors import LogNorm

    values = np.array(histogram.values(), float).T
    hidden = ~np.isfinite(values) if is_profile(histogram) else ~(values > 0)
    if is_profile(histogram):
        hidden |= histogram.counts().T == 0
    shown = np.ma.masked_array(values, hidden | ((values <= 0) if log else False))
    across, up = histogram.axes
    norm = LogNorm() if log and shown.count() else None
    drawn = place.pcolormesh(
        drawn_edges(across, place), drawn_edges(up, place, "y"), shown, norm=norm
    )
    figure.colorbar(drawn, ax=place, label=contents_label(histogram))
    place.set_xlabel(axis_label(across))
    place.set_ylabel(axis_label(up))
    if is_logarithmic(up):  # it has more decades than are filled
        first, last = filled(values.sum(axis=1))
        place.set_yscale("log")
        place.set_ylim(up.edges[first], up.edges[last])


# One dimension.


def _line(
    place: Axes,
    histogram: Hist,
    edges: Edges,
    label: str | None = None,
    color: str | None = None,
    dashes: str = "-",
) -> Artist | Container:
    """Draws steps; for a profile points with the errors of the means."""
    values, errors = histogram.values(), errors_of(histogram)
    if not is_profile(histogram):
        return place.stairs(
            values, edges, linewidth=1.4, linestyle=dashes, label=label, color=color
        )
    middles = [(low + high) / 2 for low, high in pairwise(edges)]
    halves = [(high - low) / 2 for low, high in pairwise(edges)]
    filled = [i for i, n in enumerate(histogram.counts()) if n > 0]
    return place.errorbar(
        [middles[i] for i in filled],
        [values[i] for i in filled],
        xerr=[halves[i] for i in filled],
        yerr=[errors[i] for i in filled],
        fmt="o",
        markersize=3.5,
        linewidth=1.2,
        label=label,
        color=color,
    )


def _ratios(
    place: Axes,
    histograms: Mapping[str, Hist],
    edges: Edges,
    band: Band | None,
    colors: Sequence[str],
    kind: str,
) -> None:
    """Draws the ratio of each histogram to the first, with errors of this kind."""
    import numpy as np

    (_, first), *others = histograms.items()
    base = _contents(first)
    ends = [divided(end, base) for end in ((band.low, band.high) if band else ())]
    if band is not None:
        draw_band(place, edges, band, *ends)
    elif kind == INDEPENDENT:
        off = np.nan_to_num(divided(errors_of(first), abs(base)), posinf=0.0)
        draw_band(place, edges, Band(1 - off, 1 + off, ""), 1 - off, 1 + off)
    place.axhline(1, color=colors[0], linewidth=1.0)
    middles = (np.array(edges[:-1]) + np.array(edges[1:])) / 2
    ratios = [divided(_contents(histogram), base) for _, histogram in others]
    for (name, histogram), shown, color in zip(others, ratios, colors[1:], strict=True):
        there = np.isfinite(shown)
        if kind == COMMON:
            place.stairs(shown, edges, baseline=None, linewidth=1.4, color=color)
            continue
        errors = divided(errors_of(histogram), abs(base))
        ends_of = np.array([errors, errors])
        if kind == EFFICIENCY:
            ends_of = efficiency_errors(histogram, first, name)
        place.errorbar(
            middles[there],
            shown[there],
            yerr=ends_of[:, there],
            fmt="o",
            markersize=3,
            linewidth=1.0,
            color=color,
        )
    place.set_ylabel("efficiency" if kind == EFFICIENCY else "ratio", loc="center")
    if kind == EFFICIENCY:
        place.set_ylim(-0.05, 1.15)
    else:
        set_ratio_range(place, ratios, ends)
    for shown, color in zip(ratios, colors[1:], strict=True):
        mark_outside(place, middles, shown, color)


def _contents(histogram: Hist) -> NDArray[np.float64]:
    """What the bins hold; NaN in a profile's bin without entries, which has no mean."""
    import numpy as np

    values = np.array(histogram.values(), float)
    return np.where(histogram.counts() > 0, values, np.nan) if is_profile(histogram) else values
