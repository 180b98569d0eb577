"""Files that fsspec reads, for protocols that the core has no transport for: complete, but slow. A
file system whose requests run in an event loop is asked for many ranges at once; any other one for
one after the other, since its connection can only do one thing at a time.

Called by bridge.py; errors as it says there.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, BinaryIO, TypeVar
from urllib.parse import urlsplit

from ..errors import MissingPackageError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

    from .column_source import State

__all__ = ["knows", "list_folder", "open_file", "stat"]

Answer = TypeVar("Answer")

_HEAD = re.compile(r"[^:]+://[^/]*")
_CALLS = 4
"""Calls at once of a file system that runs an event loop; each asks for many ranges."""
_SETTLED = 2.0
"""Seconds after a change from which on the next one is sure to give another time."""
# What file systems call the state of a file: names that identify it, and times of change.
_TAGS = ("ETag", "etag", "checksum", "md5Hash", "contentHash", "content_hash", "version_id")
_TIMES = ("mtime", "LastModified", "last_modified", "modify", "modified", "updated")


def knows(scheme: str, url: str) -> bool:
    """True if fsspec has a file system for a scheme. Raises MissingPackageError if it has, but a
    package that it needs is not installed."""
    try:
        from fsspec import available_protocols, get_filesystem_class  # heavy: fsspec
    except ImportError:
        raise MissingPackageError(
            f"{scheme}:// may be read with the Python package fsspec: pip install fsspec", file=url
        ) from None
    if scheme not in available_protocols():
        return False
    try:
        get_filesystem_class(scheme)
    except ImportError as error:
        raise MissingPackageError(
            f"{scheme}:// is read with fsspec, which says: {error}", file=url
        ) from None
    return True


class _System:
    """fsspec's file system of one server."""

    def __init__(self, url: str) -> None:
        from fsspec.asyn import AsyncFileSystem  # heavy: fsspec
        from fsspec.core import url_to_fs  # heavy: fsspec

        self.fs: AbstractFileSystem = url_to_fs(url)[0]
        self.is_parallel = isinstance(self.fs, AsyncFileSystem)
        self._one_by_one = threading.Lock()

    def ask(self, question: Callable[[AbstractFileSystem], Answer]) -> Answer:
        """Returns what the file system answers. One question at a time, if it takes no more."""
        if self.is_parallel:
            return question(self.fs)
        with self._one_by_one:
            return question(self.fs)


_systems: dict[tuple[int, str], _System] = {}
"""File systems by process and server: connections do not outlive a fork."""
_lock = threading.Lock()


def _asked(url: str, question: Callable[[AbstractFileSystem, str], Answer]) -> Answer:
    """The answer about a file. A connection that was lost, as idle ones are, is made again once."""
    head = _HEAD.match(url)
    key = os.getpid(), "" if head is None else head[0]
    with _failing(url):
        for attempt in range(2):
            with _lock:
                system = _systems.get(key)
            if system is None:
                new = _System(url)
                with _lock:
                    system = _systems.setdefault(key, new)
            path = system.fs._strip_protocol(url)
            try:
                return system.ask(lambda fs, path=path: question(fs, path))  # type: ignore[misc]
            except (ConnectionError, EOFError):
                with _lock:
                    if _systems.get(key) is system:
                        del _systems[key]
                if attempt:
                    raise
        raise AssertionError  # both attempts have given or raised something


@contextmanager
def _failing(url: str) -> Iterator[None]:
    """Makes errors of any library those that bridge.py promises, without passwords."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError("no such file") from None
    except Exception as error:
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        if password := urlsplit(url).password:
            text = text.replace(password, "…")
        raise OSError(f"fsspec cannot read it: {text}") from None


def stat(url: str) -> State:
    """See bridge.py."""

    def look(fs: AbstractFileSystem, path: str) -> State:
        fs.invalidate_cache()
        return _state(fs, path)

    return _asked(url, look)


def _state(fs: AbstractFileSystem, path: str) -> State:
    info = fs.info(path)
    if info["type"] == "directory":
        return 0, True, None
    if info.get("size") is None:
        raise OSError("the server does not say how large the file is")
    return int(info["size"]), False, _mark(info, lambda: fs.modified(path))


def _mark(info: Mapping[str, object], modified: Callable[[], object]) -> str | None:
    """Returns what tells this state of a file from any other."""
    tags = [f"{name}={info[name]}" for name in _TAGS if info.get(name)]
    times = {name: info[name] for name in _TIMES if info.get(name) is not None}
    if not tags and not times:
        try:
            times["modified"] = modified()
        except Exception:  # many file systems cannot say
            return None
    moments = [_seconds(value) for value in times.values()]
    now = time.time()
    # Without a tag, a time tells states apart only if the next change gives another one.
    if not tags and any(moment is None or now - moment < _SETTLED for moment in moments):
        return None
    return " ".join([*tags, *(f"{name}={value}" for name, value in times.items())])


def _seconds(value: object) -> float | None:
    """A time as any file system says it, in seconds since 1970."""
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        value = _parsed(value)
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    return None


def _parsed(text: str) -> datetime | None:
    for parse in (_of_ftp, datetime.fromisoformat):
        with suppress(ValueError):
            return parse(text)
    return None


def _of_ftp(text: str) -> datetime:
    return datetime.strptime(text.partition(".")[0], "%Y%m%d%H%M%S")


def list_folder(url: str) -> list[tuple[str, bool]]:
    """See bridge.py."""

    def look(fs: AbstractFileSystem, path: str) -> list[tuple[str, bool]]:
        fs.invalidate_cache()
        entries = fs.ls(path, detail=True)
        names = ((each["name"].rstrip("/"), each["type"] == "directory") for each in entries)
        return [(name.rpartition("/")[2], is_folder) for name, is_folder in names]

    return _asked(url, look)


class _FsspecFile:
    """An open file. Implements bridged.BridgedFile."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.told = stat(url)
        if self.told[1]:
            raise OSError("it is a folder")
        self._handle: tuple[AbstractFileSystem, BinaryIO] | None = None
        file_system = _asked(url, lambda fs, _: fs)
        self._is_parallel = hasattr(file_system, "_cat_ranges")
        self.at_once = _CALLS if self._is_parallel else 1

    def read(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """See bridged.BridgedFile."""

        def together(fs: AbstractFileSystem, path: str) -> list[bytes]:
            starts, ends = ([each[i] for each in ranges] for i in (0, 1))
            parts = fs.cat_ranges([path] * len(ranges), starts, ends, on_error="raise")
            return [bytes(part) for part in parts]

        def one_by_one(fs: AbstractFileSystem, path: str) -> list[bytes]:
            if self._handle is None or self._handle[0] is not fs:
                self._handle = fs, fs.open(path, "rb")
            file = self._handle[1]
            return [_part(file, start, end) for start, end in ranges]

        return _asked(self._url, together if self._is_parallel else one_by_one)


def _part(file: BinaryIO, start: int, end: int) -> bytes:
    file.seek(start)
    data = bytes(file.read(end - start))
    while len(data) < end - start and (more := file.read(end - start - len(data))):
        data += more  # files may give less than was asked for
    return data


def open_file(url: str) -> _FsspecFile:
    """See bridge.py."""
    return _FsspecFile(url)
