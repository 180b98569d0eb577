"""TTreeFormula's words in the query language's: for the texts of TTree::SetAlias, which others wrote.

Text to text, by tables. What would be read otherwise than ROOT reads it is refused, never guessed.
"""

from __future__ import annotations

import re
from typing import Any

from .errors import QueryError
from .expression import Expression, Tree, parse

__all__ = ["translate"]

_TOKENS = re.compile(
    r"""
      (?P<string> '(?:\\.|[^'\\])*' | "(?:\\.|[^"\\])*" )
    | (?P<scoped> [A-Za-z_]\w* (?:::[A-Za-z_]\w*)+ (?P<constant> \(\s*\) )? )
    | (?P<special> [A-Za-z_]\w* \$ )
    | (?P<word> [A-Za-z_]\w* )
    | (?P<power> \^ )
    | (?P<modulo> % )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)

_SCOPED = {
    "TMath::Abs": "abs",
    "TMath::ACos": "acos",
    "TMath::ACosH": "acosh",
    "TMath::ASin": "asin",
    "TMath::ASinH": "asinh",
    "TMath::ATan": "atan",
    "TMath::ATan2": "atan2",
    "TMath::ATanH": "atanh",
    "TMath::Ceil": "ceil",
    "TMath::Cos": "cos",
    "TMath::CosH": "cosh",
    "TMath::Exp": "exp",
    "TMath::Floor": "floor",
    "TMath::Hypot": "hypot",
    "TMath::Log": "log",
    "TMath::Log10": "log10",
    "TMath::Log2": "log2",
    "TMath::Max": "max",
    "TMath::Min": "min",
    "TMath::Power": "pow",
    "TMath::Sin": "sin",
    "TMath::SinH": "sinh",
    "TMath::Sqrt": "sqrt",
    "TMath::Tan": "tan",
    "TMath::TanH": "tanh",
    "std::abs": "abs",
    "std::max": "max",
    "std::min": "min",
    "std::pow": "pow",
    "std::sqrt": "sqrt",
}
_CONSTANTS = {"TMath::Pi": "pi", "TMath::E": "e"}
_SPECIAL = {"Sum$": "sum", "Max$": "max", "Min$": "min", "Length$": "len"}
_WORDS = {"fabs": "abs", "sq": "square"}


def translate(text: str) -> Expression:
    """A TTreeFormula as an expression of the query language. Raises QueryError for what that does
    not have, and for what means something else in it: % and comparisons in a row."""
    pieces = [_translated(token, text) for token in _TOKENS.finditer(text)]
    expression = parse("".join(pieces))
    _refuse_chains(expression.tree, expression.text)
    return expression


def _translated(token: re.Match[str], text: str) -> str:
    kind, found = token.lastgroup, token.group()
    if kind == "scoped":
        name = re.sub(r"\s*\(\s*\)$", "", found)
        table = _CONSTANTS if token.group("constant") else _SCOPED
        if name not in table:
            raise QueryError(f"{name} is not known here", text=text, span=token.span())
        return table[name]
    if kind == "special":
        if found not in _SPECIAL:
            raise QueryError(f"{found} is not known here", text=text, span=token.span())
        return _SPECIAL[found]
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
