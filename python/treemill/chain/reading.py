"""Reads columns of a dataset's entries, over the borders of files; arrays are made from these.
Knows no query: expressions among the columns are computed by whatever it is given for that."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._core import Control
from ..errors import QueryError, UnsupportedError
from ..tree.branch_group import Group, leaves
from ..tree.file_tree import FileTree
from ..tree.foreign import Table
from .branch_names import group_named, select
from .read_columns import Columns, Record

if TYPE_CHECKING:
    from .chain import Chain

__all__ = ["Compute", "Names", "read", "spans"]

Names = str | Sequence[str] | Mapping[str, str] | None
"""What Dataset.read takes."""
Compute = Callable[[Sequence[str], int | None, int | None], Sequence[Any]]
"""Gives an awkward array for each expression, of entries `[start, stop)`."""


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
    expressions: tuple[str, ...]


_MOST_PLANS = 1000
"""That a tree remembers."""


def _plan(
    chain: Chain, table: Any, names: str | tuple[str, ...] | None, anew: bool = False
) -> _Plan:
    """`table`: of the first file. `anew`: some branch has turned out to be unreadable."""
    # What friends have may change without the file.
    known: dict[Any, _Plan] = {} if isinstance(table, Table) else chain.plans[0]
    found = known.get(names)
    if found is not None and not anew:
        return found
    branches = chain.branches
    wanted, expressions = select(chain, branches, names)
    groups = {n: group for n in wanted if (group := group_named(branches, n)) is not None}
    paths = [leaf.path for group in groups.values() for leaf in leaves(group)]
    own = (n for n in wanted if n not in groups and n not in expressions)
    columns = dict.fromkeys([*own, *paths])
    optional, doubtful = set(), []
    for name in wanted:
        branch = branches.get(name)
        if name in expressions:
            continue
        if branch is not None and branch.kind == "optional":
            optional.add(name)
        elif chain.trees.missing.has(name) or (branch is not None and not branch.supported):
            doubtful.append(name)
    computed = tuple(name for name in wanted if name in expressions)
    made = _Plan(
        tuple(wanted), groups, tuple(columns), frozenset(optional), tuple(doubtful), computed
    )
    if len(known) < _MOST_PLANS or anew:
        known[names] = made
    return made


def read(
    chain: Chain,
    names: Names,
    start: int | None,
    stop: int | None,
    compute: Compute | None = None,
    flags: bool = False,
) -> Columns:
    """See Dataset.read. `compute`: for expressions; without it they are refused. `flags`: bools
    may come as bytes."""
    if isinstance(names, Mapping):
        _checked(tuple(names))
        texts = tuple(dict.fromkeys(_checked(names.values())))
        found = read(chain, texts, start, stop, compute, flags)
        return _renamed(found, names)
    start, stop = _number(start), _number(stop)
    chain = chain.pinned()
    table = chain.table(0)
    named = names if names is None or isinstance(names, str) else _checked(names)
    plan = _plan(chain, table, named)
    while named is None:
        try:
            return _read(chain, table, plan, start, stop, compute, flags)
        except UnsupportedError:
            left = _plan(chain, table, None, anew=True)
            if left.wanted == plan.wanted:
                raise
            out = ", ".join(name for name in plan.wanted if name not in left.wanted)
            warnings.warn(f"neither treemill nor uproot can read {out}: left out", stacklevel=4)
            plan = left
    return _read(chain, table, plan, start, stop, compute, flags)


def _read(
    chain: Chain,
    table: Any,
    plan: _Plan,
    start: int | None,
    stop: int | None,
    compute: Compute | None,
    flags: bool,
) -> Columns:
    groups = plan.groups
    columns: dict[str, Any] = {}
    if plan.columns or not plan.expressions:
        columns = _columns(chain, table, plan.columns, start, stop, flags)
    if not (groups or plan.doubtful or plan.expressions):
        return Columns(plan.wanted, tuple(columns.values()), plan.optional)
    if plan.expressions:
        if compute is None:
            raise QueryError(f"{plan.expressions[0]} is no column of the files")
        columns |= zip(plan.expressions, compute(plan.expressions, start, stop), strict=True)
    made = [_record(groups[n], columns) if n in groups else columns[n] for n in plan.wanted]
    doubtful = [n for n in plan.doubtful if n in columns and _has_missing(columns[n])]
    return Columns(plan.wanted, tuple(made), plan.optional.union(doubtful))


def _checked(names: Any) -> tuple[str, ...]:
    try:
        found = tuple(names)
    except TypeError:
        found = (names,)
    for name in found:
        if not isinstance(name, str):
            raise QueryError(
                f"columns have names, and are names, globs or expressions: not {name!r}"
            )
    return found


def _number(entry: int | None) -> int | None:
    if entry is None:
        return None
    try:
        return operator.index(entry)
    except TypeError:
        raise QueryError(f"start and stop are numbers of entries, not {entry!r}") from None


def _renamed(found: Columns, names: Mapping[str, str]) -> Columns:
    columns = dict(zip(found.names, found.columns, strict=True))
    globs = [text for text in names.values() if text not in columns]
    if globs:
        raise QueryError(f"{globs[0]!r} is more than one column, and cannot have one name")
    optional = frozenset(name for name, text in names.items() if text in found.optional)
    return Columns(tuple(names), tuple(columns[text] for text in names.values()), optional)


def _ranges(
    chain: Chain, start: int | None, stop: int | None
) -> Iterator[tuple[int, int, int, Any]]:
    """As `spans`, and which entries of each range are kept; None: all."""
    if chain.selected is None:
        for file, first, last in spans(chain, start, stop):
            yield file, first, last, None
        return
    chosen = chain.selected.sliced(start, stop)
    found = chosen.spans(chain.sizes.__getitem__) or [(0, 0, 0)]
    for file, first, last in found:
        yield file, first, last, chosen.within(file, first, last)


def _columns(
    chain: Chain,
    first_table: Any,
    names: Sequence[str],
    start: int | None,
    stop: int | None,
    flags: bool,
) -> dict[str, Any]:
    """What Columns has, by name or path, of one type each."""
    from ..arrays.columns import picked  # heavy: numpy

    control = Control()  # one for all files: they are one pass
    parts: dict[str, list[Any]] = {name: [] for name in names}
    files = []
    # Of several files types are compared.
    one = flags and len(chain.locations) == 1
    for file, first, last, kept in _ranges(chain, start, stop):
        files.append(chain.locations[file].path)
        table = first_table if file == 0 else chain.table(file)
        options = {"flags": True} if one and isinstance(table, FileTree) else {}
        found = table.read(names, first, last, control, **options)
        for name, column in zip(names, found, strict=True):
            parts[name].append(column if kept is None else picked(column, kept))
    return {name: _joined(name, each, files) for name, each in parts.items()}


def _record(group: Group, columns: Mapping[str, Any]) -> Record:
    """The records of a group from the branches with data, by path."""
    return Record(
        tuple(m.branch.name if isinstance(m, Group) else m.name for m in group.members),
        tuple(
            _record(m, columns) if isinstance(m, Group) else columns[m.path] for m in group.members
        ),
    )


def _has_missing(parts: Sequence[Any]) -> bool:
    return any(part.null_count for part in parts)


def _joined(name: str, parts: list[Any], files: list[str]) -> list[Any]:
    """The parts, of one kind."""
    if len(parts) == 1:
        return parts
    from ..arrays.columns import kind_of  # heavy: numpy
    from ..arrays.common_type import cast, widest  # heavy: numpy

    kinds = [kind_of(part).given() for part in parts]
    first, kind = kinds[0], widest(kinds)
    if kind is None:
        other = next(i for i, each in enumerate(kinds) if widest([first, each]) is None)
        raise UnsupportedError(
            f"{name} is {first} in {files[0]} and {kinds[other]} in {files[other]}; "
            "no type holds the values of both exactly",
            branch=name,
            file=files[other],
        )
    return [cast(part, kind.given(part.optional or part.null_count > 0)) for part in parts]


def spans(chain: Chain, start: int | None, stop: int | None) -> Iterator[tuple[int, int, int]]:
    """(file, first, last) of the files that entries `[start, stop)` of the chain lie in; always at
    least one, so that types are known also of no entries. Opens no file behind `stop`."""
    files = range(len(chain.locations))
    if (start or 0) < 0 or (stop is not None and stop < 0):
        start, stop, _ = slice(start, stop).indices(chain.num_entries)
    begin, end = start or 0, stop
    offset, found = 0, False
    for file in files:
        if end is not None and found and offset >= end:
            return
        entries = chain.sizes[file][0]
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
