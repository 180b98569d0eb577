"""Draws the picture of an analysis: processes stacked, data as points, the band of what is
uncertain, their ratio. Knows histograms and labels only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .histogram_labels import axis_label
from .picture_parts import (
    Band,
    Legend,
    PlotStyle,
    contents_label,
    draw_band,
    drawing,
    errors_of,
    finished,
    frame,
    of_processes,
    set_title,
)
from .ratios import are_counts, divided, mark_outside, poisson_interval, set_ratio_range

if TYPE_CHECKING:
    import numpy as np
    from hist import Hist
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.container import Container
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from .picture_parts import Edges

    Numbers = NDArray[np.float64]
    Entry = tuple[Artist | Container, str]

__all__ = ["Stack", "stacked"]

_HEADROOM = 0.45
"""What the vertical range has above the highest bin, as a share of what it has below."""


@dataclass(frozen=True)
class Stack:
    """What is drawn: histograms of one dimension with equal bins, by the legend's words."""

    processes: Mapping[str, Hist]
    """Histograms by process, from the bottom to the top; on a logarithmic scale the smallest is at
    the bottom."""
    band: Band | None
    """Around the sum of the processes; None if nothing is known to be uncertain."""
    data: tuple[str, Hist] | None = None
    signals: Mapping[str, Hist] = field(default_factory=dict)
    """Drawn as lines."""
    colors: Mapping[str, str] = field(default_factory=dict)


def stacked(shown: Stack, title: str = "", log: bool = False, ratio: bool = False) -> Figure:
    """Draws the picture; with `ratio` a panel below has data over the sum of the processes.

    Raises QueryError for a formula that cannot be drawn."""
    import numpy as np

    first = next(iter(shown.processes.values()))
    with drawing(16) as plt:
        figure, main, last, edges = frame(plt, first, ratio)
        own = of_processes([*shown.processes, *shown.signals], shown.colors)
        if log:  # what is on top of much more is too thin to be seen
            shown = replace(shown, processes=_ascending(shown.processes))
        contents = [np.array(each.values(), float) for each in shown.processes.values()]
        levels = np.cumsum([np.zeros_like(contents[0]), *contents], axis=0)
        entries = [
            *_data(main, edges, shown, levels),
            *reversed(_areas(main, edges, shown, levels, own)),
            *_signals(main, edges, shown, own),
            *_band(main, edges, shown.band),
        ]
        if ratio and shown.data is not None:
            _ratio(last, edges, shown.data[1], levels[-1], shown.band)
        main.set_xlim(edges[0], edges[-1])
        last.set_xlabel(axis_label(first.axes[0]))
        main.set_ylabel(contents_label(first))
        _range(main, shown, levels, log)
        set_title(main, title, None)
        columns = (2, 3, 1) if len(entries) > 3 else (1,)
        room = _HEADROOM / (1 + _HEADROOM)
        return finished(plt, figure, Legend(main, entries, room, columns, "upper right"))


# The main panel: each part gives what the legend says of it.


def _areas(
    place: Axes, edges: Edges, shown: Stack, levels: Numbers, own: Mapping[str, PlotStyle]
) -> list[Entry]:
    """Draws the processes between the levels, from the bottom to the top."""
    drawn: list[Entry] = []
    for name, lower, upper in zip(shown.processes, levels[:-1], levels[1:], strict=True):
        area = place.stairs(
            upper,
            edges,
            baseline=lower,
            fill=True,
            label=name,
            facecolor=own[name].color,
            edgecolor="black",
            hatch=own[name].hatch or None,
            linewidth=0.4,
        )
        drawn.append((area, name))
    return drawn


def _band(place: Axes, edges: Edges, band: Band | None) -> list[Entry]:
    if band is None:
        return []
    area = place.stairs(
        band.high,
        edges,
        baseline=band.low,
        fill=True,
        facecolor="none",
        edgecolor="0.3",
        hatch="//////",
        linewidth=0,
        label=band.label,
    )
    return [(area, band.label)]


def _signals(place: Axes, edges: Edges, shown: Stack, own: Mapping[str, PlotStyle]) -> list[Entry]:
    drawn: list[Entry] = []
    for name, histogram in shown.signals.items():
        line = place.stairs(
            histogram.values(),
            edges,
            label=name,
            color=own[name].color,
            linewidth=1.8,
            linestyle="--",
        )
        drawn.append((line, name))
    return drawn


def _data(place: Axes, edges: Edges, shown: Stack, levels: Numbers) -> list[Entry]:
    import numpy as np

    if shown.data is None:
        return []
    name, data = shown.data
    one = np.ones(len(edges) - 1)
    return [(_points(place, edges, data, one, levels[-1] != 0, name), name)]


def _points(
    place: Axes,
    edges: Edges,
    data: Hist,
    over: Numbers,
    expected: NDArray[np.bool_],
    label: str | None = None,
) -> Container:
    """Draws points with errors, divided by `over`. A bin without data has no point, unless data
    are counts and something is expected there: no event is an observation, too."""
    import numpy as np

    values, (below, above) = np.array(data.values(), float), _errors(data)
    ends = np.array(edges, float)
    there = ((values != 0) | ((above > 0) & expected)) & (over != 0)
    return place.errorbar(
        ((ends[:-1] + ends[1:]) / 2)[there],
        (values[there] / over[there]),
        xerr=((ends[1:] - ends[:-1]) / 2)[there],
        yerr=np.abs(np.array([below, above])[:, there] / over[there]),
        fmt="o",
        color="black",
        markersize=4,
        linewidth=1.0,
        label=label,
    )


def _errors(data: Hist) -> tuple[Numbers, Numbers]:
    """Errors downward and upward: of counts those of a Poisson distribution's mean."""
    import numpy as np

    values = np.array(data.values(), float)
    if not are_counts(values, data.variances()):
        errors = np.array(errors_of(data))
        return errors, errors
    ends = np.array([poisson_interval(int(count)) for count in values]).reshape(-1, 2)
    return values - ends[:, 0], ends[:, 1] - values


def _range(place: Axes, shown: Stack, levels: Numbers, log: bool) -> None:
    """Sets the vertical range, with room for the legend above."""
    import numpy as np

    reached: list[Numbers] = [*levels]
    for each in shown.signals.values():
        values, errors = np.array(each.values(), float), np.array(errors_of(each))
        reached += [values, values - errors, values + errors]
    if shown.data is not None:
        values, (below, above) = np.array(shown.data[1].values(), float), _errors(shown.data[1])
        reached += [values, values - below, values + above]
    if shown.band is not None:
        reached += [np.array(shown.band.low, float), np.array(shown.band.high, float)]
    top = max(float(each.max()) for each in reached) or 1.0
    lowest = _lowest(shown, levels) if log else None
    if lowest is not None:
        bottom = max(lowest / 2, top * 1e-7)
        place.set_yscale("log")
        place.set_ylim(bottom, top * (top / bottom) ** _HEADROOM)
    else:
        # Errors that reach below 0 are cut off there, unless contents do so too.
        drawn = [*shown.signals.values(), *([shown.data[1]] if shown.data else [])]
        contents = [*levels, *(np.array(each.values(), float) for each in drawn)]
        is_below = min(float(each.min()) for each in contents) < 0
        bottom = 1.05 * min(float(each.min()) for each in reached) if is_below else 0.0
        place.set_ylim(bottom, top + _HEADROOM * (top - bottom))


def _lowest(shown: Stack, levels: Numbers) -> float | None:
    """The least that a logarithmic scale must show: every bin's sum and point, and of each process
    and signal the highest bin; None if nothing is above 0."""
    import numpy as np

    needed = [levels[-1], *(np.array([each.max()]) for each in np.diff(levels, axis=0))]
    needed += [np.array([float(each.values().max())]) for each in shown.signals.values()]
    if shown.data is not None:
        needed.append(np.array(shown.data[1].values(), float))
    values = np.concatenate(needed)
    return float(values[values > 0].min()) if (values > 0).any() else None


def _ascending(processes: Mapping[str, Hist]) -> dict[str, Hist]:
    """The processes, the smallest first."""
    return dict(sorted(processes.items(), key=lambda item: float(item[1].values().sum())))


# The panel of the ratio.


def _ratio(place: Axes, edges: Edges, data: Hist, total: Numbers, band: Band | None) -> None:
    import numpy as np

    place.axhline(1, color="0.3", linewidth=1.0)
    ends = [divided(end, total) for end in ((band.low, band.high) if band else ())]
    if band is not None:
        draw_band(place, edges, band, *[np.where(np.isfinite(end), end, 1.0) for end in ends])
    _points(place, edges, data, total, total != 0)
    values = np.array(data.values(), float)
    ratios = divided(values, total)
    found = np.where(values == 0, np.nan, ratios)
    # A bin of counts without any is an observation, which does not make the panel wider.
    shown = ratios if are_counts(values, data.variances()) else found
    place.set_ylabel("data / sum", loc="center")
    set_ratio_range(place, [found], ends)
    mark_outside(place, (np.array(edges[:-1]) + np.array(edges[1:])) / 2, shown, "black")
