"""XRootD by its official Python package, for sites that want what the core's client has not: GSI,
Kerberos, shared secrets. Only where the address says so: `xrootd+root://host//file.root`.

Called by bridge.py; errors as it says there. The package has threads and locks that do not survive
a fork: a process that was forked from one with the package is refused.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol, TypeVar
from urllib.parse import urlsplit

from .._system.process import has_inherited
from ..errors import MissingPackageError

if TYPE_CHECKING:
    from types import ModuleType

    from .column_source import State

__all__ = ["PREFIX", "SCHEMES", "check", "list_folder", "open_file", "stat"]

PREFIX = "xrootd+"
SCHEMES = tuple(f"{PREFIX}{scheme}" for scheme in ("root", "roots", "xroot", "xroots"))

_PATIENCE = 20
"""Seconds for one request, of 4 MiB at most; the package's own limit is half an hour. Less than the
core's for the bridge, whose error would not say what the package says."""
_SETTINGS = {"ConnectionWindow": 10, "ConnectionRetry": 2, "StreamErrorWindow": 10}
"""The package's own defaults wait for minutes. What the user's XRD_… say counts."""
_CALLS = 4
_MOST = 2_000_000
"""Bytes of one range of a vector read; servers take 2,097,136."""
_NO_LOGIN = "Auth failed"
_MISSING = 3011
"""kXR_NotFound."""
_SETTLED = 2.0
"""Seconds after a change from which on the next one is sure to give another time."""


_T = TypeVar("_T")


class _Status(Protocol):
    """How a request of the package has ended."""

    ok: bool
    errno: int
    message: str


class _StatInfo(Protocol):
    """A file as its server describes it."""

    id: object
    size: int
    flags: int
    modtime: int


class _Entry(Protocol):
    """A file in a folder."""

    name: str
    statinfo: _StatInfo | None


class _FileSystem(Protocol):
    """The client of a server."""

    def stat(self, path: str, timeout: int) -> tuple[_Status, _StatInfo]: ...

    def dirlist(self, path: str, flags: int, timeout: int) -> tuple[_Status, Iterable[_Entry]]: ...


def check(url: str) -> None:
    """Raises MissingPackageError if the package is not installed."""
    if find_spec("XRootD") is None:
        raise MissingPackageError(
            f"{PREFIX}root:// is read with XRootD's Python package: pip install xrootd", file=url
        )


def _client() -> ModuleType:
    if has_inherited("XRootD"):
        raise OSError(
            "the official client of XRootD does not survive a fork of a process that has it: "
            'use threads, or tm.connect(mode="processes", start="spawn")'
        )
    return _prepared()


@cache
def _prepared() -> ModuleType:
    client = importlib.import_module("XRootD.client")
    for name, value in _SETTINGS.items():
        if f"XRD_{name.upper()}" not in os.environ:
            client.EnvPutInt(name, value)
    return client


def _answer(answer: tuple[_Status, _T]) -> _T:
    """Returns what was asked for, of a pair of status and answer."""
    status, result = answer
    if status.ok:
        return result
    if status.errno == _MISSING:
        raise FileNotFoundError("no such file")
    said = f"the official client of XRootD says: {status.message.strip()}"
    if _NO_LOGIN in said:
        said += ". Is there a valid proxy certificate (X509_USER_PROXY), or a ticket of Kerberos?"
    raise OSError(said)


def _place(url: str) -> tuple[_FileSystem, str]:
    """The client of a file's server, and the file's path with its query."""
    parts = urlsplit(url.removeprefix(PREFIX))
    system = _client().FileSystem(f"{parts.scheme}://{parts.netloc}")
    path = "/" + parts.path.lstrip("/")
    return system, f"{path}?{parts.query}" if parts.query else path


def stat(url: str) -> State:
    """See bridge.py."""
    system, path = _place(url)
    return _state(_answer(system.stat(path, timeout=_PATIENCE)))


def _state(info: _StatInfo) -> State:
    is_folder = bool(info.flags & _client().flags.StatInfoFlags.IS_DIR)
    is_settled = time.time() - info.modtime > _SETTLED
    mark = f"{info.id} {info.modtime}" if is_settled and not is_folder else None
    return info.size, is_folder, mark


def list_folder(url: str) -> list[tuple[str, bool]]:
    """See bridge.py."""
    system, path = _place(url)
    flags = _client().flags
    entries = _answer(system.dirlist(path, flags.DirListFlags.STAT, timeout=_PATIENCE))
    is_folder = flags.StatInfoFlags.IS_DIR
    return [
        (each.name, each.statinfo is not None and bool(each.statinfo.flags & is_folder))
        for each in entries
    ]


class _File:
    """An open file. Implements bridged.BridgedFile."""

    at_once = _CALLS

    def __init__(self, url: str) -> None:
        self._file = _client().File()
        _answer(self._file.open(url.removeprefix(PREFIX), timeout=_PATIENCE))
        self.told = _state(_answer(self._file.stat(timeout=_PATIENCE)))

    def read(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """See bridged.BridgedFile."""
        parts: dict[tuple[int, int], bytes] = {}
        small = [(s, e) for s, e in ranges if 0 < e - s <= _MOST]
        if small:
            chunks = [(start, end - start) for start, end in small]
            answer = _answer(self._file.vector_read(chunks, timeout=_PATIENCE))
            buffers = (chunk.buffer for chunk in answer.chunks)
            parts = dict(zip(small, buffers, strict=True))
        for start, end in ranges:
            if end - start > _MOST:
                read = self._file.read(start, end - start, timeout=_PATIENCE)
                parts[start, end] = _answer(read)
        return [parts.get(each, b"") for each in ranges]


def open_file(url: str) -> _File:
    """See bridge.py."""
    return _File(url)
