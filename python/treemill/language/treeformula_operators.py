"""Operators that mean something else to TTree::Draw than to Python: `%` and powers of powers, as
handlers of the parser's tree. Pure: what the parser gives to them, they give back as the core's
query format.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["APART", "HANDLERS"]

_Tree = dict[str, Any]


def _operator(reducer: Any, node: ast.BinOp, depth: int, json: int) -> _Tree:
    if isinstance(node.op, ast.Mod):
        _check_remainder(reducer, node)
        return _remainder(reducer, node, depth, json)
    for each in reducer.row(node):
        _check_remainder(reducer, each)
        if isinstance(each.op, ast.Pow):
            _check_power(reducer, each)
    made: _Tree = reducer.binary(node, depth, json)
    return made


def _remainder(reducer: Any, node: ast.BinOp, depth: int, json: int) -> _Tree:
    """Of numbers without their fractions, with the sign of the dividend: -7 % 3 is -1."""
    at = reducer.at(node)
    before = reducer.nodes
    sides = [reducer.reduce(side, depth + 4, json + 6) for side in (node.left, node.right)]
    # The sides come up to five times, remainders of remainders five times five; the core computes
    # equal parts once, but they have to get there.
    reducer.note(node, depth + 4, json + 6, 20 + 4 * (reducer.nodes - before))
    left, right = (_call("trunc", side, at) for side in sides)
    floored = _binary("%", left, right, at)
    zero: _Tree = {"kind": "const", "value": 0, "at": at}
    negative = [_compare(side, "<", zero, at) for side in (left, right)]
    moved = [_compare(floored, "!=", zero, at), _compare(negative[0], "!=", negative[1], at)]
    return {
        "kind": "if_else",
        "test": {"kind": "bool", "op": "and", "values": moved, "at": at},
        "body": _binary("-", floored, right, at),
        "otherwise": floored,
        "at": at,
    }


def _check_remainder(reducer: Any, node: ast.BinOp) -> None:
    """TTree::Draw's % binds less tightly than * and /, C's and Python's as tightly."""
    left, mixed = node.left, (ast.Mult, ast.Div, ast.Mod)
    if not (isinstance(node.op, mixed) and isinstance(left, ast.BinOp)):
        return
    percents = isinstance(node.op, ast.Mod) + isinstance(left.op, ast.Mod)
    if percents == 1 and isinstance(left.op, mixed):
        _, stop = reducer.span(left)
        if not reducer.text[stop:].lstrip().startswith(")"):
            reducer.refuse("put a % b in parentheses beside * and /", node)


def _check_power(reducer: Any, node: ast.BinOp) -> None:
    """TTree::Draw takes the left power of a**b**c first, Python the right one."""
    right = node.right
    if isinstance(right, ast.BinOp) and isinstance(right.op, ast.Pow):
        start, _ = reducer.span(right)
        if not reducer.text[:start].rstrip().endswith("("):
            reducer.refuse("a**b**c means (a**b)**c to TTree::Draw: put parentheses", node)


def _call(name: str, argument: _Tree, at: list[int]) -> _Tree:
    function = {"kind": "name", "id": name, "at": at}
    return {"kind": "call", "function": function, "args": [argument], "keywords": [], "at": at}


def _binary(op: str, left: _Tree, right: _Tree, at: list[int]) -> _Tree:
    return {"kind": "binary", "op": op, "left": left, "right": right, "at": at}


def _compare(left: _Tree, op: str, right: _Tree, at: list[int]) -> _Tree:
    return {"kind": "compare", "left": left, "ops": [op], "rights": [right], "at": at}


APART = (ast.Mod,)
"""Operators of which something else is made."""
HANDLERS: Mapping[type[ast.AST], Callable[[Any, Any, int, int], _Tree]] = {ast.BinOp: _operator}
