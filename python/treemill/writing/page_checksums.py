"""Checksums of the pages of an RNTuple that uproot writes: without them ROOT copies no page, and
its `hadd` joins no such files. Knows blobs of bytes only.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uproot.writing.writable import WritableNTuple

__all__ = ["add_page_checksums"]

_CHECKSUM = struct.Struct("<Q")
_FRAME = struct.Struct("<qI")
"""What a list begins with: its length in bytes, which is negative, and its items."""
_HEAD = 16
"""Bytes before a page list's first frame: the envelope's type and length, the header's checksum."""
_PAGE_LIST = 3
_PAGE = 16
"""Bytes of a page in a page list."""
_COUNT = struct.Struct("<i")


def add_page_checksums(ntuple: WritableNTuple) -> None:
    """Has all pages that are written from now on followed by their checksums, and page lists say
    so."""
    written = ntuple._cascading
    written.add_rblob = _checked(written.add_rblob)


def _checked(add: Callable[..., object]) -> Callable[..., object]:
    def checked(sink: object, data: object, *more: object) -> object:
        blob = bytes(data)  # type: ignore[call-overload]
        if not _is_envelope(blob):
            blob += _checksum(blob)
        elif blob[0] == _PAGE_LIST:
            blob = _with_checked_pages(blob)
        return add(sink, blob, *more)

    return checked


def _checksum(data: bytes) -> bytes:
    import xxhash  # uproot needs it

    return _CHECKSUM.pack(xxhash.xxh3_64_intdigest(data))


def _is_envelope(blob: bytes) -> bool:
    """Page lists and footers end with their own checksum; pages of uproot's do not."""
    return blob[-8:] == _checksum(blob[:-8])


def _with_checked_pages(page_list: bytes) -> bytes:
    """A page list in which the number of each page's values is negative: a checksum follows it."""
    made = bytearray(page_list[:-8])
    at = _HEAD
    at -= _FRAME.unpack_from(made, at)[0]  # the clusters' summaries
    clusters = _FRAME.unpack_from(made, at)[1]
    at += _FRAME.size
    for _ in range(clusters):
        columns = _FRAME.unpack_from(made, at)[1]
        at += _FRAME.size
        for _ in range(columns):
            length, pages = _FRAME.unpack_from(made, at)
            for page in range(pages):
                place = at + _FRAME.size + page * _PAGE
                _COUNT.pack_into(made, place, -_COUNT.unpack_from(made, place)[0])
            at -= length
    return bytes(made) + _checksum(bytes(made))
