"""Files that say what this process is to run, such as pickled objects: they are read only if nobody
but the user can have written them."""

from __future__ import annotations

import os
import stat

from ..errors import SourceError

__all__ = ["read_own"]

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def read_own(path: str | os.PathLike[str], what: str) -> bytes:
    """The bytes of a file of the user's. `what`: what it is, for the error. Raises SourceError if
    another user owns it or its folder, or may write to one of them; OSError as `open` does."""
    path = os.fspath(path)
    with open(path, "rb") as file:
        # The file that is open: the path may lead to another one by now.
        _require_own(os.fstat(file.fileno()), path, what)
        folder = os.path.dirname(path) or "."
        found = os.stat(folder)
        # Where others may write, but not replace what they do not own, the file tells.
        if not found.st_mode & stat.S_ISVTX:
            _require_own(found, folder, what)
        return file.read()


def _require_own(found: os.stat_result, path: str, what: str) -> None:
    if not hasattr(os, "geteuid"):  # Windows has no such owners and modes
        return
    if found.st_uid != os.geteuid():
        why = f"is of the user with number {found.st_uid}, and you are {os.geteuid()}"
        advice = "use a folder of your own"
    elif found.st_mode & _OTHERS_WRITE:
        why = "may be written to by other users"
        advice = f"if you trust what is there, `chmod go-w {path}`; or else use another folder"
    else:
        return
    raise SourceError(
        f"{path} {why}: {what} is not read, because it can make this process run what they wrote; "
        f"{advice}",
        file=path,
    )
