"""Draws line charts with matplotlib, a row of panels per subject. Knows numbers and labels only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Panel", "Series", "save"]


@dataclass(frozen=True)
class Series:
    """One line; a dashed one is what the others are compared with."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """One chart. `marked`: its points are measurements, not a curve."""

    title: str
    x: str
    y: str
    series: Sequence[Series]
    marked: bool = False


def save(rows: Sequence[Sequence[Panel]], path: str) -> None:
    """Writes a picture in the format of the path's ending."""
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


def _draw(axis: Any, panel: Panel) -> None:
    for number, series in enumerate(panel.series):
        axis.plot(
            series.x,
            series.y,
            color="0.4" if series.dashed else f"C{number}",
            linestyle="--" if series.dashed else "-",
            marker="o" if panel.marked and not series.dashed else "",
            markersize=3,
            linewidth=1.2,
            label=series.label,
        )
    axis.set_title(panel.title, fontsize=8)
    axis.set_xlabel(panel.x, fontsize=8)
    axis.set_ylabel(panel.y, fontsize=8)
    axis.set_ylim(bottom=0)
    axis.tick_params(labelsize=7)
