"""`treemill dataset`: whether the files of a fileset are what they should be. Exit status 0: they
are; 1: something is wrong with one of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .._system.files import write_text
from ..data import source
from ..data.chain_trees import ChainTrees
from ..data.file_checks import Finding, Seen, VerifiedFile, findings
from ..data.filesets import named_fileset
from ..errors import FormatError, SourceError, TreemillError, TruncatedError, local_path
from ..facility.options import Commands
from ..frozen import replaced

if TYPE_CHECKING:
    from ..data.file_tree import FileTree
    from ..data.filesets import FilesetFiles
    from ..data.location import Location

__all__ = ["dataset"]

# Looks at the files of a fileset: opens each once, several at once. Says what it saw; judges
# nothing.

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
        trees = ChainTrees((_unverified(location),))
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
            trees = ChainTrees((_unverified(location),))
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
    tree: FileTree = ChainTrees((_unverified(location),))[0]
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


@click.group(cls=Commands)
def dataset() -> None:
    """Check the files of samples."""


@dataset.command()
@click.argument("fileset")
@click.option("--tree", help="The tree of files for which FILESET names no tree.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False),
    help="The file for the list of sound files; default: NAME.verified.json in the folder of "
    "FILESET.",
)
def verify(fileset: str, tree: str | None, output: str | None) -> None:
    """Check all files of a fileset before you run an analysis on them.

    FILESET is a JSON file as treemill.fileset takes it, or the path or glob of the files of one
    sample. The command reports files that are missing, truncated or unreadable, files that the
    fileset has twice (by name, UUID or content), and trees that differ within a sample. It writes a
    list of the sound files with their entries, clusters and sizes, which also names the files that
    it left out. treemill.fileset and treemill.dataset take this list, and then open no file to
    plan.
    """
    path = Path(local_path(output)) if output else _beside(fileset)
    if not os.access(path.parent, os.W_OK):  # said before all files are looked at
        raise SourceError(f"cannot write into the folder {path.parent}", file=str(path))
    source: object = fileset if fileset.endswith((".json", ".json.gz")) else {"dataset": fileset}
    files = named_fileset(source, tree)
    inspected = _seen(files)
    problems = findings(inspected, Contents(inspected, files.locations).is_same)
    write_text(path, text(listed(files, inspected, problems)))
    for line in _lines(inspected, problems):
        click.echo(line)
    click.echo(f"written: {path}")
    if problems:
        sys.exit(1)


def _seen(files: FilesetFiles) -> list[Seen]:
    datasets = [str((location.metadata or {})["dataset"]) for location in files.locations]
    total = len(files.locations)
    with click.progressbar(length=total, label="files", file=sys.stderr) as bar:
        return list(looked_at(files.locations, datasets, lambda: bar.update(1)))


def _beside(fileset: str) -> Path:
    name = Path(fileset).name
    if not name.endswith((".json", ".json.gz")):
        return Path("dataset.verified.json")
    stem = name.removesuffix(".gz").removesuffix(".json")
    return Path(local_path(fileset)).with_name(f"{stem}.verified.json")


def _lines(inspected: Sequence[Seen], problems: Sequence[Finding]) -> Iterator[str]:
    width = max((len(each.kind) for each in problems), default=0)
    for finding in problems:
        fate = " (left out)" if finding.left_out else ""
        place = f"{finding.dataset}: {finding.path}"
        yield f"{finding.kind:{width}}  {place}: {finding.text}{fate}"
    out = {finding.number for finding in problems if finding.left_out}
    entries: Counter[str] = Counter()
    files: Counter[str] = Counter()
    size: Counter[str] = Counter()
    for number, each in enumerate(inspected):
        entries[each.dataset] += 0
        if number not in out and each.verified is not None:
            entries[each.dataset] += each.verified.entries
            size[each.dataset] += each.verified.size
            files[each.dataset] += 1
    all_of = Counter(each.dataset for each in inspected)
    for name, count in entries.items():
        of = f"{files[name]} of {all_of[name]} files"
        yield f"{name}: {of}, {count:,} entries, {size[name] / 1e6:,.1f} MB"
