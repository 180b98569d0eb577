"""The protocols of what columns are read from: a tree of the core, a file's tree with its
substitutes, a tree with foreign columns; and what tells one state of a file from another. Protocols
and data only.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias, TypedDict

if TYPE_CHECKING:
    from .._core import Column, Control

__all__ = [
    "BranchDescription",
    "BridgedFile",
    "ColumnSource",
    "FileState",
    "Identity",
    "Reader",
    "State",
    "TreeColumns",
]

# The dicts in which the core describes a file's trees and a tree's branches, as types for type
# checkers. crates/treemill-py makes them in file.rs and listing.rs.

TreeDescription = TypedDict(
    "TreeDescription", {"path": str, "cycle": int, "class": str, "title": str}
)
"""A tree or an RNTuple of a file. `path`: its directories and its name."""


class BranchDescription(TypedDict):
    """A branch of a tree, or a field of an RNTuple: what `Branch` has for users, by the names that
    the core gives."""

    name: str
    also: tuple[str, ...]
    path: str
    parent: str | None
    title: str
    cpp_type: str
    supported: bool
    reason: str | None
    kind: str
    dtype: str | None
    item: str | None
    len: int | None
    usable: tuple[str, ...]
    unusable: tuple[str, ...]
    counter: str | None
    is_member: bool
    total_bytes: int
    zip_bytes: int
    baskets: int


# The types of nodes: a column as a tree of tuples with plain buffers at its leaves, in which
# values cross between the core and Python. crates/treemill-py makes them in nodes.rs. Types only,
# for type checkers: no code runs here.

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    from .._core import Values

    Leaf: TypeAlias = Values | NDArray[np.generic]
    """Numbers in memory; also offsets and bytes."""
    BitsNode: TypeAlias = tuple[Literal["bits"], Leaf, int, int]
    """Bools, the lowest bit of a byte first: bytes, the first bit, how many."""
    ListNode: TypeAlias = tuple[Literal["list"], Leaf, "Node"]
    """Offsets, which begin with 0, and items."""
    StringNode: TypeAlias = tuple[Literal["string"], Leaf, Leaf]
    """Offsets and bytes."""
    RegularNode: TypeAlias = tuple[Literal["regular"], int, int, "Node"]
    """Arrays of one length: items in each, how many arrays, all items."""
    RecordNode: TypeAlias = tuple[Literal["record"], Sequence[str] | None, Sequence["Node"], int]
    """Names (None: those of a tuple, which are numbers), members, how many."""
    OptionNode: TypeAlias = tuple[Literal["option"], BitsNode | None, "Node", int]
    """Bits of the values that are there (None: all of them), values, how many."""
    PlacesNode: TypeAlias = tuple[Literal["places"], Leaf, "Node"]
    """An option that only Python makes: places in the values, negative ones for missing values."""
    UnionNode: TypeAlias = tuple[Literal["union"], Leaf, Leaf, Sequence["Node"]]
    """Tags, places within the alternatives, alternatives."""
    NothingNode: TypeAlias = tuple[Literal["nothing"], int]
    """Values of no type: how many."""
    Node: TypeAlias = (
        Leaf
        | BitsNode
        | ListNode
        | StringNode
        | RegularNode
        | RecordNode
        | OptionNode
        | PlacesNode
        | UnionNode
        | NothingNode
    )


# What files are to the bridges between the core and Python's protocols. Types only.

State: TypeAlias = "tuple[int, bool, str | None]"
"""Bytes of a file, whether it is a folder, and what tells its state from any other; None if nothing
that the server says does."""


class Identity(NamedTuple):
    """What tells one state of one file from any other. Two looks at a file that give equal
    identities saw the same bytes, if the file was settled at the first look."""

    size: int
    """Bytes."""
    changed: int
    """When the file was changed last, in nanoseconds since 1970; 0 if the storage does not say."""
    marks: tuple[Hashable, ...]
    """Whatever else the storage tells: device, inode and times of a local file; the entity tag,
    checksum or version of a remote one."""


class FileState(NamedTuple):
    """A file as one process has read it, for others to compare with what they have read. Two hosts
    may share a disk, or have a copy each under one path."""

    size: int
    """Bytes."""
    uuid: str | None
    """The UUID in the file's header, which copies share and other files do not."""
    place: tuple[Hashable, ...]
    """The host, the device and the inode."""
    times: tuple[Hashable, ...]
    """When it was changed. Tells something of one place only."""

    def agrees(self, other: FileState) -> bool:
        """True if the file has the same bytes, as far as anyone can tell."""
        is_same = (self.size, self.uuid) == (other.size, other.uuid)
        return is_same and (self.place != other.place or self.times == other.times)


class BridgedFile(Protocol):
    """An open file. Its methods may be called by `at_once` threads at the same time."""

    told: State
    at_once: int

    def read(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """The bytes of each half-open range."""


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
