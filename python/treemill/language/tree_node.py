"""A node of an expression's syntax tree, as JSON (`Expr` of crates/treemill-query/src/spec.rs): its
type, and how to look into one. Knows no kind of node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..errors import QueryError

__all__ = [
    "MAX_DEPTH",
    "MAX_JSON_DEPTH",
    "MAX_NODES",
    "Json",
    "Reduction",
    "Tree",
    "child",
    "children",
    "too_deep",
    "word",
]

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


# How large an expression's syntax tree may be, and how large one is. Knows no kind of node.

MAX_DEPTH = 100
"""Levels of an expression's tree."""
MAX_NODES = 200_000
"""Nodes of its tree, with those of the user's functions that it calls."""
# The core's parser takes JSON of at most 127 levels. A list of arguments is a level, each node in
# it is one more, and the query around an expression takes eight.
MAX_JSON_DEPTH = 116
"""Levels of a tree's JSON."""


@dataclass(frozen=True)
class Reduction:
    """The tree of an expression, and its size."""

    tree: Tree
    depth: int
    """Levels of the tree."""
    json: int
    """Levels of the tree's JSON."""
    nodes: int
    """Nodes of the tree, with those of the functions that it calls."""


def too_deep(text: str, span: tuple[int, int] | None, otherwise: str = "") -> QueryError:
    """The error for an expression of too many levels; `otherwise`: what else may be the cause."""
    return QueryError(
        f"the expression is nested more than {MAX_DEPTH} levels deep{otherwise and ', '}{otherwise}"
        "; define() parts of it as columns",
        text=text,
        span=span,
    )
