"""Tables written as the entries of a tree: the branch that each column becomes, and the branch that
counts its lists. Columns with the same lists and a common prefix share a counter, as in NanoAOD:
nMuon counts Muon_pt and Muon_eta.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..data.array_columns import awkward_array
from ..data.columns import Table, column_of, has_missing, kind_of, lengths, numbers
from ..data.common_type import cast
from ..data.kinds import Kind, Kinds
from ..errors import QueryError, UnsupportedError
from ..frozen import replaced
from .branches import BranchValues, OutputBranch, branch_of, has_vectors, values_of
from .file import RootFile
from .tree import TreeWriter

if TYPE_CHECKING:
    from .._core import Column

__all__ = [
    "BranchPlan",
    "TableTree",
    "Unequal",
    "chunks",
    "lists_of",
    "planned",
    "table_of",
    "unequal_counts",
    "unequal_lists",
]

# Columns that users give, as awkward and NumPy arrays, made into tables that a tree can hold.


def table_of(columns: object) -> Table:
    """A table of a mapping of names to arrays, or of an awkward array of records, a structured
    NumPy array, a DataFrame or an Arrow table. Records become columns name_field. Raises QueryError
    if a value is missing, a name is no text or used twice, or lengths differ."""
    table: dict[str, Column] = {}
    for name_of_user, value in _named(columns):
        for name, array in _arrays(name_of_user, value):
            if name in table:
                raise QueryError(f"two columns would be called {name}: give one another name")
            table[name] = _never_missing(name, array)
    sizes = {name: len(array) for name, array in table.items()}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{name} {length}" for name, length in sizes.items())
        raise QueryError(f"columns of a tree have one length, and these differ: {shown}")
    return Table(table)


def _named(columns: object) -> Iterator[tuple[str, object]]:
    names = _names(columns)
    if names is None or not hasattr(columns, "__getitem__"):
        raise QueryError(
            "columns are a mapping of names to arrays, or an awkward array of records, and not "
            f"{type(columns).__name__}"
        )
    for name in names:
        if not isinstance(name, str) or not name:
            raise QueryError(f"a column's name is a text, not {name!r}")
        yield name, columns[name]


def _names(columns: object) -> Iterable[object] | None:
    """The names of the columns of a mapping, a DataFrame or a table, or of the fields of an array;
    None for other objects, which have none."""
    kind = type(columns)  # the attributes of an awkward array may be its fields
    if hasattr(kind, "keys") and hasattr(columns, "keys"):
        return list(columns.keys())
    if hasattr(kind, "column_names") and hasattr(columns, "column_names"):
        return list(columns.column_names)
    if hasattr(kind, "fields") and hasattr(columns, "fields"):
        return list(columns.fields) or None
    names: tuple[str, ...] | None = getattr(getattr(columns, "dtype", None), "names", None)
    return names


def lists_of(table: Table) -> dict[str, bytes]:
    """A digest of the lengths of each column's lists. Columns with equal digests have lists of the
    same lengths."""
    return {
        name: hashlib.blake2b(lengths(table.columns[name]).tobytes()).digest()
        for name, kind in table.kinds.items()
        if kind.form == "list"
    }


def _arrays(name: str, value: object) -> Iterator[tuple[str, object]]:
    if hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__"):
        yield name, value
        return
    array = awkward_array(name, value)
    for member in array.fields:
        yield from _arrays(f"{name}_{member}", array[member])
    if not array.fields:
        yield name, array


def _never_missing(name: str, array: object) -> Column:
    try:
        column = column_of(array)
    except TypeError as error:
        raise UnsupportedError(f"{name} cannot be a column: {error}", branch=name) from None
    if has_missing(column.nodes()):
        raise QueryError(f"{name} has missing values, which a tree cannot hold: use ak.fill_none")
    return cast(column, _without_missing(kind_of(column)))


def _without_missing(kind: Kind) -> Kind:
    parts = (_without_missing(kind.item),) if kind.has_items else kind.parts
    return replaced(kind, parts=parts, optional=False)


Unequal = Collection[tuple[str, str]]

_CHUNK_BYTES = 32 << 20

_PREFIX = re.compile(r"([^_.]+)[_.].")


@dataclass
class BranchPlan:
    """The branches that columns become."""

    branches: dict[str, OutputBranch] = field(default_factory=dict)
    """The branches by column. Counters that are no columns go by their own names."""
    counted: dict[str, list[str]] = field(default_factory=dict)
    """The columns whose lists each counter counts."""


def planned(
    kinds: Kinds,
    groups: Mapping[str, Hashable],
    titles: Mapping[str, str],
    counters: Mapping[str, str] | None = None,
    unequal: Unequal = frozenset(),
    vectors: Collection[str] = frozenset(),
    uncounted: Collection[str] = frozenset(),
) -> BranchPlan:
    """The branches for these columns. `groups`: columns of lists with equal groups have the same
    lists. `counters`: the counters that some columns of lists have already. `unequal`: see
    `unequal_counts`. `vectors`: the columns whose lists are vectors of C++, if there is a class of
    such. `uncounted`: columns of lists that no column counted where they come from; they share a
    counter if they have a common prefix and are not `unequal`. Raises UnsupportedError, which names
    the column, if a tree cannot hold one; QueryError if a branch cannot have its name."""
    _check(kinds)
    plan = BranchPlan()
    vectors = {name for name in vectors if has_vectors(kinds[name])}
    lists = [name for name, kind in kinds.items() if kind.form == "list" and name not in vectors]
    counted_by = dict(counters or {})
    for name, counter_name in _counters(lists, groups, kinds, unequal, uncounted).items():
        counted_by.setdefault(name, counter_name)
    for name in lists:
        plan.counted.setdefault(counted_by[name], []).append(name)

    def branch(name: str) -> OutputBranch:
        if name not in kinds:
            return OutputBranch(name, "I")
        counter, title, is_vector = counted_by.get(name), titles.get(name, ""), name in vectors
        return branch_of(name, kinds[name], counter, title, is_vector=is_vector)

    for name in kinds:
        for each in (counted_by.get(name), name):  # a counter comes before its lists
            if each is not None and each not in plan.branches:
                plan.branches[each] = branch(each)
    return plan


def _check(names: Iterable[str]) -> None:
    for name in names:
        if "[" in name or "]" in name:
            raise QueryError(
                f"a branch cannot be called {name}, because ROOT and uproot read the brackets as "
                "its dimensions: give the column another name",
                branch=name,
            )


def _counters(
    lists: Sequence[str],
    groups: Mapping[str, Hashable],
    kinds: Kinds,
    unequal: Unequal,
    uncounted: Collection[str],
) -> dict[str, str]:
    """The name of each list's counter."""
    reserved = set(kinds)
    together: dict[tuple[str, Hashable], list[str]] = {}
    for name in lists:
        group = groups.get(name)
        key = (_prefix(name), (name,) if group is None else group)
        if name in uncounted and key[0]:
            alike = (
                known
                for known, members in together.items()
                if known[0] == key[0] and not _differ(name, members, unequal, uncounted)
            )
            key = next(alike, key)
        together.setdefault(key, []).append(name)
    # The first group of several lists with a prefix gets the counter of the prefix, else the first
    # list: files have a collection's own columns before those of others that are called alike. If a
    # column has the counter's name, it must be the counter of these lists.
    heirs: dict[str, list[str]] = {}
    for (prefix, _), members in together.items():
        shared = f"n{prefix}"
        fits = shared not in reserved or kinds[shared].is_integer
        fits = fits and not any((shared, member) in unequal for member in members)
        if prefix and fits and min(len(members), 2) > len(heirs.get(prefix, ())):
            heirs[prefix] = members
    reserved |= {f"n{prefix}" for prefix in heirs}
    counters: dict[str, str] = {}
    for (prefix, _), members in together.items():
        counter = f"n{prefix}"
        if heirs.get(prefix) is not members:
            counter = f"n{members[0]}"
            while counter in reserved or counter in counters.values():
                counter += "_"
        counters |= dict.fromkeys(members, counter)
    return counters


def _differ(
    name: str, members: Sequence[str], unequal: Unequal, uncounted: Collection[str]
) -> bool:
    """True if the lists of a column may have other lengths than those of others."""
    return any(member not in uncounted or (member, name) in unequal for member in members)


def _prefix(name: str) -> str:
    match = _PREFIX.match(name)
    return match[1] if match else ""


def unequal_counts(table: Table) -> set[tuple[str, str]]:
    """Pairs of a column that is named as a counter and a column of lists that it does not count,
    such as nJet and Jet_pt."""
    pairs = set()
    for name, kind in table.kinds.items():
        counter = f"n{_prefix(name)}"
        counts = table.columns.get(counter)
        if kind.form != "list" or counts is None or not table.kinds[counter].is_integer:
            continue
        if counts.null_count or not np.array_equal(numbers(counts), lengths(table.columns[name])):
            pairs.add((counter, name))
    return pairs


def unequal_lists(table: Table, names: Collection[str]) -> set[tuple[str, str]]:
    """Pairs of those of these columns that have a common prefix and lists of other lengths."""
    alike: dict[str, list[tuple[NDArray[np.int64], list[str]]]] = {}
    pairs: set[tuple[str, str]] = set()
    for name, column in table.columns.items():
        if name not in names or not _prefix(name):
            continue
        own, is_new = lengths(column), True
        for others, members in alike.setdefault(_prefix(name), []):
            if np.array_equal(others, own):
                members.append(name)
                is_new = False
            else:
                pairs.update((member, name) for member in members)
        if is_new:
            alike[_prefix(name)].append((own, [name]))
    return pairs


class TableTree:
    """A tree of a file, written from tables with the same columns, without missing values."""

    def __init__(
        self,
        file: RootFile,
        name: str,
        plan: BranchPlan,
        title: str = "",
        *,
        is_reshuffled: bool = False,
    ) -> None:
        """`is_reshuffled`: see TreeWriter."""
        self._plan = plan
        branches = list(plan.branches.values())
        self._writer = TreeWriter(file, name, branches, title, is_reshuffled=is_reshuffled)

    def write(self, table: Table) -> None:
        """Add a table's entries."""
        values = {name: values_of(column) for name, column in table.columns.items()}
        for counter, columns in self._plan.counted.items():
            values[counter] = self._counts(counter, columns, values)
        self._writer.extend(values, len(table))

    def _counts(
        self, counter: str, columns: Sequence[str], values: Mapping[str, BranchValues]
    ) -> BranchValues:
        first, *others = columns
        offsets = values[first].offsets
        assert offsets is not None
        for other in others:
            theirs = values[other].offsets
            if theirs is None or not np.array_equal(theirs, offsets):
                raise QueryError(
                    f"{other} and {first} have one counter, but their lengths differ", branch=other
                )
        counts = np.diff(offsets).astype(np.int32)
        stored = values.get(counter)
        if stored is None:
            return BranchValues(counts)
        if not np.array_equal(stored.items, counts):
            raise QueryError(
                f"{counter} is not the number of items of {first}, as its name would say in a "
                "TTree: give it another name",
                branch=counter,
            )
        return stored

    def close(self) -> None:
        """Write the tree's description."""
        self._writer.close()


def chunks(tables: Iterable[Table]) -> Iterator[Table]:
    """The tables, with small ones joined, so that clusters and row groups have useful sizes."""
    waiting: list[Table] = []
    size = 0
    for table in tables:
        waiting.append(table)
        size += table.nbytes
        if size >= _CHUNK_BYTES:
            yield Table.joined(waiting)
            waiting, size = [], 0
    if waiting:
        yield Table.joined(waiting)
