"""The core's columns as awkward layouts, from their buffers as they are, and back; numpy arrays of
such layouts. Laid out as uproot lays them out: 64-bit offsets, option types only where values may
be missing (an RNTuple's std::optional, a branch's pointers), fixed-size arrays as regular
dimensions, strings as awkward strings, std::tuple (a record whose members are called 0, 1, ...) as
tuples.

Knows core.Column, awkward and numpy; knows nothing of files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import awkward as ak
import numpy as np
from awkward.contents import (
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

from .bits import unpacked

__all__ = ["layout", "layout_of_node", "node_of", "numpy_of", "record", "records"]


def records(names: Sequence[str], layouts: list[Any], length: int) -> Any:
    """An awkward array of records from the layouts of their fields."""
    return ak.Array(RecordArray(layouts, list(names), length=length))


def record(names: Sequence[str], layouts: list[Any]) -> Any:
    """The layout of records of these members."""
    return RecordArray(layouts, list(names))


def layout(column: Any, optional: bool | None = None) -> Any:
    """The awkward layout of a core.Column. `optional`: whether it is an option; None: where the
    column is one. It always is where values are missing."""
    made = layout_of_node(column.nodes())
    if optional is None or made.is_option == optional or made.is_union:
        return made
    if not optional:
        return made if column.null_count else made.content
    return IndexedOptionArray(Index64(np.arange(len(column))), made)


def layout_of_node(node: Any) -> Any:
    """Of core.Values, or of a tuple of what it is and its parts (crates/treemill-py, nodes.rs)."""
    if type(node) is tuple:
        return _MAKERS[node[0]](*node[1:])
    return NumpyArray(np.asarray(node))


def _list(offsets: Any, items: Any) -> Any:
    return ListOffsetArray(Index64(np.asarray(offsets)), layout_of_node(items))


def _string(offsets: Any, letters: Any) -> Any:
    index = Index64(np.asarray(offsets))
    content = NumpyArray(np.asarray(letters), parameters={"__array__": "char"})
    return ListOffsetArray(index, content, parameters={"__array__": "string"})


def _regular(size: int, length: int, items: Any) -> Any:
    return RegularArray(layout_of_node(items), size, zeros_length=length)


def _record(names: tuple[str, ...] | None, members: list[Any], length: int) -> Any:
    return RecordArray([layout_of_node(member) for member in members], names, length=length)


def _bits(values: Any, first: int, length: int) -> Any:
    return NumpyArray(unpacked(np.asarray(values), first, length))


def _option(there: Any, values: Any, length: int) -> Any:
    places = np.arange(length)
    if there is not None:
        places[~unpacked(np.asarray(there[1]), *there[2:])] = -1
    return IndexedOptionArray(Index64(places), layout_of_node(values))


def _nothing(length: int) -> Any:
    return NumpyArray(np.full(length, np.nan))  # a type for what has none


def _union(tags: Any, places: Any, alternatives: Sequence[Any]) -> Any:
    # The first stands for no alternative: as in uproot, one value that is missing.
    length = max(int(alternatives[0][1]), 1) if alternatives[0][0] == "nothing" else 1
    none = IndexedOptionArray(Index64(np.full(length, -1, np.int64)), EmptyArray())
    parts = [none]
    for alternative in alternatives[1:]:
        part = layout_of_node(alternative)
        parts.append(part if part.is_option or part.is_union else UnmaskedArray(part))
    # Not simplified: alternatives keep their types, also where numbers could be merged.
    return UnionArray(Index8(np.asarray(tags)), Index64(np.asarray(places)), parts)


_MAKERS: dict[str, Callable[..., Any]] = {
    "list": _list,
    "string": _string,
    "regular": _regular,
    "record": _record,
    "bits": _bits,
    "option": _option,
    "nothing": _nothing,
    "union": _union,
}


def node_of(array: Any) -> Any:
    """An awkward array as a node for `columns.made`. Raises TypeError for what no column holds."""
    return _node(ak.to_layout(array))


def _node(content: Any) -> Any:
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
            return content.data
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


def _node_of_list(content: Any) -> Any:
    offsets = content.offsets.data
    items = content.content[: offsets[-1]]
    if content.parameter("__array__") in ("string", "bytestring"):
        return "string", offsets, items.to_contiguous().data
    return "list", offsets, _node(items)


def numpy_of(layout: Any) -> Any:
    """A numpy array from an awkward layout: one or more dimensions where every entry has the same
    number of values, a structured array of records of such, else an object array: of arrays,
    strings, what Python has for them, and None for what is missing."""
    if _is_regular(layout):
        return _values(layout)
    entries = _entries(ak.to_packed(layout, highlevel=False))
    made = np.empty(len(layout), dtype=object)
    for i, entry in enumerate(entries):
        made[i] = entry
    return made


def _is_regular(layout: Any) -> bool:
    """Whether all entries have as many values, so that numpy has a type for them."""
    if layout.is_record:
        names = layout.fields
        return 0 < len(names) == len(set(names)) and all(map(_is_regular, layout.contents))
    is_text = layout.parameter("__array__") is not None
    return layout.is_numpy or (layout.is_regular and not is_text and _is_regular(layout.content))


def _values(layout: Any) -> Any:
    """What `_is_regular` is true of, as it lies in a numpy array."""
    if layout.is_record:
        members = {name: _values(layout.content(name)) for name in layout.fields}
        kinds = [(name, each.dtype, each.shape[1:]) for name, each in members.items()]
        made = np.empty(len(layout), kinds)
        for name, each in members.items():
            made[name] = each
        return made
    if layout.is_regular:
        items = _values(layout.content[: len(layout) * layout.size])
        return items.reshape(len(layout), layout.size, *items.shape[1:])
    return ak.to_numpy(ak.Array(layout))


def _entries(layout: Any) -> Iterable[Any]:
    """Of a packed layout, one by one."""
    if layout.is_option:
        present = iter(_entries(ak.to_packed(layout.project(), highlevel=False)))
        return [None if gone else next(present) for gone in ak.is_none(ak.Array(layout)).tolist()]
    if layout.is_list and layout.parameter("__array__") is None and _is_regular(layout.content):
        items = _values(layout.content)
        starts, stops = np.asarray(layout.starts), np.asarray(layout.stops)
        return [items[a:b] for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
    entries: Iterable[Any] = _values(layout) if _is_regular(layout) else layout.to_list()
    return entries
