"""The functions that the user has written, by name. Standard library only: knows no text and no
grammar.
"""

from __future__ import annotations

from ..frozen import frozen
from .tree_node import Tree

__all__ = ["UserFunction", "find", "names", "register", "remove", "version"]


@frozen
class UserFunction:
    """A function of the user's, in the language: its body knows its parameters and columns."""

    name: str
    params: tuple[str, ...]
    body: Tree
    """Text and tree, as the core reads them."""
    depth: int
    """Levels of the tree."""
    json: int
    """Levels of the tree's JSON."""
    size: int
    """Nodes of the tree, with those of the functions that it calls."""


_known: dict[str, UserFunction] = {}
_version = 0


def register(function: UserFunction) -> None:
    """Makes a function known to expressions that are written from now on. There it replaces another
    function of the same name; expressions that are written already keep the old one."""
    global _version
    _known[function.name] = function
    _version += 1


def remove(name: str) -> None:
    """Forgets the function of this name, if there is one."""
    global _version
    _known.pop(name, None)
    _version += 1


def find(name: str) -> UserFunction | None:
    """The function of this name."""
    return _known.get(name)


def names() -> list[str]:
    """The names known."""
    return sorted(_known)


def version() -> int:
    """Changes whenever a function is registered or removed."""
    return _version
