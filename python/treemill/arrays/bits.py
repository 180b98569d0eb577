"""Bools that Arrow packs to bits, as numpy's bytes. Knows numpy alone."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["unpacked"]


def unpacked(packed: Any, first: int, length: int) -> Any:
    """`length` bools from the bit `first` on of `packed` bytes, whose lowest bit is the first."""
    start, skipped = divmod(first, 8)
    bits = np.unpackbits(packed[start:], count=skipped + length, bitorder="little")
    return bits[skipped:].view(np.bool_)
