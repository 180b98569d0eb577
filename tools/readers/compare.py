"""Compares what treemill reads with what uproot reads: every tree and RNTuple of a file, every
branch and field.

Gives outcomes and judges nothing: the callers decide which outcomes are right. Knows treemill's
core and uproot, not pytest and no processes.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pyarrow as pa
import treemill._core as core
import uproot
from treemill.data.from_core import layout
from treemill.errors import FormatError, TreemillError, UnsupportedError

from .difference import difference, fields_of
from .ntuples import compare_fields
from .outcome import Outcome, Verdict

__all__ = ["Outcome", "Verdict", "compare_branches", "compare_file", "difference", "fields_of"]


def compare_file(path: Path) -> list[Outcome]:
    """All outcomes of a file. Raises treemill's errors where the file cannot be opened."""
    return list(compare_branches(path))


def compare_branches(
    path: Path, skip: int = 0, reading: Callable[[str, str], None] = lambda tree, branch: None
) -> Iterator[Outcome]:
    """The outcomes of a file one after another, without the first `skip`.

    `reading` is told tree and branch before treemill reads it, and two empty strings after.
    """
    file = core.File(str(path))
    with uproot.open(path, handler=uproot.MemmapSource) as other:
        for tree in file.trees():
            compare_all = compare_fields if tree["class"].endswith("RNTuple") else _compare_tree
            name = f"{tree['path']};{tree['cycle']}"
            for compare in compare_all(path.name, name, file.tree(name), other[name], reading):
                if skip > 0:
                    skip -= 1
                else:
                    yield compare()


def _compare_tree(
    file: str, name: str, ours: Any, theirs: Any, reading: Callable[[str, str], None]
) -> Iterator[Callable[[], Outcome]]:
    """What makes each outcome of a tree."""
    branches = ours.branches()
    walked = list(walk(theirs))
    names = [(branch["name"], branch["path"]) for branch in branches], list(named(walked))
    wrong = None
    if ours.num_entries != theirs.num_entries:
        wrong = f"{ours.num_entries} entries, uproot has {theirs.num_entries}"
    elif names[0] != names[1]:
        wrong = f"branches differ: {sorted(set(names[0]) ^ set(names[1]))[:5]}"
    elif len(set(names[0])) != len({name for name, _ in names[0]}):
        wrong = "branches share names"
    if wrong is not None:
        yield partial(Outcome, file, name, "", Verdict.DIFFERENT, wrong)
        return

    def compare(branch: dict[str, Any], other: Any) -> Outcome:
        reading(name, branch["path"])
        verdict, detail, uproot_class = _branch(ours, branch, other, lambda: reading("", ""))
        path, cpp_type = branch["path"], branch["cpp_type"]
        return Outcome(file, name, path, verdict, detail, cpp_type, uproot_class)

    for branch, other in zip(branches, walked, strict=True):
        yield partial(compare, branch, other)


def walk(tree: Any) -> Iterator[Any]:
    """uproot's branches in depth-first order, parents first."""
    for branch in tree.branches:
        yield branch
        yield from walk(branch)


def named(walked: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """What treemill calls uproot's branches, and their paths.

    A branch has its own name where no other one has it, else its full name; the second of several
    top branches of one name is `x;2`. Dots at the ends of names are not told apart.
    """
    known = Counter(branch.name.rstrip(".") for branch in walked)
    tops: Counter[str] = Counter()
    top = full_top = path = ""
    paths: dict[int, str] = {}
    for branch in walked:
        own = full = branch.name
        alone = own.rstrip(".")
        if id(branch.parent) not in paths:
            top = alone
            tops[top] += 1
            path = full = own if tops[top] == 1 else f"{top};{tops[top]}"
            full_top = full.rstrip(".")
        else:
            path = f"{paths[id(branch.parent)]}/{own}"
            full = f"{full_top}.{own.removeprefix(f'{top}.')}"
        paths[id(branch)] = path
        yield own if known[alone] == 1 else full, path


def _branch(
    tree: Any, branch: dict[str, Any], other: Any, done: Callable[[], None]
) -> tuple[Verdict, str, str]:
    """Verdict, detail, and the class of uproot's interpretation where uproot reads the branch."""
    if branch["kind"] == "group":
        done()
        return Verdict.GROUP, "", ""
    ours = _attempt(lambda: _as_users_get(tree, branch["name"]))
    done()
    if isinstance(ours, BaseException) and not isinstance(ours, TreemillError):
        return Verdict.BROKEN_PROMISE, f"{type(ours).__name__}: {ours}", ""
    theirs = _attempt(lambda: other.array(library="ak"))
    uproot_class = ""
    if not isinstance(theirs, BaseException):
        uproot_class = type(other.interpretation).__name__
    return *_verdict(tree, branch, other, ours, theirs), uproot_class


def _verdict(
    tree: Any,
    branch: dict[str, Any],
    other: Any,
    ours: ak.Array | TreemillError,
    theirs: ak.Array | BaseException,
) -> tuple[Verdict, str]:
    if not branch["supported"]:
        if isinstance(ours, UnsupportedError):
            return Verdict.UNSUPPORTED, f"{branch['cpp_type']}: {branch['reason']}"
        return Verdict.BROKEN_PROMISE, f"{branch['cpp_type']}, listed as unsupported: {ours!r}"
    if isinstance(ours, UnsupportedError):
        return Verdict.UNSUPPORTED, f"{branch['cpp_type']}: {ours}"
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


def readable_branches(tree: Any) -> list[dict[str, Any]]:
    """The branches of a core.Tree that have values of their own, and can be read."""
    return [b for b in tree.branches() if b["supported"] and b["kind"] != "group"]


def read(tree: Any, name: str, start: int = 0, stop: int | None = None) -> ak.Array:
    """A branch of a core.Tree as an awkward array, by awkward's own way from Arrow."""
    (column,) = tree.read([name], start, tree.num_entries if stop is None else stop)
    return ak.from_arrow(pa.array(column))


def _as_users_get(tree: Any, name: str) -> ak.Array:
    """A whole branch as `Dataset.arrays` gives it: pairs are tuples, text is text."""
    (column,) = tree.read([name], 0, tree.num_entries)
    return ak.Array(layout(column, False))
