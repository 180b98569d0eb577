"""The content of a document that a user gives by its path, by its URL, or as it is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TypeAlias

from .._system.json_document import unpacked
from ..data import source
from ..errors import FormatError, QueryError

__all__ = ["Document", "Given", "read"]

Given: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview
"""A path, a URL, or the content itself."""

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Document:
    """A document."""

    content: bytes
    """Not compressed."""
    name: str
    """What messages call it."""


def read(document: Given, most: int) -> Document:
    """Returns what is there, unzipped. `most`: bytes that it may have then. Raises QueryError for
    what is neither a path nor a content."""
    name = "the given bytes"
    if isinstance(document, (bytes, bytearray, memoryview)):
        content = bytes(document)
    elif isinstance(document, str) and ("\n" in document or document.lstrip().startswith("{")):
        name, content = "the given text", document.encode()
    elif not isinstance(document, (str, os.PathLike)):
        raise QueryError(
            f"a document is given by its path, by its URL, or as its content, not as "
            f"{type(document).__name__}: save it in a file, and give the path"
        )
    else:
        name = os.fspath(document)
        content = source.content(source.address(name))
    return Document(_unzipped(content, name, most), name)


def _unzipped(content: bytes, name: str, most: int) -> bytes:
    if not content.startswith(_GZIP):
        if len(content) > most:
            raise FormatError(f"{name} has more than {most} bytes")
        return content
    try:
        return unpacked(content, most)
    except ValueError as error:
        raise FormatError(f"{name}: {error}") from None
