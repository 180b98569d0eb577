"""An expression's text to its syntax tree (`syntax_tree.py`), by Python's own parser.

Only the shape is judged here. Names, types and functions are resolved later, by the core, against
a dataset's columns: this module must know no branch, no function and no type.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from ..errors import QueryError
from ..quoting import is_plain, quoted
from . import function_registry as registry
from . import treeformula_operators as draw_operators
from .casts import cast_at
from .clike import Rewritten, rewrite
from .mentions import words
from .syntax_tree import Tree, reduced, too_deep

__all__ = [
    "Constant",
    "Expression",
    "Tree",
    "Weight",
    "column",
    "constant",
    "measured",
    "parse",
    "weighted",
]

Constant = bool | int | float | str
Weight = str | float | None
"""What weighs values: an expression, or one number for all."""

MAX_LENGTH = 100_000
"""Characters of an expression."""
MAX_ITEMS = 10_000
"""Items of a list of constants."""
_SHOWN = 20
_LARGEST = 1.7976931348623157e308


@dataclass(frozen=True)
class Expression:
    """A parsed expression. `tree` is shared between equal expressions: do not change it."""

    text: str
    tree: Tree
    found: bool = False
    """Whether a pattern has found the name that it is: of what was defined anew it means the new
    one's."""

    @cached_property
    def words(self) -> frozenset[str]:
        """All names and attributes in it."""
        return words(self.tree)

    def to_json(self) -> dict[str, Any]:
        """As the core reads it."""
        return {"text": self.text, "tree": self.tree}


def parse(text: str, draw: bool = False) -> Expression:
    """Parses an expression: Python's syntax, with `&& || !` besides `and or not`, and `true`,
    `false` besides `True`, `False`. With `draw`, signs mean what they do to TTree::Draw: `^` is the
    power, `%` C's remainder, and `&`, `|` bind more loosely than comparisons.

    Raises QueryError with `text` and `span` for what is not in the language, for more than 100,000
    characters, and for more than 100 levels of nesting.
    """
    if not isinstance(text, str):
        raise QueryError(f"an expression is a string, not {type(text).__name__}")
    if len(text) > MAX_LENGTH:
        raise QueryError(
            f"the expression has {len(text)} characters; {MAX_LENGTH} is the limit",
            text=text[:60] + "…",
        )
    return _parse(text, registry.version(), draw=draw)[0]


def column(name: str, found: bool = False) -> Expression:
    """A column of any name as an expression; `found` by a pattern, or written."""
    text = quoted(name)
    return Expression(text, {"kind": "name", "id": name, "at": [0, len(text)]}, found)


def constant(value: Constant | Sequence[Constant]) -> Expression:
    """A constant, or a list of them, as an expression; NumPy's count as Python's. Raises QueryError
    for what is no finite number, no bool and no string."""
    plain: Any = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(plain, (list, tuple)):
        return _list(plain)
    return _single(plain)


def weighted(by: Weight) -> Expression | None:
    """A weight as the user gives it, an expression or one number for all; None: there is none."""
    if by is None:
        return None
    is_number = hasattr(by, "__float__") and not getattr(by, "ndim", 0)
    return constant(by) if is_number else parse(by)  # type: ignore[arg-type]


def _list(values: Sequence[Any]) -> Expression:
    if not 1 <= len(values) <= MAX_ITEMS:
        raise QueryError(f"a list of constants has 1 to {MAX_ITEMS} items, not {len(values)}")
    items = [_single(value).tree for value in values]
    text = repr(list(values)) if len(values) <= _SHOWN else f"[{values[0]!r}, …]"
    return Expression(text, {"kind": "sequence", "items": items, "at": [0, len(text)]})


def _single(value: Constant) -> Expression:
    fits = isinstance(value, (bool, str)) or (
        -(1 << 63) <= value < 1 << 64 if isinstance(value, int) else _is_finite(value)
    )
    if not fits:
        raise QueryError(f"a constant is a bool, a finite number or a string, not {value!r}")
    text = repr(value)
    return Expression(text, {"kind": "const", "value": value, "at": [0, len(text)]})


def _is_finite(value: object) -> bool:
    return isinstance(value, float) and abs(value) <= _LARGEST


def measured(text: str, params: tuple[str, ...]) -> tuple[Expression, int, int, int]:
    """The body of a function of these parameters, with the levels of its tree, those of its JSON,
    and its number of nodes."""
    parse(text)  # the checks of its length
    return _parse(text, registry.version(), params)


@lru_cache(maxsize=4096)
def _parse(
    text: str, version: int, bound: tuple[str, ...] = (), draw: bool = False
) -> tuple[Expression, int, int, int]:
    """`version` of the registry: expressions mean the functions that are known when they are
    written. `bound`: names that are no functions here."""
    if not text.strip():
        raise QueryError("the expression is empty", text=text)
    rewritten = rewrite(text, draw)
    # Python refuses indentation before an expression: count it off instead.
    body = rewritten.text.lstrip(" ")
    indent = len(rewritten.text) - len(body)
    try:
        tree = ast.parse(body, mode="eval").body
    except SyntaxError as error:
        raise _syntax_error(text, rewritten, body, indent, error) from None
    except (RecursionError, MemoryError):
        raise too_deep(text, None, "or has too many operators in a row") from None
    except ValueError as error:  # null bytes, lone surrogates
        raise QueryError(f"not text that can be parsed: {error}", text=ascii(text)) from None
    others = (draw_operators.HANDLERS, draw_operators.APART) if draw else ({}, ())
    found, depth, json, nodes = reduced(tree, text, rewritten, indent, bound, *others)
    return Expression(text, found), depth, json, nodes


# What may be meant as one name, as `tuple.0` and `x.class` and `Aux.` are. It is tried at the start of each word
# only, and never gives letters back, so that a text of one long word takes one look at each letter.
_QUOTED = re.compile(r"""`[^`]*`|'[^']*'|"[^"]*\"""")
_DOTTED = re.compile(r"(?<!\w)[^\W\d]\w*+(?:\.\w*+)+")
# Comparisons the wrong way round.
_TURNED = {"=>": ">=", "=<": "<="}


def _syntax_error(
    text: str, rewritten: Rewritten, body: str, indent: int, error: SyntaxError
) -> QueryError:
    message = error.msg or "invalid syntax"
    if message.startswith("too many nested"):
        return too_deep(text, None)

    def place(offset: int | None) -> int | None:
        if not offset or offset < 1:
            return None
        byte = len(body[: offset - 1].encode("utf-8", "surrogatepass"))
        return rewritten.place(indent + byte)

    for dotted in _DOTTED.finditer(_QUOTED.sub(lambda found: " " * len(found[0]), text)):
        if not is_plain(dotted[0]):
            message = f"a column that is called so goes in backticks: `{dotted[0]}`"
            return QueryError(message, text=text, span=dotted.span())
    start = place(error.offset)
    if start is None:
        return QueryError(message, text=text, span=(len(text), len(text) + 1))
    # Python's own words tell of assignments and of :=, which are not in here, and of no casts.
    cast = cast_at(text, start)
    sign = text[start : start + 2]
    if sign in _TURNED:
        message = f"{sign} is not in the language; write {_TURNED[sign]}"
    elif cast is not None:
        span, message = cast
        return QueryError(message, text=text, span=span)
    elif (
        "':='" in message
        or "assign" in message
        or (text[start : start + 1] == "=" and text[start + 1 : start + 2] != "=")
    ):
        message = "= is not in the language; to compare write =="
    stop = place(error.end_offset) if error.end_lineno == error.lineno else None
    return QueryError(message, text=text, span=(start, max(stop or 0, start + 1)))
