"""Reads columns of a dataset's entries, over the borders of files, as Arrow arrays; awkward and
numpy are made from these. Knows no query."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import QueryError, UnsupportedError

if TYPE_CHECKING:
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
    import pyarrow

    wanted = select(dataset.branches, names)
    parts: list[list[Any]] = [[] for _ in wanted]
    for file, first, last in spans(dataset, start, stop):
        for part, column in zip(parts, dataset.table(file).read(wanted, first, last), strict=True):
            part.append(pyarrow.array(column))
    chunks = [_chunked(name, part) for name, part in zip(wanted, parts, strict=True)]
    branches = dataset.branches
    optional = frozenset(name for name in wanted if branches[name].kind == "optional")
    return Columns(tuple(wanted), tuple(chunks), optional)


def _chunked(name: str, part: list[Any]) -> Any:
    import pyarrow

    types = {array.type for array in part}
    if len(types) > 1:
        shown = ", ".join(sorted(map(str, types)))
        raise UnsupportedError(
            f"{name} has different types in different files: {shown}", branch=name
        )
    return pyarrow.chunked_array(part)


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


def select(branches: Branches, names: str | Sequence[str] | None) -> list[str]:
    """The branches that `names` (names or globs) mean, in the tree's order for globs, each once.
    None: all readable ones,
    the values of each once."""
    readable = [name for name, branch in branches.items() if branch.readable]
    if names is None:
        return [name for name in readable if not branches[name].is_member]
    chosen: dict[str, None] = {}
    for name in [names] if isinstance(names, str) else names:
        if name in branches:
            _require_readable(branches, name)
            chosen[name] = None
        elif any(sign in name for sign in "*?["):
            matches = fnmatch.filter(readable, name)
            if not matches:
                raise QueryError(f"no readable branch matches {name}")
            chosen.update(dict.fromkeys(matches))
        else:
            near = difflib.get_close_matches(name, list(branches), 3)
            raise QueryError(f"no branch {name!r}", branch=name, suggestions=near)
    return list(chosen)


def _require_readable(branches: Branches, name: str) -> None:
    branch = branches[name]
    if not branch.supported:
        reason = f": {branch.reason}" if branch.reason else ""
        raise UnsupportedError(
            f"treemill cannot read {branch.cpp_type} of branch {name}{reason}", branch=name
        )
    if branch.kind == "group":
        inside = [other for other in branches if other.startswith(name.rstrip(".") + ".")]
        raise QueryError(f"{name} has no data of its own", branch=name, suggestions=inside[:5])
