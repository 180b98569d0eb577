"""`treemill.function`: functions of the user's own, as expressions."""

from __future__ import annotations

import ast
import keyword

from ..errors import QueryError
from . import function_registry
from .expression import measured

__all__ = ["function"]


def function(signature: str, body: str) -> None:
    """Make a function that expressions written from now on can call.

    The function does not see the variables of the expression that calls it. It may call functions
    that were made before, and so never itself. If a name is used again, expressions that are
    written later mean the new function.

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
