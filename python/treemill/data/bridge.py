"""Files of protocols that the core has no transport for: what fsspec knows, and what the official
Python package of XRootD is asked for by name. The core calls this module back, on threads of its
own (crates/treemill-py/src/bridge.rs): a file, its state, a folder, and ranges of bytes.

What fails raises OSError, FileNotFoundError if there is no such file; the core makes it a
SourceError with the file's address. Knows no dataset and no layout of files.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from ..errors import UnsupportedError
from . import official_xrootd, over_fsspec

if TYPE_CHECKING:
    from .column_source import BridgedFile, State

__all__ = ["check", "list_folder", "open_file", "stat"]


class _Protocols(Protocol):
    """A module that reads some protocols."""

    def open_file(self, url: str) -> BridgedFile: ...
    def stat(self, url: str) -> State: ...
    def list_folder(self, url: str) -> list[tuple[str, bool]]: ...


class _Named:
    """A file with the name that messages call it by. What the core gets."""

    def __init__(self, url: str, file: BridgedFile) -> None:
        self.name = _shown(url)
        self.told, self.at_once, self.read = file.told, file.at_once, file.read


def check(scheme: str, url: str, others: Sequence[str]) -> None:
    """Raises UnsupportedError, which names `others` that are supported, for a scheme that nothing
    here knows, and MissingPackageError for one whose package is not installed."""
    if scheme in official_xrootd.SCHEMES:
        official_xrootd.check(url)
    elif not over_fsspec.knows(scheme, url):
        known = ", ".join(f"{each}://" for each in others)
        raise UnsupportedError(
            f"{scheme}:// is not supported by this version of treemill; it reads local files, "
            f"{known}, and the protocols of the Python package fsspec{_meant(scheme, others)}",
            file=url,
        )


def _meant(scheme: str, others: Sequence[str]) -> str:
    """A question about a scheme that may be meant."""
    near = get_close_matches(scheme, others, 1)
    return f"; did you mean {near[0]}?" if near else ""


def _protocols(url: str) -> _Protocols:
    scheme = url.partition("://")[0].lower()
    return official_xrootd if scheme in official_xrootd.SCHEMES else over_fsspec


def open_file(url: str) -> _Named:
    """Opens a file."""
    return _Named(url, _protocols(url).open_file(url))


def stat(url: str) -> tuple[str, State]:
    """The name for messages and the state of a file or folder."""
    return _shown(url), _protocols(url).stat(url)


def list_folder(url: str) -> list[tuple[str, bool]]:
    """Name, and whether it is a folder, of all that a folder holds."""
    return _protocols(url).list_folder(url)


def _shown(url: str) -> str:
    """An address without what may be a secret: user and password, and the query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
