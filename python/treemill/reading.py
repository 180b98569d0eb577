"""Reads columns of a dataset's entries, over the borders of files, as Arrow arrays; awkward and
numpy are made from these. Knows no query."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import QueryError, UnsupportedError
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

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        import pyarrow

        return pyarrow.table(list(self.chunks), names=list(self.names))

    def to_awkward(self) -> Any:
        """An awkward array of records, laid out as uproot's `tree.arrays`."""
        from .arrow_awkward import records

        return records(self.names, self.chunks, self.optional)

    def to_numpy(self) -> dict[str, Any]:
        """numpy arrays by name."""
        from .arrow_awkward import numpy_array

        pairs = zip(self.names, self.chunks, strict=True)
        return {name: numpy_array(column) for name, column in pairs}


def read(
    dataset: Dataset, names: str | Sequence[str] | None, start: int | None, stop: int | None
) -> Columns:
    """See Dataset.read."""
    branches = dataset.branches  # Asked for once: each time the file is looked at anew.
    wanted = select(dataset, branches, names)
    groups = {n: group for n in wanted if (group := _group(branches, n)) is not None}
    paths = [leaf.path for group in groups.values() for leaf in leaves(group)]
    columns = _columns(dataset, [*(n for n in wanted if n not in groups), *paths], start, stop)
    chunks = [record(groups[name], columns) if name in groups else columns[name] for name in wanted]
    optional = frozenset(name for name in wanted if _is_optional(dataset, branches, name, columns))
    return Columns(tuple(wanted), tuple(chunks), optional)


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
    dataset: Dataset, names: Sequence[str], start: int | None, stop: int | None
) -> dict[str, Any]:
    """pyarrow.ChunkedArrays by name or path, one chunk per file, of one type each."""
    import pyarrow

    parts: dict[str, list[Any]] = {name: [] for name in names}
    files = []
    names = list(parts)
    for file, first, last, kept in _ranges(dataset, start, stop):
        files.append(dataset.trees.locations[file].path)
        for name, column in zip(names, dataset.table(file).read(names, first, last), strict=True):
            array = pyarrow.array(column)
            parts[name].append(array if kept is None else array.take(pyarrow.array(kept)))
    return {name: _chunked(name, each, files) for name, each in parts.items()}


def _group(branches: Branches, name: str) -> Group | None:
    """The group of branches of this name, if it is one that holds any data together."""
    branch = branches.get(name)
    if branch is None or not is_group(branch, branches.children.get(branch.path, [])):
        return None
    group = group_of(branch, branches.children)
    return group if group.members else None


def _is_optional(
    dataset: Dataset, branches: Branches, name: str, columns: Mapping[str, Any]
) -> bool:
    branch = branches.get(name)
    if branch is not None and branch.kind == "optional":
        return True
    # Of a default, or of what uproot reads: the core's columns tell by their kind.
    may = dataset.trees.missing.has(name) or (branch is not None and not branch.supported)
    return may and name in columns and columns[name].null_count > 0


def _chunked(name: str, parts: list[Any], files: list[str]) -> Any:
    import pyarrow

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
