"""Compares two awkward arrays: structure, type, values bit by bit. Knows no files, no readers."""

import contextlib
from typing import Any

import awkward as ak
import numpy as np
from awkward import contents


def difference(ours: ak.Array, theirs: ak.Array) -> str | None:
    """The first difference in structure, type or values (bit by bit), or None."""
    if len(ours) != len(theirs):
        return f"{len(ours)} entries, not {len(theirs)}"
    if len(ours) == 0 and not fields_of(theirs):
        return None  # uproot has no types for the elements of an empty object array.
    return _difference(ours.layout, theirs.layout, "")


def fields_of(array: ak.Array) -> list[str]:
    """Names of a record's fields."""
    return list(ak.fields(array))


def _plain(node: contents.Content) -> contents.Content:
    """Without its index, and without an option type (Arrow brings them) if nothing is missing.

    Of this node alone: to pack and rewrite whole layouts took longer than to read them.
    """
    while node.is_indexed or node.is_option:
        if node.is_option and np.any(_missing(node)):
            return node
        node = node.project()
    return node


def _missing(node: contents.Content) -> Any:
    return node.mask_as_bool(valid_when=False)


def _difference(a: contents.Content, b: contents.Content, where: str) -> str | None:
    a, b = _plain(a), _plain(b)
    for test in (_options, _unions, _text, _numbers, _records, _lists):
        found = test(a, b, where)
        if found is not NotImplemented:
            return None if found is None else str(found)
    return f"{where or 'it'} is {ak.type(a)}, not {ak.type(b)}"


def _options(a: contents.Content, b: contents.Content, where: str) -> Any:
    if not (a.is_option and b.is_option):
        return NotImplemented
    x, y = (np.asarray(_missing(node)) for node in (a, b))
    if not np.array_equal(x, y):
        return f"{where} missing in {x.sum()} places, not in {y.sum()} or others"
    return _difference(a.project(), b.project(), where)


def _unions(a: contents.Content, b: contents.Content, where: str) -> Any:
    if not (a.is_union and b.is_union):
        return NotImplemented
    if not np.array_equal(np.asarray(a.tags), np.asarray(b.tags)):
        return f"{where} other alternatives"
    for tag in range(len(a.contents)):
        found = _difference(a.project(tag), b.project(tag), f"{where}<{tag}>")
        if found is not None:
            return found
    return None


def _is_text(node: contents.Content) -> bool:
    return node.parameter("__array__") in ("string", "bytestring")


def _text(a: contents.Content, b: contents.Content, where: str) -> Any:
    if not (_is_text(a) and _is_text(b)):
        return NotImplemented
    return _lists(a.to_ListOffsetArray64(True), b.to_ListOffsetArray64(True), where)


def _numbers(a: contents.Content, b: contents.Content, where: str) -> Any:
    if not (a.is_numpy and b.is_numpy):
        return NotImplemented
    x, y = np.ascontiguousarray(a.data), np.ascontiguousarray(b.data)
    if x.shape[1:] != y.shape[1:]:
        return f"{where} items of shape {x.shape[1:]}, not {y.shape[1:]}"
    if x.dtype != y.dtype:
        return f"{where} {x.dtype}, not {y.dtype}"
    if len(x) != len(y):
        return f"{where} {len(x)} values, not {len(y)}"
    if x.tobytes() == y.tobytes():
        return None
    with contextlib.suppress(TypeError):
        if np.array_equal(x, y, equal_nan=True) and np.array_equal(np.signbit(x), np.signbit(y)):
            return None
    places = np.nonzero(~((x == y) | ((x != x) & (y != y))))[0]
    first = places[0] if len(places) else 0
    return f"{where} {len(places)} of {len(x)} differ, first [{first}]: {x[first]}, not {y[first]}"


def _records(a: contents.Content, b: contents.Content, where: str) -> Any:
    if not (a.is_record and b.is_record):
        return NotImplemented
    if list(a.fields) != list(b.fields) or a.is_tuple != b.is_tuple:
        return f"{where} fields {a.fields}, not {b.fields}"
    for name in a.fields:
        found = _difference(a.content(name), b.content(name), f"{where}.{name}")
        if found is not None:
            return found
    return None


def _lists(a: contents.Content, b: contents.Content, where: str) -> Any:
    a, b = _regular(a), _regular(b)
    if not (a.is_list and b.is_list):
        return NotImplemented
    if a.is_regular != b.is_regular:
        return f"{where} {ak.type(a)}, not {ak.type(b)}"
    if a.is_regular:
        if a.size != b.size:
            return f"{where} {a.size} items, not {b.size}"
        return _difference(a.content[: a.length * a.size], b.content[: b.length * b.size], where)
    x, y = a.to_ListOffsetArray64(True), b.to_ListOffsetArray64(True)
    starts, others = np.asarray(x.offsets), np.asarray(y.offsets)
    if not np.array_equal(starts, others):
        first = int(np.nonzero(starts != others)[0][0]) if len(starts) == len(others) else -1
        return f"{where} lengths differ from item {first - 1} on"
    if starts[-1] == 0:
        return None  # No items: neither reader can know more.
    return _difference(x.content[: starts[-1]], y.content[: starts[-1]], where)


def _regular(node: contents.Content) -> contents.Content:
    """NumPy arrays of several dimensions as regular lists, as Arrow has them."""
    return node.to_RegularArray() if node.is_numpy and len(node.data.shape) > 1 else node
