"""Decides which names of TTree::SetAlias a query needs, and gives their definitions in order.

Pure. As in ROOT, a branch wins over an alias of the same name, aliases may use each other, and none
may use itself. An alias that the query does not mention is not parsed.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from ..errors import QueryError
from ..language.dialect import ALIAS
from ..language.expression import parse
from ..language.mentions import mentions, words
from ..query.steps import Define

__all__ = ["needed"]


def needed(
    aliases: Mapping[str, str], branches: Container[str], known: Iterable[str]
) -> list[Define]:
    """Definitions of the aliases that expressions of these words use, each after those that it
    uses itself. Raises QueryError for an alias that uses itself, or that does not parse."""
    usable = {name: text for name, text in aliases.items() if name not in branches}
    made: dict[str, Define] = {}

    def make(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = " → ".join([*path[path.index(name) :], name])
            raise QueryError(f"the alias {name} is used in its own definition: {circle}")
        if name in made:
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
        made[name] = Define(name, expression)

    all_words = set(known)
    for name in usable:
        if mentions(all_words, name):
            make(name, ())
    return list(made.values())
