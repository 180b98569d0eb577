"""Columns as users have them, NumPy's arrays of any kind and lists, as awkward arrays. Knows
neither trees nor files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import QueryError, UnsupportedError

__all__ = ["awkward_array"]

_NUMBERS = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8)}
"""Of NumPy's kinds of numbers the sizes that columns have."""
_TEXTS = "USM"


def awkward_array(name: str, value: Any) -> Any:
    """The values of a column: of big-endian numbers the native ones, of masked arrays missing ones,
    of structured arrays records, of object arrays and lists what is in them. Raises QueryError for
    what is no array, UnsupportedError for values that no column has."""
    import awkward as ak
    import numpy as np

    if isinstance(value, ak.Array):
        return value
    if not isinstance(value, np.ndarray) and hasattr(value, "__array__"):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.ndim:
        return _of_numpy(name, value)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return _of_items(name, value)
    raise QueryError(
        f"{name} is no array: a NumPy, awkward or Arrow array, or a list, and not "
        f"{type(value).__name__}"
    )


def _of_numpy(name: str, array: Any) -> Any:
    import awkward as ak
    import numpy as np

    kind, fields = array.dtype, array.dtype.names
    if fields:
        members = {each: awkward_array(f"{name}.{each}", array[each]) for each in fields}
        return ak.zip(members, depth_limit=1)
    if kind.kind == "O":
        return _of_items(name, array.tolist())
    if kind.kind not in _TEXTS and kind.itemsize not in _NUMBERS.get(kind.kind, ()):
        raise UnsupportedError(f"the array {name} holds {kind}, which no column does")
    native = array.astype(kind.newbyteorder("="), order="C", copy=False)
    return ak.from_numpy(np.asanyarray(native), regulararray=True)


def _of_items(name: str, items: Iterable[Any]) -> Any:
    import awkward as ak
    import numpy as np

    items = list(items)
    if items and all(isinstance(each, np.ndarray) and each.ndim for each in items):
        lengths = [len(each) for each in items]
        return ak.unflatten(awkward_array(name, np.concatenate(items)), lengths)
    try:
        return ak.Array(items)
    except (TypeError, ValueError) as error:
        reason = str(error).strip().split("\n")[0]
        raise UnsupportedError(f"the array {name} is no column: {reason}") from None
