"""Columns that a tree does not have itself: from friends, from another reader, or of one constant.

`Foreign` is what provides such columns to queries, arrays and selectors of one file; they join the
tree's own in `Table`. Where there are none, none of this is used. Knows no dataset and no query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..arrays.kinds import Kind, in_words, of_node

__all__ = ["Field", "Foreign", "Joined", "Table", "joined"]


@dataclass(frozen=True)
class Field:
    """A foreign column."""

    name: str
    empty: Any
    """No values of it: a core.Column, or what `columns.column_of` takes. Of numbers, bools,
    strings, or lists and arrays of numbers; columns of others can be read but not used in
    expressions."""
    nullable: bool = False
    """Whether values may be missing."""
    counter: str | None = None
    """The column that counts a list's items: lists with one counter belong together
    (`Jet_pt[Jet_eta < 2]`, `Jet.pt`)."""
    listed: bool = True
    """Whether it is read where all columns are asked for, or only by name."""


class Foreign(Protocol):
    """Provides columns for the entries of one file. Used by several threads at once."""

    def schema(self) -> Sequence[Field]:
        """The columns. Where the tree has a branch of that name, the foreign column is used
        instead. Opens as little as it can."""

    def read(self, name: str, start: int, stop: int) -> Any:
        """The values of the file's entries `[start, stop)`: a core.Column of `stop - start` values
        of the kind that the schema says, or what `columns.column_of` makes one of. Asked for when a
        query or a selector first needs the column, for some 100,000 entries at once. What it raises
        is what the user sees: TreemillErrors, please, that name file and branch."""


class Joined:
    """Several providers as one; of columns of one name the first counts."""

    def __init__(self, parts: Sequence[Foreign]) -> None:
        self._parts = tuple(parts)
        self._known: tuple[list[Field], dict[str, Foreign]] | None = None

    def schema(self) -> Sequence[Field]:
        """See Foreign."""
        return self._look()[0]

    def read(self, name: str, start: int, stop: int) -> Any:
        """See Foreign."""
        return self._look()[1][name].read(name, start, stop)

    def _look(self) -> tuple[list[Field], dict[str, Foreign]]:
        if self._known is None:
            fields: dict[str, Field] = {}
            owners: dict[str, Foreign] = {}
            for part in self._parts:
                for each in part.schema():
                    if each.name not in fields:
                        fields[each.name], owners[each.name] = each, part
            self._known = list(fields.values()), owners
        return self._known


def joined(parts: Sequence[Foreign | None]) -> Foreign | None:
    """Those that there are as one; None where there are none."""
    found = [part for part in parts if part is not None]
    return None if not found else found[0] if len(found) == 1 else Joined(found)


class Table:
    """A file's tree and foreign columns, to be read as if all were the tree's."""

    def __init__(self, tree: Any, foreign: Foreign) -> None:
        self.tree = tree
        self._foreign = foreign
        self._fields = {each.name: each for each in foreign.schema()}

    def branches(self) -> list[dict[str, Any]]:
        """What can be read, as the tree describes it; the foreign ones last, but for those that
        stand for one of the tree's own."""
        return self._among(self.tree.branches())

    def described(self) -> list[dict[str, Any]]:
        """The same of all that is there."""
        return self._among(self.tree.described())

    def reader_of(self, path: str, cpp_type: str, supported: bool) -> str:
        """Who reads a branch, as FileTree.reader_of."""
        if path in self._fields:
            return "core"
        return str(self.tree.reader_of(path, cpp_type, supported))

    def _among(self, branches: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        found = []
        left = dict(self._fields)
        for branch in branches:
            known = left.pop(branch["name"], None)
            found.append(branch if known is None else _described(known, branch))
        return found + [_described(each, {}) for each in left.values()]

    def read(self, names: Sequence[str], start: int, stop: int, control: Any = None) -> list[Any]:
        """As core.Tree.read."""
        own = [name for name in names if name not in self._fields]
        options = () if control is None else (control,)
        columns = dict(zip(own, self.tree.read(own, start, stop, *options), strict=True))
        from ..arrays.columns import column_of  # heavy: numpy

        return [
            columns[name] if name in columns else column_of(self._foreign.read(name, start, stop))
            for name in names
        ]


def _described(column: Field, own: Mapping[str, Any]) -> dict[str, Any]:
    """A foreign column as core.Tree describes its branches; `own`: the branch that it stands
    for."""
    from ..arrays.columns import column_of  # heavy: numpy

    known = of_node(column_of(column.empty).nodes()).given()
    kind, numbers, item, length = _kind(known)
    return {
        "name": column.name,
        "path": column.name,
        "title": own.get("title", ""),
        "cpp_type": own.get("cpp_type", str(known)),
        "supported": True,
        "reason": None,
        "kind": "optional" if column.nullable else kind,
        "dtype": numbers,
        "item": item,
        "len": length,
        "counter": own.get("counter") if column.counter is None else column.counter,
        "is_member": not column.listed,
        "total_bytes": own.get("total_bytes", 0),
        "zip_bytes": own.get("zip_bytes", 0),
        "baskets": own.get("baskets", 0),
    }


def _kind(kind: Kind) -> tuple[str, str | None, str | None, int | None]:
    """What it is; of what numbers, or else of what items in words; how many."""
    if not kind.has_items:
        form = kind.form if kind.form in ("number", "record") else "string"
        return form, kind.dtype or None, None, None
    dtype, item = kind.item.dtype or None, None
    if dtype is None:
        inner, numbers, items, length = _kind(kind.item)
        item = in_words(inner, items or numbers, length)
    return kind.form, dtype, item, kind.size if kind.form == "array" else None
