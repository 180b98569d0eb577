"""Plans and reads columns of a dataset's entries, file by file. Knows no query: a callback computes
the expressions among the columns.
"""

from __future__ import annotations

import fnmatch
import operator
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, repeat
from typing import TYPE_CHECKING, TypeAlias

from .._core import Control
from ..errors import QueryError, UnsupportedError, is_plain, unquoted, warn
from ..language.expression import is_product, may_be_product, parse
from ..language.expression import names as names_in
from .branch import BranchGroup, group_of, is_group, leaves
from .chunked_columns import ChunkedColumn, ChunkedColumns, Chunks, ExpressionColumn, RecordColumn
from .columns import kind_of, picked
from .common_type import cast, widest
from .foreign import ENTRY, LOCAL_ENTRY, ExtendedTree
from .uproot_fallback import cannot_read

if TYPE_CHECKING:
    import awkward as ak
    import numpy as np
    from numpy.typing import NDArray

    from .._core import Column
    from .branch import Branch, Branches
    from .chain import Chain
    from .column_source import TreeColumns
    from .entry_ranges import Part
    from .kinds import Kind

__all__ = ["Compute", "Names", "read"]

# The plan of a read: which branches have the data of the names that a user asks for, and what the
# names become. The first file of a dataset says so. Reads no column.

# The branches that names and globs mean when columns are read, whether they can be read, and
# which names are expressions. Reads no column.


def select(
    chain: Chain, branches: Branches, names: str | Sequence[str] | None
) -> tuple[list[str], frozenset[str], list[str]]:
    """The branches that `names` (names, globs or expressions) mean, each once; which of them are
    expressions; and the branches that are meant too, and left out because nothing reads them. The
    branches of a glob are in the tree's order. A name that a branch has means that branch, even if
    it could be a glob or an expression too; a text that matches branches is a glob. None: all
    branches of the first file that can be read, each value once: members rather than groups of
    them. A name that the first file lacks is kept if it has a default."""
    if names is None:
        plain, unread = _readable(branches, branches)
        return plain, frozenset(), unread
    chosen: dict[str, None] = {}
    expressions = set()
    left: dict[str, None] = {}
    for name in [names] if isinstance(names, str) else names:
        if name not in branches and name.startswith("`"):
            name = unquoted(name) or name
        if name in branches:
            _require_readable(branches, name)
            chosen[name] = None
        # A path, which may have brackets in it, or a name with a default.
        elif name in chain.trees[chain.first].by_name or _has_default(chain, name):
            chosen[name] = None
        elif any(fitting := _fitting(branches, name)):
            chosen.update(dict.fromkeys(fitting[0]))
            left.update(dict.fromkeys(fitting[1]))
        elif paths := _paths_to(branches, name):
            raise QueryError(f"no branch has the path {name}", suggestions=paths)
        elif _is_expression(chain, name):
            chosen[name] = None
            expressions.add(name)
        elif _is_regex(name):
            raise QueryError(
                f"{name} is no glob, and branches are not chosen by regular expressions: write "
                "[name for name in events.branches if re.search(…, name)]"
            )
        elif _is_glob(name):
            raise QueryError(f"no readable branch matches {name}")
        else:
            raise _unmeant(chain, name)
    if left and not chosen:
        _require_readable(branches, next(iter(left)))
    return list(chosen), frozenset(expressions), [name for name in left if name not in chosen]


def _is_glob(name: str) -> bool:
    """True if it may be a glob: brackets are one only around signs of names, as in Jet_[ep]*."""
    rest = _CLASS.sub("?", name)
    return "[" not in rest and any(sign in rest for sign in "*?")


_CLASS = re.compile(r"\[!?[\w.#:-]+\]")
"""A sign out of several."""


def _is_regex(name: str) -> bool:
    """True if it is a regular expression as uproot takes them: between slashes, then flags."""
    return _REGEX.fullmatch(name) is not None


_REGEX = re.compile(r"/.+/[a-z]*")


def _unmeant(chain: Chain, name: str) -> QueryError:
    """The error that this is neither a branch nor an expression: what is wrong with the expression,
    unless the text may be the name of a branch."""
    tree = chain.trees[chain.first]
    lacking = tree.lacks(name)
    may_be_name = lacking.suggestions and not _OPERATION.search(name)
    if may_be_name or is_plain(name) or tree.sample(name) is not None:
        return lacking
    try:
        parse(name)
    except QueryError as error:
        return error
    return lacking


_OPERATION = re.compile(r"[\s()<>=+*&|?]")
"""A sign that expressions have, and hardly a branch's name."""


def _paths_to(branches: Branches, name: str) -> list[str]:
    """Whole paths that end like this one, at most three; none if it may be a ratio."""
    first, slash, _ = name.partition("/")
    group = branches.get(first)
    if not slash or (first and (group is None or group.path not in branches.children)):
        return []
    end = f"/{name.lstrip('/')}"
    return [path for path in branches.paths if f"/{path}".endswith(end)][:3]


def _fitting(branches: Branches, name: str) -> tuple[list[str], list[str]]:
    """The branches that a glob matches, and those of them that nothing reads; none if it is a
    product or an element of branches."""
    if not _is_glob(name) or _is_arithmetic(branches, name):
        return [], []
    fitting = fnmatch.filter(branches, name)
    matches, left = _readable(branches, fitting)
    # Columns that are read by name only, such as a friend's, if nothing else matches.
    return matches or [match for match in fitting if branches[match].readable], left


def _is_arithmetic(branches: Branches, name: str) -> bool:
    if "?" in name:
        return False
    if "[" in name:
        before = name.partition("[")[0]
        return before in branches or (not before and _is_list(branches, name))
    return is_product(name, branches)


def _is_list(branches: Branches, text: str) -> bool:
    """True if it is a list of values, as [x] is, rather than a sign out of several, as in [xyz]."""
    return _parses(text) and all(name in branches for name in names_in(parse(text).tree))


def _is_expression(chain: Chain, name: str) -> bool:
    """True if it is an expression. A single name is one only if it is an alias, a constant of the
    file, or what entries are numbered by."""
    if name.isidentifier():
        known = (ENTRY, LOCAL_ENTRY)
        return name in (*known, *chain.aliases) or name in chain.constants.names(chain.first)
    is_glob = _GLOB.fullmatch(name) is not None and not (
        _is_arithmetic(chain.branches, name) or may_be_product(name, chain.branches)
    )
    return not is_glob and _parses(name)


def _parses(text: str) -> bool:
    try:
        return bool(parse(text))
    except QueryError:
        return False


_GLOB = re.compile(r"[\w.]*[*?][\w.*?]*")
"""A text that is meant as a glob, whether or not a branch matches."""


def _readable(branches: Branches, names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Those of these branches that have data that no other branch has: the readable ones, and those
    that nothing reads."""
    plain: list[str] = []
    left: list[str] = []
    for name in names:
        branch = branches[name]
        if branch.is_member or is_group(branch, branches.children.get(branch.path, [])):
            continue
        (plain if branch.readable else left).append(name)
    return plain, left


def _has_default(chain: Chain, name: str) -> bool:
    """True if the branch has a default. A glob gives defaults only to branches of some file."""
    missing = chain.trees.missing
    if not missing.has(name):
        return False
    return name in missing.names or chain.trees[chain.first].sample(name) is not None


def _require_readable(branches: Branches, name: str) -> None:
    branch, group = branches[name], group_named(branches, name)
    if group is None and branch.kind == "group":
        raise QueryError(f"the branch {name} and the branches in it have no data", branch=name)
    for each in [branch] if group is None else leaves(group):
        if not each.readable:
            raise cannot_read(each.path, each.cpp_type, each.reason)


def group_named(branches: Branches, name: str) -> BranchGroup[Branch] | None:
    """The group of branches of this name, if there is one and it holds data."""
    branch = branches.get(name)
    if branch is None or not is_group(branch, branches.children.get(branch.path, [])):
        return None
    group = group_of(branch, branches.children)
    return group if group.members else None


Named = str | tuple[str, ...] | None
"""Names, globs and expressions that are asked for; None: all that can be read."""


@dataclass(frozen=True)
class ReadPlan:
    """What to read for some names."""

    wanted: tuple[str, ...]
    """The columns of the result, in order."""
    groups: dict[str, BranchGroup[Branch]]
    """Columns of the result that are records of several branches."""
    columns: tuple[str, ...]
    """Names and paths of the branches that have the data."""
    optional: frozenset[str]
    """Columns of the result that may have missing values."""
    doubtful: tuple[str, ...]
    """Columns that have missing values only if some value is missing: defaults, and what uproot
    reads."""
    expressions: tuple[str, ...]
    """Columns that are computed."""
    left: tuple[str, ...]
    """Branches that are meant too, and that nothing reads."""


Plans = dict[Named, ReadPlan]

_MOST_PLANS = 1000
"""The number of plans that are remembered with a file."""


def plan(chain: Chain, table: TreeColumns, names: Named, fresh: bool = False) -> ReadPlan:
    """The plan for these names. `table`: of the first file. `fresh`: without what is remembered,
    because some branch has turned out to be unreadable."""
    # The columns of friends may change while the file stays as it is.
    plans = {} if isinstance(table, ExtendedTree) else _plans(chain)
    known = plans.get(names)
    if known is not None and not fresh:
        return known
    read_plan = _plan(chain, names)
    if len(plans) < _MOST_PLANS or fresh:
        plans[names] = read_plan
    return read_plan


def _plans(chain: Chain) -> Plans:
    """The plans of earlier reads, kept while the first file stays as it is."""
    return typing.cast(Plans, chain.trees.remembered(0).setdefault("plans", {}))


def _plan(chain: Chain, names: str | Sequence[str] | None) -> ReadPlan:
    branches = chain.branches
    wanted, expressions, left = select(chain, branches, names)
    groups = {n: group for n in wanted if (group := group_named(branches, n)) is not None}
    paths = [leaf.path for group in groups.values() for leaf in leaves(group)]
    own = (name for name in wanted if name not in groups and name not in expressions)
    optional, doubtful = set(), []
    for name in wanted:
        branch = branches.get(name)
        if name in expressions:
            continue
        if branch is not None and branch.kind == "optional":
            optional.add(name)
        elif chain.trees.missing.has(name) or (branch is not None and not branch.supported):
            doubtful.append(name)
    return ReadPlan(
        tuple(wanted),
        groups,
        tuple(dict.fromkeys([*own, *paths])),
        frozenset(optional),
        tuple(doubtful),
        tuple(name for name in wanted if name in expressions),
        tuple(left),
    )


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
        raise QueryError(
            f"{globs[0]!r} matches more than one column, and they cannot have one name"
        )
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
