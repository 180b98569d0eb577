"""Functions of the user's own as steps of a query: calls of columns, and what they give by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from keyword import iskeyword

from ..errors import QueryError, quoted
from ..language.expression import Expression, called
from ..language.external_functions import ExternalFunction
from ..language.tree_node import Tree
from .steps import Arguments

__all__ = ["as_provided", "call", "member", "together"]


def as_provided(value: object) -> ExternalFunction:
    """A function as expressions take it: as it is, or a callable over batches."""
    if isinstance(value, ExternalFunction):
        return value
    from ..functions.batched import Batched  # start-up

    assert callable(value)
    return Batched(value)


def call(
    function: Callable[..., object],
    columns: Arguments,
    names: Sequence[str] | None = None,
) -> Expression:
    """A function called with expressions, or with records of them; None: with the columns of its
    parameters' names. `names` of what it gives, if that is a tuple."""
    from ..functions.batched import Batched  # start-up

    given = as_provided(function)
    if names is not None:
        if not isinstance(given, Batched):
            raise QueryError("several names are defined by a Python function that gives a tuple")
        given = given.named([_member(place) for place in range(len(names))])
    if columns is None:
        columns = _parameters(function)
    listed = [columns] if isinstance(columns, (str, Mapping)) else list(columns)
    if any(isinstance(each, Mapping) for each in listed):
        if not isinstance(given, Batched):
            raise QueryError("records of columns are given to Python callables over batches only")
        given = given.of_records(
            [tuple(each) if isinstance(each, Mapping) else None for each in listed]
        )
    arguments = [
        text for each in listed for text in (each.values() if isinstance(each, Mapping) else [each])
    ]
    name = getattr(function, "__name__", "")
    is_name = isinstance(name, str) and name.isidentifier() and not iskeyword(name)
    return called(name if is_name else "function", given, arguments)


def together(names: Sequence[str]) -> str:
    """The column that stands for several which a function gives."""
    if len(set(names)) != len(names) or len(names) < 2:
        raise QueryError("a function that gives a tuple defines two or more columns, all different")
    return ", ".join(names)


def member(whole: str, place: int) -> Expression:
    """One of several columns."""
    text = f"{quoted(whole)}.{_member(place)}"
    end = len(text)
    column: Tree = {"kind": "name", "id": whole, "at": [0, end]}
    tree: Tree = {"kind": "attribute", "value": column, "name": _member(place), "at": [0, end]}
    return Expression(text, tree)


def _member(place: int) -> str:
    return f"part{place}"


def _parameters(function: Callable[..., object]) -> list[str]:
    import inspect  # start-up

    try:
        known = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise QueryError("say what it is called with: columns=[…]") from None
    names = [
        each.name
        for each in known
        if each.default is each.empty
        and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    if not names:
        raise QueryError("the function has no parameters: say what it is called with, columns=[…]")
    return names
