"""The first entries of columns and their statistics: TTree::Scan, and pandas' head and describe;
and what a query reads and computes, in words.

Knows nodes and bookings; pictures/ lays out the tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..errors import QueryError, quoted
from ..language.clike import dimensions
from ..language.expression import Expression, column, parse
from ..language.function_registry import OWN_ENTRY
from ..pictures.tables import plain
from ..query.axes import FixedAxis, axes_from_bins
from ..query.description import Column, Description, shown
from ..query.node import Booking, Node
from ..query.planning import plan
from ..query.quantities import Hist, Quantiles, Scalar, named_columns
from ..query.rows import Arrays, Rows
from ..workers.file_query import PerFile
from .options import subset
from .results_folder import results_folder

if TYPE_CHECKING:
    import awkward as ak

    from ..data.branch import Branch
    from ..data.chain import Chain
    from ..language.expression import Expression
    from ..monitoring.report import FromMemory
    from ..query.axis_ranges import Extent
    from ..query.booking import Array
    from ..query.node import Booking

__all__ = ["described", "explained", "first_entries", "scanned"]

# Puts the plan of a pass in words: what is read, what is filtered first, which lists are gone
# through, what is computed once, and the programs' steps. Compiles for the dataset's first file;
# reads no entry.


def explained(chain: Chain, bookings: Sequence[Booking]) -> str:
    """Says what one pass for these bookings does. Raises QueryError for what is wrong with them."""
    ranged = [booking for booking in bookings if _automatic(booking)]
    # The plan does not depend on the bins: axes that are not known yet get any bins.
    axes = {booking.number: _some_axes(booking) for booking in ranged}
    planned = plan(bookings, axes)
    specification = planned.specification
    description = json.loads(PerFile(specification).bind(chain, 0).explain())
    columns, first = description["columns"], description["columns_of_filters"]
    parts = [
        ("first", "a pass over the same columns finds the ranges of " + _titles(ranged))
        if ranged
        else ("", ""),
        ("filters", [f"{n}. {text}" for n, text in enumerate(description["filters"], 1)]),
        ("reads for filters", ", ".join(columns[:first])),
        ("reads where an entry passes" if first else "reads", ", ".join(columns[first:])),
        ("lists", description["levels"]),
        ("computed once", description["shared"]),
        ("calls", description["calls"]),
        ("programs", description["programs"]),
        ("books", [booking.title for booking in bookings]),
        ("remembered", _remembered(chain, bookings, axes, ranged)),
    ]
    return "\n".join(line for head, body in parts for line in _part(head, body))


def _part(head: str, body: str | Iterable[str]) -> Iterable[str]:
    lines = [body] if isinstance(body, str) else list(body)
    if any(lines):
        yield f"{head}:"
        yield from (f"  {line}" for line in lines)


def _remembered(
    chain: Chain,
    bookings: Sequence[Booking],
    axes: Mapping[int, Sequence[FixedAxis]],
    ranged: Sequence[Booking],
) -> list[str]:
    """What is remembered of each booking, or was when it was computed."""
    there = results_folder()
    if there is None:
        return []
    from .remembered import ROWS, looked_for, titles_of  # start-up

    may_be = [booking for booking in bookings if not isinstance(booking.wanted, Rows)]
    now: FromMemory | None = None
    if may_be:
        planned = plan(may_be, axes)
        titles, spans = titles_of(may_be, planned), subset(chain, None, None)
        now = looked_for(there, planned.specification, chain.pinned(), titles, spans)
    lines = []
    for booking in bookings:
        report = booking.report
        if now is None or isinstance(booking.wanted, Rows):
            lines.append(f"{booking.title}: computed, because {ROWS}")
        elif report is not None and report.remembered is not None:
            lines += report.remembered.of(booking.title)
        elif booking in ranged:
            lines.append(f"{booking.title}: its range is found first")
        else:
            lines += now.of(booking.title)
    return lines


def _automatic(booking: Booking) -> bool:
    wanted = booking.wanted
    return isinstance(wanted, Hist) and not all(isinstance(a, FixedAxis) for a in wanted.axes)


def _some_axes(booking: Booking) -> list[FixedAxis]:
    assert isinstance(booking.wanted, Hist)
    axes = booking.wanted.axes
    some = axes_from_bins((1, 0.0, 1.0), 1)[0]
    assert isinstance(some, FixedAxis)
    return [axis if isinstance(axis, FixedAxis) else some for axis in axes]


def _titles(bookings: Iterable[Booking]) -> str:
    return ", ".join(booking.title for booking in bookings)


_FIRST_LOOK = 1000
"""Entries to read at first. If too few of them pass the filters, eight times as many come next."""
_SCANNED = 8
"""The number of columns to list if the user names none."""


def first_entries(node: Node, columns: Sequence[tuple[str, Expression]], count: int) -> ak.Array:
    """The first `count` entries that arrive at the node, as an awkward array of records. Reads
    about as many entries as it takes to find them."""
    from .api import run  # heavy: numpy

    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise QueryError(f"the number of entries is 0 or more, not {count!r}")
    total = node.origin.chain.current().num_entries
    stop = max(_FIRST_LOOK, 4 * count)
    while True:
        stop = min(stop, total)
        booking: Booking[ak.Array] = Booking(node, Arrays(tuple(columns)))
        rows = run(booking, entries=(0, stop), progress=False)
        if len(rows) >= count or stop >= total:
            return rows[:count]
        stop *= 8


def _columns(
    node: Node, names: Sequence[str], most: int | None = None
) -> list[tuple[str, Expression]]:
    """The columns that expressions or globs name, "a:b" for two; without names, at most `most`
    branches with numbers."""
    if not names:
        names = [quoted(branch.name) for branch in _numbers(node)][:most]
    texts = [text for name in names for text in (dimensions(name)[::-1] or [name])]
    return list(named_columns(texts, node._names))


def _numbers(node: Node) -> Iterator[Branch]:
    """Branches whose values are numbers, or lists or arrays of numbers."""
    for branch in node.origin.chain.branches.values():
        plain_items = branch.kind in ("number", "list", "array") and branch.item is None
        if branch.readable and branch.dtype is not None and plain_items and not branch.is_member:
            yield branch


# TTree::Scan.


def scanned(node: Node, names: Sequence[str], where: str | None, count: int) -> str:
    """A table of the first entries, with one line for each item of lists."""
    passing = node if where is None else node.filter(where)
    columns = _columns(node, names, _SCANNED)
    asked = [(OWN_ENTRY, column(OWN_ENTRY)), *columns]
    entries = first_entries(passing, asked, count).to_list()
    titles = [title for title, _ in columns]
    rows: list[list[str]] = []
    jagged = False
    for entry in entries:
        number, *values = (entry[title] for title, _ in asked)
        lists = [value if isinstance(value, list) else None for value in values]
        jagged = jagged or any(each is not None for each in lists)
        lines = max((len(each) for each in lists if each is not None), default=1)
        for instance in range(lines or 1):
            cells = [
                _item(value, each, instance) for value, each in zip(values, lists, strict=True)
            ]
            rows.append([str(number) if instance == 0 else "", str(instance), *cells])
    head = ["Row", "Instance", *titles]
    if not jagged:
        head, rows = [head[0], *head[2:]], [[row[0], *row[2:]] for row in rows]
    return plain(head, rows)


def _item(value: object, items: list[object] | None, instance: int) -> str:
    """The cell of a line: an item of a list; in the first line also the event's own values."""
    if items is None:
        return shown(value) if instance == 0 else ""
    return shown(items[instance]) if instance < len(items) else ""


# Statistics.


def described(node: Node, names: Sequence[str]) -> Description:
    """The statistics of columns, from one pass."""
    from .api import run  # heavy: numpy

    columns = [(name, expr.text) for name, expr in _columns(node, names)]
    count = node.count()
    booked = {name: _statistics(node, text) for name, text in columns}
    run([count, *(booking for each in booked.values() for booking in each)])
    described_columns = {}
    for name, each in booked.items():
        low, high, number = each.extent.value or (None, None, 0)
        quantiles = each.quantiles.value
        lower, median, upper = (None, None, None) if quantiles is None else map(float, quantiles)
        counts = (number, int(each.strange.value), int(each.missing.value))
        spread = (each.mean.value, each.std.value, low, lower, median, upper, high)
        described_columns[name] = Column(*counts, *spread, *_sizes(node, name))
    return Description(count.value, described_columns)


class _Statistics(NamedTuple):
    """What is booked for one column."""

    extent: Booking[Extent]
    strange: Booking[float]
    missing: Booking[float]
    mean: Booking[float | None]
    std: Booking[float | None]
    quantiles: Booking[Array | None]


def _statistics(node: Node, text: str) -> _Statistics:
    expr = parse(text)
    finite = f"({text}\n)"
    return _Statistics(
        Booking(node, Scalar("extent", expr)),
        node.sum(f"~isfinite{finite}"),
        node.sum(f"is_missing{finite}"),
        node.mean(text),
        node.std(text, ddof=1),
        Booking(node, Quantiles(expr, (0.25, 0.5, 0.75), bounded=True)),
    )


def _sizes(node: Node, name: str) -> tuple[int | None, int | None]:
    """The bytes of a branch in all files: uncompressed, and as they lie in the files."""
    chain = node.origin.chain
    if name not in chain.branches:
        return None, None
    files = (chain.trees[file].described() for file in range(len(chain.files)))
    same_name = [branch for file in files for branch in file if branch["name"] == name]
    return sum(b["total_bytes"] for b in same_name), sum(b["zip_bytes"] for b in same_name)
