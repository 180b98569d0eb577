"""Reads columns of a dataset's entries, over the borders of files, as Arrow arrays; awkward and
numpy are made from these. Knows no query."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import QueryError, UnsupportedError
from .filetree import FileTree
from .foreign import Table
from .groups import Group, group_of, is_group, leaves, record
from .schemas import cast, widest

if TYPE_CHECKING:
    from .branches import Branch
    from .dataset import Branches, Dataset

__all__ = ["Columns", "read", "select", "spans"]


@dataclass(frozen=True)
class Columns:
    """Columns of the same length, each a pyarrow.ChunkedArray with one chunk per file."""

    names: tuple[str, ...]
    chunks: tuple[Any, ...]
    optional: frozenset[str] = frozenset()
    """Names of those that may have missing values."""
    flags: frozenset[str] = frozenset()
    """Names of bytes that stand for bools, as numpy has them and Arrow has not."""

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        import pyarrow

        pairs = zip(self.names, self.chunks, strict=True)
        chunks = [each.cast(pyarrow.bool_()) if n in self.flags else each for n, each in pairs]
        return pyarrow.table(chunks, names=list(self.names))

    def to_awkward(self) -> Any:
        """An awkward array of records, laid out as uproot's `tree.arrays`."""
        from .arrow_awkward import records

        return records(self.names, self.chunks, self.optional, self.flags)

    def to_numpy(self) -> dict[str, Any]:
        """numpy arrays by name."""
        from .arrow_awkward import numpy_array

        pairs = zip(self.names, self.chunks, strict=True)
        return {name: numpy_array(column, name in self.flags) for name, column in pairs}


@dataclass(frozen=True)
class _Plan:
    """What is read for the names that somebody asks for, as the first file has it."""

    wanted: tuple[str, ...]
    groups: dict[str, Group]
    columns: tuple[str, ...]
    """Names and paths of branches that have the data."""
    optional: frozenset[str]
    doubtful: tuple[str, ...]
    """Of which only the values tell whether any is missing: defaults, and what uproot reads."""


_MOST_PLANS = 1000
"""That a dataset remembers."""


def _plan(dataset: Dataset, names: str | tuple[str, ...] | None) -> _Plan:
    known: dict[Any, _Plan] = dataset.plans[0]
    found = known.get(names)
    if found is not None:
        return found
    table = dataset.table(0)
    branches = dataset.branches
    wanted = select(dataset, branches, names)
    groups = {n: group for n in wanted if (group := _group(branches, n)) is not None}
    paths = [leaf.path for group in groups.values() for leaf in leaves(group)]
    columns = dict.fromkeys([*(n for n in wanted if n not in groups), *paths])
    optional, doubtful = set(), []
    for name in wanted:
        branch = branches.get(name)
        if branch is not None and branch.kind == "optional":
            optional.add(name)
        elif dataset.trees.missing.has(name) or (branch is not None and not branch.supported):
            doubtful.append(name)
    made = _Plan(tuple(wanted), groups, tuple(columns), frozenset(optional), tuple(doubtful))
    # What friends have may change without the file.
    if not isinstance(table, Table) and len(known) < _MOST_PLANS:
        known[names] = made
    return made


def read(
    dataset: Dataset,
    names: str | Sequence[str] | None,
    start: int | None,
    stop: int | None,
    flags: bool = False,
) -> Columns:
    """See Dataset.read. `flags`: bools may come as bytes."""
    plan = _plan(dataset, names if names is None or isinstance(names, str) else tuple(names))
    groups = plan.groups
    # Members of groups are put together by Arrow, which has no bytes for bools.
    columns, found = _columns(dataset, plan.columns, start, stop, flags and not groups)
    chunks = [record(groups[n], columns) if n in groups else columns[n] for n in plan.wanted]
    doubtful = [n for n in plan.doubtful if n in columns and columns[n].null_count > 0]
    return Columns(plan.wanted, tuple(chunks), plan.optional.union(doubtful), found)


def _ranges(
    dataset: Dataset, start: int | None, stop: int | None
) -> Iterator[tuple[int, int, int, Any]]:
    """As `spans`, and which entries of each range are kept; None: all."""
    if dataset.selected is None:
        for file, first, last in spans(dataset, start, stop):
            yield file, first, last, None
        return
    chosen = dataset.selected.sliced(start, stop)
    found = chosen.spans(dataset.sizes.__getitem__) or [(0, 0, 0)]
    for file, first, last in found:
        yield file, first, last, chosen.within(file, first, last)


def _columns(
    dataset: Dataset, names: Sequence[str], start: int | None, stop: int | None, flags: bool
) -> tuple[dict[str, Any], frozenset[str]]:
    """pyarrow.ChunkedArrays by name or path, one chunk per file, of one type each; and which of
    them are bytes that stand for bools."""
    import pyarrow

    from . import _core

    control = _core.Control()  # one for all files: they are one pass
    parts: dict[str, list[Any]] = {name: [] for name in names}
    files, found = [], []
    # Of several files types are compared.
    one = flags and len(dataset.trees.locations) == 1
    for file, first, last, kept in _ranges(dataset, start, stop):
        files.append(dataset.trees.locations[file].path)
        table = dataset.table(file)
        options = {"flags": True} if one and isinstance(table, FileTree) else {}
        for name, column in zip(
            names, table.read(names, first, last, control, **options), strict=True
        ):
            array = pyarrow.array(column)
            if options and getattr(column, "flags", False):
                found.append(name)
            parts[name].append(array if kept is None else array.take(pyarrow.array(kept)))
    return {name: _chunked(name, each, files) for name, each in parts.items()}, frozenset(found)


def _group(branches: Branches, name: str) -> Group | None:
    """The group of branches of this name, if it is one that holds any data together."""
    branch = branches.get(name)
    if branch is None or not is_group(branch, branches.children.get(branch.path, [])):
        return None
    group = group_of(branch, branches.children)
    return group if group.members else None


def _chunked(name: str, parts: list[Any], files: list[str]) -> Any:
    import pyarrow

    if len(parts) == 1:
        return pyarrow.chunked_array(parts)
    first, kind = parts[0].type, widest([array.type for array in parts])
    if kind is None:
        other = next(i for i, array in enumerate(parts) if widest([first, array.type]) is None)
        raise UnsupportedError(
            f"{name} is {first} in {files[0]} and {parts[other].type} in {files[other]}; "
            "no type holds the values of both exactly",
            branch=name,
            file=files[other],
        )
    return pyarrow.chunked_array([cast(array, kind) for array in parts])


def spans(dataset: Dataset, start: int | None, stop: int | None) -> Iterator[tuple[int, int, int]]:
    """(file, first, last) of the files that entries `[start, stop)` of the chain lie in; always at
    least one, so that types are known also of no entries. Opens no file behind `stop`."""
    files = range(len(dataset.trees.locations))
    if (start or 0) < 0 or (stop is not None and stop < 0):
        start, stop, _ = slice(start, stop).indices(dataset.num_entries)
    begin, end = start or 0, stop
    offset, found = 0, False
    for file in files:
        if end is not None and found and offset >= end:
            return
        entries = dataset.sizes[file][0]
        first = min(max(begin - offset, 0), entries)
        last = entries if end is None else min(max(end - offset, first), entries)
        if last > first:
            found = True
            yield file, first, last
        offset += entries
        if end is not None and offset >= end:
            break
    if not found:
        yield 0, 0, 0


def select(dataset: Dataset, branches: Branches, names: str | Sequence[str] | None) -> list[str]:
    """The branches that `names` (names or globs) mean, in the tree's order for globs, each once.
    None: all of the first file that can be read, the values of each once, so members rather than
    the groups of them. A name that the first file lacks is kept where it has a default."""
    if names is None:
        return [n for n, branch in branches.items() if _is_plain(branches, branch)]
    chosen: dict[str, None] = {}
    for name in [names] if isinstance(names, str) else names:
        if name in branches:
            _require_readable(branches, name)
            chosen[name] = None
        elif name in dataset.trees[0].by_name:  # by its path, which may have brackets in it
            chosen[name] = None
        elif any(sign in name for sign in "*?["):
            fitting = fnmatch.filter(branches, name)
            matches = [match for match in fitting if _is_plain(branches, branches[match])]
            # What is only read by name, as a friend's columns, where nothing else fits.
            matches = matches or [match for match in fitting if branches[match].readable]
            if not matches:
                raise QueryError(f"no readable branch matches {name}")
            chosen.update(dict.fromkeys(matches))
        else:
            _require_known(dataset, name)
            chosen[name] = None
    return list(chosen)


def _is_plain(branches: Branches, branch: Branch) -> bool:
    """Whether it has data that no other branch has."""
    if branch.is_member or is_group(branch, branches.children.get(branch.path, [])):
        return False
    return branch.readable


def _require_known(dataset: Dataset, name: str) -> None:
    tree = dataset.trees[0]
    if name in tree.aliases:
        raise QueryError(
            f"{name} is an alias, {tree.aliases[name]!r}, not a branch: "
            "use it in the expressions of queries",
            branch=name,
        )
    has_default = dataset.trees.missing.has(name)
    if not has_default or (name not in dataset.trees.missing.names and tree.sample(name) is None):
        raise tree.lacks(name)


def _require_readable(branches: Branches, name: str) -> None:
    branch, group = branches[name], _group(branches, name)
    if group is None and branch.kind == "group":
        raise QueryError(f"{name} has no data, of its own or of branches in it", branch=name)
    for each in [branch] if group is None else leaves(group):
        if not each.readable:
            reason = f": {each.reason}" if each.reason else ""
            raise UnsupportedError(
                f"neither treemill nor uproot can read {each.cpp_type} of branch {each.path}"
                f"{reason}",
                branch=each.path,
            )
