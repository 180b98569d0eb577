"""HTML that notebooks show for treemill's objects: tables, and pictures of histograms. Knows these
objects by the protocols below.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Protocol, TypeGuard, TypeVar

from .tables import BranchRow, amount, percent, size

if TYPE_CHECKING:
    from hist import Hist
    from matplotlib.figure import Figure

__all__ = ["of_branches", "of_cuts", "of_value", "of_variations", "picture", "table"]

_MOST = 200
"""Rows of a table; notebooks with thousands of rows are slow."""


class _Cut(Protocol):
    """One filter of a cut flow."""

    @property
    def name(self) -> str: ...
    @property
    def total(self) -> float: ...
    @property
    def passed(self) -> float: ...
    @property
    def efficiency(self) -> float: ...


C = TypeVar("C", bound=_Cut)


class _Variations(Protocol):
    """Values by the names of variations, which can draw themselves."""

    def __iter__(self) -> Iterator[str]: ...
    def items(self) -> Iterable[tuple[str, object]]: ...
    def plot(self) -> Figure: ...


def table(head: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> str:
    """A table of these texts, which are escaped."""
    lines = list(rows)
    cells = ["".join(f"<td style='text-align:left'>{escape(c)}</td>" for c in row) for row in lines]
    body = "".join(f"<tr>{each}</tr>" for each in cells[:_MOST])
    more = f"<p>… and {len(lines) - _MOST} more</p>" if len(lines) > _MOST else ""
    names = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in head)
    heading = f"<p><b>{escape(title)}</b></p>" if title else ""
    rows_of_it = f"<thead><tr>{names}</tr></thead><tbody>{body}</tbody>"
    return f"<div>{heading}<table>{rows_of_it}</table>{more}</div>"


def picture(title: str, histogram: Hist) -> str:
    """A picture of the histogram, or text if matplotlib is not installed."""
    from . import text_histogram  # start-up

    target = io.BytesIO()
    try:
        from . import pictures  # start-up

        pictures.save([histogram], [title], target)
    except ImportError:
        return f"<pre>{escape(text_histogram.text(histogram, title))}</pre>"
    return _image(target, title)


def _image(target: io.BytesIO, title: str) -> str:
    data = base64.b64encode(target.getvalue()).decode()
    return f'<img src="data:image/png;base64,{data}" alt="{escape(title)}" width="480">'


def of_branches(title: str, branches: Iterable[BranchRow], entries: str = "") -> str:
    """A table of a tree's branches, with their types, titles and sizes."""
    head = ["branch", "reads as", "title", "size", "in file"]
    rows = [[b.name, b.reads_as, b.title, size(b.total_bytes), size(b.zip_bytes)] for b in branches]
    return table(head, rows, title) + (f"<p>{escape(entries)}</p>" if entries else "")


def of_cuts(cuts: Iterable[C], cumulative: Callable[[C], float]) -> str:
    """A table of a cut flow. `cumulative` gives the efficiency of all filters down to this one."""
    rows = [
        [
            cut.name,
            amount(cut.total, ","),
            amount(cut.passed, ","),
            percent(cut.efficiency),
            percent(cumulative(cut)),
        ]
        for cut in cuts
    ]
    return table(["cut", "all", "passed", "efficiency", "cumulative"], rows)


def of_value(title: str, value: object) -> str:
    """A booking's value: a histogram as a picture, an object with HTML of its own as that, anything
    else as text."""
    if _is_histogram(value):
        return picture(title, value)
    own = getattr(value, "_repr_html_", None)
    if own is not None:
        return str(own())
    text = f"{value:,}" if isinstance(value, (int, float)) else repr(value)
    return f"<div><b>{escape(title)}</b>: <code>{escape(text)}</code></div>"


def of_variations(values: _Variations) -> str:
    """A picture of the variations if they are histograms of one dimension, else a table."""
    _, first = next(iter(values.items()))
    if _is_histogram(first) and first.ndim == 1:
        try:
            target = io.BytesIO()
            values.plot().savefig(target)
            return _image(target, ", ".join(values))
        except ImportError:
            pass
    rows = [[name, _summary(value)] for name, value in values.items()]
    return table(["variation", "value"], rows)


def of_datasets(values: Mapping[str, object]) -> str:
    """A table of the values of a fileset's samples."""
    return table(["sample", "value"], [[name, _summary(each)] for name, each in values.items()])


def _summary(value: object) -> str:
    if _is_histogram(value):
        total = value.sum(flow=True)
        content = float(getattr(total, "value", getattr(total, "count", total)))
        return f"histogram, sum {amount(content, ',')}"
    return amount(value, ",") if isinstance(value, (int, float)) else repr(value)


def _is_histogram(value: object) -> TypeGuard[Hist]:
    return hasattr(value, "axes") and hasattr(value, "storage_type")
