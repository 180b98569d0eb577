"""Filesets: datasets by name, each with its files, its tree and its metadata, in the forms of
coffea and RDataFrame; and the files of one dataset in the form of coffea and uproot.

Turns what the user wrote into locations and ranges of entries; opens no ROOT file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from .._system.memory import without_collector
from ..errors import QueryError, SourceError, UnsupportedError
from ..frozen import replaced
from . import source
from .entry_ranges import starts
from .location import Location, located, plain, replicated, split_tree

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .file_checks import VerifiedFile

__all__ = ["FilesetFiles", "fileset", "metadata_of", "named_fileset"]

# The specification of samples that RDataFrame's FromSpec reads, as a fileset. Pure.

_KNOWN = ("samples", "friends", "range")


def is_specification(document: Mapping[object, object]) -> bool:
    """True if it is one: a mapping with "samples", which are mappings with "trees" and "files"."""
    samples = document.get("samples")
    return (
        isinstance(samples, Mapping)
        and set(document) <= set(_KNOWN)
        and all(isinstance(each, Mapping) and "trees" in each for each in samples.values())
    )


def from_specification(document: Mapping[object, object]) -> Mapping[object, object]:
    """The fileset of its samples. Raises UnsupportedError for friends and ranges, QueryError for
    samples that make no sense."""
    if document.get("friends"):
        raise UnsupportedError(
            "treemill does not read friends in a specification of RDataFrame's: add them to a "
            "sample, treemill.dataset(…).add_friend(…)"
        )
    if document.get("range"):
        raise UnsupportedError(
            f"treemill does not read the range {document['range']} in a specification of "
            "RDataFrame's: leave it out, and give entries= to run"
        )
    samples = document["samples"]
    assert isinstance(samples, Mapping)
    return {str(name): _sample(str(name), each) for name, each in samples.items()}


def _sample(name: str, sample: Mapping[str, object]) -> dict[str, object]:
    trees, files = _texts(name, "trees", sample), _texts(name, "files", sample)
    if len(trees) not in (1, len(files)):
        raise QueryError(
            f"the sample {name!r} has {len(trees)} trees and {len(files)} files: name one tree for "
            "all of them, or one for each"
        )
    metadata = sample.get("metadata") or {}
    if len(trees) == 1:
        return {"files": files, "treename": trees[0], "metadata": metadata}
    # A file may be there several times, with another tree each time.
    of_trees = [{file: tree} for file, tree in zip(files, trees, strict=True)]
    return {"files": of_trees, "metadata": metadata}


def _texts(name: str, key: str, sample: Mapping[str, object]) -> list[str]:
    texts = sample.get(key)
    listed = [texts] if isinstance(texts, str) else texts
    if isinstance(listed, Sequence) and listed and all(isinstance(each, str) for each in listed):
        return [str(each) for each in listed]
    raise QueryError(f"the sample {name!r} needs a list of {key}, not {texts!r:.80}")


Steps = tuple[tuple[int, int], ...]
"""Ranges of a file's entries."""
_JSON = (".json", ".json.gz")
_OF_CHUNKS = ("dataset", "filename", "treename", "entrystart", "entrystop", "fileuuid")
"""The metadata that each chunk has by itself."""
_OF_SAMPLES = frozenset(
    ("files", "treename", "metadata", "format", "form", "compressed_form", "did", "left_out")
)
"""The items of a sample: those of coffea, and what `treemill dataset verify` has left out."""
_OF_FILES = frozenset(
    {
        *("object_path", "steps", "replicas", "num_entries", "uuid", "size", "clusters"),
        *("format", "form", "lfn", "pfn"),
    }
)
"""The items of a file, likewise."""


@dataclass
class FilesetFiles:
    """Files in order, some of them with ranges of entries."""

    locations: list[Location] = field(default_factory=list)
    steps: dict[int, Steps] = field(default_factory=dict)
    """The ranges by the file's place in `locations`."""

    def of(self, dataset: str) -> FilesetFiles:
        """The files of one of its datasets."""
        return self.of_all((dataset,))

    def of_all(self, datasets: Collection[str]) -> FilesetFiles:
        """The files of some of its datasets."""
        selected = FilesetFiles()
        for number, location in enumerate(self.locations):
            if (location.metadata or {}).get("dataset") in datasets:
                if number in self.steps:
                    selected.steps[len(selected.locations)] = self.steps[number]
                selected.locations.append(location)
        return selected

    def numbers(self, sizes: Callable[[int], int]) -> NDArray[np.int64] | None:
        """The numbers of the selected entries in the chain of all files; None: all are selected.
        `sizes` gives the entries of a file; it is called only if a file has ranges."""
        if not self.steps:
            return None
        import numpy as np

        entries_of = [sizes(file) for file in range(len(self.locations))]
        *firsts, total = starts(entries_of)
        ranges = []
        for file, (location, entries, first) in enumerate(
            zip(self.locations, entries_of, firsts, strict=True)
        ):
            for start, stop in self.steps.get(file, ((0, entries),)):
                if stop > entries:
                    raise QueryError(
                        f"steps go to entry {stop} of {location.shown}, which has {entries} "
                        "entries: it is not the file that the steps were made for"
                    )
                ranges.append(np.arange(first + start, first + stop))
        kept = np.concatenate(ranges) if ranges else np.empty(0, np.int64)
        return None if len(kept) == total else kept


def fileset(files: object, tree: str | None = None) -> FilesetFiles | None:
    """Understand a fileset: a mapping of names to lists of files, or to mappings with "files" (and
    "treename", "metadata"); one of these mappings alone; a mapping of files to {"object_path": …,
    "steps": …, "replicas": …}; a mapping of names of ROOT files to lists of their replicas; a path
    of a JSON file with any of these. None if `files` is no fileset. Raises QueryError if it is one
    and makes no sense. Its files need not be there."""
    if isinstance(files, str) and not files.endswith(_JSON):
        return None
    contents = _plain(files)
    if not isinstance(contents, Mapping) or not contents:
        return None
    collected = FilesetFiles()
    contents = _from_root(contents)
    parts = {name: _plain(each) for name, each in contents.items()}
    if "files" in parts:
        _add(collected, None, parts, tree)
    elif any(_is_file(name, each) for name, each in parts.items()):
        _add(collected, None, {"files": parts}, tree)
    elif any(isinstance(each, Mapping | list) for each in parts.values()):
        for name, each in parts.items():
            _add(collected, str(name), each, tree)
    else:
        return None
    return collected


def named_fileset(files: object, tree: str | None = None) -> FilesetFiles:
    """Understand a fileset whose datasets have names: the forms of `fileset`, or a mapping of names
    to paths, globs and lists of these. Raises QueryError for anything else, for items of a dataset
    that it does not know, and for a dataset without files. Its files need not be there."""
    contents = _plain(files)
    if not isinstance(contents, Mapping) or not contents:
        raise QueryError(
            "a fileset is a mapping of names to files, or the path of a JSON file with one, not "
            f"{contents!r:.80}"
        )
    contents = _from_root(contents)
    parts = {name: _plain(each) for name, each in contents.items()}
    alone = "files" in parts or next((n for n, each in parts.items() if _is_file(n, each)), None)
    if alone:
        raise QueryError(
            "these are the files of one sample: give it a name, {name: …}, or use "
            "treemill.dataset(…)"
        )
    collected = FilesetFiles()
    for name, each in parts.items():
        before = len(collected.locations)
        _check_items(str(name), each)
        _add(collected, str(name), [each] if isinstance(each, str | os.PathLike) else each, tree)
        if len(collected.locations) == before:
            raise QueryError(f"{name!r} of a fileset has no file{_left_out(each)}")
        if str(name) != name and str(name) in parts:
            raise QueryError(f"two samples of a fileset have the name {name}: rename one")
    return collected


def _check_items(name: str, sample: object) -> None:
    """Raises QueryError for items of a sample and of its files that mean nothing: coffea leaves
    them out, and nobody would see that, say, the steps are in the wrong place."""
    if not isinstance(sample, Mapping) or "files" not in sample:
        return
    files = sample["files"]
    each_file = files.items() if isinstance(files, Mapping) else ()
    for of, known, tree, items in (
        (f"the sample {name!r}", _OF_SAMPLES, "treename", sample),
        *(
            (str(at), _OF_FILES, "object_path", file)
            for at, file in each_file
            if isinstance(file, Mapping)
        ),
    ):
        unknown = items.keys() - known
        if unknown:
            first = min(map(str, unknown))
            is_tree = first in ("tree", "treename", "object_path")
            hint = f"call it {tree!r}" if is_tree else "what describes a sample is in its metadata"
            raise QueryError(
                f"{of} of a fileset has {first!r}, which is none of {', '.join(sorted(known))}: "
                f"{hint}"
            )


def metadata_of(given: object, of: str) -> dict[str, object]:
    """The metadata of a sample, from what the user gave. Raises QueryError for no mapping."""
    if given is not None and not isinstance(given, Mapping):
        raise QueryError(f'{of}: metadata is a mapping, such as {{"xsec": 1.5}}, not {given!r:.80}')
    return dict(given or {})


def _left_out(dataset: object) -> str:
    """Says which files `treemill dataset verify` has left out of a sample, and why."""
    left_out = dataset.get("left_out") if isinstance(dataset, Mapping) else None
    if not isinstance(left_out, Mapping) or not left_out:
        return ""
    reasons = "; ".join(f"{path}: {reason}" for path, reason in list(left_out.items())[:3])
    return (
        f". When it was verified, {len(left_out)} were left out ({reasons:.300}): take it out of "
        "the list, or verify it again when its files are there"
    )


def _is_file(name: object, each: object) -> bool:
    """True if a name is a file's, and not a dataset's. The name of a ROOT file with a list is a
    file with its replicas; any other name with a list is a dataset with its files."""
    if isinstance(each, Mapping):
        return "object_path" in each or "replicas" in each
    return isinstance(each, list | tuple) and split_tree(str(name))[0].endswith(".root")


def _plain(files: object) -> object:
    """Turn JSON files, and coffea's specifications of files, which are models of pydantic, into
    mappings."""
    if type(files) is dict or type(files) is list:  # as most are, and there may be many
        return files
    if isinstance(files, str | os.PathLike) and str(files).endswith(_JSON):
        from .._system.files import parsed  # start-up: few datasets come from JSON files

        path = source.address(str(files))
        try:
            return parsed(source.content(path), path)
        except (SourceError, ValueError) as error:
            raise SourceError(f"cannot read the fileset {path}: {error}", file=path) from None
    plain: object = files.model_dump() if hasattr(files, "model_dump") else files
    return plain


def _add(collected: FilesetFiles, name: str | None, contents: object, tree: str | None) -> None:
    of = "a fileset" if name is None else f"{name!r} of a fileset"
    if isinstance(contents, list):
        contents = {"files": contents}
    if not isinstance(contents, Mapping) or "files" not in contents:
        raise QueryError(f'{of} is a list of files or a mapping with "files", not {contents!r:.80}')
    if contents.get("format") not in (None, "root"):
        raise UnsupportedError(f"{of} has {contents['format']} files: treemill reads ROOT's")
    own = metadata_of(contents.get("metadata"), of)
    reserved = sorted(set(own) & set(_OF_CHUNKS))
    if reserved:
        raise QueryError(f"{of} has metadata {reserved[0]!r}, which chunks have by themselves")
    if name is not None:
        own["dataset"] = name
    common = contents.get("treename") or tree
    with without_collector():
        files = [*_files(contents["files"], of)]
        paths = [each.path if each.replicas is None else None for each in files]
        trees = [each.tree or common for each in files]
        known = plain(paths, trees, [each.verified for each in files], own)
    for file, location in zip(files, known, strict=True):
        for each in (location,) if location else _locations(file, common, own):
            if file.steps is not None:
                collected.steps[len(collected.locations)] = file.steps
            collected.locations.append(each)


def _locations(
    file: _FilesetFile, common: str | None, own: Mapping[str, object]
) -> Iterator[Location]:
    """The files that what is given of one stands for, which is more than a plain path."""
    tree = file.tree or common
    if file.replicas is None:
        locations = located({file.path: tree})
    else:
        locations = (replicated(file.path, file.replicas, tree),)
    return (replaced(each, metadata=own, verified=file.verified) for each in locations)


def _from_root(contents: Mapping[object, object]) -> Mapping[object, object]:
    """Returns what RDataFrame's `FromSpec` reads, in the form of a fileset; anything else as it
    is."""

    return from_specification(contents) if is_specification(contents) else contents


class _FilesetFile(NamedTuple):
    """A file, with what is given of it."""

    path: object
    tree: str | None = None
    steps: Steps | None = None
    replicas: list[object] | None = None
    verified: VerifiedFile | None = None


def _files(files: object, of: str) -> Iterator[_FilesetFile]:
    """Each file with what is given of it."""
    if not isinstance(files, Mapping):
        paths: Iterable[object] = [files]
        if isinstance(files, Iterable) and not isinstance(files, str):
            paths = files
        for path in paths:
            if isinstance(path, Mapping):
                yield from _files(path, of)
            else:
                yield _FilesetFile(path)
        return
    from .file_checks import verified_of  # start-up: few datasets come from JSON files

    for path, each in files.items():
        each = each if type(each) is dict else _plain(each)
        if each is None or isinstance(each, str):
            yield _FilesetFile(path, each)
        elif isinstance(each, (list, tuple)):
            yield _FilesetFile(path, replicas=list(each))
        elif type(each) is dict or isinstance(each, Mapping):  # most are: there may be many
            replicas = each.get("replicas")
            if replicas is not None and not isinstance(replicas, list | tuple):
                raise QueryError(f"{of}: replicas are a list of addresses, not {replicas!r:.80}")
            copies = None if replicas is None else list(replicas)
            steps = _steps(each, of) if "steps" in each else None
            verified = verified_of(each, of)
            yield _FilesetFile(path, each.get("object_path"), steps, copies, verified)
        else:
            raise QueryError(f"{of}: the tree of {path} is a name, not {each!r}")


def _steps(file: Mapping[str, object], of: str) -> Steps | None:
    """The ranges of a file's entries; None: all entries."""
    steps = file.get("steps")
    if steps is None:
        return None
    try:
        if not isinstance(steps, Iterable):
            raise TypeError
        ranges = tuple(sorted((int(start), int(stop)) for start, stop in steps))
    except (TypeError, ValueError):
        raise QueryError(f"{of}: steps are pairs of entries, not {steps!r:.80}") from None
    end = 0
    for start, stop in ranges:
        if start < end or stop < start:
            raise QueryError(f"{of}: steps overlap, or end before they start: {steps!r:.80}")
        if start != end:
            return ranges
        end = stop
    return None if end == file.get("num_entries") else ranges
