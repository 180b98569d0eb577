"""Tables written as the entries of a tree: the branch that each column becomes, and the branch that
counts its lists. Columns with the same lists and a common prefix share a counter, as in NanoAOD:
nMuon counts Muon_pt and Muon_eta.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays.columns import Table, lengths, numbers
from ..arrays.kinds import Kinds
from ..errors import QueryError
from .branches import BranchValues, OutputBranch, branch_of, values_of
from .file import RootFile
from .tree import TreeWriter

__all__ = ["BranchPlan", "TableTree", "Unequal", "chunks", "planned", "unequal_counts"]

Unequal = Collection[tuple[str, str]]

_CHUNK_BYTES = 32 << 20

_PREFIX = re.compile(r"([^_.]+)[_.].")
_DIMENSIONS = re.compile(r"(\[\w*\])+$")
"""The dimensions that ROOT appends to the names of some branches. The leaf has them too."""


@dataclass
class BranchPlan:
    """The branches that columns become."""

    branches: dict[str, OutputBranch] = field(default_factory=dict)
    """The branches by column. Counters that are no columns go by their own names."""
    counted: dict[str, list[str]] = field(default_factory=dict)
    """The columns whose lists each counter counts."""
    given: dict[str, str] = field(default_factory=dict)
    """The columns of those counters that are columns too."""


def planned(
    kinds: Kinds,
    groups: Mapping[str, Hashable],
    titles: Mapping[str, str],
    counters: Mapping[str, str] | None = None,
    unequal: Unequal = frozenset(),
) -> BranchPlan:
    """The branches for these columns. `groups`: columns of lists with equal groups have the same
    lists. `counters`: the counters that some columns of lists have already. `unequal`: see
    `unequal_counts`. Raises UnsupportedError, which names the column, if a tree cannot hold one."""
    plan = BranchPlan()
    lists = [name for name, kind in kinds.items() if kind.form == "list"]
    names = _names(list(kinds))
    counted_by = dict(counters or {})
    for name, counter_name in _counters(lists, groups, kinds, unequal).items():
        counted_by.setdefault(name, counter_name)
    for name in lists:
        plan.counted.setdefault(counted_by[name], []).append(name)
    by_name = {counter_name: column for column, counter_name in names.items()}
    plan.given = {counter: by_name[counter] for counter in plan.counted if counter in by_name}

    def put(name: str, counter: str | None) -> None:
        branch = branch_of(name, kinds[name], counter, titles.get(name, ""))
        plan.branches[name] = replace(branch, name=names[name])

    for name in kinds:
        counter = counted_by.get(name)
        if counter is not None and counter not in plan.branches:
            if counter in plan.given:
                put(plan.given[counter], None)
            else:
                plan.branches[counter] = OutputBranch(counter, "I")
        if name not in plan.branches:
            put(name, counter)
    return plan


def _names(columns: Sequence[str]) -> dict[str, str]:
    """The branches' names by column."""
    short = {name: _DIMENSIONS.sub("", name) for name in columns}
    times = Counter(short.values())
    return {name: cut if times[cut] == 1 else name for name, cut in short.items()}


def _counters(
    lists: Sequence[str], groups: Mapping[str, Hashable], kinds: Kinds, unequal: Unequal
) -> dict[str, str]:
    """The name of each list's counter."""
    reserved = set(kinds)
    together: dict[tuple[str, Hashable], list[str]] = {}
    for name in lists:
        group = groups.get(name)
        key = (_prefix(name), (name,) if group is None else group)
        together.setdefault(key, []).append(name)
    # The largest group of lists with a prefix gets the counter of the prefix. If a column has the
    # counter's name, it must be the counter of these lists.
    heirs: dict[str, list[str]] = {}
    for (prefix, _), members in together.items():
        shared = f"n{prefix}"
        fits = shared not in reserved or kinds[shared].is_integer
        fits = fits and not any((shared, member) in unequal for member in members)
        if prefix and fits and len(members) > len(heirs.get(prefix, ())):
            heirs[prefix] = members
    counters: dict[str, str] = {}
    for (prefix, _), members in together.items():
        counter = f"n{prefix}"
        if heirs.get(prefix) is not members:
            counter = f"n{members[0]}"
            while counter in reserved or counter in counters.values():
                counter += "_"
        counters |= dict.fromkeys(members, counter)
    return counters


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


class TableTree:
    """A tree of a file, written from tables with the same columns, without missing values."""

    def __init__(self, file: RootFile, name: str, plan: BranchPlan, title: str = "") -> None:
        self._plan = plan
        self._writer = TreeWriter(file, name, list(plan.branches.values()), title)

    def write(self, table: Table) -> None:
        """Add a table's entries."""
        plan, values = self._plan, {}
        for name, column in table.columns.items():
            values[plan.branches[name].name] = values_of(column)
        for counter, columns in plan.counted.items():
            values[counter] = self._counts(counter, columns, values)
        self._writer.extend(values, len(table))

    def _counts(
        self, counter: str, columns: Sequence[str], values: Mapping[str, BranchValues]
    ) -> BranchValues:
        first, *others = columns
        offsets = values[self._plan.branches[first].name].offsets
        assert offsets is not None
        for other in others:
            theirs = values[self._plan.branches[other].name].offsets
            if theirs is None or not np.array_equal(theirs, offsets):
                raise QueryError(
                    f"{other} and {first} have one counter, but their lengths differ", branch=other
                )
        counts = np.diff(offsets).astype(np.int32)
        if counter not in self._plan.given:
            return BranchValues(counts)
        stored = values[counter]
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
    for table in tables:
        waiting.append(table)
        if sum(each.nbytes for each in waiting) >= _CHUNK_BYTES:
            yield Table.joined(waiting)
            waiting = []
    if waiting:
        yield Table.joined(waiting)
