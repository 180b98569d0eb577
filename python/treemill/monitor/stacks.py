"""Draws the picture of an analysis: processes stacked, data as points, the band of what is
uncertain, their ratio. Knows histograms and labels only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .histogram_labels import axis_label
from .picture_parts import (
    Band,
    contents_label,
    draw_band,
    drawing,
    errors_of,
    finished,
    frame,
    set_ratio_range,
    set_title,
)

if TYPE_CHECKING:
    import numpy as np
    from hist import Hist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from .picture_parts import Edges

__all__ = ["Stack", "stacked"]


@dataclass(frozen=True)
class Stack:
    """What is drawn: histograms of one dimension with equal bins, by the legend's words."""

    processes: Mapping[str, Hist]
    """Histograms by process, from the bottom to the top."""
    band: Band
    """Around the sum of the processes."""
    data: tuple[str, Hist] | None = None
    signals: Mapping[str, Hist] = field(default_factory=dict)
    """Drawn as lines."""
    colors: Mapping[str, str] = field(default_factory=dict)


def stacked(shown: Stack, title: str = "", log: bool = False, ratio: bool = False) -> Figure:
    """Draws the picture; with `ratio` a panel below has data over the sum of the processes."""
    import numpy as np

    first = next(iter(shown.processes.values()))
    with drawing(16) as plt:
        figure, main, last, edges = frame(plt, first, ratio)
        cycle = plt.rcParams["axes.prop_cycle"].by_key()["color"]
        total = np.zeros(len(first.values()))
        names = [*shown.processes, *shown.signals]
        colors = {name: cycle[i % len(cycle)] for i, name in enumerate(names)} | dict(shown.colors)
        for name, histogram in shown.processes.items():
            upper = total + histogram.values()
            main.stairs(
                upper,
                edges,
                baseline=total,
                fill=True,
                label=name,
                facecolor=colors[name],
                edgecolor="black",
                linewidth=0.4,
            )
            total = upper
        _hatched(main, edges, shown.band, shown.band.low, shown.band.high)
        for name, histogram in shown.signals.items():
            line = {"color": colors[name], "linewidth": 1.8, "linestyle": "--"}
            main.stairs(histogram.values(), edges, label=name, **line)
        if shown.data is not None:
            _points(main, edges, shown.data[1], np.ones(len(total)), shown.data[0])
        if ratio and shown.data is not None:
            _ratio(last, edges, shown.data[1], total, shown.band)
        main.set_xlim(edges[0], edges[-1])
        last.set_xlabel(axis_label(first.axes[0]))
        main.set_ylabel(contents_label(first))
        _range(main, shown, total, log)
        _legend(main, shown)
        set_title(main, title, None)
        return finished(plt, figure)


def _hatched(place: Axes, edges: Edges, band: Band, low: Edges, high: Edges) -> None:
    place.stairs(
        high,
        edges,
        baseline=low,
        fill=True,
        facecolor="none",
        edgecolor="0.3",
        hatch="//////",
        linewidth=0,
        label=band.label,
    )


def _points(
    place: Axes, edges: Edges, data: Hist, over: NDArray[np.float64], label: str | None
) -> None:
    """Draws points with errors, divided by `over`. A bin without data has no point."""
    import numpy as np

    values, errors = np.array(data.values(), float), np.array(errors_of(data))
    ends = np.array(edges, float)
    there = ((values != 0) | (errors != 0)) & np.isfinite(over)
    place.errorbar(
        ((ends[:-1] + ends[1:]) / 2)[there],
        (values / over)[there],
        xerr=((ends[1:] - ends[:-1]) / 2)[there],
        yerr=abs(errors / over)[there],
        fmt="o",
        color="black",
        markersize=4,
        linewidth=1.0,
        label=label,
    )


def _ratio(place: Axes, edges: Edges, data: Hist, total: NDArray[np.float64], band: Band) -> None:
    import numpy as np

    base = np.where(total == 0, np.nan, total)
    ends = [np.array(end, float) / base for end in (band.low, band.high)]
    place.axhline(1, color="0.3", linewidth=1.0)
    draw_band(place, edges, band, *[np.where(np.isfinite(end), end, 1.0) for end in ends])
    _points(place, edges, data, base, None)
    there = np.array(data.values(), float) != 0
    set_ratio_range(place, [(data.values() / base)[there], *ends])
    place.set_ylabel("data / sum", loc="center")


def _range(place: Axes, shown: Stack, total: NDArray[np.float64], log: bool) -> None:
    """Sets the vertical range, with room for the legend above."""
    others = [*shown.signals.values(), *([shown.data[1]] if shown.data else [])]
    tops = [float(v) for v in [*shown.band.high, *total] if math.isfinite(v)]
    tops += [
        float(value) + error
        for each in others
        for value, error in zip(each.values(), errors_of(each), strict=True)
    ]
    top = max(tops, default=1.0) or 1.0
    if log and top > 0:
        lows = [float(v) for h in [*shown.processes.values(), *others] for v in h.values() if v > 0]
        bottom = max(min(lows, default=top) / 2, top * 1e-7)
        place.set_yscale("log")
        place.set_ylim(bottom, top * (top / bottom) ** 0.45)
    else:
        place.set_ylim(min(0.0, float(min(total, default=0.0))), top * 1.45)


def _legend(place: Axes, shown: Stack) -> None:
    """Data first, then the processes as they lie, from the top."""
    handles, labels = place.get_legend_handles_labels()
    artists = dict(zip(labels, handles, strict=True))
    order: Sequence[str] = [
        *([shown.data[0]] if shown.data else []),
        *reversed([*shown.processes]),
        *shown.signals,
        shown.band.label,
    ]
    columns = 2 if len(order) > 3 else 1
    place.legend([artists[name] for name in order], order, ncols=columns, loc="upper right")
