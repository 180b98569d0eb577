"""The names of TTree::SetAlias in queries: which of them a query needs, as definitions in order.

Pure. As in ROOT a branch wins over an alias of the same name, aliases may use each other, and none
may use itself. An alias that the query does not mention is not even parsed.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from typing import Any

from .errors import QueryError
from .formula import translate
from .steps import Define

__all__ = ["mentions", "needed", "with_definitions", "words"]


def words(tree: Any) -> set[str]:
    """All names and attributes in a specification's expressions."""
    found: set[str] = set()
    pending = [tree]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            kind = each.get("kind")
            found |= {each["id"]} if kind == "name" else set()
            found |= {each["name"]} if kind == "attribute" else set()
            pending += each.values()
        elif isinstance(each, list):
            pending += each
    return found


def mentions(known: set[str], name: str) -> bool:
    """Whether expressions of these words can mean the column `name`: by its name, or as a member
    of the collection that it belongs to (`Jet.pt` of `Jet_pt`). True too often rather than not."""
    if name in known:
        return True
    return any(
        name[sign.end() :] in known and mentions(known, name[: sign.start()])
        for sign in re.finditer(r"[._]", name)
    )


def needed(
    aliases: Mapping[str, str], branches: Container[str], known: Iterable[str]
) -> list[Define]:
    """Definitions of the aliases that expressions of these words use, each after those that it
    uses itself. Raises QueryError for one that uses itself, and for one that does not parse."""
    usable = {name: text for name, text in aliases.items() if name not in branches}
    made: dict[str, Define] = {}

    def make(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            circle = " → ".join([*path[path.index(name) :], name])
            raise QueryError(f"the alias {name} is used in its own definition: {circle}")
        if name in made:
            return
        try:
            expression = translate(usable[name])
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


def with_definitions(spec: Mapping[str, Any], defines: Iterable[Define]) -> dict[str, Any]:
    """The specification with these columns defined before all else."""
    steps: list[dict[str, Any]] = []
    for define in defines:
        steps.append({"parent": len(steps) - 1 if steps else None, "action": define.to_json()})
    added = len(steps)
    if not added:
        return dict(spec)

    def moved(place: int | None) -> int:
        return added - 1 if place is None else place + added

    steps += [step | {"parent": moved(step["parent"])} for step in spec["steps"]]
    bookings = [booking | {"at": moved(booking["at"])} for booking in spec["bookings"]]
    return {**spec, "steps": steps, "bookings": bookings}
