"""What a query asks of the chain of files that it is over. Protocols: chain.Chain and tree.Branch
have all of it, and much more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

__all__ = ["QueriedBranch", "QueriedData"]


class QueriedBranch(Protocol):
    """A branch of the first file."""

    @property
    def name(self) -> str:
        """The name in expressions."""

    @property
    def title(self) -> str:
        """The title in the file."""

    @property
    def counter(self) -> str | None:
        """The branch that counts its items, if there is one."""

    @property
    def has_values(self) -> bool:
        """True if expressions can use its values."""


class QueriedData(Protocol):
    """A chain of files."""

    @property
    def branches(self) -> Mapping[str, QueriedBranch]:
        """The branches of the first file, by name."""

    @property
    def aliases(self) -> Mapping[str, str]:
        """The first file's names and expressions of TTree::SetAlias."""

    @property
    def constant_names(self) -> Collection[str]:
        """The columns with one value a file, of all files."""

    @property
    def is_fileset(self) -> bool:
        """True if there are results for each of its data sets."""

    def referred(self, members: frozenset[str]) -> Collection[str]:
        """The collections that members of these names may refer to."""

    def has_file(self, path: str) -> bool:
        """True if the file at this path is one of its own."""
