"""The types of the columns of rows that come from several files: one type for each column, missing
values if any file may have them, lists that belong together if they do in every file.

Knows kinds and the core's columns; knows no rows and no format of files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ..errors import UnsupportedError
from .columns import Table, kind_of
from .common_type import cast, fitted, widest
from .kinds import Kind, Kinds

if TYPE_CHECKING:
    from .._core import Column

__all__ = ["RowColumn", "RowTypes", "types_of"]


@dataclass(frozen=True)
class RowColumn:
    """The type of a column in one file."""

    name: str
    kind: Kind
    """Its kind without missing values."""
    optional: bool
    """Whether values may be missing."""
    group: int | None
    """Columns with the same number have the same lists in this file."""


def types_of(columns: Sequence[Column]) -> tuple[RowColumn, ...]:
    """The types of the core's columns."""
    return tuple(RowColumn(c.name, kind_of(c).given(), c.optional, c.group) for c in columns)


@dataclass(frozen=True)
class RowTypes:
    """The types of the columns over all files."""

    files: tuple[tuple[RowColumn, ...], ...]
    """The columns of each file, at least one; files with equal columns are there once."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(column.name for column in self.files[0])

    @cached_property
    def optional(self) -> frozenset[str]:
        """The columns that may have missing values in some file."""
        return frozenset(each.name for columns in self.files for each in columns if each.optional)

    @cached_property
    def kinds(self) -> Kinds:
        """The kind of each column. Raises UnsupportedError if no kind holds the values of all
        files."""
        pairs = zip(self.names, zip(*self.files, strict=True), strict=True)
        return {name: _kind(name, each).given(name in self.optional) for name, each in pairs}

    @cached_property
    def groups(self) -> dict[str, int]:
        """A number for each column of lists. Columns with equal numbers have the same lists in
        every file."""
        numbers: dict[tuple[int | None, ...], int] = {}
        groups = {}
        for kind, columns in zip(self.kinds.values(), zip(*self.files, strict=True), strict=True):
            if kind.form == "list":
                key = tuple(column.group for column in columns)
                groups[columns[0].name] = numbers.setdefault(key, len(numbers))
        return groups

    def uniform(self, table: Table) -> Table:
        """A file's table converted to these kinds. Raises UnsupportedError if a value does not
        fit."""
        if table.kinds == self.kinds:
            return table
        pairs = self.kinds.items()
        return Table({name: _cast(name, table.columns[name], kind) for name, kind in pairs})


def _kind(name: str, columns: Sequence[RowColumn]) -> Kind:
    kinds = sorted(dict.fromkeys(column.kind for column in columns), key=str)
    kind = widest(kinds) or fitted(kinds)
    if kind is None:
        shown = " and ".join(map(str, kinds))
        raise UnsupportedError(
            f"{name} has types in different files that no one type holds: {shown}; "
            f"write float({name}) or int({name})",
            branch=name,
        )
    return kind


def _cast(name: str, column: Column, kind: Kind) -> Column:
    try:
        return cast(column, kind)
    except ValueError as error:
        raise UnsupportedError(
            f"{name} is {kind_of(column)} in one file and {kind} in all files together, which does "
            f"not hold a value of it exactly ({error}): write float({name}) or int({name})",
            branch=name,
        ) from None
