"""Files that take their names when they are complete; older ones stay until then. All files that
users ask for are written so. Standard library only."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["new_file", "remove_left", "whole_file"]

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
