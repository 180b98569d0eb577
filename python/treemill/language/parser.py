"""An expression's text to its syntax tree (`syntax_tree.py`), by Python's own parser.

Only the shape of an expression is judged here. The core resolves names, types and functions later,
against a dataset's columns: this module must know no branch, no function and no type.
"""

from __future__ import annotations

import ast
import re

from ..errors import QueryError, is_plain
from . import function_registry
from .clike import Rewritten, rewrite
from .syntax_tree import Handlers, Reducer, reduced
from .tokens import Dialect
from .tree_node import Reduction, Tree, children, too_deep, word

__all__ = ["parsed"]

# Finds C's casts, `(unsigned int)x`, in a text that does not parse, and says what to write. The
# language has none. TTree::Draw has none either: it refuses types of two words, and for types of
# one word it warns and leaves the values as they are. Pure text, standard library only. Knows
# types, no columns.

_CAST = re.compile(
    r"\(\s*(?:const\s+)?(?:std::)?(?P<type>[^\W\d]\w*(?:\s+[^\W\d]\w*)*)\s*\)\s*"
    r"|\bstatic_cast\s*<\s*(?P<other>[\w\s:]+?)\s*>\s*"
)
_NAMED = re.compile(
    r"(u?)(bool|char|short|int|long|float|double|size)(8|16|32|64)?_t", re.IGNORECASE
)
_OF_BITS = {"8": "char", "16": "short", "32": "int", "64": "long"}
_WORDS = {"signed", "unsigned", "char", "short", "int", "long", "float", "double", "bool"}
_CAST_FUNCTIONS = {"bool": "bool", "float": "float", "double": "float"}
_UNSIGNED = {"char": 8, "short": 16, "long": 64}
_INT = 32


def cast_at(text: str, place: int) -> tuple[tuple[int, int], str] | None:
    """The span of the cast at the place of the parser's error, and a message; None if there is no
    cast."""
    for cast in _CAST.finditer(text):
        if cast.start() <= place <= cast.end():
            words = (cast["type"] or cast["other"].removeprefix("std::")).split()
            words = [word for name in words for word in _spelled(name)]
            if _WORDS.issuperset(words):
                stop = cast.start() + len(cast.group().rstrip())
                return (cast.start(), stop), _said(words)
    return None


def _spelled(name: str) -> list[str]:
    """Spells a type of ROOT's or of the standard library's (`ULong64_t`, `size_t`) in C's words."""
    known = _NAMED.fullmatch(name)
    if known is None:
        return [name]
    sign, kind, bits = (part and part.lower() for part in known.groups())
    if kind == "size":
        return ["unsigned", "long"]
    return [*(["unsigned"] if sign else []), _OF_BITS[bits] if kind == "int" and bits else kind]


def _said(words: list[str]) -> str:
    function = next((_CAST_FUNCTIONS[word] for word in words if word in _CAST_FUNCTIONS), "int")
    said = f"C's casts are not in the language; write {function}(…)"
    bits = next((_UNSIGNED[word] for word in words if word in _UNSIGNED), _INT)
    if "unsigned" not in words or bits == max(_UNSIGNED.values()):
        return said
    return f"{said}, or to let values wrap around (int(…) & {(1 << bits) - 1:#x})"


# Handlers, for `syntax_tree.reduced`, of nodes that mean something else to TTreeFormula than to
# Python: `%`, powers of powers, comparisons in a row, arithmetic of integers, and functions of
# another name. Pure: Python's nodes to the core's query format. Knows no text but that between a
# node's brackets.

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
