"""An expression's text to its syntax tree (`syntax_tree.py`), by Python's own parser.

Only the shape of an expression is judged here. The core resolves names, types and functions later,
against a dataset's columns: this module must know no branch, no function and no type.
"""

from __future__ import annotations

import ast
import re

from ..errors import QueryError, is_plain
from .casts import cast_at
from .clike import Rewritten, rewrite
from .dialect import Dialect
from .syntax_tree import reduced
from .tree_bounds import Reduction, too_deep
from .treeformula_operators import APART, handlers

__all__ = ["parsed"]


def parsed(text: str, dialect: Dialect, bound: tuple[str, ...] = ()) -> Reduction:
    """The syntax tree of an expression, with its size. `bound`: names that are no functions here.

    Raises QueryError with `text` and `span` for what is not in the language."""
    if not text.strip():
        raise QueryError("the expression is empty", text=text)
    rewritten = rewrite(text, dialect)
    # Python refuses an expression that is indented.
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
    apart = APART if dialect.formula else ()
    return reduced(tree, text, rewritten, indent, bound, handlers(dialect), apart)


# What may be meant as one name: `tuple.0`, `x.class`, `Aux.`. It is tried at the start of each word
# only, and never gives letters back, so that a text of one long word takes one look at each letter.
_QUOTED = re.compile(r"""`[^`]*`|'[^']*'|"[^"]*\"""")
_DOTTED = re.compile(r"(?<!\w)[^\W\d]\w*+(?:\.\w*+)+")
# Comparisons the wrong way round.
_TURNED = {"=>": ">=", "=<": "<="}


def _is_apart(text: str, place: int) -> bool:
    """True if a place of a text is in no brackets."""
    before = text[:place]
    return all(before.count(left) == before.count(right) for left, right in ("()", "[]", "{}"))


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

    for dotted in _DOTTED.finditer(_QUOTED.sub(lambda quoted: " " * len(quoted[0]), text)):
        if not is_plain(dotted[0]):
            message = f"a column that is called so goes in backticks: `{dotted[0]}`"
            return QueryError(message, text=text, span=dotted.span())
    start = place(error.offset)
    if start is None:
        return QueryError(message, text=text, span=(len(text), len(text) + 1))
    # Python's own message tells of assignments and of :=, which the language does not have, and not
    # of casts.
    cast = cast_at(text, start)
    sign = text[start : start + 2]
    if sign in _TURNED:
        message = f"{sign} is not in the language; write {_TURNED[sign]}"
    elif text[start : start + 1] == ":" and _is_apart(text, start):
        message = (
            "':' separates axes in draw() alone, y:x; elsewhere each axis is an expression of its "
            'own, x first: hist("x", "y")'
        )
        return QueryError(message, text=text, span=(start, start + 1))
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
