"""The functions that the user has written, by name. Standard library only: knows no text and no
grammar.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ..frozen import frozen
from .tree_node import Tree

__all__ = [
    "ENTRIES",
    "OWN_LOCAL_ENTRY",
    "TREE_WEIGHT",
    "Dependent",
    "ExternalFunction",
    "OfFile",
    "Preloaded",
    "UserFunction",
    "find",
    "identity_here",
    "lasting",
    "names",
    "register",
    "remove",
    "version",
]

# What expressions may call that is no function of the language: corrections and the like. Pure:
# knows no document and no core.


@runtime_checkable
class ExternalFunction(Protocol):
    """A function, or functions by name, given to expressions as a parameter. It can be pickled."""

    @property
    def identity(self) -> str:
        """What tells it from all others: equal ones have equal texts."""

    def core(self) -> object:
        """The core's object, `_core.Functions`."""


def identity_here(lasting: str, here: str) -> str:
    """An identity. `lasting`: what it is in every process; `here` tells apart in this one, too,
    functions of which others would get equal ones."""
    return f"{lasting}{_HERE}{here}"


def lasting(identity: str) -> str:
    """What of an identity is the same in every process."""
    return identity.partition(_HERE)[0]


_HERE = " here "


@runtime_checkable
class Dependent(Protocol):
    """A function of which equal identities need not mean equal values."""

    def depends_on(self) -> str:
        """A text that is equal for those that have equal values. Raises UnsupportedError if that
        cannot be told."""


@runtime_checkable
class OfFile(Protocol):
    """A function that comes from a file."""

    @property
    def source(self) -> str:
        """The file, as users name it."""


@runtime_checkable
class Preloaded(Protocol):
    """A function with things to do once for all workers of a template, before they are forked."""

    def preload(self) -> None:
        """Does them."""


# Names of what treemill adds to expressions, which mean it even if a branch is called by the
# language's word for it: translations of `Entry$` and the like, and columns of tables. Pure.

OWN_ENTRY = "number_of_the_entry_"
"""The number of an entry in the dataset: `Entry$`."""
OWN_LOCAL_ENTRY = "number_of_the_entry_in_its_file_"
"""The number of an entry in its file: `LocalEntry$`."""
ENTRIES = "number_of_entries_"
"""`Entries$`, to which a drawing gives its value."""
TREE_WEIGHT = "weight_of_the_tree_"
"""What TTree::SetWeight has set for an entry's tree."""


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
