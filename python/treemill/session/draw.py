"""TTree::Draw: fills one histogram at once. Reads what a drawing may ask for (`>>h(100,0,1)`, a
profile, a selection of items or by a number), and finds the user's own words that an error is
about.

Knows nodes and bookings; shows nothing, which pictures/ does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import QueryError
from ..language.clike import dimensions
from ..language.expression import Expression, column, parse, product
from ..language.function_registry import ENTRIES, TREE_WEIGHT
from ..language.tokens import DRAW
from ..language.tree_node import Tree, child, children, word
from ..query.axes import MOST, axes_from_bins
from ..query.axis_specification import storage_of
from ..query.description import Drawing
from ..query.node import Booking, Node
from ..query.quantities import Hist, Scalar
from ..query.steps import Filter

if TYPE_CHECKING:
    from hist import Hist as Histogram

    from ..data.branch import Branch
    from ..query.axis_ranges import Extent

__all__ = ["Drawn", "drawn"]

# The end of a varexp: the histogram's name, and its bins.
_TARGET = re.compile(r">>\s*(\+?)\s*([^\W\d]\w*)\s*(?:\(([^()]*)\))?\s*$")
_CONDITIONS = {"any", "all", "isnan", "isinf", "isfinite", "signbit", "is_missing", "bool"}

# TTree::Draw's options: two change what is filled and whether it is shown; the others say how ROOT
# would paint it, and change nothing here.
_QUIET, _PROFILE = "goff", "prof"
_PAINT = {"hist", "e", "e1", "p", "l", "c", "b", "bar", "text", "scat", "box", "arr"}
_PAINT |= {"col", "colz", "cont", "contz", "lego", "lego2", "surf", "surf1", "surf2", "iso"}
_ADVICE = {
    "same": "several histograms go into one picture by tm.plot([first, second])",
    "norm": "divide the result: h / h.sum()",
    "logy": "say log=True",
}


_Bins = tuple[int, float, float]


@dataclass(frozen=True)
class Drawn:
    """A filled histogram, its title, and its name in a file. `quiet`: not to be shown."""

    histogram: Histogram
    title: str
    name: str
    quiet: bool = False


def drawn(node: Node, wanted: Drawing) -> Drawn:
    """Fills the histogram. Raises QueryError about the expression that is wrong, if one is."""
    asked = _asked(wanted)
    texts = [text for text in (*asked.exprs, asked.where, asked.weight) if text is not None]
    counted = any("Entries$" in text for text in texts)
    node = node.with_params({ENTRIES: _entries(node)} if counted else {})
    result = _weighed(node, asked)
    name = asked.name or ":".join(asked.exprs[::-1])
    return Drawn(result, _title(node, asked), name, asked.quiet)


def _title(node: Node, asked: _Asked) -> str:
    """The expressions as TTree::Draw writes them, y before x; then the selection and the
    weights."""
    title = " : ".join(asked.exprs[::-1])
    weights = [asked.weight] if asked.weight is not None else []
    if asked.where is not None:
        if _condition(node, asked.where):
            title += f"  where {asked.where}"
        else:
            weights.insert(0, asked.where)
    joined = " * ".join(weights if len(weights) == 1 else [f"({each})" for each in weights])
    return title + (f"  weighted by {joined}" if weights else "")


def _entries(node: Node) -> int:
    """The entries of all files, which TTree::Draw counts even with an entry list."""
    return sum(node.origin.chain.current().entries)


# What the user asks for.


@dataclass(frozen=True)
class _Asked:
    """What is to be drawn, as text. Expressions have x first."""

    exprs: tuple[str, ...]
    where: str | None
    weight: str | None
    bins: object
    range: object
    name: str | None
    profile: bool
    quiet: bool
    by_tree: bool = False
    """Whether entries are weighed by the weight of their tree."""


def _asked(wanted: Drawing) -> _Asked:
    quiet, profile = _options(wanted.option)
    request = _Asked(
        exprs=_expressions(wanted.expr),
        # TTree::Draw's users write "" to select all entries.
        where=wanted.where if wanted.where is None or _text(wanted.where).strip() else None,
        weight=None if wanted.weight is None else _text(wanted.weight, "a weight"),
        bins=wanted.bins,
        range=wanted.range,
        name=None,
        profile=wanted.profile or profile,
        quiet=quiet,
    )
    return _split(request, request.exprs[0]) if len(request.exprs) == 1 else request


def _text(where: object, what: str = "a selection") -> str:
    if isinstance(where, str):
        return where
    message = f"{what} is an expression, not {where!r:.60}"
    if isinstance(where, (list, tuple)):
        message += '; several axes are "y:x", or draw(["x", "y"])'
    raise QueryError(message)


def _expressions(expr: object) -> tuple[str, ...]:
    exprs = tuple(expr) if isinstance(expr, (list, tuple)) else (expr,)
    if not exprs or not all(isinstance(each, str) for each in exprs):
        raise QueryError(f'draw() takes an expression, "y:x", or a list of them, not {expr!r}')
    return exprs


def _options(text: str) -> tuple[bool, bool]:
    """Whether the drawing is quiet, and whether it is a profile."""
    if not isinstance(text, str):
        raise QueryError(f"an option is a word of TTree::Draw's, not {text!r}")
    words = {each.lower() for each in re.split(r"[\s,;]+", text) if each}
    for option in sorted(words - _PAINT - {_QUIET, _PROFILE}):
        more = _ADVICE.get(option, 'several axes are "z:y:x", or draw(["x", "y", "z"])')
        raise QueryError(f"draw() knows no option {option!r}: {more}", text=text)
    return _QUIET in words, _PROFILE in words


def _split(asked: _Asked, whole: str) -> _Asked:
    """Splits a single expression, which may be "z:y:x" and end in ">>name(n,lo,hi)"."""
    text, name, bins = whole, None, asked.bins
    if (target := _TARGET.search(whole)) is not None:
        text, (more, name, numbers) = whole[: target.start()], target.groups()
        if more:
            message = ">>+ adds to an earlier histogram: add the results, first + second"
            raise QueryError(message, text=whole, span=target.span())
        if numbers is not None:
            if bins is not None or asked.range is not None:
                message = "bins are given twice: after >> and by bins= or range="
                raise QueryError(message, text=whole, span=target.span())
            bins = _bins(whole, numbers, target.span(3))
    return replace(asked, exprs=tuple(dimensions(text)), name=name, bins=bins)


def _bins(text: str, numbers: str, span: tuple[int, int]) -> _Bins | list[_Bins]:
    """The bins of `>>h(100,0,1)`, or for more dimensions `>>h(10,0,1,20,0,2)`, x first."""
    parts = [part.strip() for part in numbers.split(",")]
    try:
        each = [
            (int(parts[i]), float(parts[i + 1]), float(parts[i + 2]))
            for i in range(0, len(parts), 3)
        ]
    except (ValueError, IndexError):
        message = "bins after >>h are numbers, (n, low, high), for each dimension: x first"
        raise QueryError(message, text=text, span=span) from None
    return each if len(each) > 1 else each[0]


# How it is filled.


@dataclass(frozen=True)
class _Joined:
    """An expression that is made of the user's expressions, with their places in it."""

    text: str
    parts: tuple[tuple[int, str], ...]

    @staticmethod
    def of(form: str, *parts: str | _Joined) -> _Joined:
        """`form` with each {} replaced by a part. A line break follows the user's texts, so that a
        comment in them ends there."""
        text, *between = form.split("{}")
        places: list[tuple[int, str]] = []
        for part, after in zip(parts, between, strict=True):
            if isinstance(part, str):
                places.append((len(text), part))
                text += f"{part}\n{after}"
            else:
                places += [(len(text) + at, own) for at, own in part.parts]
                text += part.text + after
        return _Joined(text, tuple(places))

    def blamed(self, error: QueryError) -> None:
        """Makes an error about this text an error about the user's part of it."""
        start, stop = error.span or (0, len(self.text))
        for at, own in self.parts:
            if at <= start and stop <= at + len(own):
                error.text, error.span = own, (start - at, stop - at)
                return
        # Several parts do not fit together: blame the last one, which is the selection.
        error.text, error.span = self.parts[-1][1], None


def _weighed(node: Node, asked: _Asked) -> Histogram:
    """Fills the histogram, with the weights that TTree::SetWeight has set. Most trees have none, so
    that a pass without weights finds out whether a file after the first has."""
    if node.origin.chain.tree_weight == 1:
        weights: Booking[Extent] = Booking(
            Node(node.origin, None, None), Scalar("extent", column(TREE_WEIGHT))
        )
        result = _run(node, asked, weights)
        low, high, _ = weights.value or (1, 1, 0)
        if low == high == 1:
            return result
    return _run(node, replace(asked, by_tree=True))


def _run(node: Node, asked: _Asked, *others: Booking) -> Histogram:
    """Fills the histogram with a selection of entries or, if that cannot be, of items. Only the
    core can tell, from the columns' types. `others`: bookings of the same pass."""
    if asked.where is None:
        return _filled(_booking(node, asked, asked.exprs, asked.weight), *others)
    ways = _Ways(node, asked, asked.where)
    try:
        return _filled(ways.of_entries(), *others)
    except QueryError as error:
        if not ways.selects_no_entries(error):
            raise ways.blamed(error) from None
    try:
        return _filled(ways.of_items(), *others)
    except QueryError as error:
        raise ways.blamed(error) from None


def _filled(booking: Booking[Histogram], *others: Booking) -> Histogram:
    from .api import run  # heavy: numpy

    run([booking, *others])
    return booking.value


class _Ways:
    """The two meanings of a selection: of entries, or of items. A number is also a weight."""

    def __init__(self, node: Node, asked: _Asked, where: str) -> None:
        self._node = node
        self._asked = asked
        condition: str | _Joined = where
        weight: str | _Joined | None = asked.weight
        if not _condition(node, where):
            number = _Joined.of("({})", where)
            weight = number if weight is None else _Joined.of("{} * ({})", number, weight)
            condition = _Joined.of("{} != 0", number)
        first, *self._others = asked.exprs
        self._selected = _Joined.of("only(({}), ({}))", first, condition)
        self._condition = _written(condition)
        self._weight = None if weight is None else _written(weight)
        joined = (each for each in (condition, weight, self._selected) if isinstance(each, _Joined))
        self._joined = {each.text: each for each in joined}

    def of_entries(self) -> Booking:
        passing = Filter(parse(self._condition, DRAW))
        node = Node(self._node.origin, self._node, passing)
        return _booking(node, self._asked, self._asked.exprs, self._weight)

    def of_items(self) -> Booking:
        exprs = (self._selected.text, *self._others)
        return _booking(self._node, self._asked, exprs, self._weight)

    def selects_no_entries(self, error: QueryError) -> bool:
        """True if the error says that the whole selection cannot be a filter."""
        text = self._condition
        start, stop = error.span or (0, 0)
        return error.text == text and not text[:start].strip() and not text[stop:].strip()

    def blamed(self, error: QueryError) -> QueryError:
        joined = self._joined.get(error.text or "")
        if joined is not None:
            joined.blamed(error)
        return error


def _written(words: str | _Joined) -> str:
    return words if isinstance(words, str) else words.text


def _booking(node: Node, asked: _Asked, exprs: Sequence[str], weight: str | None) -> Booking:
    values = [parse(expr, DRAW) for expr in exprs]
    sample: Expression | None = None
    if asked.profile:
        if len(values) < 2:
            raise QueryError('a profile is of "y:x", the mean of y over x', text=asked.exprs[0])
        sample = values.pop()
    within = MOST if asked.range is None else asked.range
    axes = tuple(axes_from_bins(asked.bins, len(values), within))
    weights = None if weight is None else parse(weight, DRAW)
    if asked.by_tree:
        of_tree = column(TREE_WEIGHT)
        weights = of_tree if weights is None else product(weights, of_tree)
    labels = asked.exprs[: len(values)]
    storage = storage_of(None, asked.profile, weights is not None)
    return Booking(node, Hist(tuple(values), axes, weights, asked.name, labels, sample, storage))


def _condition(node: Node, where: str) -> bool:
    return _is_condition(parse(where, DRAW).tree, node.origin.chain.branches)


def _is_condition(tree: Tree, branches: Mapping[str, Branch]) -> bool:
    """True if the expression is certainly true or false, and no number. Columns that the user has
    defined count as numbers: as a weight, a bool has the same effect."""

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
        case {"kind": "binary", "op": "&" | "|" | "^"}:
            return each(child(tree, "left"), child(tree, "right"))
        case {"kind": "chain"}:
            rest = children(tree, "rest")
            is_logic = all(part["op"] in ("&", "|", "^") for part in rest)
            return is_logic and each(child(tree, "first"), *(child(part, "right") for part in rest))
        case {"kind": "if_else"}:
            return each(child(tree, "body"), child(tree, "otherwise"))
        case {"kind": "call", "function": {"kind": "name", "id": name}}:
            return name in _CONDITIONS
        case {"kind": "index"}:
            return each(child(tree, "value"))
        case {"kind": "attribute", "value": {"kind": "name", "id": of}, "name": name}:
            return is_bool(f"{of}_{name}") or is_bool(f"{of}.{name}")
        case {"kind": "name"}:
            return is_bool(word(tree, "id"))
    return False
