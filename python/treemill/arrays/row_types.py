"""The types of rows' columns over all files that gave some: one type for each column, missing
values where any file may have them, lists that are the same where they are in every file.

Knows kinds and the core's columns; knows no rows and no format of files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..errors import UnsupportedError
from .columns import Table, kind_of
from .common_type import cast, fitted, widest
from .kinds import Kind, Kinds

__all__ = ["RowColumn", "RowTypes", "types_of"]


@dataclass(frozen=True)
class RowColumn:
    """What one file makes of a column."""

    name: str
    kind: Kind
    """But for whether values may be missing."""
    optional: bool
    group: int | None
    """Columns with the same number have the same lists in this file."""


def types_of(columns: Sequence[Any]) -> tuple[RowColumn, ...]:
    """What the core's columns say."""
    return tuple(RowColumn(c.name, kind_of(c).given(), c.optional, c.group) for c in columns)


@dataclass(frozen=True)
class RowTypes:
    """What all files together make of the columns."""

    files: tuple[tuple[RowColumn, ...], ...]
    """At least one; those that say the same are there once."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns, in order."""
        return tuple(column.name for column in self.files[0])

    @cached_property
    def optional(self) -> frozenset[str]:
        """Columns that may have missing values in some file."""
        return frozenset(each.name for columns in self.files for each in columns if each.optional)

    @cached_property
    def kinds(self) -> Kinds:
        """Of each column. Raises UnsupportedError where no type can hold what two files have."""
        pairs = zip(self.names, zip(*self.files, strict=True), strict=True)
        return {name: _kind(name, each).given(name in self.optional) for name, each in pairs}

    @cached_property
    def groups(self) -> dict[str, int]:
        """Of columns of lists: those with the same number have the same lists in every file."""
        numbers: dict[tuple[int | None, ...], int] = {}
        groups = {}
        for kind, columns in zip(self.kinds.values(), zip(*self.files, strict=True), strict=True):
            if kind.form == "list":
                key = tuple(column.group for column in columns)
                groups[columns[0].name] = numbers.setdefault(key, len(numbers))
        return groups

    def uniform(self, table: Table) -> Table:
        """A file's table as one of these kinds. Raises UnsupportedError where a value does not
        fit."""
        if table.kinds == self.kinds:
            return table
        pairs = self.kinds.items()
        return Table({name: _cast(name, table.columns[name], kind) for name, kind in pairs})


def _kind(name: str, columns: Sequence[RowColumn]) -> Kind:
    kinds = sorted(dict.fromkeys(column.kind for column in columns), key=str)
    found = widest(kinds) or fitted(kinds)
    if found is None:
        shown = " and ".join(map(str, kinds))
        raise UnsupportedError(
            f"{name} has types in different files that no type holds: {shown}; "
            f"write float({name}) or int({name})",
            branch=name,
        )
    return found


def _cast(name: str, column: Any, kind: Kind) -> Any:
    try:
        return cast(column, kind)
    except ValueError as error:
        raise UnsupportedError(
            f"{name} is {kind_of(column)} in one file and {kind} in all together, which does not "
            f"hold a value of it exactly ({error}): write float({name}) or int({name})",
            branch=name,
        ) from None
