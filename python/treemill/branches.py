"""What a tree's branches are like, for people: one immutable record each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Branch", "branch_list"]


@dataclass(frozen=True)
class Branch:
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


def branch_list(tree: Any) -> tuple[Branch, ...]:
    """Of the core's Tree, in its order, parents before their children."""
    return tuple(
        Branch(
            name=b["name"],
            title=b["title"],
            cpp_type=b["cpp_type"],
            kind=b["kind"],
            dtype=b["dtype"],
            counter=b["counter"],
            length=b["len"],
            supported=b["supported"],
            reason=b["reason"],
            total_bytes=b["total_bytes"],
            zip_bytes=b["zip_bytes"],
            baskets=b["baskets"],
            is_member=b["is_member"],
        )
        for b in tree.branches()
    )
