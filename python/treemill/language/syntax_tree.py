"""Reduces Python's syntax tree to that of the core's query format, as JSON-able dictionaries, as
Python means it or as TTreeFormula does.

Only the shape of an expression and its size are judged here. The core resolves names, types and
functions later, against a dataset's columns: this module must know no branch and no type.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NoReturn
from unicodedata import normalize

from ..errors import QueryError
from . import function_registry
from .clike import Rewritten
from .tokens import Dialect
from .tree_node import (
    MAX_DEPTH,
    MAX_JSON_DEPTH,
    MAX_NODES,
    Json,
    Reduction,
    Tree,
    children,
    too_deep,
    word,
)

__all__ = ["reduced"]

# Tables of Python's operators and their names in the query format, and of syntax that is refused
# with a message of its own. Standard library only.

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


_LONG_ROW = 8
"""The operators in a row that are still a tree; more are one node."""
_MAX_TUPLES = 3
"""Tuples within tuples that `for` takes apart."""


Handlers = Mapping[type[ast.AST], Callable[..., Tree]]
"""Functions of the reducer and a node, by the type of the node. Each makes the node's tree."""
_Place = ast.expr | ast.keyword | ast.arg
"""What errors can point at."""


def reduced(
    tree: ast.expr,
    text: str,
    rewritten: Rewritten,
    indent: int,
    bound: tuple[str, ...],
    dialect: Dialect,
) -> Reduction:
    """Reduces Python's tree of an expression to the query format's.

    `tree` is Python's tree of `rewritten`, without its first `indent` bytes; `text` is what the
    user wrote. `bound`: names that are no functions here. `dialect`: some nodes mean something else
    in TTreeFormula's. Raises QueryError with `text` and `span` for what is not in the language or
    too large.
    """
    handlers = {**_HANDLERS, **_own_handlers(dialect)}
    reducer = Reducer(text, rewritten, indent, bound, handlers, _APART if dialect.formula else ())
    if rewritten.names:
        reducer.variables = {*bound, *map(reducer.own, _variables(tree))}
    root = reducer.reduce(tree)
    return Reduction(root, reducer.depth, reducer.json, reducer.nodes)


class Reducer:
    """Makes the query format's tree of Python's, and bounds its size as it grows."""

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
        self._level = 0, 0
        """The depth of the current node in the tree, and in the JSON."""

    def reduce(self, node: ast.expr, json: int = 0, depth: int = 0) -> Tree:
        """The tree of a child of the current node. `json`, `depth`: levels between the two beyond
        the child's own."""
        parent = self._level
        self._level = parent[0] + depth + 1, parent[1] + json + 1
        self.note(node)
        handler = self.handlers.get(type(node))
        if handler is None:
            reason = REFUSED.get(type(node), f"{type(node).__name__} is not in the language")
            self.refuse(reason, node)
        subtree = handler(self, node)
        self._level = parent
        return subtree

    def note(self, node: ast.expr, nodes: int = 1, json: int = 0, depth: int = 0) -> None:
        """Counts nodes that reach this many levels below the current one. Raises QueryError if they
        are too many or too deep."""
        depth, json = self._level[0] + depth, self._level[1] + json
        self.depth, self.json = max(self.depth, depth), max(self.json, json)
        self.nodes += nodes
        if depth > MAX_DEPTH or json > MAX_JSON_DEPTH:
            raise too_deep(self.text, self.span(node))
        if self.nodes > MAX_NODES:
            self.refuse("with the functions that it calls the expression is too large", node)

    def _many(self, nodes: Sequence[ast.expr], json: int = 0) -> list[Tree]:
        """The trees of a list of children, which is a level of JSON itself."""
        return [self.reduce(node, json + 1) for node in nodes]

    def _optional(self, node: ast.expr | None) -> Tree | None:
        return None if node is None else self.reduce(node)

    def span(self, node: _Place) -> tuple[int, int]:
        """Returns where the user wrote a node, as a half-open range of characters."""
        assert node.end_col_offset is not None
        start = self.rewritten.place(self.indent + node.col_offset)
        stop = self.rewritten.place(self.indent + node.end_col_offset)
        # All of a node that a translation has added may stand at one place.
        return start, max(stop, start + 1)

    def at(self, node: _Place) -> list[int]:
        """The span, as JSON."""
        return list(self.span(node))

    def in_brackets(self, node: ast.expr) -> bool:
        """True if the user wrote brackets around exactly this node."""
        start, stop = self.span(node)
        return self.text[:start].rstrip().endswith("(") and self.text[stop:].lstrip()[:1] == ")"

    def refuse(self, message: str, node: _Place) -> NoReturn:
        """Raises QueryError that points at a node."""
        raise QueryError(message, text=self.text, span=self.span(node))

    # One method per kind of node, in the order of spec.rs.

    def _name(self, node: ast.Name) -> Tree:
        if node.id in SPELLED:
            return {"kind": "const", "value": SPELLED[node.id], "at": self.at(node)}
        return {"kind": "name", "id": self.spelled(node.id), "at": self.at(node)}

    def spelled(self, word: str) -> str:
        """A name as the user spelled it. Names that the expression binds itself are spelled as
        Python spells them."""
        name = self.rewritten.names.get(word, word)
        return self.own(word) if self.own(word) in self.variables else name

    def own(self, word: str) -> str:
        """A name as Python spells it."""
        return normalize("NFKC", self.rewritten.names.get(word, word))

    def variable(self, word: str, node: _Place) -> str:
        """A name that the expression binds."""
        name = self.own(word)
        if not name.isidentifier():
            self.refuse("names in backticks are columns', and no variables'", node)
        return name

    def _constant(self, node: ast.Constant) -> Tree:
        value = node.value
        if not isinstance(value, (bool, int, float, str)):
            self.refuse(f"{constant_word(value)} is not in the language", node)
        if isinstance(value, float) and value in (float("inf"), float("-inf")):
            self.refuse("this number is larger than a double can hold", node)
        if isinstance(value, int) and value >= 1 << 64:
            self.refuse("this number is larger than 64 bits can hold", node)
        return {"kind": "const", "value": value, "at": self.at(node)}

    def unary(self, node: ast.UnaryOp) -> Tree:
        """An operator and its operand."""
        op = UNARY[type(node.op)]
        if op == "~" and self.indent + node.col_offset in self.rewritten.bangs:
            op = "not"
        operand = self.reduce(node.operand)
        return {"kind": "unary", "op": op, "operand": operand, "at": self.at(node)}

    def binary(self, node: ast.BinOp) -> Tree:
        """Two operands and an operator, or a row of them."""
        row = self.row(node)
        if len(row) > _LONG_ROW:
            return self._chain(row)
        left = self.reduce(node.left)
        right = self.reduce(node.right)
        op = self._operator(node)
        return {"kind": "binary", "op": op, "left": left, "right": right, "at": self.at(node)}

    def _operator(self, node: ast.BinOp) -> str:
        op = BINARY.get(type(node.op))
        if op is None:
            self.refuse("@ is not in the language", node)
        return op

    def row(self, node: ast.BinOp) -> list[ast.BinOp]:
        """The operators of `a + b * 2 - c …` that are done one after another, the last one first.
        An operator that a dialect replaces ends the row."""
        row = [node]
        while isinstance(left := row[-1].left, ast.BinOp) and not isinstance(left.op, self.apart):
            row.append(left)
        return row

    def _chain(self, row: list[ast.BinOp]) -> Tree:
        """Makes one node of a row, so that thousands of terms are no deeper than one."""
        first = self.reduce(row[-1].left)
        rest: list[Tree] = []
        for node in reversed(row):
            op = self._operator(node)
            right = self.reduce(node.right, 2)
            rest.append({"op": op, "right": right, "at": self.at(node)})
            self.nodes += 1
        return {"kind": "chain", "first": first, "rest": rest, "at": self.at(row[0])}

    def _bool(self, node: ast.BoolOp) -> Tree:
        op = "and" if isinstance(node.op, ast.And) else "or"
        values = self._many(node.values)
        return {"kind": "bool", "op": op, "values": values, "at": self.at(node)}

    def compare(self, node: ast.Compare) -> Tree:
        """A comparison, or several in a row as Python reads them."""
        ops = [COMPARE.get(type(op)) for op in node.ops]
        if None in ops:
            self.refuse(
                "is and is not are not in the language; write == or !=, or is_missing(x)", node
            )
        for middle in node.comparators[:-1]:
            self.check_bitwise(middle)
        left = self.reduce(node.left)
        rights = self._many(node.comparators)
        return {"kind": "compare", "left": left, "ops": ops, "rights": rights, "at": self.at(node)}

    def check_bitwise(self, middle: ast.expr) -> None:
        """Refuses `a > 1 & b > 2`, which is `a > (1 & b) > 2` to Python and `(a > 1) & (b > 2)` to
        C: the first is hardly ever meant."""
        if not (isinstance(middle, ast.BinOp) and isinstance(middle.op, BITWISE)):
            return
        if not self.in_brackets(middle):
            op = BINARY[type(middle.op)]
            self.refuse(
                f"{op} binds more tightly than a comparison: put each comparison in parentheses, "
                "or write 'and', 'or'",
                middle,
            )

    def call(self, node: ast.Call) -> Tree:
        """A call of the core's functions, or of the user's."""
        if not isinstance(node.func, (ast.Name, ast.Attribute, ast.Subscript)):
            self.refuse("only a name, an attribute or an item can be called", node.func)
        name = self.own(node.func.id) if isinstance(node.func, ast.Name) else None
        if name is not None and name not in self.bound and (known := function_registry.find(name)):
            return self._apply(node, known)
        keywords: set[str] = set()
        for keyword in node.keywords:
            if keyword.arg is None:
                self.refuse("** in a call is not in the language", keyword)
            if keyword.arg in keywords:
                self.refuse(f"the argument {keyword.arg} is given twice", keyword)
            keywords.add(keyword.arg)
        return {
            "kind": "call",
            "function": self.reduce(node.func),
            "args": self._many(node.args),
            "keywords": [[keyword.arg, self.reduce(keyword.value, 2)] for keyword in node.keywords],
            "at": self.at(node),
        }

    def _apply(self, node: ast.Call, known: function_registry.UserFunction) -> Tree:
        if node.keywords or any(isinstance(arg, ast.Starred) for arg in node.args):
            self.refuse(f"{known.name}(…) takes its arguments in order, without names", node)
        # The function's text and its tree are a level of JSON each, in that of this node.
        self.note(node, known.size, known.json + 3, known.depth + 1)
        return {
            "kind": "apply",
            "name": known.name,
            "params": list(known.params),
            "body": known.body,
            "args": self._many(node.args),
            "at": self.at(node),
        }

    def _attribute(self, node: ast.Attribute) -> Tree:
        if node.attr.startswith("_"):
            self.refuse(f"a name with an underscore first goes in backticks: .`{node.attr}`", node)
        value = self.reduce(node.value)
        name = self.rewritten.names.get(node.attr, node.attr)
        return {"kind": "attribute", "value": value, "name": name, "at": self.at(node)}

    def _index(self, node: ast.Subscript) -> Tree:
        value = self.reduce(node.value)
        index = self.reduce(node.slice)
        return {"kind": "index", "value": value, "index": index, "at": self.at(node)}

    def _slice(self, node: ast.Slice) -> Tree:
        return {
            "kind": "slice",
            "lower": self._optional(node.lower),
            "upper": self._optional(node.upper),
            "step": self._optional(node.step),
            "at": self.at(node),
        }

    def _sequence(self, node: ast.List | ast.Tuple) -> Tree:
        items = self._many(node.elts)
        sequence: Tree = {"kind": "sequence", "items": items, "at": self.at(node)}
        return sequence | {"is_tuple": True} if isinstance(node, ast.Tuple) else sequence

    def _if_else(self, node: ast.IfExp) -> Tree:
        return {
            "kind": "if_else",
            "test": self.reduce(node.test),
            "body": self.reduce(node.body),
            "otherwise": self.reduce(node.orelse),
            "at": self.at(node),
        }

    def _lambda(self, node: ast.Lambda) -> Tree:
        signature = node.args
        if (
            signature.vararg
            or signature.kwarg
            or signature.kwonlyargs
            or signature.posonlyargs
            or signature.defaults
        ):
            self.refuse("a lambda takes plain names only", node)
        params = [self.variable(argument.arg, argument) for argument in signature.args]
        if len(set(params)) != len(params):
            self.refuse("a lambda's names must differ", node)
        body = self.reduce(node.body)
        return {"kind": "lambda", "params": params, "body": body, "at": self.at(node)}

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> Tree:
        loops: list[Tree] = []
        for loop in node.generators:
            if loop.is_async:
                self.refuse("async is not in the language", node)
            loops.append(
                {
                    "targets": self._targets(loop.target),
                    "iter": self.reduce(loop.iter, 2),
                    "conditions": self._many(loop.ifs, 2),
                }
            )
        element = self.reduce(node.elt)
        return {"kind": "comprehension", "element": element, "loops": loops, "at": self.at(node)}

    def _targets(self, target: ast.expr) -> list[Json]:
        """The names after `for`; a list of names for an item that is a tuple itself."""
        named = [part.id for part in ast.walk(target) if isinstance(part, ast.Name)]
        if len(set(named)) != len(named):
            self.refuse("the names after for must differ", target)
        part = self._part(target)
        return part if isinstance(part, list) else [part]

    def _part(self, target: ast.expr, within: int = 0) -> str | list[Json]:
        """A name, or the names of an item that is a tuple, in so many others."""
        if isinstance(target, (ast.Tuple, ast.List)) and target.elts and within <= _MAX_TUPLES:
            return [self._part(item, within + 1) for item in target.elts]
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
    ast.Name: Reducer._name,
    ast.Constant: Reducer._constant,
    ast.UnaryOp: Reducer.unary,
    ast.BinOp: Reducer.binary,
    ast.BoolOp: Reducer._bool,
    ast.Compare: Reducer.compare,
    ast.Call: Reducer.call,
    ast.Attribute: Reducer._attribute,
    ast.Subscript: Reducer._index,
    ast.Slice: Reducer._slice,
    ast.List: Reducer._sequence,
    ast.Tuple: Reducer._sequence,
    ast.IfExp: Reducer._if_else,
    ast.Lambda: Reducer._lambda,
    ast.ListComp: Reducer._comprehension,
    ast.GeneratorExp: Reducer._comprehension,
}


# Nodes that mean something else to TTreeFormula than to Python: `%`, powers of powers, comparisons
# in a row, arithmetic of integers, and functions of another name.

_APART = (ast.Mod,)
"""Operators of which something else is made."""
_FUNCTIONS = {"sq": "square", "round": "round_half_away"}
"""TTreeFormula's functions without a namespace that the language calls otherwise."""
_IN_DOUBLES = {"+", "-", "*", "**"}
"""Operators whose results may need more than 64 bits. TTreeFormula computes in doubles."""


def _own_handlers(dialect: Dialect) -> Handlers:
    """The handlers that a dialect has instead of Python's."""
    if not dialect.formula:
        return {}
    return _OF_FORMULA if dialect.has_chains else {**_OF_FORMULA, ast.Compare: _comparison}


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


_OF_FORMULA: Handlers = {ast.BinOp: _operator, ast.UnaryOp: _minus, ast.Call: _function}
