"""Which kind of file a snapshot's path means. Pure."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import PurePath

from .errors import QueryError, UnsupportedError

__all__ = ["check_target", "snapshot_format"]

_SUFFIXES = {
    ".root": ("ttree", "rntuple"),
    ".parquet": ("parquet",),
    ".feather": ("feather",),
    ".arrow": ("feather",),
}
"""The kinds of file that have a suffix, the usual one first."""


def snapshot_format(path: str | os.PathLike[str], kind: str | None = None) -> tuple[str, str]:
    """The absolute path, and the kind: ttree, rntuple, parquet, feather. Raises UnsupportedError
    for other suffixes, QueryError for a kind that the suffix contradicts."""
    name = os.path.abspath(os.fspath(path))
    kinds = _SUFFIXES.get(PurePath(name).suffix.lower())
    if kinds is None:
        raise UnsupportedError(f"cannot write {path}: give it one of {' '.join(_SUFFIXES)}")
    if kind is None:
        return name, kinds[0]
    if kind.lower() not in kinds:
        raise QueryError(f"{path} is not a file of kind {kind!r}", suggestions=list(kinds))
    return name, kind.lower()


def check_target(target: str, read: Iterable[str]) -> None:
    """Raises QueryError where a file would be written over one that is read for it."""
    place = os.path.realpath(target)
    if any(os.path.realpath(path) == place for path in read if "://" not in path):
        raise QueryError(f"snapshot() would replace {target}, which it reads: give another path")
