"""TTree::Draw: one histogram, filled now; and histograms as text. Knows what a selection may be
there that a filter may not, and what a drawing asks for besides: `>>h(100,0,1)`, a profile.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .axes import axes_from_bins
from .clike import dimensions
from .errors import QueryError
from .expression import Expression, Tree, parse
from .query import Booking, Node
from .steps import Filter
from .treeformula import ENTRIES
from .wanted import Hist

__all__ = ["drawn", "show"]

# Behind a varexp: the histogram's name, and its bins.
_TARGET = re.compile(r">>\s*(\+?)\s*([^\W\d]\w*)\s*(?:\(([^()]*)\))?\s*$")
_CONDITIONS = {"any", "all", "isnan", "isinf", "isfinite", "signbit", "is_missing", "bool"}


def show(histogram: Any, title: str = "") -> None:
    """Prints a histogram as text, as wide as the terminal: a hist.Hist, or one that is booked,
    which is computed if it was not yet. Of `Variations` the nominal one. `title`: else that of
    the booking."""
    from .monitor.display import show as show_text

    if isinstance(histogram, Booking):
        title, histogram = title or histogram.title, histogram.value
    histogram = getattr(histogram, "nominal", histogram)
    if not hasattr(histogram, "axes"):
        raise TypeError(f"{histogram!r} is not a histogram")
    show_text(histogram, title)


@dataclass(frozen=True)
class _Asked:
    """What is to be drawn, in words: values with x first."""

    exprs: tuple[str, ...]
    where: str | None
    weight: str | None
    bins: Any
    name: str | None
    profile: bool


def drawn(
    node: Node,
    exprs: Sequence[str],
    where: str | None = None,
    bins: Any = None,
    weight: str | None = None,
    profile: bool = False,
) -> tuple[Any, str]:
    """The histogram (hist.Hist) and its title. A single expression may be "y:x" or "z:y:x", and end
    in ">>name(n,lo,hi)". `where` selects entries, or where it has one value per item, items; a
    number, unlike a condition, is a weight besides. With `profile` the last value's mean is drawn
    over the others.

    Raises QueryError where the expressions cannot be understood.
    """
    from .session import run

    asked = _asked(exprs, where, bins, weight, profile)
    title = " : ".join(asked.exprs) + (f"  where {where}" if where else "")
    texts = [text for text in (*asked.exprs, where, weight) if text is not None]
    counted = any("Entries$" in text for text in texts)
    node = node.with_params({ENTRIES: _entries(node)} if counted else {})
    refused: QueryError | None = None
    for booking in _bookings(node, asked):
        try:
            return run(booking), title
        except QueryError as error:
            # What is wrong with the plain form is what the user should hear of.
            refused = refused or error
    assert refused is not None
    raise refused


def _entries(node: Node) -> int:
    """Those of all files, as TTree::Draw counts them under an entry list, too."""
    dataset = node.with_params({}).origin.dataset
    return sum(dataset.sizes[i][0] for i in range(len(dataset.files)))


def _asked(
    exprs: Sequence[str], where: str | None, bins: Any, weight: str | None, profile: bool
) -> _Asked:
    if len(exprs) != 1:
        return _Asked(tuple(exprs), where, weight, bins, None, profile)
    text, name = exprs[0], None
    if (target := _TARGET.search(text)) is not None:
        text, (more, name, numbers) = text[: target.start()], target.groups()
        if more:
            message = ">>+ adds to a histogram of before: add the results, first + second"
            raise QueryError(message, text=exprs[0], span=target.span())
        if numbers is not None:
            if bins is not None:
                message = "bins are given twice: behind >> and by bins="
                raise QueryError(message, text=exprs[0], span=target.span())
            bins = _bins(exprs[0], numbers, target.span(3))
    return _Asked(tuple(dimensions(text)), where, weight, bins, name, profile)


def _bins(text: str, numbers: str, span: tuple[int, int]) -> Any:
    """The bins of `>>h(100,0,1)`, or for more dimensions `>>h(10,0,1,20,0,2)`, x first."""
    parts = [part.strip() for part in numbers.split(",")]
    try:
        each = [
            (int(parts[i]), float(parts[i + 1]), float(parts[i + 2]))
            for i in range(0, len(parts), 3)
        ]
    except (ValueError, IndexError):
        message = "bins behind >>h are numbers, (n, low, high), of each dimension: x first"
        raise QueryError(message, text=text, span=span) from None
    return each if len(each) > 1 else each[0]


def _bookings(node: Node, asked: _Asked) -> Iterator[Booking]:
    """The ways in which it may be meant, the usual one first. Which it is only the core knows, when
    it has seen the columns' types."""
    where, weight = asked.where, asked.weight
    if where is None:
        yield _booking(node, asked, asked.exprs, weight)
        return
    condition = where
    # Line ends close comments.
    if not _is_condition(parse(where, draw=True).tree, node.origin.dataset.branches):
        number = f"({where}\n)"
        weight = number if weight is None else f"{number} * ({weight}\n)"
        condition = f"{number} != 0"
    passing = Node(node.origin, node, Filter(parse(condition, draw=True)))
    yield _booking(passing, asked, asked.exprs, weight)
    first, *others = asked.exprs
    selected = f"only(({first}\n), ({condition}\n))"
    yield _booking(node, asked, (selected, *others), weight)


def _booking(node: Node, asked: _Asked, exprs: Sequence[str], weight: str | None) -> Booking:
    values = [parse(expr, draw=True) for expr in exprs]
    sample: Expression | None = None
    if asked.profile:
        if len(values) < 2:
            raise QueryError('a profile is of "y:x", the mean of y over x', text=asked.exprs[0])
        sample = values.pop()
    axes = tuple(axes_from_bins(asked.bins, len(values), None))
    weights = None if weight is None else parse(weight, draw=True)
    labels = asked.exprs[: len(values)]
    return Booking(node, Hist(tuple(values), axes, weights, asked.name, labels, sample))


def _is_condition(tree: Tree, branches: Mapping[str, Any]) -> bool:
    """Whether it can be seen to be true or false, and no number. Names of the user's own are taken
    for numbers, as whose weight a bool counts the same."""

    def is_bool(name: str) -> bool:
        branch = branches.get(name)
        return branch is not None and "bool" in (branch.dtype, branch.item)

    def each(*trees: Tree) -> bool:
        return all(_is_condition(tree, branches) for tree in trees)

    match tree:
        case {"kind": "compare" | "bool"} | {"kind": "unary", "op": "not"}:
            return True
        case {"kind": "const", "value": value}:
            return isinstance(value, bool)
        case {"kind": "binary", "op": "&" | "|" | "^", "left": left, "right": right}:
            return each(left, right)
        case {"kind": "if_else", "body": body, "otherwise": otherwise}:
            return each(body, otherwise)
        case {"kind": "call", "function": {"kind": "name", "id": name}}:
            return name in _CONDITIONS
        case {"kind": "index", "value": value}:
            return each(value)
        case {"kind": "attribute", "value": {"kind": "name", "id": of}, "name": name}:
            return is_bool(f"{of}_{name}") or is_bool(f"{of}.{name}")
        case {"kind": "name", "id": name}:
            return is_bool(name)
    return False
