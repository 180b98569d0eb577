"""The core's columns as awkward layouts, on the same buffers, and back; NumPy arrays of such
layouts.

The layouts are uproot's: 64-bit offsets, option types only if values may be missing (std::optional
of an RNTuple, pointers of a branch), fixed-size arrays as regular dimensions, strings as awkward
strings, std::tuple (a record whose members are called 0, 1, ...) as tuples.

Knows core.Column, awkward and NumPy; knows no file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import awkward as ak
import numpy as np
from awkward.contents import (
    Content,
    EmptyArray,
    IndexedOptionArray,
    ListOffsetArray,
    NumpyArray,
    RecordArray,
    RegularArray,
    UnionArray,
    UnmaskedArray,
)
from awkward.index import Index8, Index64

from .arrow import unpacked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._core import Column
    from .column_source import BitsNode, Leaf, Node

    Array: TypeAlias = NDArray[np.generic]

__all__ = ["layout", "layout_of_node", "node_of", "numpy_of", "record", "records"]


def records(names: Sequence[str], layouts: list[Content], length: int | None) -> ak.Array:
    """An awkward array of records from the layouts of their fields. `length`: None if it is that
    of the fields."""
    return ak.Array(RecordArray(layouts, list(names), length=length))


def record(names: Sequence[str], layouts: list[Content]) -> Content:
    """The layout of records with these members."""
    return RecordArray(layouts, list(names))


def layout(column: Column, optional: bool | None = None) -> Content:
    """The awkward layout of a column. `optional`: whether it is an option; None: if the column is
    one. It always is an option if values are missing."""
    content = layout_of_node(column.nodes())
    if optional is None or content.is_option == optional or content.is_union:
        return content
    if not optional:
        return content if column.null_count else content.content
    return IndexedOptionArray(Index64(np.arange(len(column))), content)


def layout_of_node(node: Node) -> Content:
    """The awkward layout of a node."""
    if isinstance(node, tuple):
        return _MAKERS[node[0]](*node[1:])
    return NumpyArray(np.asarray(node))


def _list(offsets: Leaf, items: Node) -> Content:
    return ListOffsetArray(Index64(np.asarray(offsets)), layout_of_node(items))


def _string(offsets: Leaf, letters: Leaf) -> Content:
    index = Index64(np.asarray(offsets))
    content = NumpyArray(np.asarray(letters), parameters={"__array__": "char"})
    return ListOffsetArray(index, content, parameters={"__array__": "string"})


def _regular(size: int, length: int, items: Node) -> Content:
    return RegularArray(layout_of_node(items), size, zeros_length=length)


def _record(names: Sequence[str] | None, members: Sequence[Node], length: int) -> Content:
    return RecordArray([layout_of_node(member) for member in members], names, length=length)


def _bits(values: Leaf, first: int, length: int) -> Content:
    return NumpyArray(unpacked(np.asarray(values), first, length))


def _option(there: BitsNode | None, values: Node, length: int) -> Content:
    places = np.arange(length)
    if there is not None:
        places[~unpacked(np.asarray(there[1]), there[2], there[3])] = -1
    return IndexedOptionArray(Index64(places), layout_of_node(values))


def _nothing(length: int) -> Content:
    return NumpyArray(np.full(length, np.nan))  # a type for values without one


def _union(tags: Leaf, places: Leaf, alternatives: Sequence[Node]) -> Content:
    # The first alternative stands for no value: as in uproot, for one that is missing.
    first = alternatives[0]
    length = max(int(first[1]), 1) if isinstance(first, tuple) and first[0] == "nothing" else 1
    none = IndexedOptionArray(Index64(np.full(length, -1, np.int64)), EmptyArray())
    parts = [none]
    for alternative in alternatives[1:]:
        part = layout_of_node(alternative)
        parts.append(part if part.is_option or part.is_union else UnmaskedArray(part))
    # Not simplified: alternatives keep their types, even if awkward could merge numbers.
    return UnionArray(Index8(np.asarray(tags)), Index64(np.asarray(places)), parts)


_MAKERS: dict[str, Callable[..., Content]] = {
    "list": _list,
    "string": _string,
    "regular": _regular,
    "record": _record,
    "bits": _bits,
    "option": _option,
    "nothing": _nothing,
    "union": _union,
}


def node_of(array: object) -> Node:
    """The node of an awkward array. Raises TypeError if no column holds its values."""
    return _node(ak.to_layout(array))


def _node(content: Content) -> Node:
    if content.is_unknown:
        return "nothing", len(content)
    if content.is_indexed and not content.is_option:
        return _node(content.project())
    if content.is_option:
        option = content.to_IndexedOptionArray64()
        return "places", option.index.data, _node(option.content)
    if content.is_record:
        members = [_node(content[name]) for name in content.fields]
        return "record", content.fields, members, len(content)
    if content.is_numpy:
        content = content.to_contiguous().to_RegularArray()
        if content.is_numpy:
            data: Array = content.data
            return data
    if content.is_regular and content.parameter("__array__") is None:
        return (
            "regular",
            content.size,
            len(content),
            _node(content.content[: content.size * len(content)]),
        )
    if content.is_list:
        return _node_of_list(content.to_ListOffsetArray64(True))
    raise TypeError(f"no column holds {content.form.type}")


def _node_of_list(content: Content) -> Node:
    offsets = content.offsets.data
    items = content.content[: offsets[-1]]
    if content.parameter("__array__") in ("string", "bytestring"):
        return "string", offsets, items.to_contiguous().data
    return "list", offsets, _node(items)


def numpy_of(layout: Content) -> Array:
    """The NumPy array of an awkward layout. It has several dimensions if every entry has the same
    number of values, and is a structured array if the entries are records of such values. Else it
    is an object array of arrays, strings or other objects, with None for missing values."""
    if _is_regular(layout):
        return _values(layout)
    entries = _entries(ak.to_packed(layout, highlevel=False))
    values = np.empty(len(layout), dtype=object)
    for i, entry in enumerate(entries):
        values[i] = entry
    return values


def _is_regular(layout: Content) -> bool:
    """True if all entries have the same number of values, so that NumPy has a type for them."""
    if layout.is_record:
        names = layout.fields
        return 0 < len(names) == len(set(names)) and all(map(_is_regular, layout.contents))
    is_text = layout.parameter("__array__") is not None
    return layout.is_numpy or (layout.is_regular and not is_text and _is_regular(layout.content))


def _values(layout: Content) -> Array:
    """The NumPy array of a layout for which `_is_regular` holds."""
    if layout.is_record:
        members = {name: _values(layout.content(name)) for name in layout.fields}
        kinds = [(name, each.dtype, each.shape[1:]) for name, each in members.items()]
        structured = np.empty(len(layout), kinds)
        for name, each in members.items():
            structured[name] = each
        return structured
    if layout.is_regular:
        items = _values(layout.content[: len(layout) * layout.size])
        return items.reshape(len(layout), layout.size, *items.shape[1:])
    array: Array = ak.to_numpy(ak.Array(layout))
    return array


def _entries(layout: Content) -> Iterable[object]:
    """The entries of a packed layout, one by one."""
    if layout.is_option:
        present = iter(_entries(ak.to_packed(layout.project(), highlevel=False)))
        return [None if gone else next(present) for gone in ak.is_none(ak.Array(layout)).tolist()]
    if layout.is_list and layout.parameter("__array__") is None and _is_regular(layout.content):
        items = _values(layout.content)
        starts, stops = np.asarray(layout.starts), np.asarray(layout.stops)
        return [items[a:b] for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
    entries: Iterable[object] = _values(layout) if _is_regular(layout) else layout.to_list()
    return entries
