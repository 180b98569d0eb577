"""A node of an expression's syntax tree, as JSON (`Expr` of crates/treemill-query/src/spec.rs): its
type, and how to look into one. Knows no kind of node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

__all__ = ["Json", "Tree", "child", "children", "word"]

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | float | bool | None"
"""What JSON can hold."""
Tree: TypeAlias = dict[str, Json]
"""A node: its kind, its parts by name, and `at`, its place in the user's text."""


def child(tree: Tree, part: str) -> Tree:
    """The node that is this part of a node."""
    node = tree[part]
    assert isinstance(node, dict)
    return node


def children(tree: Tree, part: str) -> list[Tree]:
    """The nodes that are in this part of a node, a list."""
    nodes = tree[part]
    assert isinstance(nodes, list)
    return nodes


def word(tree: Tree, part: str) -> str:
    """The string that is this part of a node."""
    text = tree[part]
    assert isinstance(text, str)
    return text
