"""Reads what is left to be read in a selector's output. awkward's virtual arrays are read when they
are touched, and until then they hold all of their chunk in memory.

Recognises awkward's arrays without importing awkward; knows no chunk and no selector.
"""

from __future__ import annotations

import copy
import sys
from collections import deque
from collections.abc import Iterable, MutableMapping
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    import awkward

__all__ = ["materialised"]

K = TypeVar("K", contravariant=True)


class _Container(Protocol[K]):
    def __setitem__(self, key: K, value: object, /) -> None: ...


def materialised(value: object) -> object:
    """The value with all of its arrays read. Dicts, lists and accumulators are changed in place;
    arrays and tuples may be replaced. Raises what reading raises."""
    loaded = sys.modules.get("awkward")
    return value if loaded is None else _read(value, loaded)


def _read(value: object, ak: ModuleType) -> object:
    if isinstance(value, ak.Array):
        return _array(value, ak)
    if isinstance(value, MutableMapping):
        _replace(value, value.items(), ak)
    elif isinstance(value, list | deque):
        _replace(value, enumerate(value), ak)
    elif type(value) is tuple:
        return tuple(_read(each, ak) for each in value)
    elif _is_accumulator(value):
        _replace(vars(value), vars(value).items(), ak)
    return value


def _replace(container: _Container[K], items: Iterable[tuple[K, object]], ak: ModuleType) -> None:
    for key, each in list(items):
        value = _read(each, ak)
        if value is not each:
            container[key] = value


def _is_accumulator(value: object) -> bool:
    """True if it is one of coffea's accumulators, or like them."""
    return hasattr(value, "__dict__") and hasattr(value, "identity") and hasattr(value, "add")


def _array(array: awkward.Array, ak: ModuleType) -> awkward.Array:
    own = {name: each for name, each in array.attrs.items() if not name.startswith("@")}
    if array.layout.is_all_materialized and len(own) == len(array.attrs):
        return array
    # The copy has only the entries that are in the array. It has no awkward attributes with "@":
    # they hold the chunk (coffea's events, from which references to other collections are read).
    layout = ak.to_packed(ak.materialize(array), highlevel=False)
    return ak.Array(copy.deepcopy(layout), behavior=array.behavior, attrs=own or None)
