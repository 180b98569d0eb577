"""Columns that were read ahead: a range of entries of one tree, cut into chunks as they are wanted.

Baskets are decompressed once per window rather than once per chunk, and all columns that are known
to be wanted are read by one plan. Knows trees and columns; no selector, no packet and no awkward.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..arrays.columns import column_of
from ..errors import UnsupportedError

__all__ = ["Window"]


class Window:
    """Entries `[start, stop)` of a tree. What is read of them is kept."""

    def __init__(self, tree: Any, span: tuple[int, int], optional: Collection[str]) -> None:
        """`tree` is a file's tree or foreign.Table; `optional` names its columns whose values may
        be missing."""
        self.start, self.stop = span
        self._tree = tree
        self._optional = optional
        self._columns: dict[str, Any] = {}

    def covers(self, start: int, stop: int) -> bool:
        """Whether these entries lie in it."""
        return self.start <= start and stop <= self.stop

    def read(self, names: Sequence[str], control: Any) -> None:
        """These columns, by one plan; `control` counts what that takes."""
        missing = [name for name in names if name not in self._columns]
        if not missing:
            return
        columns = self._tree.read(missing, self.start, self.stop, control)
        for name, each in zip(missing, columns, strict=True):
            column = column_of(each)
            if column.null_count and name not in self._optional:
                raise UnsupportedError(
                    f"branch {name} has missing values, where its type has none", branch=name
                )
            self._columns[name] = column

    def cut(self, name: str, start: int, stop: int) -> Any:
        """A column that was read, of entries `[start, stop)`; nothing is copied."""
        return self._columns[name].slice(start - self.start, stop - start)
