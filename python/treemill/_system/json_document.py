"""JSON that others have written, with bounds: what is packed may hold a thousand times its size,
and a device has no end. Knows no file and no form."""

from __future__ import annotations

import zlib
from typing import IO

__all__ = ["MOST_BYTES", "parsed", "unpacked", "whole"]

MOST_BYTES = 1 << 30
"""Bytes of a document, at most, also when it is unpacked."""


def whole(file: IO[bytes], most: int = MOST_BYTES) -> bytes:
    """All bytes of a file. Raises ValueError, which says why, if it has more than `most`."""
    data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"it has more than {_size(most)}")
    return data


def unpacked(data: bytes, most: int = MOST_BYTES) -> bytes:
    """What gzip has packed, of one member or several. Raises ValueError, which says why, if that is
    not what it is, or if it unpacks to more than `most`."""
    parts: list[bytes] = []
    left = most + 1
    while data:
        member = zlib.decompressobj(wbits=31)
        try:
            part = member.decompress(data, left)
        except zlib.error as error:
            raise ValueError(f"it cannot be unpacked: {error}") from None
        left -= len(part)
        if left <= 0:
            raise ValueError(f"it unpacks to more than {_size(most)}")
        if not member.eof:
            raise ValueError("it cannot be unpacked: it is cut short")
        parts.append(part)
        data = member.unused_data.lstrip(b"\0")  # tapes and some tools pad with zeros
    if not parts:
        raise ValueError("it cannot be unpacked: it is empty")
    return b"".join(parts)


def parsed(data: bytes, path: str, most: int = MOST_BYTES) -> object:
    """The document in these bytes, which are packed if the path ends with `.gz`. Raises ValueError,
    which says why, if they are none."""
    import json  # start-up

    try:
        return json.loads(unpacked(data, most) if path.endswith(".gz") else data)
    except RecursionError:
        raise ValueError("its lists are in one another too deeply") from None


def _size(most: int) -> str:
    return f"{most >> 20} MB"
