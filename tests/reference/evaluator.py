"""An expression's value in one event, by walking Python's own syntax tree."""

import ast
import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from . import vectors
from .drawn import DRAWN
from .functions import FUNCTIONS
from .values import (
    BINARY,
    COMPARE,
    MISSING,
    UNARY,
    Element,
    Event,
    both,
    choose,
    each,
    each_even_missing,
    either,
)

Scope = dict[str, Any]

_PLACES = "places of the items that the loops are at"
_CONSTANTS = {"pi": 3.141592653589793, "inf": float("inf"), "nan": float("nan")}


def evaluate(text: str, event: Event, **names: Any) -> Any:
    """The value of `text` in the event; `names` are constants and defined columns."""
    return _value(_parse(text), _CONSTANTS | event | names)


@functools.cache
def _parse(text: str) -> ast.expr:
    """Python parses words of `_QUOTED` in place of names in backticks."""

    def word(quoted: re.Match[str]) -> str:
        _QUOTED.setdefault(quoted[1], f"quoted_{len(_QUOTED)}")
        return _QUOTED[quoted[1]]

    parsed = ast.parse(re.sub("`([^`]*)`", word, text.strip()), mode="eval").body
    names = {word: name for name, word in _QUOTED.items()}
    for node in ast.walk(parsed):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.Attribute):
            node.attr = names.get(node.attr, node.attr)
    return parsed


_QUOTED: dict[str, str] = {}


def _value(node: ast.expr, scope: Scope) -> Any:
    return _NODES[type(node)](node, scope)


def _attribute(node: ast.Attribute, scope: Scope) -> Any:
    return vectors.attribute(_value(node.value, scope), node.attr)


def _binary(node: ast.BinOp, scope: Scope) -> Any:
    name = type(node.op).__name__

    def run(a: Any, b: Any) -> Any:
        if isinstance(a, Element):
            return {"Add": vectors.add, "Sub": vectors.subtract}[name](a, b)
        return BINARY[name](a, b)

    return each(run, _value(node.left, scope), _value(node.right, scope))


def _compare(node: ast.Compare, scope: Scope) -> Any:
    links = []
    left = _value(node.left, scope)
    for op, side in zip(node.ops, node.comparators, strict=True):
        right = _value(side, scope)
        if isinstance(op, (ast.In, ast.NotIn)):
            found = each(lambda a, members=tuple(right): a in members, left)
            links.append(each(lambda a: not a, found) if isinstance(op, ast.NotIn) else found)
        else:
            links.append(each(COMPARE[type(op).__name__], left, right))
        left = right
    return links[0] if len(links) == 1 else each_even_missing(both, *links)


def _logic(node: ast.BoolOp, scope: Scope) -> Any:
    f = both if isinstance(node.op, ast.And) else either
    return each_even_missing(f, *(_value(v, scope) for v in node.values))


def _choice(node: ast.IfExp, scope: Scope) -> Any:
    parts = (_value(part, scope) for part in (node.test, node.body, node.orelse))
    return each_even_missing(choose, *parts)


def _index(node: ast.Subscript, scope: Scope) -> Any:
    value = _value(node.value, scope)
    if value is MISSING:
        if not isinstance(node.slice, (ast.Slice, ast.List)):
            return MISSING
        # A list that is missing has no items.
        value = []
    if isinstance(node.slice, ast.Slice):
        ends = (node.slice.lower, node.slice.upper, node.slice.step)
        return value[slice(*(None if e is None else _value(e, scope) for e in ends))]
    index = _value(node.slice, scope)
    # From the end by a constant only: computed, -1 is what files write for none.
    least = -len(value) if _is_constant(node.slice) else 0

    def item(i: Any) -> Any:
        return value[i] if i is not MISSING and least <= i < len(value) else MISSING

    if not isinstance(index, list):
        return item(index)
    if any(isinstance(i, bool) for i in index):
        # A mask, which keeps nothing where it is missing.
        return [v for v, keep in zip(value, index, strict=True) if keep is not MISSING and keep]
    return [item(i) for i in index]


@functools.cache
def _is_constant(node: ast.expr) -> bool:
    return not any(isinstance(part, (ast.Name, ast.Call)) for part in ast.walk(node))


def _call(node: ast.Call, scope: Scope) -> Any:
    args = [_value(arg, scope) for arg in node.args]
    if isinstance(node.func, ast.Attribute) and node.func.attr == "nearest":
        return vectors.nearest(_value(node.func.value, scope), *args)
    if isinstance(node.func, ast.Attribute):
        return each(vectors.METHODS[node.func.attr], _value(node.func.value, scope), *args)
    assert isinstance(node.func, ast.Name)
    keywords = {str(k.arg): _value(k.value, scope) for k in node.keywords}
    if node.func.id in DRAWN:
        return DRAWN[node.func.id](keywords["seed"], scope["entry"], *scope.get(_PLACES, ()))
    return FUNCTIONS[node.func.id](*args, **keywords)


def _lambda(node: ast.Lambda, scope: Scope) -> Callable[..., Any]:
    names = [arg.arg for arg in node.args.args]

    def call(*values: Any) -> Any:
        # Several names take a tuple apart.
        items = values[0] if len(names) > len(values) == 1 else values
        return _value(node.body, scope | dict(zip(names, items, strict=True)))

    return call


def _comprehension(node: ast.GeneratorExp | ast.ListComp, scope: Scope) -> list[Any]:
    return [_value(node.elt, inner) for inner in _loops(node.generators, scope)]


def _loops(loops: list[ast.comprehension], scope: Scope) -> Iterator[Scope]:
    if not loops:
        yield scope
        return
    first, *rest = loops
    values = _value(first.iter, scope)
    places = scope.get(_PLACES, ())
    inner = dict(scope)  # one for all items: each is done with before the next one
    for place, value in enumerate([] if values is MISSING else values):
        _bind(first.target, value, inner)
        inner[_PLACES] = (*places, place)
        for condition in first.ifs:
            passed = _value(condition, inner)
            if passed is MISSING or not passed:
                break
        else:
            yield from _loops(rest, inner)


def _bind(target: ast.expr, value: Any, scope: Scope) -> None:
    if isinstance(target, ast.Name):
        scope[target.id] = value
        return
    assert isinstance(target, ast.Tuple)
    for part, item in zip(target.elts, value, strict=True):
        _bind(part, item, scope)


_NODES: dict[type[ast.expr], Callable[[Any, Scope], Any]] = {
    ast.Name: lambda node, scope: scope[node.id],
    ast.Constant: lambda node, scope: node.value,
    ast.Attribute: _attribute,
    ast.UnaryOp: lambda node, scope: each(
        UNARY[type(node.op).__name__], _value(node.operand, scope)
    ),
    ast.BinOp: _binary,
    ast.BoolOp: _logic,
    ast.Compare: _compare,
    ast.IfExp: _choice,
    ast.Subscript: _index,
    ast.Call: _call,
    ast.Lambda: _lambda,
    ast.GeneratorExp: _comprehension,
    ast.ListComp: _comprehension,
    ast.List: lambda node, scope: [_value(item, scope) for item in node.elts],
    ast.Tuple: lambda node, scope: tuple(_value(item, scope) for item in node.elts),
}
