"""Columns that a tree does not have itself: from friends, from another reader, computed from entry
numbers.

`Foreign` provides such columns to queries, arrays and selectors of one file; `ExtendedTree` joins
them to the tree's own. A file without foreign columns needs neither. Knows no dataset and no query.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ..frozen import frozen
from ..language.function_registry import OWN_ENTRY, OWN_LOCAL_ENTRY
from .kinds import Kind, in_words, of_node

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .._core import Column, Control
    from .column_source import BranchDescription, Reader, TreeColumns

__all__ = [
    "ENTRY",
    "IN_THE_CHAIN",
    "LOCAL_ENTRY",
    "NUMBERING",
    "Computed",
    "ExtendedTree",
    "Field",
    "Foreign",
    "JoinedForeign",
    "joined",
    "with_entry_numbers",
]


@frozen
class Field:
    """A foreign column."""

    name: str
    empty: object
    """No values of it: a core.Column, or an array that `columns.column_of` takes. Its values are
    numbers, bools, strings, or lists and arrays of numbers; columns of other kinds can be read but
    not used in expressions."""
    nullable: bool = False
    """Whether values may be missing."""
    counter: str | None = None
    """The column that counts a list's items: lists with one counter belong together
    (`Jet_pt[Jet_eta < 2]`, `Jet.pt`)."""
    listed: bool = True
    """Whether it is read if all columns are asked for, or only by name."""


class Foreign(Protocol):
    """Provides columns for the entries of one file. Several threads use it at once."""

    def schema(self) -> Sequence[Field]:
        """The columns. A foreign column hides a branch of the same name. Opens as few files as
        possible."""

    def read(self, name: str, start: int, stop: int) -> object:
        """The values of the file's entries `[start, stop)`: a core.Column of `stop - start` values
        of the kind that the schema says, or an array that `columns.column_of` takes. Called when a
        query or a selector first needs the column, for some 100,000 entries at once. The user sees
        what it raises: it should be a TreemillError that names file and branch."""


Compute = Callable[[int, int], "NDArray[np.generic]"]
"""Gives one number or bool for each of a file's entries `[start, stop)`."""


class Computed:
    """Columns of numbers that are computed from the entries' numbers in their file. Implements
    Foreign."""

    def __init__(self, columns: Mapping[str, Compute]) -> None:
        self._columns = dict(columns)

    def schema(self) -> Sequence[Field]:
        """See Foreign. Such columns are read by name only."""
        return [Field(name, compute(0, 0), listed=False) for name, compute in self._columns.items()]

    def read(self, name: str, start: int, stop: int) -> object:
        """See Foreign."""
        return self._columns[name](start, stop)


class JoinedForeign:
    """Several providers as one. If several have a column of one name, the first of them is used.
    Implements Foreign."""

    def __init__(self, parts: Sequence[Foreign]) -> None:
        self._parts = tuple(parts)
        self._known: tuple[list[Field], dict[str, Foreign]] | None = None

    def schema(self) -> Sequence[Field]:
        """See Foreign."""
        return self._look()[0]

    def read(self, name: str, start: int, stop: int) -> object:
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
    """Returns all providers in `parts` as one; None if there is none."""
    providers = [part for part in parts if part is not None]
    return (
        None if not providers else providers[0] if len(providers) == 1 else JoinedForeign(providers)
    )


class ExtendedTree:
    """A file's tree and foreign columns, read as if all were the tree's. Implements TreeColumns."""

    def __init__(self, tree: TreeColumns, foreign: Foreign) -> None:
        self.tree = tree
        self._foreign = foreign
        self._fields = {each.name: each for each in foreign.schema()}

    def branches(self) -> list[BranchDescription]:
        """Returns what can be read, as the tree describes it. Foreign columns come last, or in the
        place of the branch that they hide."""
        return self._among(self.tree.branches())

    def described(self) -> list[BranchDescription]:
        """Returns all branches and foreign columns, also those that cannot be read."""
        return self._among(self.tree.described())

    def reader_of(self, path: str, cpp_type: str, supported: bool) -> Reader:
        """Returns what reads a branch: see FileTree.reader_of."""
        if path in self._fields:
            return "core"
        return self.tree.reader_of(path, cpp_type, supported)

    def _among(self, branches: Sequence[BranchDescription]) -> list[BranchDescription]:
        described = []
        left = dict(self._fields)
        for branch in branches:
            known = left.pop(branch["name"], None)
            described.append(branch if known is None else _described(known, branch))
        return described + [_described(each, None) for each in left.values()]

    def read(
        self,
        names: Sequence[str],
        start: int,
        stop: int,
        control: Control | None = None,
        *,
        flags: bool = False,
    ) -> list[Column]:
        """See ColumnSource."""
        own = [name for name in names if name not in self._fields]
        read = self.tree.read(own, start, stop, control, flags=flags)
        columns = dict(zip(own, read, strict=True))
        from .columns import column_of  # heavy: numpy

        return [
            columns[name] if name in columns else column_of(self._foreign.read(name, start, stop))
            for name in names
        ]


def _described(column: Field, own: BranchDescription | None) -> BranchDescription:
    """A foreign column as core.Tree describes its branches. `own`: the branch that it hides."""
    from .columns import column_of  # heavy: numpy

    known = of_node(column_of(column.empty).nodes()).given()
    kind, numbers, item, length = _kind(known)
    used, unused = ((), ("",)) if _is_record(known) else (("",), ())
    description: BranchDescription = {
        "name": column.name,
        "also": (),
        "path": column.name,
        "parent": None,
        "title": "",
        "cpp_type": str(known),
        "supported": True,
        "reason": None,
        "kind": "optional" if column.nullable else kind,
        "dtype": numbers,
        "item": item,
        "len": length,
        "usable": used,
        "unusable": unused,
        "counter": column.counter,
        "is_member": not column.listed,
        "total_bytes": 0,
        "zip_bytes": 0,
        "baskets": 0,
    }
    if own is None:
        return description
    return description | {
        "title": own["title"],
        "cpp_type": own["cpp_type"],
        "counter": own["counter"] if column.counter is None else column.counter,
        "total_bytes": own["total_bytes"],
        "zip_bytes": own["zip_bytes"],
        "baskets": own["baskets"],
    }


def _is_record(kind: Kind) -> bool:
    """True if its innermost items are records, which expressions cannot use."""
    while kind.has_items:
        kind = kind.item
    return kind.form == "record"


def _kind(kind: Kind) -> tuple[str, str | None, str | None, int | None]:
    """Its form; the type of its numbers; or else its items in words; their number."""
    if not kind.has_items:
        form = kind.form if kind.form in ("number", "record") else "string"
        return form, kind.dtype or None, None, None
    dtype, item = kind.item.dtype or None, None
    if dtype is None:
        inner, numbers, items, length = _kind(kind.item)
        item = in_words(inner, items or numbers, length)
    return kind.form, dtype, item, kind.size if kind.form == "array" else None


# Columns of entry numbers: `entry_number` in the chain or sample, `local_entry_number` in the file,
# and a column that random numbers are made from, which no expression can name. In ROOT they are
# `Entry$` and `LocalEntry$` of TTree::Draw, `rdfentry_` of RDataFrame.

ENTRY, LOCAL_ENTRY = "entry_number", "local_entry_number"
_COUNTED = "number of the entry"
"""The name that the core's compile/expressions/random.rs has for it."""
_DRAWN = ("random", "normal")
"""Functions that are made from it."""
_ALWAYS = {OWN_ENTRY: ENTRY, OWN_LOCAL_ENTRY: LOCAL_ENTRY}
"""Names that mean the numbers even if a branch is called `entry_number`."""
NUMBERING = (ENTRY, LOCAL_ENTRY, *_ALWAYS, *_DRAWN)
"""The words by which queries ask for such columns."""
IN_THE_CHAIN = frozenset(NUMBERING) - {LOCAL_ENTRY, OWN_LOCAL_ENTRY}
"""Those whose values depend on the files before a file."""


def _counted_from(first: int) -> Callable[[int, int], NDArray[np.int64]]:
    def numbers(start: int, stop: int) -> NDArray[np.int64]:
        import numpy as np

        return np.arange(first + start, first + stop, dtype=np.int64)

    return numbers


def with_entry_numbers(
    foreign: Foreign | None,
    words: Container[str],
    is_column: Callable[[str], bool],
    first: Callable[[], int],
) -> Foreign | None:
    """`foreign` with the entry numbers that a query with these words needs. A name of a column of
    the dataset means that column. `first` gives the number of the file's first entry; it may
    open the files before it."""
    begins: dict[str, Callable[[], int]] = {
        ENTRY: first,
        LOCAL_ENTRY: lambda: 0,
        _COUNTED: first,
    }
    begins |= {always: begins[name] for always, name in _ALWAYS.items()}
    wanted = [n for n in begins if n in words and (n in _ALWAYS or not is_column(n))]
    wanted += [_COUNTED] if any(name in words for name in _DRAWN) else []
    if not wanted:
        return foreign
    return joined([foreign, Computed({name: _counted_from(begins[name]()) for name in wanted})])
