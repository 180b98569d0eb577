"""Segments: the one form in which results are on disk, those of a pass that runs and those that
later runs take. A line that names the form, then records: what data they are of, the entries of
these, and values by their keys, each with a checksum. A record that is not whole is not there.

Pure: bytes, and files that are open already. Knows no folder and nothing of what keys are of.
"""

from __future__ import annotations

import struct
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import BinaryIO, NamedTuple

__all__ = [
    "ENDING",
    "FORM",
    "Place",
    "Row",
    "keys_of",
    "merged",
    "only_keys",
    "only_record",
    "packed",
    "record_in",
    "rows_of",
]

FORM = b"treemill results 1\n"
"""What a segment begins with."""
ENDING = ".results"
"""The ending of segments' names."""
_HEAD = struct.Struct("<4sIIII16s")
"""What a record begins with: its sign; the checksum of all up to the values; the numbers of files
and of values; the files' entries and the table are as long as these say; then a number that is 0,
and the key of the data."""
_SIGN = b"TMr1"
_ROW = struct.Struct("<16sII")
"""A row of the table: a value's key, its bytes and their checksum."""
_KEY = 16
"""Bytes of a key."""
_MOST = 1 << 24
"""Files and values of a record, at most: what claims more is damaged."""
_LONGEST = 1 << 32
"""Bytes of a value, below which it must be."""
_FEW = 16
"""Values, more of which are looked for in the table of a record at once."""


class Place(NamedTuple):
    """Where a record is."""

    path: str
    table: int
    """Where the table begins."""
    values: int
    """How many rows it has."""
    entries: bytes
    rows: bytes | None = None
    """The table, if it is kept in memory."""

    @property
    def length(self) -> int:
        """The bytes of the table, after which the values follow."""
        return self.values * _ROW.size


class Row(NamedTuple):
    """A value's row in a table."""

    key: bytes
    at: int
    """Where the value begins, after the table."""
    length: int
    checksum: int

    def is_of(self, value: bytes) -> bool:
        """Whether these are the bytes that were written."""
        return len(value) == self.length and zlib.crc32(value) == self.checksum


def packed(data: bytes, entries: Sequence[int], values: Mapping[bytes, bytes]) -> tuple[bytes, int]:
    """A record, and the place in it where its table begins. Raises OSError for a value that is too
    long for the form."""
    counts = array("q", entries).tobytes()
    if max(map(len, values.values()), default=0) >= _LONGEST:
        raise OSError(f"a value has more than {_LONGEST:,} bytes")
    table = b"".join(
        [_ROW.pack(key, len(value), zlib.crc32(value)) for key, value in values.items()]
    )
    head = _HEAD.pack(_SIGN, 0, len(entries), len(values), 0, data)
    checksum = zlib.crc32(head + counts + table)
    head = _HEAD.pack(_SIGN, checksum, len(entries), len(values), 0, data)
    return b"".join([head, counts, table, *values.values()]), len(head) + len(counts)


def record_in(file: BinaryIO, at: int, size: int, path: str) -> tuple[bytes, Place, int] | None:
    """The record at this place of a file of this size: the key of its data, where it is, and the
    place after it. None if there is none that is whole."""
    file.seek(at)
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    sign, checksum, files, values, rest, data = _HEAD.unpack(head)
    if sign != _SIGN or files > _MOST or values > _MOST:
        return None
    counts = file.read(files * 8)
    table = file.read(values * _ROW.size)
    zeroed = _HEAD.pack(sign, 0, files, values, rest, data)
    if zlib.crc32(zeroed + counts + table) != checksum:
        return None
    after = at + _HEAD.size + len(counts) + len(table)
    place = Place(path, after - len(table), values, counts, table)
    after += sum(length for _, length, _ in _ROW.iter_unpack(table))
    return None if after > size else (data, place, after)


def rows_of(table: bytes, wanted: Sequence[bytes]) -> tuple[list[Row], int]:
    """The rows of the wanted values that a table has, in its order; and the bytes up to the end of
    the last value."""
    if len(wanted) < _FEW and not any(key in table for key in wanted):
        return [], 0
    keys = set(wanted)
    found, at = [], 0
    for key, length, checksum in _rows(table):
        if key in keys:
            found.append(Row(key, at, length, checksum))
        at += length
    return found, at


def keys_of(table: bytes) -> Iterator[bytes]:
    """The keys of all values in a table."""
    return (key for key, _, _ in _rows(table))


def only_keys(table: bytes) -> bytes:
    """A table without what is not of keys, in another order of bytes: it tells tables with other
    keys apart, in less time than to take the rows."""
    return b"".join([table[at :: _ROW.size] for at in range(_KEY)])


def _rows(table: bytes) -> Iterator[tuple[bytes, int, int]]:
    return _ROW.iter_unpack(table[: len(table) // _ROW.size * _ROW.size])


def merged(segments: Sequence[bytes]) -> bytes:
    """One segment with the values of several that have the same form, each value once: of two, that
    of the later segment. What is damaged is left out."""
    records: dict[bytes, tuple[bytes, dict[bytes, bytes]]] = {}
    for data in segments:
        file, at = BytesIO(data), len(FORM)
        while (found := record_in(file, at, len(data), "")) is not None:
            of, place, at = found
            values = _values(data, place)
            entries, before = records.setdefault(of, (place.entries, {}))
            if entries == place.entries:  # else it would not be of the same data
                before |= values
    parts = [packed(of, array("q", each), values)[0] for of, (each, values) in records.items()]
    return b"".join([FORM, *parts])


def _values(data: bytes, place: Place) -> dict[bytes, bytes]:
    """The values of a record that are not damaged."""
    base = place.table + place.length
    found, at = {}, base
    for key, length, checksum in _rows(data[place.table : base]):
        value = data[at : at + length]
        if zlib.crc32(value) == checksum:
            found[key] = value
        at += length
    return found


def only_record(data: bytes) -> tuple[bytes, dict[bytes, bytes]] | None:
    """The key of the data and the values of a segment that is one record. None if it is damaged, or
    another segment."""
    found = record_in(BytesIO(data), len(FORM), len(data), "") if data.startswith(FORM) else None
    if found is None or found[2] != len(data):
        return None
    of, place, _ = found
    values = _values(data, place)
    return (of, values) if len(values) == place.values else None
