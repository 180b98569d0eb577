"""Writes rows to the files that users read, in order, with a value for missing ones. A file appears
under its name when it is complete.

Knows pieces of rows as tables; knows no worker and no session.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from ..data.columns import Table
from ..data.kinds import Kinds
from ..data.rows import CollectedRows
from ..errors import writing
from ..query.snapshot_target import SnapshotFile, SnapshotTarget
from ..writing.tables import chunks
from .snapshot_files import FILES, Columns
from .snapshot_values import Filled

__all__ = ["Copied", "check", "unfit", "write"]


class Copied(Protocol):
    """Another tree that is copied whole."""

    @property
    def name(self) -> str:
        """The name of the tree."""

    @property
    def kinds(self) -> Kinds:
        """The kinds of its columns."""

    @property
    def titles(self) -> Mapping[str, str]:
        """The titles of the columns that have one."""

    @property
    def counters(self) -> Mapping[str, str]:
        """The columns that count the items of lists."""

    def tables(self) -> Iterator[Table]:
        """Gives its entries."""


def write(
    rows: CollectedRows, target: SnapshotTarget, folder: str, others: Sequence[Copied] = ()
) -> SnapshotFile:
    """Makes the file from all rows and from other trees. `folder` has the parts. Raises SourceError
    if it cannot be written; then an older file stays as it was."""
    whole = f"{folder}/whole"
    with writing(target.path):
        entries = _write(rows, target, whole, others)
        os.replace(whole, target.path)
    named = target.tree if target.kind in ("ttree", "rntuple") else None
    return SnapshotFile(target.path, target.kind, entries, rows.names, named)


def _write(rows: CollectedRows, target: SnapshotTarget, path: str, others: Sequence[Copied]) -> int:
    """Returns the number of entries."""
    entries = 0
    filled = _filled(rows, target)
    file = FILES[target.kind](path, target)
    try:
        columns = replace(_columns(rows, target), unequal=rows.unequal)
        tree = file.tree(target.tree, columns)
        for table in chunks(rows.tables()):
            entries += len(table)
            tree.write(filled.table(table))
        tree.close()
        for other in others:
            copied = file.tree(other.name, _copied(other))
            for table in other.tables():
                copied.write(table)
            copied.close()
    finally:
        file.close()
    return entries


def unfit(rows: CollectedRows, target: SnapshotTarget) -> dict[str, str]:
    """The columns of kinds that no file of this kind can hold, and what they are."""
    return FILES[target.kind].unfit(rows.kinds)


def check(rows: CollectedRows, target: SnapshotTarget, others: Sequence[Copied] = ()) -> None:
    """Raises UnsupportedError or QueryError, which name the column, if a file of this kind cannot
    hold the columns that `rows` describe."""
    kind = FILES[target.kind]
    kind.check(_columns(rows, target))
    for other in others:
        kind.check(_copied(other))


def _columns(rows: CollectedRows, target: SnapshotTarget) -> Columns:
    varied = rows.sink.varied
    masks = {} if varied is None else varied.masks()
    return Columns(
        _filled(rows, target).kinds,
        rows.groups,
        target.titles or {},
        uncounted=target.uncounted,
        is_reshuffled=target.is_reshuffled,
        masks=masks,
    )


def _copied(other: Copied) -> Columns:
    return Columns(other.kinds, titles=other.titles, counters=other.counters)


def _filled(rows: CollectedRows, target: SnapshotTarget) -> Filled:
    return Filled(rows.kinds, target.fill, always=not target.has_missing)
