"""The record of a pass, and the folder that a run keeps its commits in: one segment per pass,
replaced as a whole, so that a process may be killed at any moment and leave either the old or the
new record.

Knows no pass. A record may hold pickled objects of the user: only the user's own folder is read.
"""

from __future__ import annotations

import json
import os
import socket
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from .. import _core
from .._system.files import remove_left, whole_file
from ..errors import QueryError, SourceError
from ..scheduling import Range
from .results import made_folder, replace_segment
from .segments import ENDING, FORM, only_record, packed

__all__ = ["Checkpoint", "Fingerprint", "Folder", "Pace", "PassRecord", "Wanted"]

# What a kept partial is of, and in what it differs from what a run wants now; its record, which is
# a segment of results, whose values are JSON and the partial. Pure. Bytes are read without running
# anything of them; the caller loads the partial.


@dataclass(frozen=True)
class Fingerprint:
    """What decides the numbers of a pass, as digests by name."""

    versions: Mapping[str, str]
    """The versions of treemill and of Python."""
    parts: Mapping[str, str]
    """What is computed, on which files: digests by names that the user understands."""

    def difference(self, now: Fingerprint) -> str | None:
        """Returns what differs, in words, if this is kept and `now` is wanted; None if nothing
        does."""
        for name in sorted({*self.versions, *now.versions}):
            kept, wanted = self.versions.get(name, "none"), now.versions.get(name, "none")
            if kept != wanted:
                return f"it was written with {name} {kept}, and this is {name} {wanted}"
        differing = [
            name
            for name in sorted({*self.parts, *now.parts})
            if self.parts.get(name) != now.parts.get(name)
        ]
        if not differing:
            return None
        return f"it is of another run: not the same {_listed(differing)}"


def changed(
    kept: Mapping[int, str], now: Callable[[int], str], name: Callable[[int], str]
) -> str | None:
    """The first file that is not what it was, in words. `kept`: digests of the files' identities by
    number; `now`: of what they are; `name` of a file."""
    for number, digest in sorted(kept.items()):
        if now(number) != digest:
            return f"{name(number)} has changed since"
    return None


def _listed(names: list[str]) -> str:
    shown = names[:4] + ([f"{len(names) - 4} more"] if len(names) > 4 else [])
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


_REMOVE = "remove it to begin again"
_PASS = b"an open pass".ljust(16, b"\0")
"""The key of the data: not of files that a run takes from what is remembered."""
_ABOUT = b"about".ljust(16, b"\0")
_PIECE = 1 << 30
"""Bytes of the partial that are one value, at most."""


@dataclass(frozen=True)
class PassRecord:
    """What is kept of one pass."""

    fingerprint: Fingerprint
    identities: Mapping[int, str]
    """Digests of the identities of the files that entries are done of."""
    processed: Mapping[int, Sequence[Range]]
    """The entries that the partial covers, as ascending ranges by file."""
    sizes: Mapping[int, int]
    """The entries of files that are done, if they are known."""
    partial: bytes

    @property
    def entries(self) -> int:
        """The number of entries that are done."""
        return sum(stop - start for ranges in self.processed.values() for start, stop in ranges)

    def dumps(self) -> bytes:
        """The segment of the record."""
        about = json.dumps(
            {
                "versions": dict(self.fingerprint.versions),
                "parts": dict(self.fingerprint.parts),
                "files": {
                    str(file): [self.identities[file], self.sizes.get(file), list(ranges)]
                    for file, ranges in sorted(self.processed.items())
                },
            },
            separators=(",", ":"),
        )
        pieces = range(0, max(len(self.partial), 1), _PIECE)
        values = {_ABOUT: about.encode()}
        values |= {_piece(i): self.partial[at : at + _PIECE] for i, at in enumerate(pieces)}
        return FORM + packed(_PASS, (), values)[0]

    @staticmethod
    def loads(data: bytes, file: str) -> PassRecord:
        """The record from the bytes of its segment. Raises SourceError, which names `file`."""
        if not data.startswith(FORM):
            raise SourceError(f"is no checkpoint of this version of treemill: {_REMOVE}", file=file)
        of, values = only_record(data) or (b"", {})
        if of != _PASS:
            raise SourceError(f"is damaged, its checksum is wrong: {_REMOVE}", file=file)
        try:
            about = json.loads(values.pop(_ABOUT))
            return _record(about, b"".join([values[_piece(i)] for i in range(len(values))]))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise SourceError(f"is damaged ({error}): {_REMOVE}", file=file) from None


def _piece(number: int) -> bytes:
    return b"partial".ljust(8, b"\0") + number.to_bytes(8, "little")


def _record(about: dict[str, Any], partial: bytes) -> PassRecord:
    fingerprint = Fingerprint(dict(about["versions"]), dict(about["parts"]))
    identities, processed, sizes = {}, {}, {}
    for text, (identity, size, ranges) in about["files"].items():
        file = int(text)
        identities[file] = str(identity)
        processed[file] = [_range(each) for each in ranges]
        if size is not None:
            sizes[file] = int(size)
    return PassRecord(fingerprint, identities, processed, sizes, partial)


def _range(pair: Sequence[object]) -> Range:
    start, stop = pair
    if not (isinstance(start, int) and isinstance(stop, int) and 0 <= start < stop):
        raise ValueError(f"{pair} is no range of entries")
    return start, stop


# When the next commit to disk is due. Pure: times are given by the caller.


@dataclass(frozen=True)
class Pace:
    """How often is kept: as often as asked for, unless that cost more than a share of the time."""

    every: float = 5.0
    """Seconds between two commits to disk, at least."""
    share: float = 0.02
    """The share of the time that keeping may take."""

    def wait(self, cost: float) -> float:
        """The seconds to wait after a commit to disk that took `cost` seconds."""
        return max(self.every, cost / self.share - cost)


class Folder:
    """The folder of one run. It may have been made by an earlier one."""

    def __init__(self, path: str | os.PathLike[str], pace: Pace | None = None) -> None:
        """Makes the folder. Raises SourceError if it cannot be made or written to,
        UnsupportedError for an address on a server."""
        self.path = made_folder(path, "for checkpoint=")
        self._pace = pace or Pace()

    def checkpoint(self, name: str, of: Wanted) -> Checkpoint:
        """The checkpoint of the pass with this name."""
        return Checkpoint(self.path / f"{name}{ENDING}", of, self._pace)


@dataclass(frozen=True)
class Wanted:
    """What a pass is of."""

    fingerprint: Fingerprint
    files: Sequence[str]
    """The names of the pass's files."""
    identities: Mapping[int, str]
    """Digests of the identities of the files that are there."""


class Checkpoint:
    """The record of one pass on disk. One process at a time uses it; `close` it afterwards."""

    def __init__(self, path: Path, of: Wanted, pace: Pace) -> None:
        self.path = path
        self.pace = pace
        self.of = of
        self._lock: IO[str] | None = None

    def load(self) -> PassRecord | None:
        """Returns what was kept of this pass; None if nothing was. Claims the checkpoint for this
        process, and removes what those that were killed have written in part. Raises QueryError if
        what was kept is of another pass or another process uses it, SourceError if it is damaged,
        cannot be read, or may be another user's."""
        self._claim()
        try:
            data = _core.read_own(self.path, "the checkpoint")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SourceError(f"cannot be read: {error.strerror}", file=str(self.path)) from None
        record = PassRecord.loads(data, str(self.path))
        with suppress(OSError):
            os.utime(self.path)  # what was used least recently goes, where results are remembered
        of = self.of
        wrong = record.fingerprint.difference(of.fingerprint)
        if wrong is None:
            wrong = changed(
                record.identities, lambda n: of.identities.get(n, ""), lambda n: of.files[n]
            )
        if wrong is not None:
            raise QueryError(
                f"the run cannot continue from the checkpoint in {self.path.parent}: {wrong}. Give "
                "checkpoint= another folder, or remove this one to begin again"
            )
        return record

    def save(
        self,
        partial: bytes,
        processed: Mapping[int, Sequence[Range]],
        sizes: Mapping[int, int] | None = None,
    ) -> None:
        """Keeps a merged partial and the entries that it covers, in place of what was kept before.
        `sizes`: the entries of these files, if they are known. Raises SourceError."""
        of = self.of
        identities = {file: of.identities.get(file, "") for file in processed}
        record = PassRecord(of.fingerprint, identities, processed, sizes or {}, partial)
        try:
            replace_segment(self.path, record.dumps())
        except OSError as error:
            raise SourceError(f"cannot be written: {error.strerror}", file=str(self.path)) from None

    def name(self) -> str:
        """Names this checkpoint among all there are: a random name, which is kept beside the
        record. Runs that resume have the same one, until the folder is removed. Raises
        SourceError."""
        path = self.path.with_suffix(".name")
        try:
            if not path.exists():
                with whole_file(path, private=True, lasting=True) as whole:
                    Path(whole).write_bytes(uuid.uuid4().hex.encode())
            return _core.read_own(path, "the name of the checkpoint").decode("ascii", "replace")
        except OSError as error:
            raise SourceError(f"cannot be written: {error.strerror}", file=str(path)) from None

    def close(self) -> None:
        """Lets other processes use the checkpoint."""
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.close()

    def _claim(self) -> None:
        """Locks a file beside the record. The system releases it when this process ends, however
        that happens. File systems without locks are used without."""
        path = self.path.with_suffix(".lock")
        try:
            import fcntl  # not on Windows

            lock = path.open("a+")
        except (ImportError, OSError):
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            user = lock.read(200).strip() or "another process"
            lock.close()
            raise QueryError(
                f"the checkpoint in {path.parent} is in use by {user}: give checkpoint= another "
                "folder, or end that run first"
            ) from None
        except OSError:
            lock.close()
            return
        lock.truncate(0)
        lock.write(f"process {os.getpid()} on {socket.gethostname()}")
        lock.flush()
        self._lock = lock
        # Who writes has the lock: these are of processes that have ended.
        remove_left(self.path)
        remove_left(self.path.with_suffix(".name"))
