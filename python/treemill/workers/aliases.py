"""Decides which names of TTree::SetAlias a query needs, and which paths of branches such as
`evt/P3/P3.Px`, and gives their definitions in order.

Pure. As in ROOT, a branch wins over an alias of the same name, aliases may use each other, and none
may use itself. An alias that the query does not mention is not parsed.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from typing import TYPE_CHECKING

from ..errors import QueryError, quoted
from ..language.dialect import ALIAS
from ..language.expression import constant, parse
from ..language.mentions import mentions, words
from ..language.own_names import TREE_WEIGHT
from ..query.steps import Define

if TYPE_CHECKING:
    from ..data.description import BranchDescription

__all__ = ["needed", "paths", "tree_weight"]


def needed(
    aliases: Mapping[str, str], branches: Container[str], known: Iterable[str]
) -> list[Define]:
    """Definitions of the aliases that expressions of these words use, each after those that it
    uses itself. Raises QueryError for an alias that uses itself, or that does not parse."""
    usable = {name: text for name, text in aliases.items() if name not in branches}
    definitions: dict[str, Define] = {}

    def make(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = " → ".join([*path[path.index(name) :], name])
            raise QueryError(f"the alias {name} is used in its own definition: {circle}")
        if name in definitions:
            return
        try:
            expression = parse(usable[name], ALIAS)
        except QueryError as error:
            error.message = f"the alias {name}: {error.message}"
            raise
        inside = words(expression.tree)
        for other in usable:
            if mentions(inside, other):
                make(other, (*path, name))
        definitions[name] = Define(name, expression)

    all_words = set(known)
    for name in usable:
        if mentions(all_words, name):
            make(name, ())
    return list(definitions.values())


def tree_weight(weight: float, known: Collection[str]) -> list[Define]:
    """The definition of the tree's weight, if it is among these words."""
    return [Define(TREE_WEIGHT, constant(weight))] if TREE_WEIGHT in known else []


def paths(branches: Mapping[str, BranchDescription], known: Iterable[str]) -> list[Define]:
    """Definitions of the paths among these words, by the names of their branches. A branch that
    shares its name with another one has none: the name means the other one."""
    definitions = []
    for word in sorted(known):
        branch = branches.get(word) if "/" in word else None
        if branch is None or branch["name"] == word or branches[branch["name"]] is not branch:
            continue
        definitions.append(Define(word, parse(quoted(branch["name"]))))
    return definitions
