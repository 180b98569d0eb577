"""Objects in the form in which ROOT streams them into a buffer: versions with byte counts, classes
that are named once, references to earlier objects. Knows no file and no class.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Buffer", "string"]

_HAS_COUNT = 0x40000000
_NEW_CLASS = 0xFFFFFFFF
_CLASS = 0x80000000
_FIRST = 2
"""ROOT adds this to the positions in references, because 0 and 1 have special meanings."""


def string(text: str) -> bytes:
    """A TString: its length in one byte or in five, then its bytes."""
    data = text.encode("utf-8", "surrogateescape")
    if len(data) < 255:
        return bytes((len(data),)) + data
    return b"\xff" + struct.pack(">I", len(data)) + data


class Buffer:
    """A buffer that grows. `origin`: the number of bytes before it from which references count."""

    def __init__(self, origin: int) -> None:
        self.data = bytearray()
        self._origin = origin
        self._classes: dict[str, int] = {}

    def pack(self, form: str, *values: float) -> None:
        """Append numbers, packed by struct, big-endian."""
        self.data += struct.pack(">" + form, *values)

    @contextmanager
    def versioned(self, version: int) -> Iterator[None]:
        """Append a class's byte count and version before its members."""
        at = len(self.data)
        self.pack("IH", 0, version)
        yield
        struct.pack_into(">I", self.data, at, (len(self.data) - at - 4) | _HAS_COUNT)

    @contextmanager
    def pointed(self, name: str) -> Iterator[int]:
        """Append a pointer to an object of this class before the object. Gives the reference to
        it."""
        at = len(self.data)
        self.pack("I", 0)
        place = len(self.data) + self._origin + _FIRST
        known = self._classes.get(name)
        if known is None:
            self._classes[name] = place
            self.pack("I", _NEW_CLASS)
            self.data += name.encode() + b"\0"
        else:
            self.pack("I", known | _CLASS)
        yield at + self._origin + _FIRST
        struct.pack_into(">I", self.data, at, (len(self.data) - at - 4) | _HAS_COUNT)

    def named(self, name: str, title: str, bits: int = 0) -> None:
        """Append a TNamed with these bits of its TObject."""
        with self.versioned(1):
            self.data += b"\0\1" + bytes(4) + struct.pack(">I", bits)
            self.data += string(name) + string(title)

    @contextmanager
    def array(self, length: int) -> Iterator[None]:
        """Append a TObjArray of this many pointers before the pointers."""
        with self.versioned(3):
            self.data += b"\0\1" + bytes(4) + b"\0\0\0\0" + b"\0"  # TObject, no name
            self.pack("ii", length, 0)
            yield
