"""Mappings of results as text and as HTML: numbers as Python shows them, anything longer below its
name; cut flows side by side where there is room for a table.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ..errors import QueryError
from ..pictures.tables import amount, percent, with_error
from ..public_api import short_errors
from ..query.booking import Booking
from ..query.cutflow import Cut, CutFlow

__all__ = ["CutTable", "as_html", "as_text", "cut_table"]

# Cut flows of several samples, or of variations, side by side in one table.

_Cell = Callable[[CutFlow, Cut], str]
_Flow: TypeAlias = CutFlow | Booking[Any]
CutFlows: TypeAlias = _Flow | Mapping[Any, _Flow]
"""A cut flow, or several by name, or bookings of them."""


def _counted(value: float, variance: float) -> str:
    """A number of entries; a sum of weights with its error."""
    if isinstance(value, int):
        return amount(value, ",")
    return with_error(value, math.sqrt(max(variance, 0.0)))


_CELLS: dict[str, _Cell] = {
    "passed": lambda flow, cut: _counted(cut.passed, cut.passed_variance),
    "efficiency": lambda flow, cut: percent(cut.efficiency),
    "cumulative": lambda flow, cut: percent(flow.cumulative(cut)),
}


class CutTable:
    """A table with a line for each cut and a column for each cut flow. It prints as text, notebooks
    show it, and `to_latex()` is for papers."""

    def __init__(self, head: list[str], rows: list[list[str]]) -> None:
        self.head = head
        """The titles of the columns."""
        self.rows = rows
        """The texts, line by line."""

    def __str__(self) -> str:
        lines = [self.head, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = [
            "  ".join(
                [first.ljust(widths[0])]
                + [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
            )
            for first, *rest in lines
        ]
        return "\n".join([rows[0], "-" * len(rows[0]), *rows[1:]])

    __repr__ = __str__

    def to_latex(self) -> str:
        """The table as LaTeX's `tabular`, with lines of the package booktabs."""
        from ..pictures.tables import table  # start-up

        return table(self.head, self.rows)

    def _repr_html_(self) -> str:
        from ..pictures.html import table  # start-up

        return table(self.head, self.rows)


@short_errors
def cut_table(results: CutFlows, show: str = "passed") -> CutTable:
    """Put cut flows side by side, with one column for each.

    Parameters
    ----------
    results
        A mapping of names to cut flows (what `report()` gives) or bookings of them: of samples,
        of regions, or of variations. A single cut flow is a table of one column.
    show
        The content of the cells: "passed" (entries, or sums of weights with their errors),
        "efficiency" (of each cut) or "cumulative" (of all cuts down to it).

    Returns
    -------
    CutTable
        It prints as text, notebooks show it, and `to_latex()` makes LaTeX of it.

    Raises
    ------
    QueryError
        If a result is not a cut flow, or if the cut flows have different cuts.

    Examples
    --------
    >>> cuts = events.filter("nMuon >= 1", name="a muon").filter("nMuon >= 2", name="two")
    >>> print(tm.cut_table({"all": cuts.report()}))
    cut       all
    -------------
    all     1,000
    a muon    554
    two       335
    """
    if not isinstance(show, str) or show not in _CELLS:
        raise QueryError(f'show is "passed", "efficiency" or "cumulative", not {show!r}')
    flows = _flows(results)
    first, *_ = flows.values()
    names = [cut.name for cut in first]
    for column, flow in flows.items():
        if [cut.name for cut in flow] != names:
            raise QueryError(f"the cuts of {column} are not those of {next(iter(flows))}")
    cell = _CELLS[show]
    rows = [
        [name, *(cell(flow, flow[i]) for flow in flows.values())] for i, name in enumerate(names)
    ]
    if show == "passed":
        starts = (_counted(flow[0].total, flow[0].total_variance) for flow in flows.values())
        rows.insert(0, ["all", *starts])
    return CutTable(["cut", *flows], rows)


def _flows(results: object) -> dict[str, CutFlow]:
    if isinstance(results, Booking):
        results = results.value
    if isinstance(results, CutFlow):
        results = {"entries": results}
    if not isinstance(results, Mapping):
        raise QueryError(
            f"cut_table() takes a mapping of names to cut flows, not {type(results).__name__}: "
            "report() below named filters gives a cut flow"
        )
    if not results:
        raise QueryError("the mapping has no cut flow: cut_table() needs one at least")
    flows = {}
    for name, each in results.items():
        value = each.value if isinstance(each, Booking) else each
        if isinstance(value, Mapping):
            raise QueryError(f"{name} has several cut flows: make a table of each")
        if not isinstance(value, CutFlow) or not len(value):
            raise QueryError(f"{name} is no cut flow with cuts: book report() below named filters")
        flows[str(name)] = value
    return flows


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
    flows = {name: each for name, each in values.items() if isinstance(each, CutFlow) and len(each)}
    if len(flows) == len(values):
        return _table(flows)
    parts = []
    for name, each in values.items():
        table = as_html(each) if isinstance(each, Mapping) else None
        if table is None:
            return None
        parts.append(f"<b>{_escaped(name)}</b>{table}")
    return "".join(parts)


def _table(flows: Mapping[str, CutFlow]) -> str | None:
    try:
        html = cut_table(flows)._repr_html_()
    except QueryError:
        return None
    return str(html)


def _escaped(name: str) -> str:
    from html import escape  # start-up

    return escape(name)
