"""The report of a trace as one HTML page that works without the internet. Its figures need
matplotlib; without it, the page says so.
"""

from __future__ import annotations

from html import escape

from ..pictures.line_charts import Panel, Series, svg
from . import offline_page as parts
from .recorded import Row
from .summary import TraceSummary, against_time
from .text import head, tables

__all__ = ["figures", "page"]

# The figures of a trace, as series of numbers: rates, workers and latencies against time, and the
# workers beside one another. Pure.

_POINTS = 120


def figures(summary: TraceSummary) -> list[list[Panel]]:
    """The panels, in rows."""
    packets, end = summary.packets, summary.seconds
    times, entries = against_time(packets, end, _POINTS, lambda row: row.entries)
    _, read = against_time(packets, end, _POINTS, lambda row: row.bytes_read / 1e6)
    _, active = against_time(packets, end, _POINTS, lambda row: row.seconds)
    numbers = [each.worker for each in summary.workers]
    there = [each.there for each in summary.workers]

    edges = [*(end * at / _POINTS for at in range(len(times))), end]

    def against(title: str, y: str, values: list[float]) -> Panel:
        steps = [*values, *values[-1:]]
        return Panel(title, "time / s", y, [Series("", edges[: len(steps)], steps)], steps=True)

    def points(title: str, y: str, rows: list[Row], values: list[float]) -> Panel:
        whole = Series("", [0.0, end], [0.0, 0.0], dashed=True)  # as wide as the others
        times = [row.time for row in rows]
        return Panel(title, "time / s", y, [Series("", times, values, loose=True), whole])

    reads = summary.steps.reads
    of_reads = [
        points("reads: from asking until the last bytes", "s", reads, [r.seconds for r in reads]),
        points("bytes of reads", "kB", reads, [r.bytes / 1e3 for r in reads]),
    ]
    return [
        [
            against("entries per second", "entries/s", entries),
            against("bytes read", "MB/s", read),
            against("workers at a packet", "workers", active),
        ],
        [
            points(
                "latency: from an answer to the next packet",
                "s",
                packets,
                [p.latency for p in packets],
            ),
            points("time of packets", "s", packets, [p.seconds for p in packets]),
            Panel(
                "workers' time",
                "worker",
                "s",
                [
                    Series("there", numbers, there, loose=True),
                    Series("in packets", numbers, [w.seconds for w in summary.workers], loose=True),
                    Series("CPU", numbers, [w.cpu for w in summary.workers], loose=True),
                ],
                whole_x=True,
            ),
        ],
        *([of_reads] if reads else []),
    ]


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
