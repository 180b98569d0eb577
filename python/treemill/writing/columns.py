"""Columns as a tree's branches have them: numbers in a row, how many belong to each entry,
and the dimensions of each item. What a branch cannot hold is refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays.columns import values_of_node
from ..arrays.kinds import Kind
from ..errors import UnsupportedError

__all__ = ["Branch", "Values", "branch_of", "described", "values_of"]

_LETTERS = {
    "int8": "B",
    "uint8": "b",
    "int16": "S",
    "uint16": "s",
    "int32": "I",
    "uint32": "i",
    "int64": "L",
    "uint64": "l",
    "float32": "F",
    "float64": "D",
    "bool": "O",
}
_WIDER = {"float16": "float32"}
_TEXT = "C"


@dataclass(frozen=True)
class Branch:
    """A branch with one leaf. `letter`: its type, as ROOT's leaf lists have it; `dims`: of each
    value, or of each item of a list; `counter`: the branch with the lengths of its lists."""

    name: str
    letter: str
    dims: tuple[int, ...] = ()
    counter: str | None = None
    title: str = ""

    @property
    def is_text(self) -> bool:
        """Whether its values are strings."""
        return self.letter == _TEXT

    @property
    def leaf(self) -> str:
        """The leaf's title: its name with its dimensions."""
        dims = [self.counter] if self.counter is not None else []
        return self.name + "".join(f"[{each}]" for each in [*dims, *self.dims])


@dataclass(frozen=True)
class Values:
    """Values of some entries. `items`: numbers by item, with a dimension for each of the branch's,
    or bytes of strings; `offsets`: the first item of each entry, and their number; None: one item
    each."""

    items: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64] | None = None


def branch_of(name: str, kind: Kind, counter: str | None = None, title: str = "") -> Branch:
    """The branch for a kind. Raises UnsupportedError, which names the column, where a tree has
    none."""
    is_list = kind.form == "list"
    inner = kind.item if is_list else kind
    dims = []
    while inner.form == "array":
        dims.append(inner.size)
        inner = inner.item
    if inner.form == "string" and not dims and not is_list:
        return Branch(name, _TEXT, title=title)
    letter = _LETTERS.get(_WIDER.get(inner.dtype, inner.dtype))
    if letter is None:
        raise UnsupportedError(
            f"a TTree cannot hold {name}, {described(kind)}: write an RNTuple "
            '(format="rntuple") or .parquet',
            branch=name,
        )
    return Branch(name, letter, tuple(dims), counter if is_list else None, title)


def values_of(column: Any) -> Values:
    """The values of a core.Column without missing ones, of a kind that `branch_of` takes."""
    node, offsets = _there(column.nodes()), None
    if type(node) is tuple and node[0] == "string":
        return Values(np.asarray(node[2]), np.asarray(node[1]))
    if type(node) is tuple and node[0] == "list":
        offsets, node = np.asarray(node[1]), _there(node[2])
    dims = []
    while type(node) is tuple and node[0] == "regular":
        dims.append(node[1])
        node = _there(node[3])
    items = values_of_node(node)
    if items.dtype.name in _WIDER:
        items = items.astype(_WIDER[items.dtype.name])
    return Values(items.reshape(-1, *dims) if dims else items, offsets)


def _there(node: Any) -> Any:
    """Of an option of which nothing is missing, the values."""
    return node[2] if type(node) is tuple and node[0] == "option" else node


def described(kind: Kind) -> str:
    """A kind in words."""
    if kind.form == "list":
        return f"a list of {_plural(described(kind.item))}"
    if kind.form == "array":
        return f"an array of {kind.size} {_plural(described(kind.item))}"
    name = _WIDER.get(kind.dtype, kind.dtype) or kind.form
    return f"an {name}" if name[0] in "aeio" else f"a {name}"


def _plural(words: str) -> str:
    words = words.removeprefix("an ").removeprefix("a ")
    head, of, rest = words.partition(" of ")
    return f"{head}s{of}{rest}"
