"""A column as it is read from a dataset, in one chunk for each file. Knows no file, no dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import awkward as ak

    from .._core import Column

__all__ = ["ChunkedColumn", "Chunks", "ExpressionColumn", "RecordColumn"]

Chunks: TypeAlias = "Sequence[Column]"
"""Columns of one kind, one for each file."""


@dataclass(frozen=True)
class RecordColumn:
    """A column of records."""

    names: tuple[str, ...]
    members: tuple[Chunks | RecordColumn, ...]


@dataclass(frozen=True)
class ExpressionColumn:
    """A column that was computed for all files at once."""

    array: ak.Array


ChunkedColumn: TypeAlias = "Chunks | RecordColumn | ExpressionColumn"
