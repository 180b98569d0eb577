"""The storage that files lie in, asked by address: whether a file exists, what its identity is,
which files a glob matches, what lies beside a file, what a small text file says. An address is a
path or a URL; its scheme says which storage it belongs to.

Only this module decides what an address means and looks at directories. Knows no tree, no dataset
and no layout of files: the core and uproot read the ROOT files themselves.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Hashable, Mapping
from typing import NamedTuple, Protocol

from ..errors import SourceError, UnsupportedError

__all__ = [
    "Identity",
    "Storage",
    "address",
    "beside",
    "content",
    "exists",
    "identity",
    "is_directory",
    "is_glob",
    "is_same",
    "is_url",
    "matching",
    "server",
]

_SERVER = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://[^/]*")
_GLOB = re.compile(r"[*?\[]")


class Identity(NamedTuple):
    """What tells one state of one file from any other. Two looks at a file that give equal
    identities saw the same bytes, if the file was settled at the first look."""

    size: int
    """Bytes."""
    changed: int
    """When the file was changed last, in nanoseconds since 1970; 0 if the storage does not say."""
    marks: tuple[Hashable, ...]
    """Whatever else the storage tells: device, inode and times of a local file; the entity tag,
    checksum or version of a remote one."""


class Storage(Protocol):
    """What each kind of storage answers. All addresses have the form that `address` gives."""

    def address(self, text: str) -> str:
        """The form of an address that all other methods, and the core, take."""

    def exists(self, path: str) -> bool:
        """Whether something has this address; also a link that points nowhere."""

    def is_directory(self, path: str) -> bool:
        """Whether the address is that of a directory."""

    def identity(self, path: str) -> Identity:
        """The identity of a file as it is now. Raises SourceError if there is no such file, or if
        the storage refuses to tell."""

    def matching(self, pattern: str) -> list[str]:
        """The addresses that a glob matches, sorted. `**` goes through directories."""

    def beside(self, given: str, file: str) -> str:
        """The address that `given` means in a file: a relative path starts at its directory."""

    def canonical(self, path: str) -> str:
        """The one address of a file that may have several, by links or by relative paths."""

    def content(self, path: str) -> bytes:
        """All bytes of a small file. Raises SourceError."""


class _Local:
    """Files that the operating system opens by a path. Implements Storage."""

    def address(self, text: str) -> str:
        return text[len("file://") :] if is_url(text) else os.path.expanduser(text)

    def exists(self, path: str) -> bool:
        return os.path.lexists(path)

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(path)

    def identity(self, path: str) -> Identity:
        try:
            found = os.stat(path)
        except OSError as error:
            raise _failed(path, error) from None
        changed = max(found.st_mtime_ns, found.st_ctime_ns)
        marks = found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns
        return Identity(found.st_size, changed, marks)

    def matching(self, pattern: str) -> list[str]:
        return sorted(glob.glob(pattern, recursive=True))

    def beside(self, given: str, file: str) -> str:
        # A path from the root or from a home directory stays as it is.
        return os.path.join(os.path.dirname(file), os.path.expanduser(given))

    def canonical(self, path: str) -> str:
        return os.path.realpath(path)

    def content(self, path: str) -> bytes:
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            raise _failed(path, error) from None


def _failed(path: str, error: OSError) -> SourceError:
    reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
    return SourceError(f"{reason}: {path}", file=path)


_LOCAL = _Local()
_STORAGES: Mapping[str, Storage] = {"": _LOCAL, "file": _LOCAL}
"""By scheme; a path has none. A new kind of storage is a line here."""


def _storage(path: str) -> Storage:
    if "://" not in path:  # as most are, and each pass asks for each file's identity
        return _LOCAL
    scheme = server(path).partition("://")[0].lower()
    found = _STORAGES.get(scheme)
    if found is None:
        raise UnsupportedError(
            f"{scheme}:// sources come with a later version of treemill; "
            "this one reads local files",
            file=path,
        )
    return found


def server(text: str) -> str:
    """The beginning of a URL up to its path, `root://host:1094`; empty for a path."""
    found = _SERVER.match(text) if "://" in text else None
    return "" if found is None else found[0]


def is_url(text: str) -> bool:
    """Whether this is a URL, of whatever scheme, and not a path."""
    return bool(server(text))


def is_glob(text: str) -> bool:
    """Whether a path has the signs of a glob."""
    return _GLOB.search(text) is not None


def address(text: str) -> str:
    """What a user writes for a file, in the form that everything else takes: a path with its home
    directory, or a URL. Raises UnsupportedError for a scheme that is not supported."""
    return _storage(text).address(text)


def exists(path: str) -> bool:
    """See Storage."""
    return _storage(path).exists(path)


def is_directory(path: str) -> bool:
    """See Storage."""
    return _storage(path).is_directory(path)


def identity(path: str) -> Identity:
    """See Storage."""
    return _storage(path).identity(path)


def matching(pattern: str) -> list[str]:
    """See Storage."""
    return _storage(pattern).matching(pattern)


def beside(given: str, file: str) -> str:
    """What the path or URL `given` means in `file`: see Storage."""
    return given if is_url(given) else _storage(file).beside(given, file)


def is_same(one: str, other: str) -> bool:
    """Whether two addresses mean the same file."""
    if is_url(one) != is_url(other):
        return False
    return _storage(one).canonical(one) == _storage(other).canonical(other)


def content(path: str) -> bytes:
    """See Storage."""
    return _storage(path).content(path)
