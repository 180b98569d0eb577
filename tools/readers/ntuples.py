"""Compares the fields of an RNTuple: treemill's core beside uproot. Fields at the top are compared
whole, in the layout that `events.arrays` gives; members with uproot's array of the member.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import awkward as ak
import numpy as np
from treemill.data.from_core import layout
from treemill.errors import TreemillError, UnsupportedError

from .difference import difference
from .outcome import Outcome, Verdict

UPROOT = "RField"
"""Stands for uproot's interpretation, of which fields have none."""

CHARACTER = re.compile(r"(?<!unsigned )\bchar\b")
"""In C++ types: uproot takes such fields for unsigned bytes, ROOT gives them a sign."""


def compare_fields(
    file: str, name: str, ours: Any, theirs: Any, reading: Callable[[str, str], None]
) -> Iterator[Callable[[], Outcome]]:
    """What makes each outcome of an RNTuple; `reading` as in `compare_branches`."""
    fields = ours.branches()
    tops = {field["path"] for field in fields if not field["is_member"]}
    wrong = None
    if ours.num_entries != theirs.num_entries:
        wrong = f"{ours.num_entries} entries, uproot has {theirs.num_entries}"
    elif tops != (others := {field.name for field in theirs.fields}):
        wrong = f"fields differ: {sorted(tops ^ others)[:5]}"
    if wrong is not None:
        yield partial(Outcome, file, name, "", Verdict.DIFFERENT, wrong, is_field=True)
        return

    def has_characters(path: str) -> bool:
        below = f"{path}."
        within = (one for one in fields if one["path"] == path or one["path"].startswith(below))
        return any(CHARACTER.search(one["cpp_type"]) for one in within)

    def compare(field: dict[str, Any]) -> Outcome:
        path, cpp_type = field["path"], field["cpp_type"]
        reading(name, path)
        found = _attempt(lambda: read(ours, field))
        reading("", "")
        other = _attempt(lambda: _from_uproot(theirs, field))
        is_read = not isinstance(other, BaseException)
        if has_characters(path):
            found, other = _unsigned(found), _unsigned(other)
        verdict, detail = _verdict(field, found, other)
        by_uproot = UPROOT if is_read else ""
        return Outcome(file, name, path, verdict, detail, cpp_type, by_uproot, is_field=True)

    for field in fields:
        yield partial(compare, field)


def read(ntuple: Any, field: dict[str, Any]) -> ak.Array:
    """A field of a core.Tree as an awkward array."""
    (column,) = ntuple.read([field["path"]], 0, ntuple.num_entries)
    return ak.Array(layout(column, field["kind"] == "optional"))


def _from_uproot(ntuple: Any, field: dict[str, Any]) -> ak.Array:
    array = ntuple[field["path"]].array()
    return ak.values_astype(array, np.float32) if "float16" in str(array.type) else array


def _unsigned(array: ak.Array | BaseException) -> ak.Array | BaseException:
    """Its bytes without a sign: that of characters is compared with ROOT's, by the tests."""

    def change(layout: Any, **_: Any) -> Any:
        is_byte = isinstance(layout, ak.contents.NumpyArray) and layout.dtype == np.int8
        return ak.contents.NumpyArray(layout.data.view(np.uint8)) if is_byte else None

    return array if isinstance(array, BaseException) else ak.transform(change, array)


def _verdict(
    field: dict[str, Any],
    ours: ak.Array | BaseException,
    theirs: ak.Array | BaseException,
) -> tuple[Verdict, str]:
    cpp_type = field["cpp_type"]
    if isinstance(ours, BaseException) and not isinstance(ours, TreemillError):
        return Verdict.BROKEN_PROMISE, f"{type(ours).__name__}: {ours}"
    if not field["supported"]:
        if isinstance(ours, UnsupportedError):
            return Verdict.UNSUPPORTED, f"{cpp_type}: {ours}"
        return Verdict.BROKEN_PROMISE, f"{cpp_type}, listed as unsupported: {ours!r}"
    if isinstance(ours, BaseException):
        both = isinstance(theirs, BaseException)
        return Verdict.BOTH_REFUSE if both else Verdict.REFUSED, f"{type(ours).__name__}: {ours}"
    if isinstance(theirs, BaseException):
        return Verdict.UNCHECKED, f"{cpp_type}; uproot: {type(theirs).__name__}: {theirs}"[:200]
    detail = difference(ours, theirs)
    return (Verdict.EQUAL, "") if detail is None else (Verdict.DIFFERENT, f"{cpp_type}: {detail}")


def _attempt(read: Callable[[], ak.Array]) -> ak.Array | BaseException:
    try:
        return read()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # A panic in Rust arrives as a BaseException.
        return error
