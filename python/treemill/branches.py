"""What a tree's branches are like, for people: one immutable record each."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, NamedTuple

__all__ = ["Branch", "branch_list"]


class Branch(NamedTuple):
    """A branch, or a leaf of a branch."""

    name: str
    title: str
    cpp_type: str
    kind: str
    """number, list, array, string, record, optional, variant, group (no data of its own) or
    unsupported."""
    dtype: str | None
    """numpy's name of its numbers."""
    counter: str | None
    """The branch that counts its items, where one does."""
    length: int | None
    """Items per entry of a fixed-size array."""
    supported: bool
    reason: str | None
    """Why it is not supported."""
    total_bytes: int
    """Uncompressed, with headers."""
    zip_bytes: int
    """In the file."""
    baskets: int
    """An RNTuple's pages."""
    is_member: bool = False
    """Whether its values are those of another branch too: members of an RNTuple's records."""

    @property
    def reads_as(self) -> str:
        """How it arrives: `float32`, `list[float32]`, `float32[3]`, `string` …, or why it does
        not."""
        if not self.supported:
            return f"unsupported: {self.reason}" if self.reason else "unsupported"
        dtype = self.dtype or "?"
        forms = {
            "number": dtype,
            "list": f"list[{dtype}]",
            "array": f"{dtype}[{self.length}]",
        }
        return forms.get(self.kind, self.kind)

    @property
    def readable(self) -> bool:
        """Whether it has data that treemill reads."""
        return self.supported and self.kind != "group"


# A file may have thousands of branches.
_VALUES = itemgetter(*("len" if name == "length" else name for name in Branch._fields))


def branch_list(tree: Any) -> tuple[Branch, ...]:
    """Of the core's Tree, in its order, parents before their children."""
    return tuple(Branch(*values) for values in map(_VALUES, tree.branches()))
