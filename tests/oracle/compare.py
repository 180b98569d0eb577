"""Compares what treemill reads with what uproot reads: every tree of a file, every branch.

Gives outcomes and judges nothing: which outcomes are right is the tests' affair. Knows treemill's
core and uproot, not pytest.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pyarrow as pa
import treemill._core as core
import uproot
from awkward import contents
from treemill.errors import FormatError, TreemillError, UnsupportedError


class Verdict(Enum):
    """How a branch came out."""

    EQUAL = "equal"
    DIFFERENT = "different"
    """Other values, or structure, or type."""
    UNSUPPORTED = "unsupported"
    """Listed by treemill as unsupported, and refused as such when read."""
    GROUP = "group"
    """Has no data of its own."""
    COUNTS = "counts"
    """A split collection: its own data are its numbers of items, which uproot's members have."""
    UNCHECKED = "unchecked"
    """treemill reads it, uproot does not."""
    SHORT = "short"
    """Has fewer entries than its tree: uproot gives those, treemill none."""
    BOTH_REFUSE = "both refuse"
    """treemill says that the file is malformed; uproot fails as well."""
    REFUSED = "refused"
    """treemill fails on a branch that it lists as supported and that uproot reads."""
    BROKEN_PROMISE = "broken promise"
    """Listed as unsupported, and yet not refused with UnsupportedError; or a panic."""


@dataclass(frozen=True)
class Outcome:
    """One branch."""

    file: str
    tree: str
    branch: str
    verdict: Verdict
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.tree}:{self.branch}: {self.verdict.value} {self.detail}"


def compare_file(path: Path) -> list[Outcome]:
    """All outcomes of a file. Raises treemill's errors where the file cannot be opened."""
    file = core.File(str(path))
    outcomes: list[Outcome] = []
    with uproot.open(path) as other:
        for tree in file.trees():
            name = f"{tree['path']};{tree['cycle']}"
            outcomes += compare_tree(path.name, name, file.tree(name), other[name])
    return outcomes


def compare_tree(file: str, name: str, ours: Any, theirs: Any) -> list[Outcome]:
    """All outcomes of a tree."""
    if ours.num_entries != theirs.num_entries:
        detail = f"{ours.num_entries} entries, uproot has {theirs.num_entries}"
        return [Outcome(file, name, "", Verdict.DIFFERENT, detail)]
    branches = ours.branches()
    walked = list(walk(theirs))
    names = [branch["name"] for branch in branches], [branch.name for branch in walked]
    if names[0] != names[1]:
        missing = sorted(set(names[0]) ^ set(names[1]))[:5]
        return [Outcome(file, name, "", Verdict.DIFFERENT, f"branches differ: {missing}")]
    paths = Counter(branch["path"] for branch in branches)
    twice = Verdict.UNCHECKED, "the name is not unique: which of them is meant is a reader's choice"
    return [
        Outcome(
            file,
            name,
            branch["path"],
            *(_branch(ours, branch, other) if paths[branch["path"]] == 1 else twice),
        )
        for branch, other in zip(branches, walked, strict=True)
    ]


def walk(tree: Any) -> Iterator[Any]:
    """uproot's branches in depth-first order, parents first."""
    for branch in tree.branches:
        yield branch
        yield from walk(branch)


def _branch(tree: Any, branch: dict[str, Any], other: Any) -> tuple[Verdict, str]:
    if branch["kind"] == "group":
        return Verdict.GROUP, ""
    ours = _attempt(lambda: read(tree, branch["path"]))
    if isinstance(ours, BaseException) and not isinstance(ours, TreemillError):
        return Verdict.BROKEN_PROMISE, f"{type(ours).__name__}: {ours}"
    if not branch["supported"]:
        if isinstance(ours, UnsupportedError):
            return Verdict.UNSUPPORTED, f"{branch['cpp_type']}: {branch['reason']}"
        return Verdict.BROKEN_PROMISE, f"{branch['cpp_type']}, listed as unsupported: {ours!r}"
    theirs = _attempt(lambda: other.array(library="ak"))
    if isinstance(ours, TreemillError):
        if isinstance(theirs, BaseException) and isinstance(ours, FormatError):
            return Verdict.BOTH_REFUSE, str(ours)
        if other.num_entries < tree.num_entries and isinstance(ours, FormatError):
            return Verdict.SHORT, str(ours)
        return Verdict.REFUSED, f"{type(ours).__name__}: {ours}"
    if isinstance(theirs, BaseException):
        return Verdict.UNCHECKED, f"{branch['cpp_type']}; uproot: {type(theirs).__name__}"
    theirs = _as_declared(theirs[: tree.num_entries], branch["cpp_type"])
    if other.branches and ours.ndim == 1 and fields_of(theirs):
        counts = ak.num(theirs[fields_of(theirs)[0]], axis=1)
        if difference(ours, ak.values_astype(counts, np.int32)) is None:
            return Verdict.COUNTS, ""
    detail = difference(ours, theirs)
    if detail is None:
        return Verdict.EQUAL, ""
    return Verdict.DIFFERENT, f"{branch['cpp_type']}: {detail}"


def _as_declared(theirs: ak.Array, cpp_type: str) -> ak.Array:
    """uproot takes a member that counts another one as unsigned; in C++ it is an int."""
    if cpp_type.startswith("int") and "uint32" in str(theirs.type):
        return ak.values_astype(theirs, np.int32)
    return theirs


def _attempt(read: Callable[[], ak.Array]) -> ak.Array | BaseException:
    try:
        return read()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # A panic in Rust arrives as a BaseException.
        return error


def read(tree: Any, name: str, start: int = 0, stop: int | None = None) -> ak.Array:
    """A branch of a core.Tree as an awkward array."""
    (column,) = tree.read([name], start, tree.num_entries if stop is None else stop)
    return ak.from_arrow(pa.array(column))


def difference(ours: ak.Array, theirs: ak.Array) -> str | None:
    """The first difference in structure, type or values (bit by bit), or None."""
    if len(ours) != len(theirs):
        return f"{len(ours)} entries, not {len(theirs)}"
    if len(ours) == 0 and not fields_of(theirs):
        return None  # uproot has no types for the elements of an empty object array.
    return _difference(_plain(ours.layout), _plain(theirs.layout), "")


def fields_of(array: ak.Array) -> list[str]:
    """Names of a record's fields."""
    return list(ak.fields(array))


def _plain(layout: contents.Content) -> contents.Content:
    """Packed, and free of the option types that Arrow brings for columns without nulls."""
    packed = ak.to_packed(layout, highlevel=False)

    def strip(node: contents.Content, **_: object) -> contents.Content | None:
        if not node.is_option and not node.is_indexed:
            return None
        if node.is_option and ak.any(ak.is_none(ak.Array(node))):
            return None
        projected = node.project()
        return ak.transform(strip, projected, highlevel=False)

    return ak.to_packed(ak.transform(strip, packed, highlevel=False), highlevel=False)


def _difference(a: contents.Content, b: contents.Content, where: str) -> str | None:
    for test in (_text, _numbers, _records, _lists):
        found = test(a, b, where)
        if found is not NotImplemented:
            return found
    return f"{where or 'it'} is {ak.type(a)}, not {ak.type(b)}"


def _is_text(node: contents.Content) -> bool:
    return node.parameter("__array__") in ("string", "bytestring")


def _text(a: contents.Content, b: contents.Content, where: str) -> Any:
    if not (_is_text(a) and _is_text(b)):
        return NotImplemented
    return _lists(a.to_ListOffsetArray64(True), b.to_ListOffsetArray64(True), where)


def _numbers(a: contents.Content, b: contents.Content, where: str) -> Any:
    if not (a.is_numpy and b.is_numpy):
        return NotImplemented
    x, y = np.ascontiguousarray(a.data), np.ascontiguousarray(b.data)
    if x.shape[1:] != y.shape[1:]:
        return f"{where} items of shape {x.shape[1:]}, not {y.shape[1:]}"
    if x.dtype != y.dtype:
        return f"{where} {x.dtype}, not {y.dtype}"
    if len(x) != len(y):
        return f"{where} {len(x)} values, not {len(y)}"
    if x.tobytes() == y.tobytes():
        return None
    with contextlib.suppress(TypeError):
        if np.array_equal(x, y, equal_nan=True) and np.array_equal(np.signbit(x), np.signbit(y)):
            return None
    places = np.nonzero(~((x == y) | ((x != x) & (y != y))))[0]
    first = places[0] if len(places) else 0
    return f"{where} {len(places)} of {len(x)} differ, first [{first}]: {x[first]}, not {y[first]}"


def _records(a: contents.Content, b: contents.Content, where: str) -> Any:
    if not (a.is_record and b.is_record):
        return NotImplemented
    if list(a.fields) != list(b.fields):
        return f"{where} fields {a.fields}, not {b.fields}"
    for name in a.fields:
        found = _difference(
            _plain(a.content(name)[: a.length]),
            _plain(b.content(name)[: b.length]),
            f"{where}.{name}",
        )
        if found is not None:
            return found
    return None


def _lists(a: contents.Content, b: contents.Content, where: str) -> Any:
    a, b = _regular(a), _regular(b)
    if not (a.is_list and b.is_list):
        return NotImplemented
    if a.is_regular != b.is_regular:
        return f"{where} {ak.type(a)}, not {ak.type(b)}"
    if a.is_regular:
        if a.size != b.size:
            return f"{where} {a.size} items, not {b.size}"
        return _difference(a.content[: a.length * a.size], b.content[: b.length * b.size], where)
    x, y = a.to_ListOffsetArray64(True), b.to_ListOffsetArray64(True)
    starts, others = np.asarray(x.offsets), np.asarray(y.offsets)
    if not np.array_equal(starts, others):
        first = int(np.nonzero(starts != others)[0][0]) if len(starts) == len(others) else -1
        return f"{where} lengths differ from item {first - 1} on"
    if starts[-1] == 0:
        return None  # No items: neither reader can know more.
    return _difference(_plain(x.content[: starts[-1]]), _plain(y.content[: starts[-1]]), where)


def _regular(node: contents.Content) -> contents.Content:
    """NumPy arrays of several dimensions as regular lists, as Arrow has them."""
    return node.to_RegularArray() if node.is_numpy and len(node.data.shape) > 1 else node
