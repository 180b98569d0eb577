"""Handlers, for `syntax_tree.reduced`, of nodes that mean something else to TTreeFormula than to
Python: `%`, powers of powers, comparisons in a row, arithmetic of integers, and functions of
another name.

Pure: Python's nodes to the core's query format. Knows no text but that between a node's brackets.
"""

from __future__ import annotations

import ast

from . import function_registry
from .dialect import Dialect
from .syntax_tree import Handlers, Reducer
from .tree_node import Tree, children, word

__all__ = ["APART", "handlers"]

APART = (ast.Mod,)
"""Operators of which something else is made."""
_FUNCTIONS = {"sq": "square", "round": "round_half_away"}
"""TTreeFormula's functions without a namespace that the language calls otherwise."""
_IN_DOUBLES = {"+", "-", "*", "**"}
"""Operators whose results may need more than 64 bits. TTreeFormula computes in doubles."""


def handlers(dialect: Dialect) -> Handlers:
    """The handlers that a dialect has instead of Python's."""
    if not dialect.formula:
        return {}
    return _HANDLERS if dialect.has_chains else {**_HANDLERS, ast.Compare: _comparison}


def _operator(reducer: Reducer, node: ast.BinOp) -> Tree:
    if isinstance(node.op, ast.Mod):
        _check_remainder(reducer, node)
        return _remainder(reducer, node)
    for each in reducer.row(node):
        _check_remainder(reducer, each)
        if isinstance(each.op, ast.Pow):
            _check_power(reducer, each)
    made = reducer.binary(node)
    for operation in children(made, "rest") if made["kind"] == "chain" else [made]:
        _in_doubles(operation)
    return made


def _in_doubles(operation: Tree) -> Tree:
    """Has the core compute in doubles where integers might not hold the result."""
    op = word(operation, "op")
    if op in _IN_DOUBLES:
        operation["op"] = f"{op}."
    return operation


def _minus(reducer: Reducer, node: ast.UnaryOp) -> Tree:
    made = reducer.unary(node)
    return _in_doubles(made) if made["op"] == "-" else made


def _remainder(reducer: Reducer, node: ast.BinOp) -> Tree:
    """C's remainder of numbers without their fractions, with the sign of the dividend: -7 % 3 is
    -1."""
    at = reducer.at(node)
    before = reducer.nodes
    sides = [reducer.reduce(side, json=6, depth=4) for side in (node.left, node.right)]
    # The sides come up to five times, remainders of remainders five times five. The core computes
    # equal parts once, but the query carries all of them to it.
    reducer.note(node, 20 + 4 * (reducer.nodes - before), json=7, depth=5)
    left, right = (_call("trunc", side, at) for side in sides)
    floored = _binary("%", left, right, at)
    zero = _number(0, at)
    negative = [_compare(side, "<", zero, at) for side in (left, right)]
    moved = [_compare(floored, "!=", zero, at), _compare(negative[0], "!=", negative[1], at)]
    return {
        "kind": "if_else",
        "test": {"kind": "bool", "op": "and", "values": moved, "at": at},
        "body": _binary("-", floored, right, at),
        "otherwise": floored,
        "at": at,
    }


def _check_remainder(reducer: Reducer, node: ast.BinOp) -> None:
    """TTreeFormula's % binds less tightly than * and /, C's and Python's as tightly."""
    left, mixed = node.left, (ast.Mult, ast.Div, ast.Mod)
    if not (isinstance(node.op, mixed) and isinstance(left, ast.BinOp)):
        return
    percents = isinstance(node.op, ast.Mod) + isinstance(left.op, ast.Mod)
    if percents == 1 and isinstance(left.op, mixed) and not reducer.in_brackets(left):
        reducer.refuse("put a % b in parentheses beside * and /", node)


def _check_power(reducer: Reducer, node: ast.BinOp) -> None:
    """TTreeFormula takes the left power of a**b**c first, Python the right one."""
    right = node.right
    is_power = isinstance(right, ast.BinOp) and isinstance(right.op, ast.Pow)
    if is_power and not reducer.in_brackets(right):
        reducer.refuse("a**b**c means (a**b)**c to TTreeFormula: put parentheses", node)


def _comparison(reducer: Reducer, node: ast.Compare) -> Tree:
    if len(node.ops) > 1:
        reducer.refuse("a < b < c means (a < b) < c to TTreeFormula: put parentheses", node)
    return reducer.compare(node)


def _function(reducer: Reducer, node: ast.Call) -> Tree:
    called = node.func
    if not isinstance(called, ast.Name) or function_registry.find(called.id):
        return reducer.call(node)
    if called.id == "sign" and len(node.args) == 1 and not node.keywords:
        return _sign(reducer, node)
    if called.id in ("pow", "power") and len(node.args) == 2 and not node.keywords:
        base, exponent = (reducer.reduce(side) for side in node.args)
        return _binary("**.", base, exponent, reducer.at(node))
    name = ast.Name(_FUNCTIONS.get(called.id, called.id), called.ctx)
    call = ast.Call(ast.copy_location(name, called), node.args, node.keywords)
    return reducer.call(ast.copy_location(call, node))


def _sign(reducer: Reducer, node: ast.Call) -> Tree:
    """1 or -1: 0 is positive, and so is NaN."""
    at = reducer.at(node)
    negative = _compare(reducer.reduce(node.args[0], json=2, depth=2), "<", _number(0, at), at)
    sides = {"body": _number(-1, at), "otherwise": _number(1, at)}
    return {"kind": "if_else", "test": negative, **sides, "at": at}


def _number(value: int, at: list[int]) -> Tree:
    return {"kind": "const", "value": value, "at": at}


def _call(name: str, argument: Tree, at: list[int]) -> Tree:
    function: Tree = {"kind": "name", "id": name, "at": at}
    return {"kind": "call", "function": function, "args": [argument], "keywords": [], "at": at}


def _binary(op: str, left: Tree, right: Tree, at: list[int]) -> Tree:
    return {"kind": "binary", "op": op, "left": left, "right": right, "at": at}


def _compare(left: Tree, op: str, right: Tree, at: list[int]) -> Tree:
    return {"kind": "compare", "left": left, "ops": [op], "rights": [right], "at": at}


_HANDLERS: Handlers = {ast.BinOp: _operator, ast.UnaryOp: _minus, ast.Call: _function}
