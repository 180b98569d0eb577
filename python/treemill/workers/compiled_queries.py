"""Specifications in the core's form. The last ones are kept: the same bookings are asked of one
dataset after another, and to write and to parse a specification takes as long as to plan it.

Knows no file, no chain and no worker.
"""

from __future__ import annotations

import marshal
import threading
from collections import OrderedDict
from typing import cast

from treemill import _core

from ..query.specification import Specification

__all__ = ["KEPT", "compiled"]

KEPT = 64
"""Specifications that are kept, at most."""

_kept: OrderedDict[bytes, _core.Query] = OrderedDict()
_lock = threading.Lock()


def compiled(specification: Specification) -> _core.Query:
    """The specification in the core's form. One that calls functions of the user is made each time,
    because it holds these functions."""
    if specification.provided:
        functions = {
            key: cast(_core.Functions, each.core()) for key, each in specification.provided.items()
        }
        return _core.Query(specification.text, functions)
    form = _form(specification)
    with _lock:
        if form in _kept:
            _kept.move_to_end(form)
            return _kept[form]
    query = _core.Query(specification.text)
    with _lock:
        _kept[form] = query
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return query


def _form(specification: Specification) -> bytes:
    """Returns what tells specifications apart. The second version of `marshal` writes equal values
    alike, and is some times faster than JSON."""
    parts = specification.steps, specification.bookings, specification.relations
    try:
        return marshal.dumps(parts, 2)  # type: ignore[arg-type]  # dictionaries with known keys
    except ValueError:  # not of Python's plain types
        return specification.text.encode()
