"""The parts of an HTML page that works without the internet: figures are in it, and it runs no
script. All texts are escaped. Made of them: the page of a trace.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

from ..pictures.line_charts import Panel, Series, svg
from .recorded import Row
from .summary import TraceSummary, against_time
from .text import head, tables

__all__ = ["END", "figure", "figures", "page", "page_head", "section", "table"]

_STYLE = """\
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
figure { margin: 0; } img { max-width: 100%; background: white; border-radius: 4px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; }
th, td { padding: .2rem .6rem; text-align: left; border-bottom: 1px solid #8886; }
td { white-space: nowrap; } .facts td { white-space: normal; }
.number { text-align: right; }
.verdict { border-left: 4px solid #1f6f8b; padding: .3rem .8rem; background: #1f6f8b22; }
.note { color: #b35900; } dt { font-weight: 600; } dd { margin: 0 0 .4rem 0; }
"""
END = "</body></html>"


def page_head(title: str) -> str:
    """The beginning of a page, up to its heading."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{escape(title)}</h1>"
    )


def section(title: str, body: str) -> str:
    """A part with a heading. `body` is HTML."""
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def figure(title: str, picture: str) -> str:
    """A part with a picture in SVG, which is an image: what is in it runs nothing."""
    data = base64.b64encode(picture.encode()).decode()
    image = f'<img alt="{escape(title)}" src="data:image/svg+xml;base64,{data}">'
    return section(title, f"<figure>{image}</figure>")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table. Columns of numbers are on the right."""
    cells = list(rows)
    right = [
        any(row[at] for row in cells) and all(_is_number(row[at]) for row in cells)
        for at in range(len(head))
    ]

    def line(tag: str, row: Sequence[str]) -> str:
        names = (' class="number"' if each else "" for each in right)
        cells = (
            f"<{tag}{name}>{escape(text)}</{tag}>" for name, text in zip(names, row, strict=True)
        )
        return f"<tr>{''.join(cells)}</tr>"

    body = "".join(line("td", row) for row in cells)
    table = f"<table><thead>{line('th', head)}</thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll">{table}</div>'


def _is_number(text: str) -> bool:
    plain = text.translate({ord(sign): None for sign in ",.%- "})
    return not plain or plain.isdigit()


# The report of a trace as one HTML page that works without the internet. Its figures need
# matplotlib; without it, the page says so.

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
            *([against("bytes read", "MB/s", read)] if any(read) else []),
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
    html = [page_head(query), *(f'<p class="verdict">{escape(line)}</p>' for line in remarks)]
    try:
        html.append(figure("Against time", svg(figures(summary))))
    except ImportError:
        html.append("<p class=\"note\">Figures need matplotlib: pip install 'treemill[plot]'</p>")
    for title, (names, *rows) in tables(summary, most):
        html.append(section(title, table(names, rows)))
    html.append(END)
    return "\n".join(html)
