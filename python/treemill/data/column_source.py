"""The protocols of what columns are read from: a tree of the core, a file's tree with its
substitutes, a tree with foreign columns. Only protocols, no code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from .._core import Column, Control
    from .description import BranchDescription

__all__ = ["ColumnSource", "Reader", "TreeColumns"]

Reader: TypeAlias = Literal["core", "uproot", "no"]
"""What reads a branch; "no": nothing can."""


class ColumnSource(Protocol):
    """The columns of one file. core.Tree, FileTree and ExtendedTree are of this kind."""

    def branches(self) -> list[BranchDescription]:
        """The branches, as the core describes them."""

    def read(
        self,
        names: Sequence[str],
        start: int,
        stop: int,
        control: Control | None = None,
        *,
        flags: bool = False,
    ) -> list[Column]:
        """One column for each name, of the entries `[start, stop)`. `control` counts what is read.
        `flags`: columns may be bytes that stand for bools (core.Column.flags)."""


class TreeColumns(ColumnSource, Protocol):
    """The columns that a dataset has of one file, whatever reads them: FileTree or
    ExtendedTree."""

    def described(self) -> list[BranchDescription]:
        """Returns all branches, also those that cannot be read."""

    def reader_of(self, path: str, cpp_type: str, supported: bool) -> Reader:
        """Returns what reads the branch at this path. `supported`: whether the core says that it
        does."""
