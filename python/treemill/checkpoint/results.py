"""The folder of remembered results: values by what they are of and what is computed, in segments
that are only appended to. Processes and hosts share it without locks: each writes segments of its
own, and reads those of all. What a process has not written to its end is not there.

Knows no file of data and no query: keys and values are bytes. Only what is the user's own is read.
"""

from __future__ import annotations

import os
import threading
import time
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from .. import _core
from .._system.files import new_file, whole_file
from ..errors import SourceError, local_path, warn
from .segments import (
    ENDING,
    FORM,
    Place,
    Row,
    keys_of,
    merged,
    only_keys,
    packed,
    record_in,
    rows_of,
)
from .totals import AT_ONCE, Record

__all__ = ["Open", "Results", "Segment", "made_folder", "replace_segment"]

_NAME = "segment."
"""The beginning of the names of segments that are appended to."""
_SMALL, _MANY = 1 << 24, 32
"""Bytes below which a segment is small; small ones that are joined."""
_QUIET = 3600.0
"""Seconds for which nobody has used a segment that is joined with others, so that none is that a
process still writes to."""
_SEGMENT = 1 << 28
"""Bytes after which a new segment is begun: what is not used goes by segments."""
_LIMIT = 20 * 10**9
"""Bytes of a folder, at most, if the user does not say."""
_TABLES = 1 << 26
"""Bytes of records' tables that a process keeps in memory, at most."""
_RECENT = 1 << 28
"""Bytes of what was added last that are in memory, too."""
_FEW = 16
"""Values of a record, up to which it takes less time to note all keys than to tell whether they are
those of another record."""
_MOSTLY = 4
"""If more than one in so many values of a record is wanted, all of it is read."""


@dataclass(frozen=True)
class Segment:
    """A file of the folder."""

    path: Path
    size: int
    used: float
    """When it was used last, in seconds since 1970."""


class Open(NamedTuple):
    """What is kept of a file of which not all is done."""

    values: dict[bytes, bytes]
    entries: list[int]
    """As they were given to `keep_open`."""
    segment: str
    """The path of the segment."""


class _Recent(NamedTuple):
    """A record that was added."""

    entries: list[int]
    values: Mapping[bytes, bytes]
    size: int


class _Packed(NamedTuple):
    """A record that can be written."""

    data: bytes
    entries: Sequence[int]
    values: int
    """How many it has."""
    record: bytes
    ahead: int
    """Where the table begins."""

    def place(self, path: str, begin: int) -> Place:
        """Where it is, if it is written to this place of a segment."""
        entries = array("q", self.entries).tobytes()
        place = Place(path, begin + self.ahead, self.values, entries)
        return place._replace(rows=self.record[self.ahead : self.ahead + place.length])


def made_folder(path: str | os.PathLike[str], what: str) -> Path:
    """Makes the folder `what` is for, if it is not there. Raises SourceError if it cannot be used;
    UnsupportedError for an address on a server."""
    folder = Path(local_path(path)).expanduser()
    try:
        folder = folder.absolute()  # which fails if the working folder is gone
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        words = error.strerror or str(error)
        raise SourceError(f"the folder {what} cannot be used: {words}", file=str(folder)) from None
    return folder


def replace_segment(path: Path, data: bytes) -> None:
    """Writes a segment that is there as a whole or not at all, also after the power went. Raises
    OSError."""
    with whole_file(path, private=True, lasting=True) as whole:
        Path(whole).write_bytes(data)


class Results:
    """The results in one folder. Thread-safe."""

    def __init__(self, path: str | os.PathLike[str], limit: int | None = None) -> None:
        """Makes the folder. `limit`: its bytes, at most. Raises SourceError if it cannot be used,
        or is not the user's own; UnsupportedError for an address on a server."""
        self.path = made_folder(path, "for remembered results")
        self.limit = _LIMIT if limit is None else limit
        self._lock = threading.Lock()
        self._places: dict[bytes, list[Place]] = {}
        self._known: set[bytes] = set()
        """The keys of all values that are, or were, in any table."""
        self._tables: set[int] = set()
        """Tables with other keys, by hashes of these: most files' tables have the same."""
        self._room = _TABLES
        """Bytes of tables that may be kept in memory still."""
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
        self._recent: OrderedDict[bytes, _Recent] = OrderedDict()
        """What this run has added last: totals are made of it."""
        self._recent_bytes = 0
        self._failed = False
        self._process = os.getpid()
        _core.check_own(self.path, "what is remembered")

    # What is there.

    def may_have(self, value: bytes) -> bool:
        """See totals.Remembered."""
        return value in self._known

    def find(self, data: bytes, wanted: Sequence[bytes]) -> tuple[dict[bytes, bytes], list[int]]:
        """See totals.Remembered. What is damaged or has gone is not there."""
        found: dict[bytes, bytes] = {}
        entries: list[int] = []
        rest = wanted
        with self._lock:
            recent = self._recent.get(data)
            if recent is not None:
                entries = recent.entries
                found = {key: recent.values[key] for key in wanted if key in recent.values}
                if len(found) == len(wanted):
                    return found, entries
                rest = [key for key in wanted if key not in found]
            places = list(self._places.get(data, ()))
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

    def find_open(self, data: bytes, wanted: Sequence[bytes]) -> Open | None:
        """What `keep_open` has kept of these data, if it has all of these values."""
        with self._lock:
            places = list(self._places.get(data, ()))
        for place in reversed(places):
            values = self._values(place, wanted)
            if values is not None and len(values) == len(wanted):
                return Open(values, array("q", place.entries).tolist(), place.path)
        return None

    def _values(self, place: Place, wanted: Sequence[bytes]) -> dict[bytes, bytes] | None:
        table, rows, end = place.rows, list[Row](), 0
        if table is not None:
            rows, end = rows_of(table, wanted)
            if not rows:
                return {}
        file = self._reading(place.path)
        if file is None:
            return None
        handle = file.fileno()
        if table is None:
            table = os.pread(handle, place.length, place.table)
            rows, end = rows_of(table, wanted)
        base = place.table + len(table)
        found = {}
        if len(rows) * _MOSTLY > place.values:  # one read takes less time than many
            whole = memoryview(os.pread(handle, end, base))
            values = [bytes(whole[row.at : row.at + row.length]) for row in rows]
        else:
            values = [os.pread(handle, row.length, base + row.at) for row in rows]
        for row, value in zip(rows, values, strict=True):
            if row.is_of(value):
                found[row.key] = value
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
            for each in self.segments():  # of values that are there twice the newest counts
                path = str(each.path)
                if each.size > self._scanned.get(path, 0) and path not in self._refused:
                    self._scan(path)

    def _scan(self, path: str) -> None:
        at = self._scanned.get(path, 0)
        try:
            with open(path, "rb") as file:
                if not at:
                    _core.check_own(path, "what is remembered")
                    if file.read(len(FORM)) != FORM:
                        self._refused.add(path)
                        return
                    at = len(FORM)
                size = os.fstat(file.fileno()).st_size
                while (record := record_in(file, at, size, path)) is not None:
                    data, place, at = record
                    self._note(data, place)
                self._scanned[path] = at
        except SourceError:  # it is another user's: what it holds may be wrong
            self._refused.add(path)
        except OSError:  # it was removed for others
            return

    def _note(self, data: bytes, place: Place) -> None:
        """Notes where a record is. Its table is kept if there is room: where many runs have left
        records of the same data, most do not have what is looked for."""
        if place.rows is not None:
            if place.values <= _FEW:
                self._known.update(keys_of(place.rows))
            elif (keys := hash(only_keys(place.rows))) not in self._tables:
                self._tables.add(keys)
                self._known.update(keys_of(place.rows))
        self._room -= place.length
        if self._room < 0:
            place = place._replace(rows=None)
        self._places.setdefault(data, []).append(place)

    # What is added.

    def add(self, records: Iterable[Record]) -> None:
        """See totals.Remembered: by one write if they are not large. If the folder is full or
        cannot be written, it warns once and keeps nothing more."""
        if self._failed or os.getpid() != self._process:
            return
        with self._lock:
            try:
                ready, size = list[_Packed](), 0
                for data, entries, values in records:
                    each = _Packed(data, entries, len(values), *packed(data, entries, values))
                    self._remember(data, _Recent([*entries], values, len(each.record)))
                    ready.append(each)
                    size += len(each.record)
                    if size > AT_ONCE:
                        self._append(ready)
                        ready, size = [], 0
                self._append(ready)
            except OSError as error:
                self._failed = True
                self._close()
                warn(
                    f"nothing more is remembered in {self.path}: {error.strerror or error}",
                    RuntimeWarning,
                )

    def _remember(self, data: bytes, recent: _Recent) -> None:
        if data in self._recent:  # with other values: they are found on disk
            return
        self._recent[data] = recent
        self._recent_bytes += recent.size
        while self._recent_bytes > _RECENT:
            self._recent_bytes -= self._recent.popitem(last=False)[1].size

    def _append(self, records: Sequence[_Packed]) -> None:
        """Appends records to the segment of this run."""
        room = self.limit - self._written
        fitting = []
        for each in records:
            if len(each.record) <= room:
                room -= len(each.record)
                fitting.append(each)
        if not fitting:
            return
        data = b"".join([each.record for each in fitting])
        if self._handle is None or self._size + len(data) > _SEGMENT:
            self._close()
            self._open()
        assert self._handle is not None
        assert self._writing is not None
        begin = self._size
        view = memoryview(data)
        while view:
            done = os.write(self._handle, view)
            view = view[done:]
            self._size += done
        self._written += len(data)
        for each in fitting:
            self._note(each.data, each.place(self._writing, begin))
            begin += len(each.record)
        self._scanned[self._writing] = self._size
        self._used.add(self._writing)

    def keep_open(self, records: Sequence[Record], former: Path | None = None) -> Path | None:
        """Keeps records that other ones will soon take the place of, in a segment of their own, and
        gives its path; None if there is nothing to be kept. `former`: the segment whose place they
        take. Raises OSError."""
        path = None
        if records and os.getpid() == self._process:
            data = b"".join([FORM, *(packed(*each)[0] for each in records)])
            with self._lock:
                is_room = self._written + len(data) <= self.limit
            if not is_room:
                return former
            # A name of its own: who has looked at the former one must not find other bytes there.
            path = self.path / f"open.{os.urandom(8).hex()}{ENDING}"
            replace_segment(path, data)
        if former is not None:
            self.remove(former)
        return path

    def remove(self, segment: Path) -> None:
        """Removes a segment that nobody needs any more."""
        with suppress(OSError):
            segment.unlink()

    def _open(self) -> None:
        path = new_file(str(self.path / _NAME[:-1]), private=True)
        self._handle = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.write(self._handle, FORM)
        named = str(self.path / f"{os.path.basename(path)[1:].removesuffix('.part')}{ENDING}")
        os.rename(path, named)
        self._writing, self._size = named, len(FORM)

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
            self._recent, self._recent_bytes = OrderedDict(), 0
            self._close()  # later runs begin segments of their own, which may be used alone
            self._handles = {}  # other threads may be reading: each is closed after its last reader
        for path in used:
            with suppress(OSError):
                os.utime(path)
        self.compact()
        if sum(each.size for each in self.segments()) > self.limit:
            self.prune()

    def compact(self, now: float | None = None) -> int:
        """Joins small segments that nobody has used for a while into one, if there are many of
        them: each run that computes something leaves one, and each new process looks into all.
        Gives the number of segments that were joined. `now`: the time, in seconds since 1970."""
        now = time.time() if now is None else now
        quiet = [
            each
            for each in self.segments()
            if each.path.name.startswith(_NAME) and each.size < _SMALL and each.used < now - _QUIET
        ]
        total, joined = 0, []
        for each in quiet:
            total += each.size
            if total <= _SEGMENT and (data := self._own(each.path)) is not None:
                joined.append((each, data))
        if len(joined) < _MANY:
            return 0
        path = self.path / f"{_NAME}{os.urandom(8).hex()}{ENDING}"
        try:
            replace_segment(path, merged([data for _, data in joined]))
            os.utime(path, (joined[-1][0].used,) * 2)
        except OSError:  # the disk is full, say: all stays as it is
            return 0
        for each, _ in joined:
            self.remove(each.path)
        self._forget({str(each.path) for each, _ in joined})
        return len(joined)

    def _own(self, path: Path) -> bytes | None:
        """The bytes of a segment of the user's own."""
        try:
            data = _core.read_own(path, "what is remembered")
        except (OSError, SourceError):
            return None
        return data if data.startswith(FORM) else None

    def _forget(self, gone: Set[str]) -> None:
        """Notes that these segments were removed."""
        with self._lock:
            for path in gone:
                self._scanned.pop(path, None)
            self._places = {
                data: kept
                for data, places in self._places.items()
                if (kept := [place for place in places if place.path not in gone])
            }
            kept_places = (place for places in self._places.values() for place in places)
            self._room = _TABLES - sum(place.length for place in kept_places)

    def segments(self) -> list[Segment]:
        """The files of the folder, the one first that was used least recently."""
        found = []
        with suppress(OSError), os.scandir(self.path) as entries:
            for entry in entries:
                if entry.name.endswith(ENDING) and not entry.name.startswith("."):
                    with suppress(OSError):
                        about = entry.stat(follow_symlinks=False)
                        found.append(Segment(Path(entry.path), about.st_size, about.st_mtime))
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
                for beside in (".lock", ".name"):  # of the record of a pass
                    each.path.with_suffix(beside).unlink(missing_ok=True)
                left -= each.size
                removed += each.size
        self._forget({str(each.path) for each in segments if not each.path.exists()})
        return removed
