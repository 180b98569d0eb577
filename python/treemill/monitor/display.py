"""Draws histograms: as text for a terminal, as a picture by matplotlib in mplhep's style.

Text is drawn from the bins' edges and contents alone, so that a shell command need not import a
plotting library.
"""

from __future__ import annotations

import math
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

__all__ = ["in_notebook", "save", "show", "text"]

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_SHADES = " ░▒▓█"
_HEIGHT = 14


def in_notebook() -> bool:
    """Whether values are drawn by a notebook by themselves. Libraries import ipykernel elsewhere,
    too: what counts is a kernel that runs."""
    ipython = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def show(histogram: Any, title: str = "") -> None:
    """Prints a hist.Hist, as wide as the terminal."""
    print(text(histogram, title, shutil.get_terminal_size((80, 24)).columns))


def text(histogram: Any, title: str = "", width: int = 80) -> str:
    """A hist.Hist as lines of text: bars for one dimension, shades for two, the projections on
    each axis for more."""
    width = max(width, 40)
    if histogram.ndim == 1:
        return _bars(histogram, title, width)
    if histogram.ndim == 2:
        return _field(histogram, title, width)
    parts = [
        _bars(histogram.project(i), f"{title}: {_label(axis)}", width)
        for i, axis in enumerate(histogram.axes)
    ]
    return "\n\n".join(parts)


def _bars(histogram: Any, title: str, width: int) -> str:
    axis = histogram.axes[0]
    values = [float(v) for v in histogram.values()]
    gutter = 11
    columns = _columns(values, width - gutter - 1)
    top = max(max(columns, default=0.0), 0.0)
    lines = [title] if title else []
    for row in range(_HEIGHT, 0, -1):
        mark = f"{_number(top * row / _HEIGHT)} " if row in (_HEIGHT, _HEIGHT // 2) else ""
        cells = "".join(_cell(value, top, row) for value in columns)
        lines.append(f"{mark:>{gutter - 1}}│{cells}")
    lines.append(f"{'0 ':>{gutter - 1}}└{'─' * len(columns)}")
    lines.append(" " * gutter + _ends(axis, len(columns)))
    if _label(axis) and _label(axis) != title:
        lines.append(" " * gutter + _label(axis).center(len(columns)).rstrip())
    lines.append(_sums(histogram))
    return "\n".join(lines)


def _columns(values: list[float], room: int) -> list[float]:
    """One value per character: bins are joined where there are more than characters, and repeated
    where there is room for each several times."""
    room = max(room, 10)
    if len(values) > room:
        group = -(-len(values) // room)
        return [sum(values[i : i + group]) for i in range(0, len(values), group)]
    repeat = max(room // max(len(values), 1), 1)
    return [value for value in values for _ in range(repeat)]


def _cell(value: float, top: float, row: int) -> str:
    if top <= 0 or not value > 0:
        return " "
    eighths = value / top * _HEIGHT * 8 - (row - 1) * 8
    # A bin that is not empty shows, however small.
    if row == 1:
        eighths = max(eighths, 1)
    return _EIGHTHS[min(max(int(eighths), 0), 8)]


def _field(histogram: Any, title: str, width: int) -> str:
    across, up = histogram.axes
    gutter = 11
    grid = [[float(v) for v in row] for row in histogram.values()]
    wide = _grouping(len(grid), width - gutter - 1)
    high = _grouping(len(grid[0]) if grid else 0, 2 * _HEIGHT)
    cells = [[sum(grid[i][j] for i in group for j in other) for group in wide] for other in high]
    top = max((value for row in cells for value in row), default=0.0)
    low_edge, high_edge = _edge_texts(up)
    lines = [title] if title else []
    repeat = max((width - gutter - 1) // max(len(wide), 1), 1)
    for index, row in reversed(list(enumerate(cells))):
        mark = high_edge if index == len(cells) - 1 else low_edge if index == 0 else ""
        line = "".join(_shade(value, top) * repeat for value in row)
        lines.append(f"{mark:>{gutter - 2}} │{line}")
    lines.append(" " * (gutter - 1) + "└" + "─" * (len(wide) * repeat))
    lines.append(" " * gutter + _ends(across, len(wide) * repeat))
    lines.append(f"{' ' * gutter}→ {_label(across)}   ↑ {_label(up)}")
    lines.append(_sums(histogram))
    return "\n".join(lines)


def _grouping(count: int, room: int) -> list[range]:
    group = max(-(-count // max(room, 1)), 1)
    return [range(i, min(i + group, count)) for i in range(0, count, group)]


def _shade(value: float, top: float) -> str:
    if top <= 0 or not value > 0:
        return " "
    return _SHADES[min(max(math.ceil(math.sqrt(value / top) * 4), 1), 4)]


def _ends(axis: Any, width: int) -> str:
    low, high = _edge_texts(axis)
    return low + high.rjust(max(width - len(low), len(high) + 1))


def _edge_texts(axis: Any) -> tuple[str, str]:
    if axis.traits.ordered and hasattr(axis, "edges"):
        return f"{axis.edges[0]:.5g}", f"{axis.edges[-1]:.5g}"
    names = [str(axis.value(i)) for i in range(axis.size)]
    return (names[0], names[-1]) if names else ("", "")


def _label(axis: Any) -> str:
    return str(axis.label or axis.name or "")


def _sums(histogram: Any) -> str:
    inside = _total(histogram.sum())
    everything = _total(histogram.sum(flow=True))
    outside = everything - inside
    words = f"sum {_number(inside)}"
    return words + (f", outside {_number(outside)}" if outside else "")


def _number(value: float) -> str:
    """Large ones with all digits before the point."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e8 else f"{value:.4g}"


def _total(value: Any) -> float:
    return float(getattr(value, "value", value))


# Pictures.


def save(histograms: Sequence[Any], titles: Sequence[str], path: str | Path | BinaryIO) -> None:
    """Writes one picture with all histograms (of one or two dimensions) to `path`; its suffix says
    in which format; PNG to an open file. Raises ImportError where matplotlib or mplhep is
    missing."""
    import matplotlib

    if not in_notebook():  # which shows the user's own pictures by another backend
        matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt
    import mplhep

    count = len(histograms)
    columns = min(count, 3 if count > 4 else 2 if count > 1 else 1)
    rows = -(-count // columns)
    with plt.style.context(_style(mplhep, count)):
        figure, axes = plt.subplots(
            rows, columns, figsize=(6.4 * columns, 4.8 * rows), squeeze=False, layout="constrained"
        )
        for i, place in enumerate(axes.flat):
            if i >= count:
                place.set_visible(False)
            else:
                _picture(mplhep, histograms[i], titles[i], place, figure)
        figure.savefig(path)
        plt.close(figure)


def _style(mplhep: Any, count: int) -> list[Any]:
    # mplhep's sizes are made for one large picture.
    size = 20 if count == 1 else 13
    return [mplhep.style.ROOT, {"font.size": size, "figure.dpi": 100, "legend.fontsize": size}]


def _picture(mplhep: Any, histogram: Any, title: str, place: Any, figure: Any) -> None:
    if histogram.ndim == 1:
        axis = histogram.axes[0]
        edges = _drawn_edges(axis, place)
        place.stairs(histogram.values(), edges, fill=True, alpha=0.35, color="C0")
        place.stairs(histogram.values(), edges, color="C0", linewidth=1.2)
        place.set_xlim(edges[0], edges[-1])
        place.set_xlabel(_label(axis))
        place.set_ylabel(_counts_label(histogram))
        place.set_ylim(bottom=min(0.0, float(min(histogram.values()))))
    elif histogram.ndim == 2:
        drawn = mplhep.hist2dplot(histogram, ax=place, cbar=False, cmin=1e-12)
        figure.colorbar(drawn[0], ax=place, label=_counts_label(histogram))
        place.set_xlabel(_label(histogram.axes[0]))
        place.set_ylabel(_label(histogram.axes[1]))
    else:
        raise ValueError("only histograms of one or two dimensions can be pictured")
    if title:
        place.set_title(title, fontsize="medium", loc="left")


def _drawn_edges(axis: Any, place: Any) -> Any:
    """Where bins are drawn; for whole numbers and categories around the number or the name."""
    if axis.traits.continuous:
        return axis.edges
    if axis.traits.ordered and type(axis).__name__ == "Integer":
        return axis.edges - 0.5
    place.set_xticks(range(axis.size), [str(axis.value(i)) for i in range(axis.size)])
    place.minorticks_off()
    return [i - 0.5 for i in range(axis.size + 1)]


def _counts_label(histogram: Any) -> str:
    weighted = "Weight" in type(histogram.storage_type()).__name__
    what = "Sum of weights" if weighted else "Entries"
    axis = histogram.axes[0]
    if histogram.ndim > 1 or type(axis).__name__ != "Regular":
        return what
    width = (axis.edges[-1] - axis.edges[0]) / axis.size
    unit = re.search(r"\[(.+)\]$", axis.label)
    if unit is None:
        return what if width == 1 else f"{what} / {width:.3g}"
    return f"{what} / {width:.3g} {unit[1]}"
