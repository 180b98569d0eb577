"""The user's own key: a secret that all sessions of one user have and others cannot guess. It says
which queries of a shared cluster are the user's.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from functools import cache

from ..errors import SourceError
from .files import new_file

__all__ = ["user_key"]

_BYTES = 32


def user_key() -> str:
    """The key, from a file that only the user may read (`$XDG_CONFIG_HOME/treemill/key`), which is
    made if it is not there; without such a folder, one that this process alone has. Raises
    SourceError if other users may read the file."""
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    path = os.path.join(folder, "treemill", "key")
    try:
        return _read(path) or _made(path)
    except OSError:  # no home, or one that cannot be written to
        return _of_process()


def _read(path: str) -> str | None:
    with suppress(FileNotFoundError), open(path) as file:
        if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
            raise SourceError(
                "other users may read your key, with which they could stop your queries: remove "
                "it, and the next session makes another one",
                file=path,
            )
        return file.read().strip() or None
    return None


def _made(path: str) -> str:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    part = new_file(path, private=True)
    try:
        with open(part, "w") as file:
            file.write(secrets.token_urlsafe(_BYTES) + "\n")
        with suppress(FileExistsError):  # another process was faster: its key counts
            os.link(part, path)
    finally:
        os.remove(part)
    return _read(path) or _of_process()


@cache
def _of_process() -> str:
    return secrets.token_urlsafe(_BYTES)
