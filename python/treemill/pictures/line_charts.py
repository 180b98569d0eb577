"""Draws line charts with matplotlib, a row of panels per subject. Knows only numbers and labels."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Panel", "Series", "save", "svg"]


_MANY, _FEW = 10_000, 0.02
"""The numbers between which ticks have no letter for powers of ten."""


_NARROW, _WIDE = 28, 64
"""Characters of a name below a chart: two such names fit side by side, and one fits alone."""
_MANY_POINTS = 5_000
"""A vector graphic has a picture of more points than these."""
_SETTING = threading.Lock()
"""Held while matplotlib's parameters are those of `svg`."""
_AXIS, _LINE = 0.4, 0.13
"""Inches of what an axis says below the chart, and of a line of names."""


@dataclass(frozen=True)
class Series:
    """One line of a chart. The other lines are compared with a dashed one."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    dashed: bool = False
    dotted: bool = False
    """The same with dots, for another kind of line to compare with."""
    loose: bool = False
    """Points that no line joins."""
    color: int | None = None
    """The number of its colour; None: its place in the panel, grey for dashed ones."""


@dataclass(frozen=True)
class Panel:
    """One chart. `marked` says that its points are measurements, not a curve."""

    title: str
    x: str
    y: str
    series: Sequence[Series]
    marked: bool = False
    log_x: bool = False
    steps: bool = False
    """Whether a value holds until the next point."""
    whole_x: bool = False
    """Whether x counts something."""
    whole_y: bool = False
    """Whether y counts something of which there is little."""
    below: bool = False
    """Whether the lines are named below the chart, because there are many."""


def save(rows: Sequence[Sequence[Panel]], picture: BinaryIO, form: str) -> None:
    """Writes the panels to an open file, in this format of matplotlib's."""
    _figure(rows).savefig(picture, format=form, dpi=110)


def svg(rows: Sequence[Sequence[Panel]]) -> str:
    """The panels as a picture in SVG, the same for the same panels."""
    from matplotlib import rcParams

    text, mine = io.StringIO(), {"svg.fonttype": "none", "svg.hashsalt": "treemill"}
    with _SETTING:  # rc_context would also undo what other threads set meanwhile
        before = {name: rcParams[name] for name in mine}
        rcParams.update(mine)
        try:
            _figure(rows).savefig(text, format="svg", metadata={"Date": None})
        finally:
            rcParams.update(before)
    return text.getvalue()


def _figure(rows: Sequence[Sequence[Panel]]) -> Figure:
    from matplotlib.figure import Figure

    columns = max(len(row) for row in rows)
    heights = [3.0 + max(map(_below, row)) for row in rows]
    figure = Figure(figsize=(4.2 * columns, sum(heights)), layout="constrained")
    axes = figure.subplots(len(rows), columns, squeeze=False, height_ratios=heights)
    named: set[tuple[str, int | None]] = set()
    for y, row in enumerate(rows):
        for x, panel in enumerate(row):
            _draw(axes[y][x], panel)
            # Lines of one name and colour are named once.
            looks = _looks(panel)
            if panel.below:
                _name_below(figure, axes[y][x], _labels(panel))
            elif not looks <= named:
                axes[y][x].legend(fontsize=7)
            named |= looks
        for axis in axes[y][len(row) :]:
            axis.set_axis_off()
    return figure


def _labels(panel: Panel) -> set[str]:
    return {series.label for series in panel.series if series.label}


def _looks(panel: Panel) -> set[tuple[str, int | None]]:
    """The names of its lines, with their colours."""
    numbered = enumerate(panel.series)
    return {
        (
            each.label,
            None if each.dashed or each.dotted else number if each.color is None else each.color,
        )
        for number, each in numbered
        if each.label
    }


def _columns(labels: Iterable[str]) -> int:
    """Returns how many of them fit side by side below a chart."""
    return 2 if max(map(len, labels), default=0) <= _NARROW else 1


def _below(panel: Panel) -> float:
    """Inches of the names below a chart."""
    labels = _labels(panel)
    return _LINE * -(-len(labels) // _columns(labels)) if panel.below else 0.0


def _name_below(figure: Figure, axes: Axes, labels: Iterable[str]) -> None:
    """Names the lines below the chart and its axis, within its width."""
    from matplotlib.transforms import ScaledTranslation

    lines, named = axes.get_legend_handles_labels()
    axes.legend(
        lines,
        [_short(name) for name in named],
        fontsize=6,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=axes.transAxes + ScaledTranslation(0, -_AXIS, figure.dpi_scale_trans),
        ncols=_columns(labels),
    )


_PREFIXES = {-9: "n", -6: "µ", -3: "m", 3: "k", 6: "M", 9: "G", 12: "T"}


def _unit(highest: float) -> tuple[float, str]:
    """The power of ten, with its letter, in which all numbers of an axis are written.

    >>> _unit(1.5e6), _unit(0.015)
    ((1000000.0, 'M'), (0.001, 'm'))
    """
    power = min(max(3 * floor(log10(highest) / 3), min(_PREFIXES)), max(_PREFIXES))
    return (10.0**power, _PREFIXES[power]) if power else (1.0, "")


def _short(name: str) -> str:
    """A long name without its middle: addresses differ at their ends."""
    half = _WIDE // 2
    return name if len(name) <= _WIDE else f"{name[:half]}…{name[-half:]}"


def _draw(axes: Axes, panel: Panel) -> None:
    from matplotlib.ticker import MaxNLocator, NullFormatter

    for number, series in enumerate(panel.series):
        compared = series.dashed or series.dotted
        usual = "0.4" if compared else f"C{number}"
        solid = "" if series.loose else "-"
        broken = "--" if series.dashed else ":"
        axes.plot(
            series.x,
            series.y,
            color=usual if series.color is None else f"C{series.color}",
            linestyle=broken if compared else solid,
            marker="o" if series.loose or (panel.marked and not compared) else "",
            markersize=3,
            linewidth=1.0 if compared else 1.2,
            alpha=0.6 if series.loose else 1.0,
            drawstyle="steps-post" if panel.steps else "default",
            label=series.label or None,
            rasterized=len(series.x) > _MANY_POINTS,
        )
    axes.set_title(panel.title, fontsize=8)
    axes.set_xlabel(panel.x, fontsize=8)
    axes.set_ylabel(panel.y, fontsize=8)
    if panel.log_x:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
    if panel.log_x and panel.whole_x:  # numbers that were chosen: each has its tick
        axes.set_xticks(sorted({x for series in panel.series for x in series.x}), minor=False)
    is_whole_x = panel.whole_x and not panel.log_x
    for axis, is_whole in ((axes.xaxis, is_whole_x), (axes.yaxis, panel.whole_y)):
        if is_whole:
            axis.set_major_locator(MaxNLocator(integer=True))
    # A factor above the axis is overlooked: 15M, not 1.5 and 1e7 in a corner.
    highest = max((abs(y) for series in panel.series for y in series.y), default=0.0)
    if highest >= _MANY or 0 < highest < _FEW:
        scale, prefix = _unit(highest)
        is_time = panel.y == "s" and scale < 1  # 5 ms, not 5m
        axes.set_ylabel(f"{prefix}s" if is_time else panel.y, fontsize=8)
        sign = "" if is_time else prefix
        axes.yaxis.set_major_formatter(lambda y, _: f"{y / scale:g}{sign}" if y else "0")
    axes.set_ylim(bottom=0)
    axes.tick_params(labelsize=7)
