"""Mappings of results as text and as HTML: numbers as Python shows them, anything longer below its
name; cut flows side by side where there is room for a table."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from ..errors import QueryError
from ..query.cutflow import CutFlow

__all__ = ["as_html", "as_text"]


def as_text(values: Mapping[str, object]) -> str:
    """The text of a mapping: in one line if its values are, else each value below its name."""
    if not any(isinstance(each, (CutFlow, Mapping)) for each in values.values()):
        return repr(dict(values))
    lines = (f"{name}:\n{textwrap.indent(str(each), '  ')}" for name, each in values.items())
    return "\n".join(lines)


def as_html(values: Mapping[str, object]) -> str | None:
    """A table of cut flows, one column each, or several such tables below each other; None if the
    values are something else, or flows of different cuts."""
    if not values:
        return None
    if all(isinstance(each, CutFlow) and len(each) for each in values.values()):
        return _table(values)
    parts = []
    for name, each in values.items():
        table = as_html(each) if isinstance(each, Mapping) else None
        if table is None:
            return None
        parts.append(f"<b>{_escaped(name)}</b>{table}")
    return "".join(parts)


def _table(flows: Mapping[str, object]) -> str | None:
    from .cut_table import cut_table  # start-up

    try:
        html = cut_table(flows)._repr_html_()
    except QueryError:
        return None
    return str(html)


def _escaped(name: str) -> str:
    from html import escape  # start-up

    return escape(name)
