"""Bools that Arrow packs into bits, as NumPy's bytes. Knows NumPy only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["unpacked"]


def unpacked(packed: NDArray[np.uint8], first: int, length: int) -> NDArray[np.bool_]:
    """Unpack `length` bools from `packed` bytes, beginning with the bit `first`. The lowest bit of
    a byte is the first."""
    start, skipped = divmod(first, 8)
    bits = np.unpackbits(packed[start:], count=skipped + length, bitorder="little")
    return bits[skipped:].view(np.bool_)
