"""Draws histograms as text for a terminal, from the bins' edges and contents alone, so that a shell
command need not import a plotting library. pictures.py makes pictures.
"""

from __future__ import annotations

import math
import shutil
from typing import TYPE_CHECKING

from .histogram_labels import axis_label, in_digits, is_profile, outside, total, weights_of

if TYPE_CHECKING:
    from boost_histogram.axis import Axis
    from hist import Hist

__all__ = ["show", "text"]

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_SHADES = " ░▒▓█"
_POINT = "•"
_HEIGHT = 14
_GUTTER = 11


def show(histogram: Hist, title: str = "", log: bool = False) -> None:
    """Prints a histogram, as wide as the terminal."""
    print(text(histogram, title, shutil.get_terminal_size((80, 24)).columns, log))


def text(histogram: Hist, title: str = "", width: int = 80, log: bool = False) -> str:
    """Draws a histogram as lines of text: with bars (for profiles with points) if it has one
    dimension, with shades if it has two, as its projection on each axis if it has more.
    `log` asks for a logarithmic scale."""
    width = max(width, 40)
    if histogram.ndim == 1:
        lines = _chart(histogram, title, width, log)
    elif histogram.ndim == 2:
        lines = _field(histogram, title, width, log)
    else:
        parts = [
            text(histogram.project(i), f"{title}: {axis_label(axis)}", width, log)
            for i, axis in enumerate(histogram.axes)
        ]
        return "\n\n".join(parts)
    return "\n".join([*([title] if title else []), *lines, _sums(histogram)])


# One dimension.


def _chart(histogram: Hist, title: str, width: int, log: bool) -> list[str]:
    axis = histogram.axes[0]
    groups = _groups(axis.size, max(width - _GUTTER - 1, 10))
    repeat = max((width - _GUTTER - 1) // max(len(groups), 1), 1)
    values = [value for value in _contents(histogram, groups) for _ in range(repeat)]
    scale = _Scale(values, log, bottom=None if is_profile(histogram) else 0.0)
    cell = _point if is_profile(histogram) else _bar
    lines = []
    for row in range(_HEIGHT, 0, -1):
        mark = f"{in_digits(scale.at(row))} " if row in (_HEIGHT, _HEIGHT // 2) else ""
        lines.append(f"{mark:>{_GUTTER - 1}}│{''.join(cell(scale, v, row) for v in values)}")
    lines.append(f"{in_digits(scale.low) + ' ':>{_GUTTER - 1}}└{'─' * len(values)}")
    lines.append(" " * _GUTTER + _ends(axis, len(values)))
    if axis_label(axis) and axis_label(axis) != title:
        lines.append(" " * _GUTTER + axis_label(axis).center(len(values)).rstrip())
    return lines


def _contents(histogram: Hist, groups: list[range]) -> list[float]:
    """The contents of each column of characters. If a column stands for several bins it is their
    sum, or for a profile their mean."""
    values = [float(v) for v in histogram.values()]
    if not is_profile(histogram):
        return [sum(values[i] for i in group) for group in groups]
    counts = [float(n) for n in weights_of(histogram)]
    means = []
    for group in groups:
        filled = [i for i in group if counts[i]]
        weights = sum(counts[i] for i in filled)
        mean = sum(values[i] * counts[i] for i in filled)
        means.append(mean / weights if weights else math.nan)
    return means


class _Scale:
    """Maps values to rows of a chart, from `low` below the first row to `high` at the top of the
    last row."""

    def __init__(self, values: list[float], log: bool, bottom: float | None) -> None:
        finite = [value for value in values if math.isfinite(value)]
        positive = [value for value in finite if value > 0]
        self.log = log and bool(positive)
        if self.log:
            self.low, self.high = min(positive) / 2, max(positive)
        elif bottom is None:
            self.low, self.high = min(finite, default=0.0), max(finite, default=0.0)
        else:
            self.low, self.high = bottom, max([*finite, bottom])

    def at(self, row: int) -> float:
        part = row / _HEIGHT
        if self.log:
            return self.low * math.pow(self.high / self.low, part)
        return self.low + (self.high - self.low) * part

    def height(self, value: float) -> float | None:
        """The value's height in rows; None if nothing is to be drawn."""
        if not math.isfinite(value) or (self.log and value <= 0):
            return None
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low) * _HEIGHT
        return (value - self.low) / ((self.high - self.low) or 1.0) * _HEIGHT


def _bar(scale: _Scale, value: float, row: int) -> str:
    height = scale.height(value)
    if height is None or height <= 0:
        return " "
    eighths = (height - (row - 1)) * 8
    # A bin that is not empty is visible, however small it is.
    if row == 1:
        eighths = max(eighths, 1)
    return _EIGHTHS[min(max(int(eighths), 0), 8)]


def _point(scale: _Scale, value: float, row: int) -> str:
    height = scale.height(value)
    return " " if height is None or max(math.ceil(height), 1) != row else _POINT


# Two dimensions.


def _field(histogram: Hist, title: str, width: int, log: bool) -> list[str]:
    across, up = histogram.axes
    wide = _groups(across.size, width - _GUTTER - 1)
    high = _groups(up.size, 2 * _HEIGHT)
    cells = _cells(histogram, wide, high)
    scale = _Scale([value for row in cells for value in row], log, None)
    low_edge, high_edge = _edge_texts(up)
    lines = []
    repeat = max((width - _GUTTER - 1) // max(len(wide), 1), 1)
    for index, row in reversed(list(enumerate(cells))):
        mark = high_edge if index == len(cells) - 1 else low_edge if index == 0 else ""
        line = "".join(_shade(scale, value, is_profile(histogram)) * repeat for value in row)
        lines.append(f"{mark:>{_GUTTER - 2}} │{line}")
    lines.append(" " * (_GUTTER - 1) + "└" + "─" * (len(wide) * repeat))
    lines.append(" " * _GUTTER + _ends(across, len(wide) * repeat))
    lines.append(f"{' ' * _GUTTER}→ {axis_label(across)}   ↑ {axis_label(up)}")
    return lines


def _cells(histogram: Hist, wide: list[range], high: list[range]) -> list[list[float]]:
    grid = [[float(v) for v in row] for row in histogram.values()]
    if not is_profile(histogram):
        return [[sum(grid[i][j] for i in group for j in other) for group in wide] for other in high]
    counts = [[float(n) for n in row] for row in weights_of(histogram)]
    cells = []
    for other in high:
        line = []
        for group in wide:
            filled = [(i, j) for i in group for j in other if counts[i][j]]
            total = sum(counts[i][j] for i, j in filled)
            mean = sum(grid[i][j] * counts[i][j] for i, j in filled)
            line.append(mean / total if total else math.nan)
        cells.append(line)
    return cells


def _shade(scale: _Scale, value: float, is_mean: bool) -> str:
    if not math.isfinite(value) or (not is_mean and value <= 0):
        return " "
    if scale.log or is_mean:
        part = (scale.height(value) or 0.0) / _HEIGHT
    else:
        part = math.sqrt(value / scale.high)
    return _SHADES[min(max(math.ceil(part * 4), 1), 4)]


def _groups(count: int, room: int) -> list[range]:
    """Splits the bins into groups, so that at most `room` characters stand for all of them."""
    group = max(-(-count // max(room, 1)), 1)
    return [range(i, min(i + group, count)) for i in range(0, count, group)]


# Numbers next to the chart.


def _sums(histogram: Hist) -> str:
    inside = in_digits(total(histogram, False))
    beyond = outside(histogram)
    first = f"{inside} entries" if is_profile(histogram) else f"sum {inside}"
    return first + (f", {beyond}" if beyond else "")


def _ends(axis: Axis, width: int) -> str:
    low, high = _edge_texts(axis)
    return low + high.rjust(max(width - len(low), len(high) + 1))


def _edge_texts(axis: Axis) -> tuple[str, str]:
    if axis.traits.ordered and hasattr(axis, "edges"):
        return f"{axis.edges[0]:.5g}", f"{axis.edges[-1]:.5g}"
    names = [str(axis.value(i)) for i in range(axis.size)]
    return (names[0], names[-1]) if names else ("", "")
