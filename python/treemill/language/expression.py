"""Expressions: parsed texts, names of columns, constants.

A text goes to its syntax tree (`syntax_tree.py`) by Python's own parser. What that needs is loaded
with the first expression. Only the shape of an expression is judged here: this module knows no
branch, no function and no type.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from ..errors import QueryError, is_plain, quoted
from . import function_registry
from .function_registry import ExternalFunction
from .tokens import LANGUAGE, Dialect
from .tree_node import Json, Tree, too_deep

if TYPE_CHECKING:
    from .clike import Rewritten
    from .tree_node import Reduction

__all__ = [
    "Constant",
    "Expression",
    "Weight",
    "called",
    "column",
    "constant",
    "function",
    "is_product",
    "may_be_product",
    "measured",
    "mentions",
    "parse",
    "product",
    "provided",
    "weighted",
    "words",
]

# Which names the syntax trees of expressions mention, and which columns these may mean. Pure:
# standard library only.

_NAMED = {"name": "id", "attribute": "name"}
"""The part that has the name, by kind of node."""


def words(tree: Tree) -> frozenset[str]:
    """Returns all names and attributes in a syntax tree."""
    return frozenset(_named(tree, _NAMED))


def names(tree: Tree) -> frozenset[str]:
    """Returns all names in a syntax tree, without attributes."""
    return frozenset(_named(tree, {"name": "id"}))


def _named(tree: Tree, keys: Mapping[str, str]) -> Iterator[str]:
    pending: list[Json] = [tree]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):  # a mapping of any kind would be asked for in ten times the time
            key = keys.get(each.get("kind", ""))
            if key is not None:
                yield str(each[key])
            pending += [part for part in each.values() if isinstance(part, (dict, list))]
        elif isinstance(each, list):
            pending += each


def mentions(known: Set[str], name: str) -> bool:
    """True if expressions of these words can mean the column `name`: by its name, or as a member
    of the collection that it belongs to (`Jet.pt` means `Jet_pt`). If in doubt, they can."""
    if name in known:
        return True
    return any(
        name[sign.end() :] in known and mentions(known, name[: sign.start()])
        for sign in re.finditer(r"[._]", name)
    )


# Whether a text with stars, such as `Jet_*` or `MET_pt*2`, is a glob or a product.

_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE]\d+)?")


def is_product(text: str, names: Container[str]) -> bool:
    """True for a product, whose factors are numbers and names that there are.

    >>> is_product("MET_pt*1.5", {"MET_pt"}), is_product("MET_*", {"MET_pt"})
    (True, False)
    """
    factors = re.split(r"[*]+", text)
    return all(factor in names or _NUMBER.fullmatch(factor) is not None for factor in factors)


def may_be_product(text: str, names: Iterable[str]) -> bool:
    """True if a text that no name fits may be a product: one of its factors is a name that there
    is, or begins with a collection.

    >>> may_be_product("Jet.pt*pi", {"Jet_pt"}), may_be_product("Jet_*_pt", {"Jet_pt"})
    (True, False)
    """
    factors = re.split(r"[*]+", text)
    if not all(_FACTOR.fullmatch(factor) or _NUMBER.fullmatch(factor) for factor in factors):
        return False
    heads = {factor.partition(".")[0] for factor in factors}
    return any(heads.intersection((name, *_collections(name))) for name in names)


def _collections(name: str) -> Iterator[str]:
    """The collections that a column of this name may be a member of."""
    return (name[: sign.start()] for sign in re.finditer(r"[._]", name))


_FACTOR = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


Constant = bool | int | float | str
Weight = str | float | None
"""What weighs values: an expression, or one number for all."""

MAX_LENGTH = 100_000
"""Characters of an expression."""
MAX_ITEMS = 10_000
"""Items of a list of constants."""
_SHOWN = 20
_LARGEST = 1.7976931348623157e308


@dataclass(frozen=True)
class Expression:
    """A parsed expression. `tree` is shared between equal expressions: do not change it."""

    text: str
    tree: Tree
    found: bool = False
    """Whether it is a name that a pattern has found. If a column of that name is redefined, it
    means the new one."""
    provided: ExternalFunction | None = None
    """What it stands for, if it is no expression of the language but functions that others call."""

    @cached_property
    def words(self) -> frozenset[str]:
        """All names and attributes in the expression."""
        return words(self.tree)

    @cached_property
    def names(self) -> frozenset[str]:
        """All names in the expression, without attributes."""
        return names(self.tree)

    @cached_property
    def members(self) -> frozenset[str]:
        """All attributes in the expression."""
        return frozenset(_named(self.tree, {"attribute": "name"}))

    def to_json(self) -> Tree:
        """Gives the form that the core reads."""
        return {"text": self.text, "tree": self.tree}


def parse(text: str, dialect: Dialect = LANGUAGE) -> Expression:
    """Parses an expression: Python's syntax, with `&& || !` besides `and or not`, `true`, `false`
    besides `True`, `False`, TTreeFormula's functions, and signs as in this dialect.

    Raises QueryError with `text` and `span` for what is not in the language, for more than 100,000
    characters, and for more than 100 levels of nesting.
    """
    if not isinstance(text, str):
        raise QueryError(f"an expression is a string, not {type(text).__name__}{_spelled(text)}")
    if len(text) > MAX_LENGTH:
        raise QueryError(
            f"the expression has {len(text)} characters; {MAX_LENGTH} is the limit",
            text=text[:60] + "…",
        )
    return _parse(text, function_registry.version(), dialect)[0]


def column(name: str, found: bool = False) -> Expression:
    """A column of any name as an expression; `found` by a pattern, or written."""
    text = quoted(name)
    return Expression(text, {"kind": "name", "id": name, "at": [0, len(text)]}, found)


def product(of: Expression, by: Expression) -> Expression:
    """One expression times another."""
    tree: Tree = {
        "kind": "binary",
        "op": "*",
        "left": of.tree,
        "right": by.tree,
        "at": [0, len(of.text)],
    }
    return Expression(of.text, tree)


def provided(name: str, value: ExternalFunction) -> Expression:
    """Functions that expressions call by this name, as an expression."""
    tree: Tree = {"kind": "provided", "id": value.identity, "name": name, "at": [0, len(name)]}
    return Expression(name, tree, provided=value)


def called(name: str, value: ExternalFunction, arguments: Sequence[str]) -> Expression:
    """A call of a function of these expressions. `name`: what messages call it, an identifier."""
    for argument in arguments:
        parse(argument)
    text = f"{name}({', '.join(arguments)})"
    tree = _parse(text, function_registry.version(), LANGUAGE, (name,))[0].tree
    return Expression(text, {**tree, "function": provided(name, value).tree}, provided=value)


def constant(value: Constant | Sequence[Constant]) -> Expression:
    """A constant, or a list of them, as an expression; NumPy's count as Python's. Raises QueryError
    for what is no finite number, no bool and no string."""
    plain: object = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(plain, (list, tuple)):
        return _list(plain)
    return _single(plain)


def weighted(by: Weight) -> Expression | None:
    """A weight as the user gives it, an expression or one number for all; None: there is none."""
    if by is None:
        return None
    if isinstance(by, str):
        return parse(by)
    # NumPy's numbers too, but no arrays.
    is_number = hasattr(by, "__float__") and not getattr(by, "ndim", 0)
    if not is_number:
        raise QueryError(f"a weight is an expression or a number, not {type(by).__name__}")
    return constant(by)


def _list(values: Sequence[object]) -> Expression:
    if not 1 <= len(values) <= MAX_ITEMS:
        raise QueryError(f"a list of constants has 1 to {MAX_ITEMS} items, not {len(values)}")
    items = [_single(value).tree for value in values]
    text = repr(list(values)) if len(values) <= _SHOWN else f"[{values[0]!r}, …]"
    return Expression(text, {"kind": "sequence", "items": items, "at": [0, len(text)]})


def _single(value: object) -> Expression:
    if isinstance(value, (bool, int, float, str)) and _fits(value):
        text = repr(value)
        return Expression(text, {"kind": "const", "value": value, "at": [0, len(text)]})
    raise QueryError(
        f"a constant is a bool, a finite number or a string, not {value!r:.80}{_instead(value)}"
    )


def _spelled(value: object) -> str:
    """What to write for something that is no expression."""
    if isinstance(value, (bool, int, float)):
        return f': write "{value}"'
    if callable(value):
        return ": define a column by the function first, define(name, function)"
    if hasattr(value, "__len__") and hasattr(value, "dtype"):
        return ": make a column of the array first, events.define(name, array)"
    return ""


def _instead(value: object) -> str:
    """Says what expressions take in the place of another library's object, or of a function."""
    library = type(value).__module__.partition(".")[0]
    wrapper = _WRAPPERS.get(library, "kernel(…) or treemill.batched(…)" if callable(value) else "")
    return wrapper and f": expressions call what is wrapped by treemill.{wrapper}"


_WRAPPERS = {
    "correctionlib": "corrections(…), which reads the file",
    "xgboost": "model(…), which reads the file",
    "lightgbm": "model(…), which reads the file",
    "onnxruntime": "model(…), which reads the file",
    "numba": "kernel(…)",
}


def _fits(value: Constant) -> bool:
    """True if 64 bits can hold it."""
    if isinstance(value, int):
        return -(1 << 63) <= value < 1 << 64
    return isinstance(value, str) or abs(value) <= _LARGEST


def measured(text: str, params: tuple[str, ...]) -> tuple[Expression, Reduction]:
    """The body of a function of these parameters, with its size."""
    parse(text)  # checks its length
    return _parse(text, function_registry.version(), LANGUAGE, params)


@lru_cache(maxsize=4096)
def _parse(
    text: str, version: int, dialect: Dialect, bound: tuple[str, ...] = ()
) -> tuple[Expression, Reduction]:
    """`version` is the function registry's, because an expression means the functions that are
    known when it is written. `bound`: names that are no functions here."""
    reduction = _parsed(text, dialect, bound)
    return Expression(text, reduction.tree), reduction


# A text to its syntax tree, by Python's own parser.


def _parsed(text: str, dialect: Dialect, bound: tuple[str, ...]) -> Reduction:
    """The syntax tree of an expression, with its size. `bound`: names that are no functions here.

    Raises QueryError with `text` and `span` for what is not in the language."""
    from .clike import rewrite  # start-up
    from .syntax_tree import reduced  # start-up

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
    return reduced(tree, text, rewritten, indent, bound, dialect)


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


_WORD = re.compile(r"\w+|\S")


def _unexpected(text: str, place: int) -> str:
    """What is wrong at a place at which Python's parser has stopped, and says no more."""
    word = _WORD.match(text, place)
    if word is None:
        return "the expression ends where a value should follow"
    if word[0] == "for":
        return "a loop stands in brackets, as in [j.pt for j in Jet] or sum(j.pt for j in Jet)"
    if word[0][0].isalnum() and _WORD.findall(text[:place])[-1:] not in ([], ["("]):
        return (
            f"an operator or a comma is missing before {word[0]} (a name with other characters "
            "than letters, digits and _ stands in backticks)"
        )
    return f"{word[0]} cannot stand here"


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
        if message == "invalid syntax":
            message = f"invalid syntax: {_unexpected(text, len(text))}"
        return QueryError(message, text=text, span=(len(text), len(text) + 1))
    from .clike import cast_at  # start-up

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
    elif message == "invalid syntax":
        message = f"invalid syntax: {_unexpected(text, start)}"
    stop = place(error.end_offset) if error.end_lineno == error.lineno else None
    return QueryError(message, text=text, span=(start, max(stop or 0, start + 1)))


# `treemill.function`: functions of the user's own, as expressions.


def function(signature: str, body: str) -> None:
    """Make a function that all later expressions can call.

    The function does not see the variables of the expression that calls it. It may call functions
    that you have made before, and therefore cannot call itself. If you use a name again, later
    expressions call the new function.

    Parameters
    ----------
    signature
        Its name and parameters, as "mt(a, met)".
    body
        An expression over the parameters and the dataset's columns.

    Raises
    ------
    QueryError
        For an invalid signature or expression.

    Examples
    --------
    >>> tm.function("mt(a, met)", "sqrt(2 * a.pt * met.pt * (1 - cos(a.phi - met.phi)))")
    >>> masses = events.filter("nMuon >= 1").hist("mt(Muon[0], MET)", bins=(100, 0, 200))
    """
    name, params = _signature(signature)
    expression, size = measured(body, params)
    function_registry.register(
        function_registry.UserFunction(
            name, params, expression.to_json(), size.depth, size.json, size.nodes
        )
    )


def _signature(text: str) -> tuple[str, tuple[str, ...]]:
    wrong = f"a function's signature is like 'mt(a, met)', not {text!r}"
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise QueryError(wrong) from None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)) or call.keywords:
        raise QueryError(wrong)
    params = tuple(arg.id for arg in call.args if isinstance(arg, ast.Name))
    if len(params) != len(call.args) or not params or len(set(params)) != len(params):
        raise QueryError(f"{wrong}: it takes one or more different names")
    if any(keyword.iskeyword(param) for param in params):
        raise QueryError(wrong)
    return call.func.id, params
