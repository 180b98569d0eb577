"""The types of nodes: a column as a tree of tuples with plain buffers at its leaves, in which
values cross between the core and Python. crates/treemill-py makes them in nodes.rs. Types only, for
type checkers: no code runs here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
