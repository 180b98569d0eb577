"""Which bit of which column says whether a column's values are valid, in the form in which
RDataFrame looks for it beside a tree: it takes other values for missing. Knows names only.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from .buffer import string

__all__ = ["KIND", "masks", "object_name"]

KIND = "unordered_map<string,pair<string,unsigned int> >"
_PAIR = 0xA90BBCD8
"""The checksum of ROOT's pair<string,unsigned int>, which stands for its version."""
_STRING = 10
_HAS_COUNT = 0x40000000


def object_name(tree: str) -> str:
    """The name of the object for a tree."""
    return f"R_rdf_column_to_bitmask_mapping_{tree}"


def masks(bits: Mapping[str, tuple[str, int]]) -> bytes:
    """The object. `bits`: the column with the bits, and the bit's number, by column."""
    buffer = bytearray(struct.pack(">I", len(bits)))
    for column, (mask, bit) in bits.items():
        text = string(mask)
        first = struct.pack(">IH", (len(text) + 2) | _HAS_COUNT, _STRING) + text
        pair = struct.pack(">HI", 0, _PAIR) + first + struct.pack(">I", bit)
        buffer += string(column) + struct.pack(">I", len(pair) | _HAS_COUNT) + pair
    return bytes(buffer)
