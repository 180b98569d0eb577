"""What a selector puts into its output, with nothing left to be read: arrays that awkward would
read when they are touched hold on to all of their chunk.

Recognises awkward's arrays without importing awkward; knows no chunk and no selector.
"""

from __future__ import annotations

import copy
import sys
from collections import deque
from collections.abc import MutableMapping
from typing import Any

__all__ = ["materialised"]


def materialised(value: Any) -> Any:
    """The value, or what is to be used instead of it. Dicts, lists and accumulators are changed in
    place. Raises what reading raises."""
    loaded = sys.modules.get("awkward")
    return value if loaded is None else _settled(value, loaded)


def _settled(value: Any, ak: Any) -> Any:
    if isinstance(value, ak.Array):
        return _array(value, ak)
    if isinstance(value, MutableMapping):
        _replace(value, value.items(), ak)
    elif isinstance(value, list | deque):
        _replace(value, enumerate(value), ak)
    elif type(value) is tuple:
        return tuple(_settled(each, ak) for each in value)
    elif _is_accumulator(value):  # coffea's
        _replace(vars(value), vars(value).items(), ak)
    return value


def _replace(container: Any, items: Any, ak: Any) -> None:
    for key, each in list(items):
        made = _settled(each, ak)
        if made is not each:
            container[key] = made


def _is_accumulator(value: Any) -> bool:
    return hasattr(value, "__dict__") and hasattr(value, "identity") and hasattr(value, "add")


def _array(array: Any, ak: Any) -> Any:
    own = {name: each for name, each in array.attrs.items() if not name.startswith("@")}
    if array.layout.is_all_materialized and len(own) == len(array.attrs):
        return array
    # Without the entries that it is not made of, and without awkward's "@" attributes, which are
    # the chunk's: coffea's events, of which references to other collections are read.
    layout = ak.to_packed(ak.materialize(array), highlevel=False)
    return ak.Array(copy.deepcopy(layout), behavior=array.behavior, attrs=own or None)
