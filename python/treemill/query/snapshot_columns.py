"""The columns of a snapshot: what the names of collections stand for, what branches may be called,
the titles that branches keep.

Pure: standard library, errors and the query only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import QueryError, quoted
from ..language.expression import Expression, parse
from ..language.tree_node import child, word
from .quantities import Known, named_columns, usable
from .snapshot_target import titles_of
from .steps import Define, Step, Vary

if TYPE_CHECKING:
    from .data_protocols import QueriedBranch

__all__ = ["branch_columns", "columns_of", "titles", "uncounted", "without_dimensions"]

Named = tuple[tuple[str, Expression], ...]
"""Columns with what they are called."""

_DIMENSIONS = re.compile(r"(\[\w*\])+$")


def without_dimensions(name: str) -> str:
    """A branch's name without the dimensions that ROOT appends to some. The leaf has them too."""
    return _DIMENSIONS.sub("", name)


def branch_columns(columns: Named) -> Named:
    """The columns with the names of branches for them. Raises QueryError for names with brackets,
    which readers would take for dimensions."""
    named: dict[str, Expression] = {}
    for name, expr in columns:
        is_column = expr.tree["kind"] == "name" and word(expr.tree, "id") == name
        own = without_dimensions(name) if is_column else name
        if "[" in own or "]" in own:
            raise QueryError(
                f"a branch cannot be called {name}, because ROOT and uproot read brackets as its "
                f'dimensions: give the column another name, {{"name": {expr.text!r}}}'
            )
        if own in named:
            raise QueryError(
                f"two columns would be the branch {own}: give one another name, "
                f'{{"name": {expr.text!r}}}'
            )
        named[own] = expr
    return tuple(named.items())


def titles(
    columns: Sequence[tuple[str, Expression]],
    branches: Mapping[str, QueriedBranch],
    defined: Collection[str],
) -> dict[str, str]:
    """Titles of the columns that are branches, and not defined anew."""
    return titles_of(branches, _stored(columns, defined))


def uncounted(
    columns: Sequence[tuple[str, Expression]],
    branches: Mapping[str, QueriedBranch],
    defined: Collection[str],
) -> frozenset[str]:
    """The columns that are branches of lists that no branch counts, and not defined anew."""
    stored = _stored(columns, defined)
    found = ((name, branches[branch]) for name, branch in stored.items() if branch in branches)
    return frozenset(name for name, b in found if b.kind == "list" and b.counter is None)


def _stored(columns: Sequence[tuple[str, Expression]], defined: Collection[str]) -> dict[str, str]:
    """The columns that are names of branches, and not defined anew."""
    own = {}
    for name, expr in columns:
        branch = word(expr.tree, "id") if expr.tree["kind"] == "name" else ""
        if branch and branch not in defined:
            own[name] = branch
    return own


def columns_of(
    columns: str | Iterable[str] | Mapping[str, str],
    known: Callable[[], Known],
    branches: Mapping[str, QueriedBranch],
    steps: Sequence[Step | None],
) -> tuple[tuple[str, Expression], ...]:
    """Makes names and expressions as `named_columns` does; the name of a collection stands for all
    its columns."""
    if isinstance(columns, Mapping):
        return named_columns(columns, known)
    texts = [columns] if isinstance(columns, str) else [*columns]
    defined = {step.name: step.expr for step in steps if isinstance(step, Define)}
    varied = {name for step in steps if isinstance(step, Vary) for name in step.columns}
    names = known()
    whole: dict[str, dict[str, Expression]] = {}
    for text in texts:
        members = [name for name in names if name.startswith((f"{text}_", f"{text}."))]
        if not members or (text in names and not _is_list(defined.get(text))):
            continue
        if text in defined or text in varied:  # the columns that count are those of older lists
            counters = _counters(text, members, branches)
            stored = [name for name in members if name not in counters]
            kept = usable(text, {name: names[name] for name in stored})
            whole[text] = dict(_member(text, name) for name in kept)
        else:
            stored = [name for name in names if name == f"n{text}"] + members
            whole[text] = usable(text, {name: names[name] for name in stored})
    return named_columns(texts, known, whole)


def _counters(
    collection: str, members: Iterable[str], branches: Mapping[str, QueriedBranch]
) -> set[str | None]:
    """The columns that count the items of a collection as it is stored."""
    counters = {branches[name].counter for name in members if name in branches}
    of_delphes = any(name.startswith(f"{collection}.") for name in members)
    return counters | {f"n{collection}", f"{collection}_size" if of_delphes else None}


def _member(collection: str, stored: str) -> tuple[str, Expression]:
    """The member of a list that was made anew, by the name of the column that it was before."""
    name = without_dimensions(stored)
    member = quoted(name.removeprefix(collection)[1:])
    return name, replace(parse(f"{collection}.{member}"), found=True)


def _is_list(expr: Expression | None) -> bool:
    """True if its form shows that it makes a list of objects of another collection."""
    if expr is None:
        return False
    tree = expr.tree
    if tree["kind"] == "comprehension":
        return child(tree, "element")["kind"] == "name"
    return tree["kind"] == "call" and child(tree, "function").get("id") in ("sorted", "concat")
