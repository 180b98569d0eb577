"""The parts of an HTML page that works without the internet: figures are in it, and it runs no
script. All texts are escaped."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["END", "figure", "head", "section", "table"]

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


def head(title: str) -> str:
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
