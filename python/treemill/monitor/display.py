"""Draws histograms as text for a terminal, from the bins' edges and contents alone, so that a shell
command need not import a plotting library. Pictures: pictures.py.
"""

from __future__ import annotations

import math
import shutil
import sys
from typing import Any

__all__ = ["axis_label", "in_notebook", "is_profile", "outside", "quantity", "show", "text"]

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_SHADES = " ░▒▓█"
_POINT = "•"
_HEIGHT = 14
_GUTTER = 11


def in_notebook() -> bool:
    """Whether values are drawn by a notebook by themselves. Libraries import ipykernel elsewhere,
    too: what counts is a kernel that runs."""
    ipython = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def show(histogram: Any, title: str = "", log: bool = False) -> None:
    """Prints a hist.Hist, as wide as the terminal."""
    print(text(histogram, title, shutil.get_terminal_size((80, 24)).columns, log))


def text(histogram: Any, title: str = "", width: int = 80, log: bool = False) -> str:
    """A hist.Hist as lines of text: bars for one dimension (for profiles points), shades for two,
    the projections on each axis for more. `log`: on a logarithmic scale."""
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


def _chart(histogram: Any, title: str, width: int, log: bool) -> list[str]:
    axis = histogram.axes[0]
    groups = _groups(axis.size, max(width - _GUTTER - 1, 10))
    repeat = max((width - _GUTTER - 1) // max(len(groups), 1), 1)
    values = [value for value in _contents(histogram, groups) for _ in range(repeat)]
    scale = _Scale(values, log, bottom=None if is_profile(histogram) else 0.0)
    cell = _point if is_profile(histogram) else _bar
    lines = []
    for row in range(_HEIGHT, 0, -1):
        mark = f"{_number(scale.at(row))} " if row in (_HEIGHT, _HEIGHT // 2) else ""
        lines.append(f"{mark:>{_GUTTER - 1}}│{''.join(cell(scale, v, row) for v in values)}")
    lines.append(f"{_number(scale.low) + ' ':>{_GUTTER - 1}}└{'─' * len(values)}")
    lines.append(" " * _GUTTER + _ends(axis, len(values)))
    if axis_label(axis) and axis_label(axis) != title:
        lines.append(" " * _GUTTER + axis_label(axis).center(len(values)).rstrip())
    return lines


def _contents(histogram: Any, groups: list[range]) -> list[float]:
    """The bins' contents, added up where several are one column; of a profile their means."""
    values = [float(v) for v in histogram.values()]
    if not is_profile(histogram):
        return [sum(values[i] for i in group) for group in groups]
    counts = [float(n) for n in histogram.counts()]
    means = []
    for group in groups:
        filled = [i for i in group if counts[i]]
        weights = sum(counts[i] for i in filled)
        mean = sum(values[i] * counts[i] for i in filled)
        means.append(mean / weights if weights else math.nan)
    return means


class _Scale:
    """Rows of a chart: from `low` under the first one to `high` at the top of the last one."""

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
        """In rows; None where there is nothing to be seen."""
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
    # A bin that is not empty shows, however small.
    if row == 1:
        eighths = max(eighths, 1)
    return _EIGHTHS[min(max(int(eighths), 0), 8)]


def _point(scale: _Scale, value: float, row: int) -> str:
    height = scale.height(value)
    return " " if height is None or max(math.ceil(height), 1) != row else _POINT


# Two dimensions.


def _field(histogram: Any, title: str, width: int, log: bool) -> list[str]:
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


def _cells(histogram: Any, wide: list[range], high: list[range]) -> list[list[float]]:
    grid = [[float(v) for v in row] for row in histogram.values()]
    if not is_profile(histogram):
        return [[sum(grid[i][j] for i in group for j in other) for group in wide] for other in high]
    counts = [[float(n) for n in row] for row in histogram.counts()]
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
    """Bins that go into one character."""
    group = max(-(-count // max(room, 1)), 1)
    return [range(i, min(i + group, count)) for i in range(0, count, group)]


# Words.


def is_profile(histogram: Any) -> bool:
    """Whether bins hold means."""
    return "Mean" in type(histogram.storage_type()).__name__


def quantity(histogram: Any) -> str:
    """What bins hold: entries, sums of weights, or means of what."""
    if is_profile(histogram):
        return f"Mean of {histogram.label}" if histogram.label else "Mean"
    return "Sum of weights" if "Weight" in type(histogram.storage_type()).__name__ else "Entries"


def axis_label(axis: Any) -> str:
    """An axis' label, or its name."""
    return str(axis.label or axis.name or "")


def outside(histogram: Any) -> str:
    """What lies outside of the axes, in a few words; nothing where nothing does."""
    inside, everything = _total(histogram, False), _total(histogram, True)
    if everything == inside:
        return ""
    axis = histogram.axes[0]
    beyond = [("outside", everything - inside)]
    if histogram.ndim == 1 and axis.traits.ordered and not axis.traits.circular:
        flow = _flow(histogram)
        first = int(axis.traits.underflow)
        below = sum(flow[:first])
        above = sum(flow[first + axis.size :])
        beyond = [("below", below), ("above", above)]
    return ", ".join(
        f"{_number(value)} {where}{_share(value, everything)}" for where, value in beyond if value
    )


def _share(part: float, whole: float) -> str:
    return f" ({100 * part / whole:.2g} %)" if 0 < part < whole else ""


def _sums(histogram: Any) -> str:
    inside = _number(_total(histogram, False))
    beyond = outside(histogram)
    first = f"{inside} entries" if is_profile(histogram) else f"sum {inside}"
    return first + (f", {beyond}" if beyond else "")


def _flow(histogram: Any) -> list[float]:
    """Contents (of a profile numbers of entries) of all bins with those outside."""
    contents = histogram.counts if is_profile(histogram) else histogram.values
    return [float(value) for value in contents(flow=True).ravel()]


def _total(histogram: Any, flow: bool) -> float:
    contents = histogram.counts if is_profile(histogram) else histogram.values
    return float(contents(flow=flow).sum())


def _ends(axis: Any, width: int) -> str:
    low, high = _edge_texts(axis)
    return low + high.rjust(max(width - len(low), len(high) + 1))


def _edge_texts(axis: Any) -> tuple[str, str]:
    if axis.traits.ordered and hasattr(axis, "edges"):
        return f"{axis.edges[0]:.5g}", f"{axis.edges[-1]:.5g}"
    names = [str(axis.value(i)) for i in range(axis.size)]
    return (names[0], names[-1]) if names else ("", "")


def _number(value: float) -> str:
    """Large ones with all digits before the point."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e8 else f"{value:.4g}"
