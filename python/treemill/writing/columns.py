"""Arrow columns as a tree's branches have them: numbers in a row, how many belong to each entry,
and the dimensions of each item. What a branch cannot hold is refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrow_awkward import numbers, offsets_of
from ..errors import UnsupportedError

__all__ = ["Branch", "Values", "branch_of", "described", "is_list", "values_of"]

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


def branch_of(name: str, kind: Any, counter: str | None = None, title: str = "") -> Branch:
    """The branch for an Arrow type. Raises UnsupportedError, which names the column, where a tree
    has none."""
    import pyarrow.types as types

    inner = kind.value_type if is_list(kind) else kind
    dims = []
    while types.is_fixed_size_list(inner):
        dims.append(inner.list_size)
        inner = inner.value_type
    if _is_text(inner) and not dims and inner is kind:
        return Branch(name, _TEXT, title=title)
    letter = _LETTERS.get(str(_plain(inner)))
    if letter is None:
        raise UnsupportedError(
            f"a TTree cannot hold {name}, {described(kind)}: write an RNTuple "
            '(format="rntuple") or .parquet',
            branch=name,
        )
    return Branch(name, letter, tuple(dims), counter if is_list(kind) else None, title)


def values_of(array: Any) -> Values:
    """The values of a pyarrow.Array without missing ones, of a type that `branch_of` takes."""
    import pyarrow.types as types

    kind, offsets = array.type, None
    if _is_text(kind):
        offsets, first = offsets_of(array)
        raw = array.buffers()[2]
        letters = np.zeros(0, np.uint8) if raw is None else np.frombuffer(raw, np.uint8)
        return Values(letters[first : first + int(offsets[-1])], offsets)
    if is_list(kind):
        offsets, first = offsets_of(array)
        array = array.values.slice(first, int(offsets[-1]))
    dims = []
    while types.is_fixed_size_list(array.type):
        dims.append(array.type.list_size)
        array = array.flatten()
    items = numbers(array)
    if items.dtype.name in _WIDER:
        items = items.astype(_WIDER[items.dtype.name])
    return Values(items.reshape(-1, *dims) if dims else items, offsets)


def described(kind: Any) -> str:
    """An Arrow type in words."""
    import pyarrow.types as types

    if is_list(kind):
        return f"a list of {_plural(described(kind.value_type))}"
    if types.is_fixed_size_list(kind):
        return f"an array of {kind.list_size} {_plural(described(kind.value_type))}"
    if _is_text(kind):
        return "a string"
    if types.is_struct(kind):
        return "a record"
    name = str(_plain(kind))
    return f"an {name}" if name[0] in "aeio" else f"a {name}"


def _plural(words: str) -> str:
    words = words.removeprefix("an ").removeprefix("a ")
    head, of, rest = words.partition(" of ")
    return f"{head}s{of}{rest}"


def _plain(kind: Any) -> Any:
    names = {"float": "float32", "double": "float64", "halffloat": "float32"}
    return names.get(str(kind), kind)


def is_list(kind: Any) -> bool:
    """Whether an Arrow type is one of lists of any lengths."""
    import pyarrow.types as types

    return bool(types.is_large_list(kind) or types.is_list(kind))


def _is_text(kind: Any) -> bool:
    from pyarrow import lib

    letters = (lib.Type_STRING, lib.Type_LARGE_STRING, lib.Type_BINARY, lib.Type_LARGE_BINARY)
    return kind.id in letters
