"""Which code a name stands for: digests of the user's own modules with those that they import, and
the versions of installed packages.

A module counts as the user's own if it lies outside of Python's and the packages' folders. Reads
the sources of loaded modules; runs nothing.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import sysconfig
import types
from pathlib import Path

__all__ = ["source_digest"]

_PACKAGES = frozenset({"site-packages", "dist-packages"})
"""Names of the folders that packages are installed in."""


def source_digest(name: str) -> bytes:
    """The digest of the code of a loaded module."""
    module = sys.modules.get(name)
    path = _own_source(module)
    if path is None:
        top = sys.modules.get(name.partition(".")[0])
        return str(getattr(top, "__version__", "")).encode()
    hasher = hashlib.blake2b(digest_size=16)
    for each in sorted(_reached(name)):
        hasher.update(each.encode() + _content(_own_source(sys.modules.get(each))))
    return hasher.digest()


def _reached(name: str) -> set[str]:
    """The user's own modules that a module reaches by what it imports, itself included."""
    modules, waiting = set(), [name]
    while waiting:
        each = waiting.pop()
        module = sys.modules.get(each)
        if each in modules or module is None or _own_source(module) is None:
            continue
        modules.add(each)
        for value in list(vars(module).values()):
            owner = value.__name__ if isinstance(value, types.ModuleType) else None
            owner = owner or getattr(value, "__module__", None)
            if isinstance(owner, str):
                waiting.append(owner)
    return modules


def _own_source(module: types.ModuleType | None) -> Path | None:
    """The source of a module of the user's; None for others."""
    file = getattr(module, "__file__", None)
    if module is None or not isinstance(file, str) or module.__name__ == "__main__":
        return None
    if module.__name__.partition(".")[0] == "treemill":
        return None
    path = Path(file)
    if not _PACKAGES.isdisjoint(path.parts):
        return None
    return None if any(path.is_relative_to(each) for each in _of_python()) else path


@functools.cache
def _of_python() -> tuple[Path, ...]:
    folders = {Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")}
    return tuple(folders | {folder.resolve() for folder in folders})


def _content(path: Path | None) -> bytes:
    try:
        return b"" if path is None else hashlib.blake2b(path.read_bytes(), digest_size=16).digest()
    except OSError:  # it is in an archive, or gone: its name counts
        return b""
