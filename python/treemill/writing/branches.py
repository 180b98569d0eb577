"""The branches that columns become in a tree, and the values that they hold: numbers in a row, the
number of them in each entry, the dimensions of each item. Values that a branch cannot hold
are refused, with the column's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..data.columns import values_of_node
from ..data.kinds import Kind
from ..errors import UnsupportedError

if TYPE_CHECKING:
    from .._core import Column
    from ..data.column_source import Node

__all__ = [
    "BranchValues",
    "OutputBranch",
    "branch_of",
    "described",
    "has_branch",
    "has_vectors",
    "values_of",
]

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
MASK = "R_rdf_mask_"
"""What the names of columns with bits of variations begin with."""
_MASK_LETTER = "g"
"""RDataFrame reads such bits as an unsigned long, which is another type than `l`."""
_WIDER = {"float16": "float32"}
TEXT = "C"
"""The type of strings, as in ROOT's leaf lists. They are written as objects of class string,
because RDataFrame takes what a leaf list makes for arrays of letters."""
_TYPES = {
    "B": "char",
    "b": "unsigned char",
    "S": "short",
    "s": "unsigned short",
    "I": "int",
    "i": "unsigned int",
    "L": "Long64_t",
    "l": "ULong64_t",
    "F": "float",
    "D": "double",
    "O": "bool",
}
"""C++'s names of types, in the spelling in which ROOT has vectors of them."""


@dataclass(frozen=True)
class OutputBranch:
    """A branch with one leaf."""

    name: str
    letter: str
    """Its type, as in ROOT's leaf lists."""
    dims: tuple[int, ...] = ()
    """The dimensions of each value, or of each item of a list."""
    counter: str | None = None
    """The branch with the lengths of its lists."""
    title: str = ""
    is_vector: bool = False
    """Whether each of its values is a vector, which needs no counter."""

    @property
    def object_class(self) -> str | None:
        """The class of C++ of which its values are objects; None if they are numbers."""
        if self.is_vector:
            return f"vector<{_TYPES[self.letter]}>"
        return "string" if self.letter == TEXT else None

    @property
    def leaf(self) -> str:
        """The leaf's title: its name with its dimensions."""
        if self.object_class is not None:
            return self.name
        dims = [self.counter] if self.counter is not None else []
        return self.name + "".join(f"[{each}]" for each in [*dims, *self.dims])


@dataclass(frozen=True)
class BranchValues:
    """The values of some entries."""

    items: NDArray[np.generic]
    """Numbers by item, with the branch's dimensions; or the bytes of strings."""
    offsets: NDArray[np.int64] | None = None
    """The first item of each entry, and the number of all items. None: each entry has one item."""


def has_vectors(kind: Kind) -> bool:
    """True if there is a class of vectors for the lists of a column of this kind."""
    return kind.form == "list" and kind.item.form == "number"


def has_branch(kind: Kind) -> bool:
    """True if a tree has branches for columns of this kind."""
    return _leaf(kind)[0] is not None


def _leaf(kind: Kind) -> tuple[str | None, tuple[int, ...]]:
    """The type of the numbers or strings of a column, as in ROOT's leaf lists, and the dimensions
    of each item. None: a tree has no such branch."""
    is_list = kind.form == "list"
    inner = kind.item if is_list else kind
    dims = []
    while inner.form == "array":
        dims.append(inner.size)
        inner = inner.item
    if inner.form == "string" and not dims and not is_list:
        return TEXT, ()
    return _LETTERS.get(_WIDER.get(inner.dtype, inner.dtype)), tuple(dims)


def branch_of(
    name: str,
    kind: Kind,
    counter: str | None = None,
    title: str = "",
    *,
    is_vector: bool = False,
) -> OutputBranch:
    """The branch for a column of this kind. `counter`: of its lists, if they are no vectors. Raises
    UnsupportedError, which names the column, if a tree has no such branch."""
    letter, dims = _leaf(kind)
    if name.startswith(MASK) and letter == "l":
        letter = _MASK_LETTER
    if letter is None:
        renamed = " with names without dots" if "." in name else ""
        raise UnsupportedError(
            f"a TTree cannot hold {name}, {described(kind)}: write .parquet, or an RNTuple "
            f'(format="rntuple"){renamed}',
            branch=name,
        )
    counter = counter if kind.form == "list" and not is_vector else None
    return OutputBranch(name, letter, dims, counter, title, is_vector)


def values_of(column: Column) -> BranchValues:
    """The values of a column of a kind that `branch_of` takes. No value may be missing."""
    node, offsets = _there(column.nodes()), None
    if isinstance(node, tuple) and node[0] == "string":
        return BranchValues(np.asarray(node[2]), np.asarray(node[1]))
    if isinstance(node, tuple) and node[0] == "list":
        offsets, node = np.asarray(node[1]), _there(node[2])
    dims = []
    while isinstance(node, tuple) and node[0] == "regular":
        dims.append(node[1])
        node = _there(node[3])
    items = values_of_node(node)
    if items.dtype.name in _WIDER:
        items = items.astype(_WIDER[items.dtype.name])
    return BranchValues(items.reshape(-1, *dims) if dims else items, offsets)


def _there(node: Node) -> Node:
    """The values of an option without missing values; other nodes stay as they are."""
    return node[2] if isinstance(node, tuple) and node[0] == "option" else node


def described(kind: Kind) -> str:
    """A kind in words, with its article."""
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
