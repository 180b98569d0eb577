"""Bytes that are sent once and named by their content: tasks, inputs, packages, queries."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

__all__ = ["into", "zipped"]


def zipped(folder: str) -> bytes:
    """The files of a folder as an archive. The same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                name = path.relative_to(folder).as_posix()
                archive.writestr(zipfile.ZipInfo(name), path.read_bytes())
    return buffer.getvalue()


def into(blobs: dict[str, bytes], data: bytes) -> str:
    """Adds bytes to `blobs`. Gives their digest."""
    digest = hashlib.blake2b(data, digest_size=20).hexdigest()
    blobs[digest] = data
    return digest
