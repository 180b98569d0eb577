"""The folder of remembered results: values by what they are of and what is computed, in segments
that are only appended to. Processes and hosts share it without locks: each writes segments of its
own, and reads those of all. What a process has not written to its end is not there.

Knows no file of data and no query: keys and values are bytes. Only what is the user's own is read.
"""

from __future__ import annotations

import os
import struct
import threading
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from .. import _core
from .._system.files import new_file
from ..errors import SourceError, local_path, warn

__all__ = ["Results", "Segment"]

_FORM = b"treemill results 1\n"
_ENDING = ".results"
_HEAD = struct.Struct("<4sIIII16s")
"""What a record begins with: its sign; the checksum of all up to the values; the numbers of files
and of values; the files' entries and the table are as long as these say; then a number that is 0,
and the key of the data."""
_SIGN = b"TMr1"
_ROW = struct.Struct("<16sII")
"""A row of the table: a value's key, its bytes and their checksum."""
_MOST = 1 << 24
"""Files and values of a record, at most: what claims more is damaged."""
_SEGMENT = 1 << 28
"""Bytes after which a new segment is begun: what is not used goes by segments."""
_LIMIT = 20 * 10**9
"""Bytes of a folder, at most, if the user does not say."""
_MOSTLY = 4
"""If more than one in so many values of a record is wanted, all of it is read."""
_FEW = 16
"""Values, more of which are looked for in the table of a record at once."""


@dataclass(frozen=True)
class Segment:
    """A file of the folder."""

    path: Path
    size: int
    used: float
    """When it was used last, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a record is."""

    path: str
    table: int
    """Where the table begins."""
    values: int
    """How many rows it has."""
    entries: bytes


class Results:
    """The results in one folder. Thread-safe."""

    def __init__(self, path: str | os.PathLike[str], limit: int | None = None) -> None:
        """Makes the folder. `limit`: its bytes, at most. Raises SourceError if it cannot be used,
        or is not the user's own; UnsupportedError for an address on a server."""
        self.path = Path(local_path(path)).expanduser().absolute()
        self.limit = _LIMIT if limit is None else limit
        self._lock = threading.Lock()
        self._places: dict[bytes, list[_Place]] = {}
        self._scanned: dict[str, int] = {}
        """How far each segment is known."""
        self._handles: dict[str, FileIO] = {}
        """Segments that are open for reading, until the end of the run."""
        self._refused: set[str] = set()
        self._used: set[str] = set()
        self._writing: str | None = None
        self._handle: int | None = None
        self._size = 0
        self._written = 0
        """Bytes of this run, which are no more than the limit."""
        self._failed = False
        self._process = os.getpid()
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise SourceError(
                f"the folder for remembered results cannot be used: {error.strerror}",
                file=str(self.path),
            ) from None
        _core.check_own(self.path, "what is remembered")

    # What is there.

    def find(self, data: bytes, wanted: Sequence[bytes]) -> tuple[dict[bytes, bytes], list[int]]:
        """See totals.Remembered. What is damaged or has gone is not there."""
        with self._lock:
            places = list(self._places.get(data, ()))
        found: dict[bytes, bytes] = {}
        entries: list[int] = []
        rest = list(wanted)
        for place in reversed(places):  # the newest first
            values = self._values(place, rest)
            if values is None:
                continue
            entries = entries or array("q", place.entries).tolist()
            found |= values
            rest = [key for key in rest if key not in found]
            if not rest:
                break
        return found, entries

    def _values(self, place: _Place, wanted: Sequence[bytes]) -> dict[bytes, bytes] | None:
        file = self._reading(place.path)
        if file is None:
            return None
        handle = file.fileno()
        table = os.pread(handle, place.values * _ROW.size, place.table)
        rows, end = _rows(table, wanted)
        base = place.table + len(table)
        found = {}
        if len(rows) * _MOSTLY > place.values:  # one read takes less time than many
            whole = memoryview(os.pread(handle, end, base))
            values = [bytes(whole[at : at + length]) for _, at, length, _ in rows]
        else:
            values = [os.pread(handle, length, base + at) for _, at, length, _ in rows]
        for (key, _, length, checksum), value in zip(rows, values, strict=True):
            if len(value) == length and zlib.crc32(value) == checksum:
                found[key] = value
        if found:
            self._used.add(place.path)
        return found

    def _reading(self, path: str) -> FileIO | None:
        """A segment that is open for reading; None if it was removed for others."""
        with self._lock:
            if path not in self._handles:
                try:
                    self._handles[path] = FileIO(path)
                except OSError:
                    return None
            return self._handles[path]

    def look(self) -> None:
        """Notes what has come since the last look, of this process and of others."""
        with self._lock:
            for path, size in self._segments():
                if size > self._scanned.get(path, 0) and path not in self._refused:
                    self._scan(path)

    def _segments(self) -> Iterator[tuple[str, int]]:
        with suppress(OSError), os.scandir(self.path) as entries:
            for entry in entries:
                if entry.name.endswith(_ENDING) and not entry.name.startswith("."):
                    with suppress(OSError):
                        yield entry.path, entry.stat(follow_symlinks=False).st_size

    def _scan(self, path: str) -> None:
        at = self._scanned.get(path, 0)
        try:
            with open(path, "rb") as file:
                if not at:
                    _core.check_own(path, "what is remembered")
                    if file.read(len(_FORM)) != _FORM:
                        self._refused.add(path)
                        return
                    at = len(_FORM)
                size = os.fstat(file.fileno()).st_size
                while (record := _record(file, at, size, path)) is not None:
                    data, place, at = record
                    self._places.setdefault(data, []).append(place)
                self._scanned[path] = at
        except SourceError:  # it is another user's: what it holds may be wrong
            self._refused.add(path)
        except OSError:  # it was removed for others
            return

    # What is added.

    def add(self, data: bytes, entries: Sequence[int], values: Mapping[bytes, bytes]) -> None:
        """See totals.Remembered. If the folder is full or cannot be written, it warns once and
        keeps nothing more."""
        if not values or self._failed or os.getpid() != self._process:
            return
        record, ahead = _packed(data, entries, values)
        with self._lock:
            try:
                self._append(data, entries, record, ahead, len(values))
            except OSError as error:
                self._failed = True
                self._close()
                warn(
                    f"nothing more is remembered in {self.path}: {error.strerror or error}",
                    RuntimeWarning,
                )

    def _append(
        self, data: bytes, entries: Sequence[int], record: bytes, ahead: int, values: int
    ) -> None:
        if self._written + len(record) > self.limit:
            return
        if self._handle is None or self._size + len(record) > _SEGMENT:
            self._close()
            self._open()
        assert self._handle is not None
        assert self._writing is not None
        begin = self._size
        view = memoryview(record)
        while view:
            done = os.write(self._handle, view)
            view = view[done:]
            self._size += done
        self._written += len(record)
        place = _Place(self._writing, begin + ahead, values, array("q", entries).tobytes())
        self._places.setdefault(data, []).append(place)
        self._scanned[self._writing] = self._size
        self._used.add(self._writing)

    def _open(self) -> None:
        path = new_file(str(self.path / "segment"), private=True)
        self._handle = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.write(self._handle, _FORM)
        named = str(self.path / f"{os.path.basename(path)[1:].removesuffix('.part')}{_ENDING}")
        os.rename(path, named)
        self._writing, self._size = named, len(_FORM)

    def _close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
        self._handle = self._writing = None

    # What goes.

    def settle(self) -> None:
        """Notes what was used, for those who remove what was not, and keeps to the limit. To be
        called after a run."""
        with self._lock:
            used, self._used, self._written = self._used, set(), 0
            self._close()  # later runs begin segments of their own, which may be used alone
            self._handles = {}  # other threads may be reading: each is closed after its last reader
        for path in used:
            with suppress(OSError):
                os.utime(path)
        if sum(size for _, size in self._segments()) > self.limit:
            self.prune()

    def segments(self) -> list[Segment]:
        """The files of the folder, the one first that was used least recently."""
        found = []
        for path, size in self._segments():
            with suppress(OSError):
                found.append(Segment(Path(path), size, os.stat(path).st_mtime))
        return sorted(found, key=lambda each: each.used)

    def prune(self, limit: int | None = None, before: float | None = None) -> int:
        """Removes what was used least recently, until no more than `limit` bytes are left (None:
        the folder's own limit), and all that was used last before this time. Gives the number of
        bytes that were removed."""
        limit = self.limit if limit is None else limit
        segments = self.segments()
        left = sum(each.size for each in segments)
        removed = 0
        for each in segments:
            if left <= limit and (before is None or each.used >= before):
                continue
            with suppress(OSError):
                each.path.unlink()
                left -= each.size
                removed += each.size
        with self._lock:
            gone = {str(each.path) for each in segments if not each.path.exists()}
            for path in gone:
                self._scanned.pop(path, None)
            self._places = {
                data: kept
                for data, places in self._places.items()
                if (kept := [place for place in places if place.path not in gone])
            }
        return removed


def _packed(
    data: bytes, entries: Sequence[int], values: Mapping[bytes, bytes]
) -> tuple[bytes, int]:
    """A record, and the place in it where its table begins."""
    counts = array("q", entries).tobytes()
    table = b"".join(
        [_ROW.pack(key, len(value), zlib.crc32(value)) for key, value in values.items()]
    )
    head = _HEAD.pack(_SIGN, 0, len(entries), len(values), 0, data)
    checksum = zlib.crc32(head + counts + table)
    head = _HEAD.pack(_SIGN, checksum, len(entries), len(values), 0, data)
    return b"".join([head, counts, table, *values.values()]), len(head) + len(counts)


def _record(file: object, at: int, size: int, path: str) -> tuple[bytes, _Place, int] | None:
    """The record at this place, with its key and the place after it; None if there is none that is
    whole."""
    file.seek(at)  # type: ignore[attr-defined]
    head = file.read(_HEAD.size)  # type: ignore[attr-defined]
    if len(head) < _HEAD.size:
        return None
    sign, checksum, files, values, _, data = _HEAD.unpack(head)
    if sign != _SIGN or files > _MOST or values > _MOST:
        return None
    counts = file.read(files * 8)  # type: ignore[attr-defined]
    table = file.read(values * _ROW.size)  # type: ignore[attr-defined]
    zeroed = _HEAD.pack(sign, 0, files, values, 0, data)
    if zlib.crc32(zeroed + counts + table) != checksum:
        return None
    after = at + _HEAD.size + len(counts) + len(table)
    place = _Place(path, after - len(table), values, counts)
    after += sum(length for _, length, _ in _ROW.iter_unpack(table))
    return None if after > size else (data, place, after)


def _rows(table: bytes, wanted: Sequence[bytes]) -> tuple[list[tuple[bytes, int, int, int]], int]:
    """The key, place, length and checksum of the wanted values that a table has, in its order; and
    the bytes up to the end of the last one."""
    if len(wanted) < _FEW and not any(key in table for key in wanted):
        return [], 0
    keys = set(wanted)
    found, at = [], 0
    for key, length, checksum in _ROW.iter_unpack(table[: len(table) // _ROW.size * _ROW.size]):
        if key in keys:
            found.append((key, at, length, checksum))
        at += length
    return found, at
