"""The bytes of entries of different lengths, as they lie in baskets: items one after another, and
objects of C++ (strings, vectors) with what ROOT writes before each. Knows NumPy only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .branches import BranchValues

    Bytes = tuple[NDArray[np.uint8], NDArray[np.int64]]

__all__ = ["lists", "strings", "swapped", "vectors"]

_HAS_COUNT = 0x40000000
_HEAD = np.dtype([("count", ">u4"), ("version", ">u2"), ("items", ">u4")])
"""What lies before a vector's items. The count is of the bytes after it."""
_VERSION = 10
"""The version that ROOT writes before a vector."""


def swapped(items: NDArray[np.generic]) -> NDArray[np.generic]:
    """The items in the byte order of ROOT's files."""
    return items.astype(items.dtype.newbyteorder(">"), copy=False)


def lists(values: BranchValues) -> Bytes:
    """The bytes of all entries, and where each entry ends; before them a zero."""
    assert values.offsets is not None
    each = values.items.itemsize * int(np.prod(values.items.shape[1:], dtype=np.int64))
    return swapped(values.items).reshape(-1).view(np.uint8), values.offsets * each


def vectors(values: BranchValues) -> Bytes:
    """The same for entries that are objects of class vector: before the items of each are the
    number of its bytes, a version, and the number of its items."""
    assert values.offsets is not None
    data, ends = lists(values)
    heads = np.zeros(len(ends) - 1, _HEAD)
    heads["count"] = np.diff(ends) + _HEAD.itemsize - 4 | _HAS_COUNT
    heads["version"] = _VERSION
    heads["items"] = np.diff(values.offsets)
    return _headed(heads.view(np.uint8), np.full(len(heads), _HEAD.itemsize), data, ends)


def strings(values: BranchValues) -> Bytes:
    """The same for strings: before each is its length, in one byte if it is below 255, else in
    five."""
    assert values.offsets is not None
    lengths = np.diff(values.offsets)
    is_long = lengths >= 255
    heads = np.zeros((len(lengths), 5), np.uint8)
    heads[:, 0] = np.minimum(lengths, 255)
    heads[:, 1:] = lengths.astype(">u4").view(np.uint8).reshape(-1, 4)
    sizes = np.where(is_long, 5, 1)
    used = np.arange(5) < sizes[:, np.newaxis]
    return _headed(heads[used], sizes, np.asarray(values.items, np.uint8), values.offsets)


def _headed(
    heads: NDArray[np.uint8],
    sizes: NDArray[np.integer],
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
) -> Bytes:
    """Entries with a head before each. `sizes`: the bytes of each head."""
    lengths = np.diff(ends)
    runs = np.stack([sizes, lengths], axis=1).reshape(-1)
    is_head = np.repeat(np.tile([True, False], len(lengths)), runs)
    joined = np.empty(len(is_head), np.uint8)
    joined[is_head] = heads
    joined[~is_head] = data[int(ends[0]) : int(ends[-1])]
    return joined, np.concatenate([[0], np.cumsum(sizes + lengths)]).astype(np.int64)
