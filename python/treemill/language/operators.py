"""Tables of Python's operators and their names in the query format, and of syntax that is refused
with a message of its own. Standard library only.
"""

from __future__ import annotations

import ast

__all__ = ["BINARY", "BITWISE", "COMPARE", "REFUSED", "SPELLED", "UNARY", "constant_word"]

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
UNARY: dict[type[ast.unaryop], str] = {
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Invert: "~",
    ast.Not: "not",
}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not_in",
}
BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)

REFUSED: dict[type[ast.AST], str] = {
    ast.JoinedStr: "f-strings are not in the language",
    ast.NamedExpr: ":= is not in the language; use define()",
    ast.Await: "await is not in the language",
    ast.Yield: "yield is not in the language",
    ast.YieldFrom: "yield is not in the language",
    ast.Dict: "dictionaries are not in the language",
    ast.Set: "sets are not in the language; write [a, b], or for a variable of your program its "
    'name, with params={"cut": cut}',
    ast.DictComp: "dictionaries are not in the language",
    ast.SetComp: "sets are not in the language; write [… for …]",
    ast.Starred: "* before a value is not in the language",
}

SPELLED = {"true": True, "false": False}


def constant_word(value: object) -> str:
    """The name of a literal that is not in the language."""
    if value is None:
        return "None (is_missing(x) asks whether there is a value)"
    if value is Ellipsis:
        return "..."
    return {"complex": "a complex number", "bytes": "a bytes literal"}.get(
        type(value).__name__, type(value).__name__
    )
