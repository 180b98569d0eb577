"""A ROOT file that is written once, from its beginning to its end: header, keys, the list of keys.
Does not know what the keys hold.
"""

from __future__ import annotations

import struct
import time
import uuid
from collections.abc import Sequence
from typing import BinaryIO

from .buffer import string
from .codecs import Codec
from .streamers import streamers

__all__ = ["RootFile", "key_length"]

_VERSION = 64000
_BEGIN = 100
_FAR = 2_000_000_000
"""Positions after this one are written with 64 bits (ROOT: kStartBigFile)."""
_DIRECTORY = 60
"""Bytes of a directory's record, with room for 64-bit positions."""


def key_length(is_far: bool, kind: str, name: str, title: str) -> int:
    """Bytes of a key without its data."""
    return (34 if is_far else 26) + sum(len(string(text)) for text in (kind, name, title))


class RootFile:
    """A file being written. `name`: the name in its header."""

    def __init__(self, path: str, name: str, codec: Codec) -> None:
        self.codec = codec
        self._file: BinaryIO = open(path, "wb")  # noqa: SIM115 - closed by close()
        self._name = name
        self._at = _BEGIN
        self._when = _now()
        self._id = b"\0\1" + uuid.uuid1().bytes
        self._keys: list[bytes] = []
        strings = string(name) + string("")
        self._named = key_length(False, "TFile", name, "") + len(strings)
        self._file.write(bytes(_BEGIN))
        self._put("TFile", name, "", strings + bytes(_DIRECTORY), parent=0)
        # The first object, so that its key is a short one: the references in it count on that.
        self._infos = self._at
        infos, title = streamers(), "Doubly linked list"
        self._put("TList", "StreamerInfo", title, codec.packed(infos), length=len(infos))
        self._infos_length = self._at - self._infos

    @property
    def is_far(self) -> bool:
        """True if the next key has 64-bit positions."""
        return self._at > _FAR

    def add(self, kind: str, name: str, title: str, data: bytes | bytearray) -> None:
        """Add an object that the directory lists."""
        header = self._put(kind, name, title, self.codec.packed(data), length=len(data))
        self._keys.append(header)

    def put(
        self,
        names: tuple[str, str, str],
        data: bytes,
        length: int,
        more: bytes,
        cycle: int,
    ) -> tuple[int, int]:
        """Add data that the directory does not list. `names`: the key's class, name and title;
        `length`: the length of the data in memory; `more`: the part of the key that the class adds.
        The key has 64-bit positions. Gives the position and the length."""
        at = self._at
        header = self._header(*names, (len(data), length), more, cycle, _BEGIN, far=True)
        self._write(header)
        self._write(data)
        return at, len(header) + len(data)

    def _header(
        self,
        kind: str,
        name: str,
        title: str,
        sizes: tuple[int, int],
        more: bytes = b"",
        cycle: int = 1,
        parent: int = _BEGIN,
        *,
        far: bool | None = None,
    ) -> bytes:
        far = self.is_far if far is None else far
        length = key_length(far, kind, name, title) + len(more)
        form, version = (">iHiIHHqq", 1004) if far else (">iHiIHHii", 4)
        packed, plain = sizes
        start = struct.pack(
            form, length + packed, version, plain, self._when, length, cycle, self._at, parent
        )
        return start + string(kind) + string(name) + string(title) + more

    def _put(
        self,
        kind: str,
        name: str,
        title: str,
        data: bytes,
        *,
        length: int | None = None,
        parent: int = _BEGIN,
    ) -> bytes:
        sizes = (len(data), len(data) if length is None else length)
        header = self._header(kind, name, title, sizes, parent=parent)
        self._write(header)
        self._write(data)
        return header

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._at += len(data)

    def close(self) -> None:
        """Write the lists of keys and of free space and the header, and close the file."""
        if self._file.closed:
            return
        with self._file:
            keys_at = self._at
            self._put("TFile", self._name, "", _joined(self._keys))
            keys_length = self._at - keys_at
            free_at, far = self._at, self.is_far
            free = struct.pack(">Hqq", 1001, 0, 0) if far else struct.pack(">Hii", 1, 0, 0)
            end = free_at + key_length(far, "TFile", self._name, "") + len(free)
            if far:
                free = struct.pack(">Hqq", 1001, end, (end // 1_000_000_000 + 1) * 1_000_000_000)
            else:
                free = struct.pack(">Hii", 1, end, _FAR)
            self._put("TFile", self._name, "", free)
            self._header_of_file(end, free_at, end - free_at)
            self._directory(keys_at, keys_length)

    def _header_of_file(self, end: int, free_at: int, free_length: int) -> None:
        far = end > _FAR
        form = ">4siiqqiiiBiqi" if far else ">4siiiiiiiBiii"
        version, unit = (_VERSION + 1_000_000, 8) if far else (_VERSION, 4)
        start = struct.pack(
            form,
            *(b"root", version, _BEGIN, end, free_at, free_length, 1, self._named, unit),
            *(self.codec.code, self._infos, self._infos_length),
        )
        self._file.seek(0)
        self._file.write(start + self._id)

    def _directory(self, keys_at: int, keys_length: int) -> None:
        far = keys_at > _FAR
        form, version = (">HIIiiqqq", 1005) if far else (">HIIiiiii", 5)
        record = struct.pack(
            form, version, self._when, _now(), keys_length, self._named, _BEGIN, 0, keys_at
        )
        self._file.seek(_BEGIN + self._named)
        self._file.write((record + self._id).ljust(_DIRECTORY, b"\0"))


def _joined(keys: Sequence[bytes]) -> bytes:
    return struct.pack(">i", len(keys)) + b"".join(keys)


def _now() -> int:
    """The time as ROOT's TDatime."""
    at = time.localtime()
    date = (at.tm_year - 1995) << 26 | at.tm_mon << 22 | at.tm_mday << 17
    return date | at.tm_hour << 12 | at.tm_min << 6 | min(at.tm_sec, 59)
