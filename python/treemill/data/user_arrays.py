"""Columns that users give, as NumPy arrays of any kind or as lists, turned into awkward arrays.
Knows no tree and no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..errors import QueryError, UnsupportedError

if TYPE_CHECKING:
    import awkward as ak
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["awkward_array"]

_NUMBERS = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8)}
"""The sizes that columns have of NumPy's kinds of numbers."""
_TEXTS = "USM"


def awkward_array(name: str, value: object) -> ak.Array:
    """The values of a column. Big-endian numbers become native ones, masked values missing ones,
    structured arrays records; object arrays and lists become arrays of their items. Raises
    QueryError if the value is no array, UnsupportedError if no column holds its items."""
    import awkward as ak
    import numpy as np

    if isinstance(value, ak.Array):
        return value
    if not isinstance(value, np.ndarray) and hasattr(value, "__array__"):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.ndim:
        return _of_records(name, value) if value.dtype.names else _of_numpy(name, value)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return _of_items(name, value)
    raise QueryError(
        f"{name} is no array: a NumPy, awkward or Arrow array, or a list, and not "
        f"{type(value).__name__}"
    )


def _of_records(name: str, array: NDArray[np.void]) -> ak.Array:
    import awkward as ak

    fields = array.dtype.names or ()
    members = {each: awkward_array(f"{name}.{each}", array[each]) for each in fields}
    return ak.zip(members, depth_limit=1)


def _of_numpy(name: str, array: NDArray[np.generic]) -> ak.Array:
    import awkward as ak
    import numpy as np

    kind = array.dtype
    if kind.kind == "O":
        return _of_items(name, array.tolist())
    if kind.kind not in _TEXTS and kind.itemsize not in _NUMBERS.get(kind.kind, ()):
        raise UnsupportedError(f"the array {name} holds {kind}, which no column can hold")
    native = array.astype(kind.newbyteorder("="), order="C", copy=False)
    return ak.from_numpy(np.asanyarray(native), regulararray=True)


def _of_items(name: str, items: Iterable[object]) -> ak.Array:
    import awkward as ak
    import numpy as np

    items = list(items)
    arrays = [each for each in items if isinstance(each, np.ndarray) and each.ndim]
    if items and len(arrays) == len(items):
        lengths = [len(each) for each in arrays]
        return ak.unflatten(awkward_array(name, np.concatenate(arrays)), lengths)
    try:
        return ak.Array(items)
    except (TypeError, ValueError) as error:
        reason = str(error).strip().split("\n")[0]
        raise UnsupportedError(f"the array {name} is no column: {reason}") from None
