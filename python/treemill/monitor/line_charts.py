"""Draws line charts with matplotlib, a row of panels per subject. Knows only numbers and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Panel", "Series", "save"]


@dataclass(frozen=True)
class Series:
    """One line of a chart. The other lines are compared with a dashed one."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """One chart. `marked` says that its points are measurements, not a curve."""

    title: str
    x: str
    y: str
    series: Sequence[Series]
    marked: bool = False


def save(rows: Sequence[Sequence[Panel]], path: str) -> None:
    """Writes the panels to `path`, whose suffix decides the format."""
    from matplotlib.figure import Figure

    columns = max(len(row) for row in rows)
    figure = Figure(figsize=(4.2 * columns, 3.0 * len(rows)), layout="constrained")
    axes = figure.subplots(len(rows), columns, squeeze=False)
    for y, row in enumerate(rows):
        named: set[str] = set()
        for x, panel in enumerate(row):
            _draw(axes[y][x], panel)
            # Lines of one name have one colour, and are named once in a row.
            labels = {series.label for series in panel.series}
            if not labels <= named:
                axes[y][x].legend(fontsize=7)
            named |= labels
        for axis in axes[y][len(row) :]:
            axis.set_axis_off()
    figure.savefig(path, dpi=110)


def _draw(axes: Axes, panel: Panel) -> None:
    for number, series in enumerate(panel.series):
        axes.plot(
            series.x,
            series.y,
            color="0.4" if series.dashed else f"C{number}",
            linestyle="--" if series.dashed else "-",
            marker="o" if panel.marked and not series.dashed else "",
            markersize=3,
            linewidth=1.2,
            label=series.label,
        )
    axes.set_title(panel.title, fontsize=8)
    axes.set_xlabel(panel.x, fontsize=8)
    axes.set_ylabel(panel.y, fontsize=8)
    axes.set_ylim(bottom=0)
    axes.tick_params(labelsize=7)
