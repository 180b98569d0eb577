"""Bookings of values themselves, in the order of entries, as data: records, one column, a file with
its format and its columns' names.

Pure: standard library and the query's data only.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from ..errors import (
    MissingPackageError,
    QueryError,
    UnsupportedError,
    listed,
    local_path,
    quoted,
)
from ..frozen import frozen
from ..language.expression import Expression, parse
from ..language.tree_node import child, word
from .quantities import Known, named_columns, usable
from .steps import Define, Step, Vary

if TYPE_CHECKING:
    from ..data.chain import Chain
    from .steps import QueriedBranch

__all__ = [
    "MOST_BYTES",
    "Arrays",
    "Fill",
    "Rows",
    "Snapshot",
    "SnapshotFile",
    "SnapshotTarget",
    "Take",
    "branch_columns",
    "branch_name",
    "check_target",
    "check_tree",
    "check_variation",
    "columns_of",
    "compression_of",
    "copied_names",
    "snapshot_format",
    "titles",
    "titles_of",
    "uncounted",
    "unfit",
    "without_dimensions",
]

MOST_BYTES = 4 << 30
"""Bytes that `arrays` and `take` keep if no other limit is given."""


@dataclass(frozen=True, eq=False)
class Rows:
    """What `Arrays`, `Take` and `Snapshot` have in common: the core computes them alike."""

    columns: tuple[tuple[str, Expression], ...]
    limit: int = MOST_BYTES
    """Bytes that may be kept in memory."""

    @property
    def title(self) -> str:
        """The call that books it, in short."""
        names = ", ".join(name for name, _ in self.columns)
        return f"{type(self).__name__.lower()}({names})"

    def expressions(self) -> tuple[Expression, ...]:
        """The expressions of all columns."""
        return tuple(expr for _, expr in self.columns)

    def to_json(self) -> dict[str, object]:
        """Gives the form that the core reads."""
        columns = [
            {"name": name, "expr": expr.to_json(), **({"found": True} if expr.found else {})}
            for name, expr in self.columns
        ]
        return {"kind": "rows", "columns": columns}


@dataclass(frozen=True, eq=False)
class Arrays(Rows):
    """Records of all columns."""


@dataclass(frozen=True, eq=False)
class Take(Rows):
    """The values of the only column."""


@dataclass(frozen=True, eq=False)
class Snapshot(Rows):
    """A file."""

    target: SnapshotTarget = field(kw_only=True)

    @property
    def title(self) -> str:
        """The call that books it, in short."""
        return f"snapshot({self.target.path})"


# What a snapshot's path and options mean: the kind of file, its compression, the values that
# replace missing ones; and what a snapshot gives back. Pure.

_SUFFIXES = {
    ".root": ("ttree", "rntuple"),
    ".parquet": ("parquet",),
    ".feather": ("feather",),
    ".arrow": ("feather",),
}
"""The kinds of file by suffix, the usual one first."""

_OF_ARROW = ("parquet", "feather")
"""What pyarrow writes."""

_ROOTS = {"zstd": 5, "zlib": 1, "lzma": 7, "lz4": 4}
_CODECS: dict[str, Mapping[str, int | None]] = {
    "ttree": _ROOTS,
    "rntuple": _ROOTS,
    "parquet": {"zstd": None, "zlib": None, "lz4": None},
    "feather": {"lz4": None, "zstd": None},
}
"""The codecs with their usual levels, by kind of file, the usual codec first."""

_HIGHEST = {"zlib": 9, "lzma": 9, "lz4": 9, "zstd": 19}

Number: TypeAlias = float | bool | str
Fill: TypeAlias = Number | Mapping[str, Number] | None
"""What missing values become: one value for all columns, or by column; None: each type's own."""


@frozen
class SnapshotTarget:
    """The file that a snapshot makes. `kind`: ttree, rntuple, parquet, feather; `tree`: the name of
    the tree in it; `codec`: the name of the compression and its level."""

    path: str
    kind: str
    tree: str = "Events"
    codec: tuple[str | None, int | None] = (None, None)
    fill: Fill = None
    copied: tuple[str, ...] = ()
    """Names of other trees of the same files that are copied."""
    titles: Mapping[str, str] | None = None
    """Titles of the columns that have one."""
    uncounted: frozenset[str] = frozenset()
    """Columns of lists that no column counts in the files that they come from."""
    is_reshuffled: bool = False
    """Whether the entries that it is made of are in another order than those that these come
    from."""

    @property
    def has_missing(self) -> bool:
        """True if this kind of file has missing values of its own."""
        return self.kind not in ("ttree", "rntuple")


def snapshot_format(path: str | os.PathLike[str], kind: str | None = None) -> tuple[str, str]:
    """The absolute path, and the kind: ttree, rntuple, parquet, feather. Raises UnsupportedError
    for other suffixes and for addresses on servers, MissingPackageError for those that nothing
    installed can write, QueryError for a kind that the suffix contradicts."""
    name = os.path.abspath(local_path(path))
    kinds = _SUFFIXES.get(os.path.splitext(name)[1].lower())
    if kinds is None:
        raise UnsupportedError(f"cannot write {path}: give it one of {' '.join(_SUFFIXES)}")
    if kinds[0] in _OF_ARROW and not _is_installed("pyarrow"):
        raise MissingPackageError(
            f"cannot write {path} without pyarrow: pip install 'treemill[arrow]', or write .root"
        )
    if kind is None:
        return name, kinds[0]
    if not isinstance(kind, str) or kind.lower() not in kinds:
        raise QueryError(f"{path} is not a file of kind {kind!r}", suggestions=list(kinds))
    return name, kind.lower()


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ImportError:
        return False


def compression_of(kind: str, compression: str | None) -> tuple[str | None, int | None]:
    """Codec and level from "zstd:5", "lz4", "default" or None (not compressed), for this kind of
    file; level None: the usual one. Raises QueryError for codecs and levels that it does not
    have."""
    codecs = _CODECS[kind]
    if compression is None:
        return None, None
    if not isinstance(compression, str):
        raise QueryError(f'compression is a text such as "zstd:5", or None, not {compression!r}')
    name, _, level = compression.lower().partition(":")
    if name == "default" and not level:
        name = next(iter(codecs))
    if name not in codecs:
        raise QueryError(
            f"a {_WORDS[kind]} cannot be compressed by {compression!r}",
            suggestions=[*codecs, "None"],
        )
    if not level:
        return name, codecs[name]
    if not level.isdecimal() or not 1 <= int(level) <= _HIGHEST[name]:
        raise QueryError(f"{name} has levels from 1 to {_HIGHEST[name]}, not {level!r}")
    return name, int(level)


_WORDS = {
    "ttree": "TTree",
    "rntuple": "RNTuple",
    "parquet": "Parquet file",
    "feather": "Feather file",
}


def check_target(target: str, read: Chain) -> None:
    """Raises QueryError if a file would be written over one that is read for it."""
    if read.has_file(target):
        raise QueryError(f"snapshot() would replace {target}, which it reads: give another path")


def unfit(name: str) -> str | None:
    """The sign of a name that names of RNTuples and of their fields cannot have; None if there is
    none."""
    signs = (sign for sign in name if sign in "./\\ " or sign < " " or sign == "\x7f")
    return next(signs, None)


def check_tree(name: object, kind: str = "ttree") -> None:
    """Raises QueryError for names by which ROOT does not find such a tree in a file."""
    if not isinstance(name, str) or not name:
        raise QueryError(f"a tree's name is a text, not {name!r}")
    sign = unfit(name) if kind == "rntuple" else next((s for s in name if s in "/;"), None)
    if sign is not None:
        message = f"a {_WORDS[kind]}'s name cannot be {name!r}, because of {sign!r}"
        raise QueryError(f"{message}: name it by tree=")


def check_variation(variation: str, kind: str) -> None:
    """Raises QueryError if the columns of a variation, `name:tag`, cannot be called by its name in
    this kind of file."""
    if kind not in ("ttree", "rntuple"):
        return
    own, _, tag = variation.rpartition(":")
    for part, instead in ((own, "give vary() another name="), (tag, "give the tag another name")):
        sign = unfit(part) if kind == "rntuple" else next((s for s in part if s in "[]"), None)
        if sign is not None:
            raise QueryError(
                f"columns of a {_WORDS[kind]} cannot be called by the variation {variation}, "
                f"because of {sign!r}: {instead}"
            )


def copied_names(kind: str, tree: str, trees: str | Sequence[str]) -> tuple[str, ...]:
    """The names of trees that are copied. Raises QueryError if this kind of file cannot hold
    them."""
    names = tuple(listed("copy_trees", trees))
    if names and kind not in ("ttree", "rntuple"):
        raise QueryError(f"a {_WORDS[kind]} has one table: copy_trees= is for .root")
    if tree in names:
        raise QueryError(f"copy_trees= names {tree}, which is what the snapshot itself is called")
    for name in names:
        check_tree(name, kind)
    return names


def titles_of(branches: Mapping[str, QueriedBranch], columns: Mapping[str, str]) -> dict[str, str]:
    """The titles of columns that are branches, if they say more than the names of the leaves.
    `columns`: the branch of each column."""
    titles = {}
    for name, branch in columns.items():
        title = branches[branch].title if branch in branches else ""
        is_leaves = title.startswith(branch) and "/" in title
        if title and title != branch and not is_leaves:
            titles[name] = title
    return titles


@dataclass(frozen=True)
class SnapshotFile:
    """A file that a snapshot has written."""

    path: str
    """The file's path."""
    kind: str
    """ttree, rntuple, parquet or feather."""
    entries: int
    """Number of entries in it."""
    columns: tuple[str, ...]
    """The names of its columns."""
    tree: str | None
    """The name of the tree or RNTuple in it."""

    def __fspath__(self) -> str:
        return self.path


# The columns of a snapshot: what the names of collections stand for, what branches may be called,
# the titles that branches keep. Pure: standard library, errors and the query only.

Named = tuple[tuple[str, Expression], ...]
"""Columns with what they are called."""

_DIMENSIONS = re.compile(r"(\[\w*\])+$")


def without_dimensions(name: str) -> str:
    """A branch's name without the dimensions that ROOT appends to some. The leaf has them too. A
    name that is nothing else stays as it is."""
    return _DIMENSIONS.sub("", name) or name


def branch_columns(columns: Named, kind: str) -> Named:
    """The columns with the names of branches, or of an RNTuple's fields, for them. Raises
    QueryError for branches' names with brackets, which readers would take for dimensions, and for
    two columns of one name."""
    named: dict[str, Expression] = {}
    for name, expr in columns:
        # A name with a dot may be read as a member of a collection.
        is_member = expr.tree["kind"] == "attribute" and expr.text == name
        is_column = is_member or (expr.tree["kind"] == "name" and word(expr.tree, "id") == name)
        own = branch_name(name, kind) if is_column else name
        if kind == "ttree" and ("[" in own or "]" in own):
            raise QueryError(
                f"a branch cannot be called {name}, because ROOT and uproot read brackets as its "
                f'dimensions: give the column another name, {{"name": {expr.text!r}}}'
            )
        if own in named:
            raise QueryError(
                f"two columns would be called {own}: give one another name, "
                f'{{"name": {expr.text!r}}}'
            )
        named[own] = expr
    return tuple(named.items())


def branch_name(name: str, kind: str) -> str:
    """What a branch, or an RNTuple's field, is called for a column of the data. No field has a dot
    in its name: ROOT's RNTupleImporter replaces them so, too."""
    own = without_dimensions(name)
    return own.replace(".", "_") if kind == "rntuple" else own


def titles(
    columns: Sequence[tuple[str, Expression]],
    branches: Mapping[str, QueriedBranch],
    defined: Collection[str],
) -> dict[str, str]:
    """Titles of the columns that are branches and not redefined."""
    return titles_of(branches, _stored(columns, defined))


def uncounted(
    columns: Sequence[tuple[str, Expression]],
    branches: Mapping[str, QueriedBranch],
    defined: Collection[str],
) -> frozenset[str]:
    """The columns that are branches of lists that no branch counts and not redefined."""
    stored = _stored(columns, defined)
    found = ((name, branches[branch]) for name, branch in stored.items() if branch in branches)
    return frozenset(name for name, b in found if b.kind == "list" and b.counter is None)


def _stored(columns: Sequence[tuple[str, Expression]], defined: Collection[str]) -> dict[str, str]:
    """The columns that are names of branches and not redefined."""
    own = {}
    for name, expr in columns:
        branch = word(expr.tree, "id") if expr.tree["kind"] == "name" else ""
        if branch and branch not in defined:
            own[name] = branch
    return own


def columns_of(
    columns: str | Iterable[str] | Mapping[str, str],
    known: Callable[[], Known],
    branches: Mapping[str, QueriedBranch],
    steps: Sequence[Step | None],
) -> tuple[tuple[str, Expression], ...]:
    """Makes names and expressions as `named_columns` does; the name of a collection stands for all
    its columns."""
    if isinstance(columns, Mapping):
        return named_columns(columns, known)
    texts = listed("columns", columns)
    defined = {step.name: step.expr for step in steps if isinstance(step, Define)}
    varied = {name for step in steps if isinstance(step, Vary) for name in step.columns}
    names = known()
    whole: dict[str, dict[str, Expression]] = {}
    for text in texts:
        members = [name for name in names if name.startswith((f"{text}_", f"{text}."))]
        if not members or (text in names and not _is_list(defined.get(text))):
            continue
        if text in defined or text in varied:  # the columns that count are those of older lists
            counters = _counters(text, members, branches)
            stored = [name for name in members if name not in counters]
            kept = usable(text, {name: names[name] for name in stored})
            whole[text] = dict(_member(text, name) for name in kept)
        else:
            stored = [name for name in names if name == f"n{text}"] + members
            whole[text] = usable(text, {name: names[name] for name in stored})
    return named_columns(texts, known, whole)


def _counters(
    collection: str, members: Iterable[str], branches: Mapping[str, QueriedBranch]
) -> set[str | None]:
    """The columns that count the items of a collection as it is stored."""
    counters = {branches[name].counter for name in members if name in branches}
    of_delphes = any(name.startswith(f"{collection}.") for name in members)
    return counters | {f"n{collection}", f"{collection}_size" if of_delphes else None}


def _member(collection: str, stored: str) -> tuple[str, Expression]:
    """The member of a list that was rebuilt, by the name of the column that it was before."""
    name = without_dimensions(stored)
    member = quoted(name.removeprefix(collection)[1:])
    return name, replace(parse(f"{collection}.{member}"), found=True)


def _is_list(expr: Expression | None) -> bool:
    """True if its form shows that it makes a list of objects of another collection."""
    if expr is None:
        return False
    tree = expr.tree
    if tree["kind"] == "comprehension":
        return child(tree, "element")["kind"] == "name"
    return tree["kind"] == "call" and child(tree, "function").get("id") in ("sorted", "concat")
