"""Columns that are read ahead: a range of entries of one tree, from which chunks are cut.

Baskets are decompressed once per window rather than once per chunk, and all columns that are likely
to be touched are read together. Knows trees and columns; no selector, no packet and no awkward.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ..data.columns import column_of
from ..errors import UnsupportedError

if TYPE_CHECKING:
    from .._core import Column, Control
    from ..data.column_source import ColumnSource

__all__ = ["Window"]


class Window:
    """Entries `[start, stop)` of a tree. The columns that were read are kept."""

    def __init__(
        self, tree: ColumnSource, span: tuple[int, int], optional: Collection[str]
    ) -> None:
        """`optional` names the columns whose values may be missing."""
        self.start, self.stop = span
        self._tree = tree
        self._optional = optional
        self._columns: dict[str, Column] = {}

    def covers(self, start: int, stop: int) -> bool:
        """True if these entries are in the window."""
        return self.start <= start and stop <= self.stop

    def read(self, names: Sequence[str], control: Control | None) -> None:
        """Reads these columns together, unless they are read already. `control` counts what is
        read."""
        missing = [name for name in names if name not in self._columns]
        if not missing:
            return
        columns = self._tree.read(missing, self.start, self.stop, control)
        for name, each in zip(missing, columns, strict=True):
            column: Column = column_of(each)
            if column.null_count and name not in self._optional:
                raise UnsupportedError(
                    f"branch {name} has missing values, but its type allows none", branch=name
                )
            self._columns[name] = column

    def cut(self, name: str, start: int, stop: int) -> Column:
        """The entries `[start, stop)` of a column that was read; nothing is copied."""
        return self._columns[name].slice(start - self.start, stop - start)
