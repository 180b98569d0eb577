"""Files of this machine: they take their names when they are complete, and older ones stay until
then; documents in JSON that others have written, with bounds; where relative paths begin; and the
user's own key, which lies in one.
"""

from __future__ import annotations

import io
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import IO, BinaryIO

from ..errors import QueryError, SourceError, UnsupportedError, local_path, writing
from .memory import without_collector

__all__ = [
    "new_file",
    "parsed",
    "picture_file",
    "remove_left",
    "unpacked",
    "user_key",
    "whole",
    "whole_file",
    "working_folder",
    "write_text",
]

# Files that take their names when they are complete; older ones stay until then. All files that
# users ask for are written so. Standard library only.

_LONGEST = 40
"""Letters of a file's name that the name of its part has, so that long names do not become too
long."""


@contextmanager
def whole_file(
    path: str | os.PathLike[str], *, private: bool = False, lasting: bool = False
) -> Iterator[str]:
    """Gives the name of a file that nothing else writes to, in the folder of `path` and with its
    ending, which takes the place of `path` at the end. What is no file, such as a terminal, is
    written to directly. Raises OSError.

    `private`: only the user may read it. `lasting`: it is there after the power went."""
    path = os.fspath(path)
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        yield path
        return
    part = new_file(path, private=private)
    try:
        yield part
        if lasting:
            _sync(part)
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.remove(part)
        raise
    if lasting:
        with suppress(OSError):  # some file systems cannot sync a folder
            _sync(os.path.dirname(path) or ".")


def new_file(path: str, ending: str | None = None, *, private: bool = False) -> str:
    """Makes an empty file beside `path` and gives its name, which nobody can know before. `ending`:
    that of its name, if not that of `path`. Raises OSError."""
    folder, name = os.path.split(path)
    stem, own = os.path.splitext(name)
    ending = f".part{own}" if ending is None else ending
    while True:
        part = os.path.join(folder, f".{stem[:_LONGEST]}.{os.urandom(8).hex()}{ending}")
        try:
            # It follows no link that is there.
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
            os.close(os.open(part, flags, 0o600 if private else 0o666))
        except FileExistsError:
            continue
        return part


def remove_left(path: str | os.PathLike[str]) -> None:
    """Removes what processes that were killed have left of `whole_file` for this path. Only for who
    knows that nothing else writes it now."""
    folder, name = os.path.split(path)
    stem, own = os.path.splitext(name)
    if len(stem) > _LONGEST:  # files of other names would have parts of these names
        return
    part = re.compile(rf"\.{re.escape(stem)}\.[0-9a-f]{{16}}\.part{re.escape(own)}")
    with suppress(OSError):
        for each in os.listdir(folder or "."):
            if part.fullmatch(each):
                os.remove(os.path.join(folder, each))


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# The folder where this process's relative paths begin.


def working_folder() -> str | None:
    """Its path; None if it has been removed."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None


# JSON that others have written, with bounds: what is packed may hold a thousand times its size,
# and a device has no end. Knows no file and no form.

MOST_BYTES = 1 << 30
"""Bytes of a document, at most, also when it is unpacked."""


def whole(file: IO[bytes], most: int = MOST_BYTES) -> bytes:
    """All bytes of a file. Raises ValueError, which says why, if it has more than `most`."""
    data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"it has more than {_size(most)}")
    return data


def unpacked(data: bytes, most: int = MOST_BYTES) -> bytes:
    """What gzip has packed, of one member or several. Raises ValueError, which says why, if that is
    not what it is, or if it unpacks to more than `most`."""
    parts: list[bytes] = []
    left = most + 1
    while data:
        member = zlib.decompressobj(wbits=31)
        try:
            part = member.decompress(data, left)
        except zlib.error as error:
            raise ValueError(f"it cannot be unpacked: {error}") from None
        left -= len(part)
        if left <= 0:
            raise ValueError(f"it unpacks to more than {_size(most)}")
        if not member.eof:
            raise ValueError("it cannot be unpacked: it is cut short")
        parts.append(part)
        data = member.unused_data.lstrip(b"\0")  # tapes and some tools pad with zeros
    if not parts:
        raise ValueError("it cannot be unpacked: it is empty")
    return b"".join(parts)


def parsed(data: bytes, path: str, most: int = MOST_BYTES) -> object:
    """The document in these bytes, which are packed if the path ends with `.gz`. Raises ValueError,
    which says why, if they are none."""
    import json  # start-up

    text = unpacked(data, most) if path.endswith(".gz") else data
    try:
        with without_collector():
            return json.loads(text)
    except RecursionError:
        raise ValueError("its lists are in one another too deeply") from None


def _size(most: int) -> str:
    return f"{most >> 20} MB"


# Texts and pictures in files that take their names when they are complete.


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a text file as a whole. Raises SourceError if it cannot be written."""
    path = local_path(path)
    with (
        writing(path),
        whole_file(path) as whole,
        open(whole, "w", encoding="utf-8", newline="") as file,
    ):
        file.write(text)


@contextmanager
def picture_file(path: str | os.PathLike[str]) -> Iterator[tuple[BinaryIO, str]]:
    """Gives a file in memory for a picture of matplotlib's, and its format, which the ending of
    `path` says; matplotlib gives a name without an ending one. At the end the picture is written as
    a whole: matplotlib's own errors on a full disk would not say that it is full. Raises
    SourceError if the file cannot be written."""
    path = local_path(path)
    if not os.path.basename(path).strip("."):
        raise QueryError(f"a picture has a name, such as met.png, not {path!r}")
    if not os.path.splitext(path)[1]:
        from matplotlib import rcParams

        path = f"{path.rstrip('.')}.{rcParams['savefig.format']}"
    form = os.path.splitext(path)[1][1:]
    from matplotlib.backend_bases import FigureCanvasBase

    if form.lower() not in FigureCanvasBase.get_supported_filetypes():
        raise UnsupportedError(f"cannot draw to {path}: give it one of .png .pdf .svg")
    picture = io.BytesIO()
    yield picture, form
    with writing(path), whole_file(path) as whole, open(whole, "wb") as file:
        file.write(picture.getbuffer())


# The user's own key: a secret that all sessions of one user have and others cannot guess. It says
# which queries of a shared cluster are the user's.

_KEY_BYTES = 32


def user_key() -> str:
    """The key, from a file that only the user may read (`$XDG_CONFIG_HOME/treemill/key`), which is
    made if it is not there; without such a folder, one that this process alone has. Raises
    SourceError if other users may read the file."""
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    path = os.path.join(folder, "treemill", "key")
    try:
        return _read_key(path) or _made_key(path)
    except OSError:  # no home, or one that cannot be written to
        return _of_process()


def _read_key(path: str) -> str | None:
    with suppress(FileNotFoundError), open(path) as file:
        if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
            raise SourceError(
                "other users may read your key, with which they could stop your queries: remove "
                "it, and the next session makes another one",
                file=path,
            )
        return file.read().strip() or None
    return None


def _made_key(path: str) -> str:
    import secrets  # start-up

    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    part = new_file(path, private=True)
    try:
        with open(part, "w") as file:
            file.write(secrets.token_urlsafe(_KEY_BYTES) + "\n")
        with suppress(FileExistsError):  # another process was faster: its key counts
            os.link(part, path)
    finally:
        os.remove(part)
    return _read_key(path) or _of_process()


@cache
def _of_process() -> str:
    import secrets  # start-up

    return secrets.token_urlsafe(_KEY_BYTES)
