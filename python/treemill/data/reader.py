"""Reads columns of a dataset's entries, file by file. Knows no query: a callback computes the
expressions among the columns."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, repeat
from typing import TYPE_CHECKING, TypeAlias

from .._core import Control
from ..errors import QueryError, UnsupportedError, unquoted, warn
from .branch import BranchGroup
from .chunked_column import ChunkedColumn, Chunks, ExpressionColumn, RecordColumn
from .chunked_columns import ChunkedColumns
from .columns import kind_of, picked
from .common_type import cast, widest
from .read_plan import ReadPlan, plan

if TYPE_CHECKING:
    import awkward as ak
    import numpy as np
    from numpy.typing import NDArray

    from .._core import Column
    from .branch import Branch
    from .chain import Chain
    from .column_source import TreeColumns
    from .entry_ranges import Part
    from .kinds import Kind

__all__ = ["Compute", "Names", "read"]

Names: TypeAlias = str | Sequence[str] | Mapping[str, str] | None
"""The names that Dataset.read takes."""
Compute: TypeAlias = "Callable[[Sequence[str], int | None, int | None], Sequence[ak.Array]]"
"""Computes an awkward array for each expression, for the entries `[start, stop)`."""


def read(
    chain: Chain,
    names: Names,
    start: int | None,
    stop: int | None,
    compute: Compute | None = None,
    flags: bool = False,
) -> ChunkedColumns:
    """See Dataset.read. `compute`: without it expressions are refused. `flags`: bools may be read
    as bytes."""
    # Lists are asked for first: to ask for an abstract class takes longer than all of this.
    if not isinstance(names, (list, tuple)) and isinstance(names, Mapping):
        _checked(names)
        texts = tuple(dict.fromkeys(_checked(names.values())))
        columns = read(chain, texts, start, stop, compute, flags)
        return _renamed(columns, names)
    start, stop = _number(start), _number(stop)
    chain = chain.pinned()
    table = chain.table(0)
    named = names if names is None or isinstance(names, str) else _checked(names)
    read_plan = plan(chain, table, named)
    while True:
        try:
            with chain.one_state():
                columns = _read(chain, table, read_plan, start, stop, compute, flags)
            break
        except UnsupportedError:
            if named is not None:
                raise
            left = plan(chain, table, None, fresh=True)
            if left.wanted == read_plan.wanted:
                raise
            read_plan = left
    if read_plan.left:
        out = ", ".join(_with_reason(chain.branches[name]) for name in read_plan.left)
        message = f"neither treemill nor uproot can read {out}: left out"
        warn(message)
    return columns


def _with_reason(branch: Branch) -> str:
    return f"{branch.name} ({branch.reason})" if branch.reason else branch.name


def _read(
    chain: Chain,
    table: TreeColumns,
    plan: ReadPlan,
    start: int | None,
    stop: int | None,
    compute: Compute | None,
    flags: bool,
) -> ChunkedColumns:
    chunks: dict[str, Chunks] = {}
    if plan.columns or not plan.expressions:
        chunks = _chunks(chain, table, plan.columns, start, stop, flags)
    if not (plan.groups or plan.doubtful or plan.expressions):
        return ChunkedColumns(plan.wanted, tuple(chunks.values()), plan.optional)
    columns: dict[str, ChunkedColumn] = {**chunks}
    if plan.expressions:
        if compute is None:
            raise QueryError(f"{plan.expressions[0]} is no column of the files")
        arrays = compute(plan.expressions, start, stop)
        columns |= zip(plan.expressions, map(ExpressionColumn, arrays), strict=True)
    columns |= {name: _record(group, chunks) for name, group in plan.groups.items()}
    doubtful = [name for name in plan.doubtful if name in chunks and _has_missing(chunks[name])]
    return ChunkedColumns(
        plan.wanted,
        tuple(columns[name] for name in plan.wanted),
        plan.optional.union(doubtful),
    )


def _checked(names: Iterable[object]) -> tuple[str, ...]:
    """The names as a tuple. Raises QueryError if one is no text."""
    try:
        checked = tuple(names)
    except TypeError:
        checked = (names,)
    texts = []
    for name in checked:
        if not isinstance(name, str):
            raise QueryError(
                f"columns have names, and are names, globs or expressions: not {name!r}"
            )
        texts.append(name)
    return tuple(texts)


def _number(entry: int | None) -> int | None:
    if entry is None:
        return None
    try:
        return operator.index(entry)
    except TypeError:
        raise QueryError(f"start and stop are numbers of entries, not {entry!r}") from None


def _renamed(read_columns: ChunkedColumns, names: Mapping[str, str]) -> ChunkedColumns:
    columns = dict(zip(read_columns.names, read_columns.columns, strict=True))
    names = {
        name: text if text in columns else unquoted(text) or text for name, text in names.items()
    }
    globs = [text for text in names.values() if text not in columns]
    if globs:
        raise QueryError(f"{globs[0]!r} is more than one column, and cannot have one name")
    optional = frozenset(name for name, text in names.items() if text in read_columns.optional)
    return ChunkedColumns(tuple(names), tuple(columns[text] for text in names.values()), optional)


def _parts(
    chain: Chain, start: int | None, stop: int | None
) -> Iterator[tuple[Part, NDArray[np.int64] | None]]:
    """The parts of files to read, and which of their entries to keep; None: all."""
    if chain.selected is None:
        return zip(chain.parts(start, stop), repeat(None))
    chosen = chain.selected.sliced(start, stop)
    parts = chosen.parts(chain.sizes.__getitem__) or [(0, 0, 0)]
    return ((part, chosen.within(*part)) for part in parts)


def _chunks(
    chain: Chain,
    first_table: TreeColumns,
    names: Sequence[str],
    start: int | None,
    stop: int | None,
    flags: bool,
) -> dict[str, Chunks]:
    """The columns by name or path, each of one kind over all files."""
    control = Control()  # one for all files: they are one pass
    chunks: dict[str, list[Column]] = {name: [] for name in names}
    files = []
    # Columns of several files are compared by type, which flags would hide.
    flags = flags and len(chain.locations) == 1
    for (file, first, last), kept in _parts(chain, start, stop):
        files.append(chain.locations[file].path)
        table = first_table if file == 0 else chain.table(file)
        parts = table.read(names, first, last, control, flags=flags)
        for name, column in zip(names, parts, strict=True):
            chunks[name].append(column if kept is None else picked(column, kept))
    return {name: _of_one_kind(name, each, files) for name, each in chunks.items()}


def _record(group: BranchGroup[Branch], chunks: Mapping[str, Chunks]) -> RecordColumn:
    """The records of a group from the branches with data, which go by path."""
    members: dict[str, Chunks | RecordColumn] = {}
    for member in group.members:
        if isinstance(member, BranchGroup):
            members[member.branch.own_name] = _record(member, chunks)
        else:
            members[member.own_name] = chunks[member.path]
    return RecordColumn(tuple(members), tuple(members.values()))


def _has_missing(chunks: Chunks) -> bool:
    return any(chunk.null_count for chunk in chunks)


def _of_one_kind(name: str, chunks: list[Column], files: Sequence[str]) -> list[Column]:
    """The chunks, converted to their common kind. Raises UnsupportedError if there is none."""
    if len(chunks) == 1:
        return chunks
    kinds = [kind_of(chunk).given() for chunk in chunks]
    kind = widest(kinds)
    if kind is None:
        # The first file may go with each of the others, and they not with one another.
        place, other = next(_apart(kinds), (0, len(kinds) - 1))
        raise UnsupportedError(
            f"{name} is {kinds[place]} in {files[place]} and {kinds[other]} in {files[other]}; "
            "no type holds the values of both exactly",
            branch=name,
            file=files[other],
        )
    return [cast(chunk, kind.given(chunk.optional or chunk.null_count > 0)) for chunk in chunks]


def _apart(kinds: Sequence[Kind]) -> Iterator[tuple[int, int]]:
    """Places of two kinds that have no common one."""
    first = {kind: place for place, kind in reversed([*enumerate(kinds)])}  # few are different
    pairs = combinations(sorted(first.values()), 2)
    return ((one, other) for one, other in pairs if widest([kinds[one], kinds[other]]) is None)
