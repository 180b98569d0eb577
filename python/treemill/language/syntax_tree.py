"""Python's syntax tree to that of the core's query format (crates/treemill-query/src/spec.rs,
`Expr`), as JSON-able dictionaries.

Only its shape is judged here, and its size. Names, types and functions are resolved later, by the
core, against a dataset's columns: this module must know no branch, no function and no type.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn
from unicodedata import normalize

from ..errors import QueryError
from . import function_registry as registry
from .clike import Rewritten
from .operators import BINARY, BITWISE, COMPARE, REFUSED, SPELLED, UNARY, constant_word

__all__ = ["Handlers", "Tree", "reduced", "too_deep"]

Tree = dict[str, Any]

MAX_DEPTH = 100
"""Levels of an expression's tree."""
MAX_NODES = 200_000
"""Nodes of its tree, with those of the user's functions that it calls."""
# The JSON of a whole query nests at most 127 deep in the core's parser; a list of arguments is a
# level of JSON as well as the node in it, and the query around an expression takes eight.
_MAX_JSON_DEPTH = 116
_LONG_ROW = 8
"""Operators one after another that are a tree of their own."""
_MAX_TUPLES = 3
"""Tuples within tuples that `for` takes apart."""


def too_deep(text: str, span: tuple[int, int] | None, otherwise: str = "") -> QueryError:
    """What is said of an expression that nests too many levels; `otherwise`: or what it does."""
    return QueryError(
        f"the expression is nested more than {MAX_DEPTH} levels deep{otherwise and ', '}{otherwise}"
        "; define() parts of it as columns",
        text=text,
        span=span,
    )


Handlers = Mapping[type[ast.AST], Callable[[Any, Any, int, int], Tree]]


def reduced(
    tree: ast.expr,
    text: str,
    rewritten: Rewritten,
    indent: int,
    bound: tuple[str, ...],
    others: Handlers,
    apart: tuple[type[ast.operator], ...] = (),
) -> tuple[Tree, int, int, int]:
    """The tree of an expression, with the levels of the tree, those of its JSON, and its number of
    nodes.

    `tree` is Python's of `rewritten`, but for an `indent`; `text` what the user wrote. `bound`:
    names that are no functions here. `others`: what is done with nodes that mean something else
    than to Python, among them operators that are `apart`. Raises QueryError with `text` and `span`
    for what is not in the language or too large.
    """
    reducer = _Reducer(text, rewritten, indent, bound, {**_HANDLERS, **others}, apart)
    if rewritten.names:
        reducer.variables = {*bound, *map(reducer.own, _variables(tree))}
    found = reducer.reduce(tree, 1, 1)
    return found, reducer.depth, reducer.json, reducer.nodes


class _Reducer:
    """Python's tree to ours. `depth` counts levels of nodes, `json` those of the JSON made."""

    def __init__(
        self,
        text: str,
        rewritten: Rewritten,
        indent: int,
        bound: tuple[str, ...],
        handlers: Handlers,
        apart: tuple[type[ast.operator], ...],
    ) -> None:
        self.text = text
        self.rewritten = rewritten
        self.indent = indent
        self.bound = bound
        self.handlers = handlers
        self.variables: set[str] = set()
        self.apart = apart
        self.depth = self.json = self.nodes = 0

    def reduce(self, node: ast.AST, depth: int, json: int) -> Tree:
        self.note(node, depth, json, 1)
        handler = self.handlers.get(type(node))
        if handler is None:
            reason = REFUSED.get(type(node), f"{type(node).__name__} is not in the language")
            self.refuse(reason, node)
        return handler(self, node, depth + 1, json + 1)

    def note(self, node: ast.AST, depth: int, json: int, nodes: int) -> None:
        """Bounds are checked as the tree grows."""
        self.depth, self.json = max(self.depth, depth), max(self.json, json)
        self.nodes += nodes
        if depth > MAX_DEPTH or json > _MAX_JSON_DEPTH:
            raise too_deep(self.text, self.span(node))
        if self.nodes > MAX_NODES:
            self.refuse("with the functions that it calls the expression is too large", node)

    def many(self, nodes: list[Any], depth: int, json: int) -> list[Tree]:
        return [self.reduce(node, depth, json + 1) for node in nodes]

    def optional(self, node: ast.AST | None, depth: int, json: int) -> Tree | None:
        return None if node is None else self.reduce(node, depth, json)

    def span(self, node: Any) -> tuple[int, int]:
        start = self.rewritten.place(self.indent + node.col_offset)
        stop = self.rewritten.place(self.indent + node.end_col_offset)
        # What a translation has added may stand at one place.
        return start, max(stop, start + 1)

    def at(self, node: Any) -> list[int]:
        return list(self.span(node))

    def refuse(self, message: str, node: Any) -> NoReturn:
        raise QueryError(message, text=self.text, span=self.span(node))

    # One method per kind of node, in the order of spec.rs.

    def name(self, node: ast.Name, depth: int, json: int) -> Tree:
        if node.id in SPELLED:
            return {"kind": "const", "value": SPELLED[node.id], "at": self.at(node)}
        return {"kind": "name", "id": self.spelled(node.id), "at": self.at(node)}

    def spelled(self, word: str) -> str:
        """A name as the user spelled it, but for what the expression binds itself: those names are
        Python's."""
        name = self.rewritten.names.get(word, word)
        return self.own(word) if self.own(word) in self.variables else name

    def own(self, word: str) -> str:
        """A name as Python spells it."""
        return normalize("NFKC", self.rewritten.names.get(word, word))

    def variable(self, word: str, node: ast.AST) -> str:
        """A name that the expression binds."""
        name = self.own(word)
        if not name.isidentifier():
            self.refuse("names in backticks are columns', and no variables'", node)
        return name

    def constant(self, node: ast.Constant, depth: int, json: int) -> Tree:
        value = node.value
        if not isinstance(value, (bool, int, float, str)):
            self.refuse(f"{constant_word(value)} is not in the language", node)
        if isinstance(value, float) and value in (float("inf"), float("-inf")):
            self.refuse("this number is larger than a double can hold", node)
        if isinstance(value, int) and value >= 1 << 64:
            self.refuse("this number is larger than 64 bits can hold", node)
        return {"kind": "const", "value": value, "at": self.at(node)}

    def unary(self, node: ast.UnaryOp, depth: int, json: int) -> Tree:
        op = UNARY[type(node.op)]
        if op == "~" and self.indent + node.col_offset in self.rewritten.bangs:
            op = "not"
        operand = self.reduce(node.operand, depth, json)
        return {"kind": "unary", "op": op, "operand": operand, "at": self.at(node)}

    def binary(self, node: ast.BinOp, depth: int, json: int) -> Tree:
        row = self.row(node)
        if len(row) > _LONG_ROW:
            return self.chain(row, depth, json)
        left = self.reduce(node.left, depth, json)
        right = self.reduce(node.right, depth, json)
        op = self.operator(node)
        return {"kind": "binary", "op": op, "left": left, "right": right, "at": self.at(node)}

    def operator(self, node: ast.BinOp) -> str:
        op = BINARY.get(type(node.op))
        if op is None:
            self.refuse("@ is not in the language", node)
        return op

    def row(self, node: ast.BinOp) -> list[ast.BinOp]:
        """The operators of `a + b * 2 - c …` that are done one after another, the last one first.
        One that a handler makes something else of ends the row."""
        row = [node]
        while isinstance(left := row[-1].left, ast.BinOp) and not isinstance(left.op, self.apart):
            row.append(left)
        return row

    def chain(self, row: list[ast.BinOp], depth: int, json: int) -> Tree:
        """As one node, so that thousands of terms are no deeper than one."""
        first = self.reduce(row[-1].left, depth, json)
        rest = []
        for node in reversed(row):
            op = self.operator(node)
            right = self.reduce(node.right, depth, json + 2)
            rest.append({"op": op, "right": right, "at": self.at(node)})
            self.nodes += 1
        return {"kind": "chain", "first": first, "rest": rest, "at": self.at(row[0])}

    def bool(self, node: ast.BoolOp, depth: int, json: int) -> Tree:
        op = "and" if isinstance(node.op, ast.And) else "or"
        values = self.many(node.values, depth, json)
        return {"kind": "bool", "op": op, "values": values, "at": self.at(node)}

    def compare(self, node: ast.Compare, depth: int, json: int) -> Tree:
        ops = [COMPARE.get(type(op)) for op in node.ops]
        if None in ops:
            self.refuse(
                "is and is not are not in the language; write == or !=, or is_missing(x)", node
            )
        for middle in node.comparators[:-1]:
            self.check_bitwise(middle)
        left = self.reduce(node.left, depth, json)
        rights = self.many(node.comparators, depth, json)
        return {"kind": "compare", "left": left, "ops": ops, "rights": rights, "at": self.at(node)}

    def check_bitwise(self, middle: ast.expr) -> None:
        """`a > 1 & b > 2` is `a > (1 & b) > 2` to Python and `(a > 1) & (b > 2)` to C. Nobody means
        the first, so nobody gets it in silence."""
        if not (isinstance(middle, ast.BinOp) and isinstance(middle.op, BITWISE)):
            return
        start, stop = self.span(middle)
        if not (self.text[:start].rstrip().endswith("(") and self.text[stop:].lstrip()[:1] == ")"):
            op = BINARY[type(middle.op)]
            self.refuse(
                f"{op} binds more tightly than a comparison: put each comparison in parentheses, "
                "or write 'and', 'or'",
                middle,
            )

    def call(self, node: ast.Call, depth: int, json: int) -> Tree:
        if not isinstance(node.func, (ast.Name, ast.Attribute)):
            self.refuse("only a name or an attribute can be called", node.func)
        name = self.own(node.func.id) if isinstance(node.func, ast.Name) else None
        if name is not None and name not in self.bound and (known := registry.find(name)):
            return self.apply(node, known, depth, json)
        seen: set[str] = set()
        for keyword in node.keywords:
            if keyword.arg is None:
                self.refuse("** in a call is not in the language", keyword)
            if keyword.arg in seen:
                self.refuse(f"the argument {keyword.arg} is given twice", keyword)
            seen.add(keyword.arg)
        return {
            "kind": "call",
            "function": self.reduce(node.func, depth, json),
            "args": self.many(node.args, depth, json),
            "keywords": [
                [keyword.arg, self.reduce(keyword.value, depth, json + 2)]
                for keyword in node.keywords
            ],
            "at": self.at(node),
        }

    def apply(self, node: ast.Call, known: registry.UserFunction, depth: int, json: int) -> Tree:
        if node.keywords or any(isinstance(arg, ast.Starred) for arg in node.args):
            self.refuse(f"{known.name}(…) takes its arguments in order, without names", node)
        # Its text and tree are a level of JSON each.
        self.note(node, depth + known.depth, json + known.json + 2, known.size)
        return {
            "kind": "apply",
            "name": known.name,
            "params": list(known.params),
            "body": known.body,
            "args": self.many(node.args, depth, json),
            "at": self.at(node),
        }

    def attribute(self, node: ast.Attribute, depth: int, json: int) -> Tree:
        if node.attr.startswith("_"):
            self.refuse(f"a name with an underscore first goes in backticks: .`{node.attr}`", node)
        value = self.reduce(node.value, depth, json)
        name = self.rewritten.names.get(node.attr, node.attr)
        return {"kind": "attribute", "value": value, "name": name, "at": self.at(node)}

    def index(self, node: ast.Subscript, depth: int, json: int) -> Tree:
        value = self.reduce(node.value, depth, json)
        index = self.reduce(node.slice, depth, json)
        return {"kind": "index", "value": value, "index": index, "at": self.at(node)}

    def slice(self, node: ast.Slice, depth: int, json: int) -> Tree:
        return {
            "kind": "slice",
            "lower": self.optional(node.lower, depth, json),
            "upper": self.optional(node.upper, depth, json),
            "step": self.optional(node.step, depth, json),
            "at": self.at(node),
        }

    def sequence(self, node: ast.List | ast.Tuple, depth: int, json: int) -> Tree:
        items = self.many(node.elts, depth, json)
        return {"kind": "sequence", "items": items, "at": self.at(node)}

    def if_else(self, node: ast.IfExp, depth: int, json: int) -> Tree:
        return {
            "kind": "if_else",
            "test": self.reduce(node.test, depth, json),
            "body": self.reduce(node.body, depth, json),
            "otherwise": self.reduce(node.orelse, depth, json),
            "at": self.at(node),
        }

    def lambda_(self, node: ast.Lambda, depth: int, json: int) -> Tree:
        given = node.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or given.defaults:
            self.refuse("a lambda takes plain names only", node)
        params = [self.variable(argument.arg, argument) for argument in given.args]
        if len(set(params)) != len(params):
            self.refuse("a lambda's names must differ", node)
        body = self.reduce(node.body, depth, json)
        return {"kind": "lambda", "params": params, "body": body, "at": self.at(node)}

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp, depth: int, json: int) -> Tree:
        loops = []
        for loop in node.generators:
            if loop.is_async:
                self.refuse("async is not in the language", node)
            loops.append(
                {
                    "targets": self.targets(loop.target),
                    "iter": self.reduce(loop.iter, depth, json + 2),
                    "conditions": self.many(loop.ifs, depth, json + 2),
                }
            )
        element = self.reduce(node.elt, depth, json)
        return {"kind": "comprehension", "element": element, "loops": loops, "at": self.at(node)}

    def targets(self, target: ast.expr) -> list[Any]:
        """Names, and lists of names where an item of a tuple is a tuple itself."""
        named = [part.id for part in ast.walk(target) if isinstance(part, ast.Name)]
        if len(set(named)) != len(named):
            self.refuse("the names after for must differ", target)
        return (
            self.parts(target)
            if isinstance(target, (ast.Tuple, ast.List))
            else [self.part(target, 0)]
        )

    def parts(self, target: ast.Tuple | ast.List, within: int = 0) -> list[Any]:
        if not target.elts or within > _MAX_TUPLES:
            self.refuse("for takes a name, or names with commas between them", target)
        return [self.part(item, within) for item in target.elts]

    def part(self, target: ast.expr, within: int) -> str | list[Any]:
        if isinstance(target, (ast.Tuple, ast.List)):
            return self.parts(target, within + 1)
        if not isinstance(target, ast.Name):
            self.refuse("for takes a name, or names with commas between them", target)
        return self.variable(target.id, target)


def _variables(tree: ast.expr) -> Iterator[str]:
    """The names that an expression binds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


_HANDLERS: Handlers = {
    ast.Name: _Reducer.name,
    ast.Constant: _Reducer.constant,
    ast.UnaryOp: _Reducer.unary,
    ast.BinOp: _Reducer.binary,
    ast.BoolOp: _Reducer.bool,
    ast.Compare: _Reducer.compare,
    ast.Call: _Reducer.call,
    ast.Attribute: _Reducer.attribute,
    ast.Subscript: _Reducer.index,
    ast.Slice: _Reducer.slice,
    ast.List: _Reducer.sequence,
    ast.Tuple: _Reducer.sequence,
    ast.IfExp: _Reducer.if_else,
    ast.Lambda: _Reducer.lambda_,
    ast.ListComp: _Reducer.comprehension,
    ast.GeneratorExp: _Reducer.comprehension,
}
