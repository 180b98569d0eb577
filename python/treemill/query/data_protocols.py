"""What a query asks of the chain of files that it is over. Protocols: chain.Chain and tree.Branch
have all of it, and much more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

__all__ = ["QueriedBranch", "QueriedData"]


class QueriedBranch(Protocol):
    """A branch of the first file."""

    @property
    def name(self) -> str:
        """The name in expressions."""

    @property
    def kind(self) -> str:
        """ "list" if it holds lists."""

    @property
    def title(self) -> str:
        """The title in the file."""

    @property
    def counter(self) -> str | None:
        """The branch that counts its items, if there is one."""

    @property
    def cpp_type(self) -> str:
        """The type in the file."""

    @property
    def reads_as(self) -> str:
        """The type of its values, or why it cannot be read."""

    @property
    def usable(self) -> Sequence[str]:
        """What expressions can use, as its name goes on: nothing for itself, or `.member`."""

    @property
    def unusable(self) -> Sequence[str]:
        """What they cannot use, in the same form."""


class QueriedData(Protocol):
    """A chain of files."""

    @property
    def branches(self) -> Mapping[str, QueriedBranch]:
        """The branches of the first file, by name."""

    @property
    def aliases(self) -> Mapping[str, str]:
        """The first file's names and expressions of TTree::SetAlias."""

    @property
    def tree_name(self) -> str:
        """The name of the first file's tree, without directories and cycle."""

    @property
    def is_reshuffled(self) -> bool:
        """True if the first file's entries are in another order than those that they come from."""

    @property
    def constant_names(self) -> Collection[str]:
        """The columns with one value a file, of all files."""

    @property
    def is_fileset(self) -> bool:
        """True if there are results for each of its data sets."""

    def referred(self, members: frozenset[str]) -> Collection[str]:
        """The collections that members of these names may refer to."""

    def has_default(self, column: str) -> bool:
        """True if there is a default for files that lack the column."""

    @property
    def files(self) -> Sequence[str]:
        """The files' paths."""

    @property
    def first(self) -> int:
        """The number of the first file that is there."""

    def hint(self, column: str) -> str:
        """What to add to the message that the first file has no such column; empty if the others
        lack it, too."""

    def called(self, column: str) -> Sequence[str]:
        """The names that expressions may give to the collection that a column is of, if the format
        shortens them; first the one that the column's name begins with."""

    def has_file(self, path: str) -> bool:
        """True if the file at this path is one of its own."""
