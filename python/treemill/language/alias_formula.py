"""The texts of TTree::SetAlias as expressions of the query language.

Others wrote them, for TTreeFormula: what that reads in another way than the language does is
translated by a table or refused, never guessed. The rest is the parser's affair.
"""

from __future__ import annotations

import re
from typing import Any

from ..errors import QueryError
from .expression import Expression, Tree, parse

__all__ = ["translate"]

_TOKENS = re.compile(
    r"""
      (?P<string> '(?:\\.|[^'\\])*' | "(?:\\.|[^"\\])*" )
    | (?P<word> (?:std::)? [A-Za-z_]\w* \$? )
    | (?P<power> \^ )
    | (?P<modulo> % )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS = {"fabs": "abs", "std::abs": "abs", "std::pow": "pow", "std::sqrt": "sqrt", "sq": "square"}


def translate(text: str) -> Expression:
    """A TTreeFormula as an expression of the query language. Raises QueryError for what that does
    not have, and for what means something else in it: % and comparisons in a row."""
    pieces = [_translated(token, text) for token in _TOKENS.finditer(text)]
    expression = parse("".join(pieces))
    _refuse_chains(expression.tree, expression.text)
    return expression


def _translated(token: re.Match[str], text: str) -> str:
    kind, found = token.lastgroup, token.group()
    if kind == "modulo":
        # ROOT's binds less tightly than *, unlike C's and Python's, and truncates.
        raise QueryError(
            "% is not translated: TTreeFormula reads a*b%c otherwise than C and Python",
            text=text,
            span=token.span(),
        )
    if kind == "power":
        return "**"
    return _WORDS.get(found, found) if kind == "word" else found


def _refuse_chains(tree: Any, text: str) -> None:
    """`a < b < c` and `a & b == c` mean one thing to Python and another one to TTreeFormula."""
    if isinstance(tree, list):
        for each in tree:
            _refuse_chains(each, text)
    if not isinstance(tree, dict):
        return
    if tree.get("kind") == "compare":
        _refuse_chain(tree, text)
    for value in tree.values():
        _refuse_chains(value, text)


def _refuse_chain(tree: Tree, text: str) -> None:
    operands = [tree["left"], *tree["rights"]]
    bare = [o for o in operands if o.get("op") in ("&", "|") and not _in_brackets(o, text)]
    compared = [o for o in operands[:1] if o["kind"] == "compare" and not _in_brackets(o, text)]
    if len(tree["ops"]) > 1 or bare or compared:
        raise QueryError(
            "without parentheses this means something else in TTreeFormula",
            text=text,
            span=tuple(tree["at"]),
        )


def _in_brackets(tree: Tree, text: str) -> bool:
    start, stop = tree["at"]
    return text[:start].rstrip().endswith("(") and text[stop:].lstrip()[:1] == ")"
