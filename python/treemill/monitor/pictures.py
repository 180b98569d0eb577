"""Pictures of histograms by matplotlib in mplhep's style: each in a panel of its own, or several in
one with a legend and their ratios. Knows hist.Hist and labels only.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

from .display import axis_label, in_notebook, is_profile, outside, quantity

__all__ = ["Band", "overlaid", "paneled", "save"]


@dataclass(frozen=True)
class Band:
    """What is drawn around the first histogram: from `low` to `high` in each bin."""

    low: Sequence[float]
    high: Sequence[float]
    label: str


def save(
    histograms: Sequence[Any],
    titles: Sequence[str],
    path: str | Path | BinaryIO,
    log: bool = False,
) -> None:
    """Writes one picture with a panel for each histogram to `path`; its suffix says in which
    format; PNG to an open file. Of more than two dimensions the projections on each axis are drawn.
    Raises ImportError where matplotlib or mplhep is missing."""
    paneled(histograms, titles, log).savefig(path)


def paneled(histograms: Sequence[Any], titles: Sequence[str], log: bool = False) -> Any:
    """The picture that `save` writes, a matplotlib Figure."""
    panels = [
        each
        for histogram, title in zip(histograms, titles, strict=True)
        for each in _panels(histogram, title)
    ]
    count = len(panels)
    columns = min(count, 3 if count > 4 else 2 if count > 1 else 1)
    rows = -(-count // columns)
    with _drawing(20 if count == 1 else 13) as plt:
        figure, axes = plt.subplots(
            rows, columns, figsize=(6.4 * columns, 4.8 * rows), squeeze=False, layout="constrained"
        )
        for place, panel in zip(axes.flat, panels, strict=False):
            _picture(*panel, place, figure, log)
        for place in axes.flat[count:]:
            place.set_visible(False)
        return _finished(plt, figure)


def overlaid(
    histograms: Mapping[str, Any],
    title: str = "",
    log: bool = False,
    ratio: bool = False,
    band: Band | None = None,
) -> Any:
    """A matplotlib Figure of histograms of one dimension and of equal axes, by the labels that
    stand in its legend; with `ratio` their ratios to the first one below. Raises ValueError where
    they cannot be drawn together."""
    first = next(iter(histograms.values()))
    _check(histograms, first)
    with _drawing(16) as plt:
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
        edges = _drawn_edges(first.axes[0], last)
        if band is not None:
            _band(main, edges, band, band.low, band.high)
        # Names of colours would be looked up when the picture is saved, in another style.
        cycle = plt.rcParams["axes.prop_cycle"].by_key()["color"]
        colors = [cycle[i % len(cycle)] for i in range(len(histograms))]
        for (label, histogram), color in zip(histograms.items(), colors, strict=True):
            _line(main, histogram, edges, label, color)
        if ratio:
            _ratios(last, list(histograms.values()), edges, band, colors)
        main.set_xlim(edges[0], edges[-1])
        last.set_xlabel(axis_label(first.axes[0]))
        main.set_ylabel(_contents_label(first))
        _vertical(main, histograms.values(), log)
        if len(histograms) > 1 or band is not None:
            main.legend()
        _title(main, title, first if len(histograms) == 1 else None)
        return _finished(plt, figure)


def _finished(plt: Any, figure: Any) -> Any:
    # Ticks get their looks when they are drawn first, which is now, while the style holds.
    figure.canvas.draw()
    plt.close(figure)
    return figure


def _check(histograms: Mapping[str, Any], first: Any) -> None:
    if any(histogram.ndim != 1 for histogram in histograms.values()):
        raise ValueError("only histograms of one dimension can be drawn into one picture")
    if any(histogram.axes[0] != first.axes[0] for histogram in histograms.values()):
        # Labels and names count for axes, and nothing for a picture.
        others = [_places(histogram.axes[0]) for histogram in histograms.values()]
        if any(other != others[0] for other in others):
            raise ValueError("histograms with different axes cannot be drawn into one picture")


def _places(axis: Any) -> list[Any]:
    if axis.traits.continuous:
        return [float(edge) for edge in axis.edges]
    return [axis.value(i) for i in range(axis.size)]


@contextmanager
def _drawing(size: int) -> Iterator[Any]:
    """pyplot, in mplhep's style. mplhep's sizes are made for one large picture."""
    import matplotlib

    if not in_notebook():  # which shows the user's own pictures by another backend
        matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt
    import mplhep

    sizes = {"font.size": size, "figure.dpi": 100, "legend.fontsize": 0.8 * size}
    with plt.style.context([mplhep.style.ROOT, sizes]):
        yield plt


def _panels(histogram: Any, title: str) -> list[tuple[Any, str]]:
    if histogram.ndim <= 2:
        return [(histogram, title)]
    axes = enumerate(histogram.axes)
    return [(histogram.project(i), f"{title}: {axis_label(axis)}") for i, axis in axes]


def _picture(histogram: Any, title: str, place: Any, figure: Any, log: bool) -> None:
    if histogram.ndim == 1:
        edges = _drawn_edges(histogram.axes[0], place)
        if is_profile(histogram):
            _line(place, histogram, edges)
        else:
            place.stairs(histogram.values(), edges, fill=True, alpha=0.35, color="C0")
            place.stairs(histogram.values(), edges, linewidth=1.2, color="C0")
        place.set_xlim(edges[0], edges[-1])
        place.set_xlabel(axis_label(histogram.axes[0]))
        place.set_ylabel(_contents_label(histogram))
        _vertical(place, [histogram], log)
    else:
        _field(histogram, place, figure, log)
    _title(place, title, histogram)


def _field(histogram: Any, place: Any, figure: Any, log: bool) -> None:
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
        _drawn_edges(across, place), _drawn_edges(up, place, "y"), shown, norm=norm
    )
    figure.colorbar(drawn, ax=place, label=_contents_label(histogram))
    place.set_xlabel(axis_label(across))
    place.set_ylabel(axis_label(up))


# One dimension.


def _line(
    place: Any, histogram: Any, edges: Any, label: str | None = None, color: str | None = None
) -> None:
    """Steps; of a profile points with the errors of the means."""
    values, errors = histogram.values(), _errors(histogram)
    if not is_profile(histogram):
        place.stairs(values, edges, linewidth=1.4, label=label, color=color)
        return
    middles = [(low + high) / 2 for low, high in pairwise(edges)]
    halves = [(high - low) / 2 for low, high in pairwise(edges)]
    filled = [i for i, n in enumerate(histogram.counts()) if n > 0]
    place.errorbar(
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


def _errors(histogram: Any) -> list[float]:
    """Of a bin: the square root of its variance; 0 where that is not known."""
    variances = histogram.variances()
    if variances is None:
        return [0.0] * len(histogram.values())
    return [math.sqrt(v) if v > 0 and math.isfinite(v) else 0.0 for v in map(float, variances)]


def _band(place: Any, edges: Any, band: Band, low: Any, high: Any) -> None:
    place.stairs(
        high, edges, baseline=low, fill=True, color="0.7", alpha=0.6, linewidth=0, label=band.label
    )


def _ratios(
    place: Any,
    histograms: Sequence[Any],
    edges: Any,
    band: Band | None,
    colors: Sequence[str],
) -> None:
    """Of each to the first, with its own errors relative to the first's content."""
    import numpy as np

    first, *others = histograms
    base = np.array(first.values(), float)
    base[base == 0] = np.nan
    shown = [np.array(histogram.values(), float) / base for histogram in others]
    if band is not None:
        ends = [np.array(end, float) / base for end in (band.low, band.high)]
        _band(place, edges, band, *ends)
        shown += ends
    place.axhline(1, color=colors[0], linewidth=1.0)
    middles = (np.array(edges[:-1]) + np.array(edges[1:])) / 2
    for histogram, color in zip(others, colors[1:], strict=True):
        found = np.array(histogram.values(), float) / base
        errors = np.array(_errors(histogram)) / abs(base)
        looks = {"fmt": "o", "markersize": 3, "linewidth": 1.0, "color": color}
        place.errorbar(middles, found, yerr=errors, **looks)
    place.set_ylabel("ratio", loc="center")
    _ratio_range(place, shown)


def _ratio_range(place: Any, found: Sequence[Any]) -> None:
    """Around 1, of most points: single bins may have any ratio."""
    import numpy as np

    values = np.concatenate([np.ones(1), *found])
    off = np.abs(values[np.isfinite(values)] - 1)
    reach = min(max(1.5 * float(np.quantile(off, 0.9)), 0.05), 1.0)
    place.set_ylim(1 - reach, 1 + reach)


def _vertical(place: Any, histograms: Any, log: bool) -> None:
    """The vertical axis: from 0, or for logarithms from below the smallest content."""
    shown = [float(v) for h in histograms for v in h.values() if math.isfinite(v)]
    positive = [value for value in shown if value > 0]
    if log and positive:
        place.set_yscale("log")
        place.set_ylim(min(positive) / 2, max(positive) * 2)
    elif not any(is_profile(histogram) for histogram in histograms):
        place.set_ylim(bottom=min(0.0, min(shown, default=0.0)))


def _drawn_edges(axis: Any, place: Any, direction: str = "x") -> Any:
    """Where bins are drawn; for whole numbers and categories around the number or the name."""
    if axis.traits.continuous:
        return axis.edges
    if axis.traits.ordered and type(axis).__name__ == "Integer":
        return axis.edges - 0.5
    marks = place.xaxis if direction == "x" else place.yaxis
    marks.set_ticks(range(axis.size), [str(axis.value(i)) for i in range(axis.size)])
    marks.set_ticks([], minor=True)
    return [i - 0.5 for i in range(axis.size + 1)]


# Words.


def _title(place: Any, title: str, histogram: Any) -> None:
    """The title, and under it in small what the picture does not show."""
    size = place.title.get_fontsize() * 0.75
    lines = textwrap.wrap(title, 62, max_lines=3, placeholder=" …")
    beyond = "" if histogram is None else outside(histogram)
    if beyond:
        lines.append(f"not shown: {beyond}")
    if lines:
        place.set_title("\n".join(lines), fontsize=size, loc="left")


def _contents_label(histogram: Any) -> str:
    what = quantity(histogram)
    axis = histogram.axes[0]
    if histogram.ndim > 1 or is_profile(histogram) or type(axis).__name__ != "Regular":
        return what
    width = (axis.edges[-1] - axis.edges[0]) / axis.size
    unit = re.search(r"\[(.+)\]$", axis.label)
    if unit is None:
        return what if width == 1 else f"{what} / {width:.3g}"
    return f"{what} / {width:.3g} {unit[1]}"
