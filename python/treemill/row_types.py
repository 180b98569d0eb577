"""The types of rows' columns over all files that gave some: one type for each column, missing
values where any file may have them, lists that are the same where they are in every file.

Knows Arrow's types and the core's columns; knows no rows and no format of files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .errors import UnsupportedError
from .schemas import cast, fitted, widest

__all__ = ["RowColumn", "RowTypes", "types_of"]


@dataclass(frozen=True)
class RowColumn:
    """What one file makes of a column."""

    name: str
    kind: Any
    """A pyarrow.DataType."""
    optional: bool
    group: int | None
    """Columns with the same number have the same lists in this file."""


def types_of(columns: Sequence[Any]) -> tuple[RowColumn, ...]:
    """What the core's columns say."""
    import pyarrow

    return tuple(RowColumn(c.name, pyarrow.array(c).type, c.optional, c.group) for c in columns)


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
    def kinds(self) -> tuple[Any, ...]:
        """A pyarrow.DataType for each column. Raises UnsupportedError where no type can hold what
        two files have."""
        columns = zip(*self.files, strict=True)
        return tuple(_kind(name, each) for name, each in zip(self.names, columns, strict=True))

    @cached_property
    def groups(self) -> dict[str, int]:
        """Of columns of lists: those with the same number have the same lists in every file."""
        import pyarrow.types as t

        numbers: dict[tuple[int | None, ...], int] = {}
        groups = {}
        for kind, columns in zip(self.kinds, zip(*self.files, strict=True), strict=True):
            if t.is_large_list(kind):
                key = tuple(column.group for column in columns)
                groups[columns[0].name] = numbers.setdefault(key, len(numbers))
        return groups

    def uniform(self, table: Any) -> Any:
        """A file's pyarrow.Table as one of these types. Raises UnsupportedError where a value does
        not fit."""
        import pyarrow

        fields = [
            pyarrow.field(name, kind, name in self.optional)
            for name, kind in zip(self.names, self.kinds, strict=True)
        ]
        schema = pyarrow.schema(fields)
        if table.schema.equals(schema):
            return table
        made = [
            pyarrow.chunked_array([_cast(field, chunk) for chunk in column.chunks], field.type)
            for field, column in zip(fields, table.columns, strict=True)
        ]
        return pyarrow.table(made, schema=schema)


def _kind(name: str, columns: Sequence[RowColumn]) -> Any:
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


def _cast(field: Any, chunk: Any) -> Any:
    import pyarrow

    try:
        return cast(chunk, field.type)
    except pyarrow.ArrowInvalid as error:
        raise UnsupportedError(
            f"{field.name} is {chunk.type} in one file and {field.type} in all together, which "
            f"does not hold a value of it exactly ({error}): write float({field.name}) or "
            f"int({field.name})",
            branch=field.name,
        ) from None
