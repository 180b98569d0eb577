"""The report of a trace as one HTML page that works without the internet. Its figures need
matplotlib; without it, the page says so."""

from __future__ import annotations

from html import escape

from ..pictures.line_charts import svg
from . import offline_page as parts
from .figures import figures
from .summary import TraceSummary
from .text import head, tables

__all__ = ["page"]


def page(summary: TraceSummary, most: int = 50) -> str:
    """The page. `most`: the lines of the longer tables, at most."""
    query, *remarks = head(summary)
    html = [parts.head(query), *(f'<p class="verdict">{escape(line)}</p>' for line in remarks)]
    try:
        html.append(parts.figure("Against time", svg(figures(summary))))
    except ImportError:
        html.append("<p class=\"note\">Figures need matplotlib: pip install 'treemill[plot]'</p>")
    for title, (names, *rows) in tables(summary, most):
        html.append(parts.section(title, parts.table(names, rows)))
    html.append(parts.END)
    return "\n".join(html)
