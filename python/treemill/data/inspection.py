"""Looks at the files of a fileset: opens each once, several at once. Says what it saw; judges
nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from ..errors import FormatError, TreemillError, TruncatedError
from ..frozen import replaced
from . import source
from .file_checks import Finding, Seen, VerifiedFile
from .open_trees import OpenTrees

if TYPE_CHECKING:
    from .file_tree import FileTree
    from .filesets import FilesetFiles
    from .location import Location

__all__ = ["Contents", "listed", "looked_at", "text"]

# The list of a fileset's sound files, with what was found of each, as a fileset. Pure.

Listed = dict[str, dict[str, dict[str, object]]]


def listed(files: FilesetFiles, inspected: Sequence[Seen], problems: Sequence[Finding]) -> Listed:
    """A fileset of the sound files, in coffea's form. Files that are left out are named."""
    out = {each.number: each.text for each in problems if each.left_out}
    fileset: Listed = {}
    for number, (location, each) in enumerate(zip(files.locations, inspected, strict=True)):
        metadata = {k: v for k, v in (location.metadata or {}).items() if k != "dataset"}
        dataset = fileset.setdefault(each.dataset, {"files": {}, "metadata": metadata})
        path = each.path
        if path in dataset["files"] and each.tree:  # the same file with another tree
            path = f"{path}:{each.tree}"
        if number in out or each.verified is None:
            dataset.setdefault("left_out", {})[path] = out.get(number, each.reason)
            continue
        entry: dict[str, object] = {"object_path": each.tree, **each.verified.to_json()}
        if number in files.steps:
            entry["steps"] = [list(step) for step in files.steps[number]]
        if location.logical is not None:
            entry["replicas"] = list(location.replicas)
        dataset["files"][path] = entry
    return fileset


def text(datasets: Mapping[str, Mapping[str, Mapping[str, object]]]) -> str:
    """The list as JSON, a line for each file."""
    return "{\n" + ",\n".join(_dataset(name, each) for name, each in datasets.items()) + "\n}\n"


def _dataset(name: str, dataset: Mapping[str, Mapping[str, object]]) -> str:
    return f"{json.dumps(name)}: {{\n" + ",\n".join(_parts(dataset)) + "\n}"


def _parts(dataset: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    for key, value in dataset.items():
        if key == "metadata" or not value:
            yield f" {json.dumps(key)}: {json.dumps(value)}"
            continue
        lines = (f"  {json.dumps(path)}: {json.dumps(each)}" for path, each in value.items())
        yield f" {json.dumps(key)}: {{\n" + ",\n".join(lines) + "\n }"


_AT_ONCE = 8
_FAR_AT_ONCE = 32
"""Files on servers: most of the time goes into waiting."""
_COMPARED = 1000
"""Entries at the beginning of files that are compared first."""
_COLUMNS = 50
"""Columns of which the beginning is compared, at most."""
_AT_A_TIME = 100_000
"""Entries of a column that are read at once, if all of a file is compared."""

Schemas = dict[tuple[tuple[str, str], ...], dict[str, str]]


def looked_at(
    locations: Sequence[Location], datasets: Sequence[str], tick: Callable[[], None]
) -> Iterator[Seen]:
    """Returns what each file is, in order. `tick` is called for each on any thread."""
    is_far = any(source.is_far(location.path) for location in locations)
    schemas: Schemas = {}

    def look(location: Location, dataset: str) -> Seen:
        try:
            return _look(location, dataset, schemas)
        finally:
            tick()

    with ThreadPoolExecutor(_FAR_AT_ONCE if is_far else _AT_ONCE) as pool:
        yield from pool.map(look, locations, datasets)


def _look(location: Location, dataset: str, schemas: Schemas) -> Seen:
    path = location.logical or location.path
    real = path if location.logical else source.canonical(location.path)
    try:
        trees = OpenTrees((_unverified(location),))
        tree = trees[0]
        identity = trees.identity(0)
        described = tree.described()
    except (TreemillError, OSError) as error:
        kind = _kind(location, error)
        return Seen(dataset, path, real, location.tree, kind=kind, reason=str(error))
    branches = tuple((branch["path"], branch["cpp_type"]) for branch in described)
    verified = VerifiedFile(identity.size, tree.num_entries, tuple(tree.clusters), tree.uuid)
    return Seen(
        dataset,
        path,
        real,
        tree.path_in_file,
        verified,
        schemas.setdefault(branches, dict(branches)),  # most files have the same
        tuple(branch["zip_bytes"] for branch in described),
    )


def _unverified(location: Location) -> Location:
    return replaced(location, verified=None)


def _kind(location: Location, error: Exception) -> str:
    if isinstance(error, FormatError):
        return "truncated" if isinstance(error, TruncatedError) else "unreadable"
    try:
        if location.absence is None:
            trees = OpenTrees((_unverified(location),))
            trees.identity(0)
            return "unreadable"
    except (TreemillError, OSError):
        pass
    return "missing"


class Contents:
    """What is in files, to tell two of them apart. The beginning of each is read once, and all of
    it only if another file begins with the same."""

    def __init__(self, seen: Sequence[Seen], locations: Sequence[Location]) -> None:
        self._places = {id(each): place for each, place in zip(seen, locations, strict=True)}
        self._digests: dict[tuple[int, bool], bytes] = {}

    def is_same(self, one: Seen, other: Seen) -> bool:
        """True if two files have the same entries in all columns that the core reads. A file that
        cannot be read is like no other."""
        return all(
            self._digest(one, whole) == self._digest(other, whole) for whole in (False, True)
        )

    def _digest(self, each: Seen, whole: bool) -> bytes:
        key = id(each), whole
        if key not in self._digests:
            try:
                self._digests[key] = _digest(self._places[id(each)], whole)
            except TreemillError:
                self._digests[key] = str(id(each)).encode()
        return self._digests[key]


def _digest(location: Location, whole: bool) -> bytes:
    tree: FileTree = OpenTrees((_unverified(location),))[0]
    names = [
        branch["path"]
        for branch in tree.described()
        if branch["supported"] and branch["kind"] != "group"
    ]
    end = tree.num_entries
    parts = [(names[:_COLUMNS], 0, min(_COMPARED, end))]
    if whole:
        starts = range(0, end, _AT_A_TIME)
        parts = [
            ([name], start, min(start + _AT_A_TIME, end)) for name in names for start in starts
        ]
    hasher = hashlib.blake2b(digest_size=16)
    for some, start, stop in parts:
        for column in tree.read(some, start, stop):
            hasher.update(column.dumps())
    return hasher.digest()
