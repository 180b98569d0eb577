"""What notebooks show of treemill's objects: tables, and pictures of histograms. Knows no more of
them than what they say of themselves.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from .branch_table import size

__all__ = ["of_branches", "of_cuts", "of_value", "of_variations", "picture", "table"]

_MOST = 200
"""Lines of a table; pages with thousands of branches are slow."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> str:
    """A table. Texts may be anything."""
    lines = list(rows)
    cells = ["".join(f"<td style='text-align:left'>{escape(c)}</td>" for c in row) for row in lines]
    body = "".join(f"<tr>{each}</tr>" for each in cells[:_MOST])
    more = f"<p>… and {len(lines) - _MOST} more</p>" if len(lines) > _MOST else ""
    names = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in head)
    heading = f"<p><b>{escape(title)}</b></p>" if title else ""
    rows_of_it = f"<thead><tr>{names}</tr></thead><tbody>{body}</tbody>"
    return f"<div>{heading}<table>{rows_of_it}</table>{more}</div>"


def picture(title: str, histogram: Any) -> str:
    """A histogram; as text where there is no matplotlib."""
    from . import display  # start-up

    target = io.BytesIO()
    try:
        from . import pictures  # start-up

        pictures.save([histogram], [title], target)
    except ImportError:
        return f"<pre>{escape(display.text(histogram, title))}</pre>"
    return _image(target, title)


def _image(target: io.BytesIO, title: str) -> str:
    data = base64.b64encode(target.getvalue()).decode()
    return f'<img src="data:image/png;base64,{data}" alt="{escape(title)}" width="480">'


def of_branches(title: str, branches: Iterable[Any], entries: str = "") -> str:
    """Those of a tree, with their types, titles and sizes."""
    head = ["branch", "reads as", "title", "size", "in file"]
    rows = [[b.name, b.reads_as, b.title, size(b.total_bytes), size(b.zip_bytes)] for b in branches]
    return table(head, rows, title) + (f"<p>{escape(entries)}</p>" if entries else "")


def of_cuts(cuts: Iterable[Any], cumulative: Any) -> str:
    """A cut flow."""
    rows = [
        [
            cut.name,
            _number(cut.total),
            _number(cut.passed),
            f"{100 * cut.efficiency:.2f} %",
            f"{100 * cumulative(cut):.2f} %",
        ]
        for cut in cuts
    ]
    return table(["cut", "all", "passed", "efficiency", "cumulative"], rows)


def of_value(title: str, value: Any) -> str:
    """What a booking computed: a histogram as a picture, what shows itself as it does, else
    text."""
    if _is_histogram(value):
        return picture(title, value)
    own = getattr(value, "_repr_html_", None)
    if own is not None:
        return str(own())
    text = f"{value:,}" if isinstance(value, (int, float)) else repr(value)
    return f"<div><b>{escape(title)}</b>: <code>{escape(text)}</code></div>"


def of_variations(values: Mapping[str, Any]) -> str:
    """Values by the names of variations; of histograms of one dimension the picture."""
    first: Any = next(iter(values.values()))
    if _is_histogram(first) and first.ndim == 1:
        try:
            target = io.BytesIO()
            values.plot().savefig(target)  # type: ignore[attr-defined]
            return _image(target, ", ".join(values))
        except ImportError:
            pass
    rows = [[name, _summary(value)] for name, value in values.items()]
    return table(["variation", "value"], rows)


def _summary(value: Any) -> str:
    if _is_histogram(value):
        total = value.sum(flow=True)
        return (
            f"histogram, sum {float(getattr(total, 'value', getattr(total, 'count', total))):,.6g}"
        )
    return _number(value) if isinstance(value, (int, float)) else repr(value)


def _is_histogram(value: Any) -> bool:
    return hasattr(value, "axes") and hasattr(value, "storage_type")


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
