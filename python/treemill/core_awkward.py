"""The core's columns as awkward layouts, from their buffers, without Arrow between: what is nearly
always read, in a tenth of the steps. Laid out as by arrow_awkward.py, which also takes columns
that are none of this (missing values, unions, several put together).

Knows core.Column, awkward and numpy; knows nothing of files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import awkward as ak
import numpy as np
from awkward.contents import ListOffsetArray, NumpyArray, RecordArray, RegularArray
from awkward.index import Index64

from .bits import unpacked

__all__ = ["layout", "records"]


def records(names: Sequence[str], layouts: list[Any], length: int) -> Any:
    """An awkward array of records from the layouts of their fields."""
    return ak.Array(RecordArray(layouts, list(names), length=length))


def layout(column: Any) -> Any:
    """The awkward layout of a core.Column; None where arrow_awkward has to make it."""
    node = column.nodes()
    return None if node is None else _layout(node)


def _layout(node: Any) -> Any:
    """Of core.Values, or of a tuple of what it is and its parts (crates/treemill-py, nodes.rs)."""
    if type(node) is tuple:
        return _MAKERS[node[0]](*node[1:])
    return NumpyArray(np.asarray(node))


def _list(offsets: Any, items: Any) -> Any:
    return ListOffsetArray(Index64(np.asarray(offsets)), _layout(items))


def _string(offsets: Any, letters: Any) -> Any:
    index = Index64(np.asarray(offsets))
    content = NumpyArray(np.asarray(letters), parameters={"__array__": "char"})
    return ListOffsetArray(index, content, parameters={"__array__": "string"})


def _regular(size: int, length: int, items: Any) -> Any:
    return RegularArray(_layout(items), size, zeros_length=length)


def _record(names: tuple[str, ...] | None, members: list[Any], length: int) -> Any:
    return RecordArray([_layout(member) for member in members], names, length=length)


def _bits(values: Any, first: int, length: int) -> Any:
    return NumpyArray(unpacked(np.asarray(values), first, length))


_MAKERS: dict[str, Callable[..., Any]] = {
    "list": _list,
    "string": _string,
    "regular": _regular,
    "record": _record,
    "bits": _bits,
}
