"""The specification of data sets that RDataFrame's FromSpec reads, as a fileset. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import QueryError, UnsupportedError

__all__ = ["from_specification", "is_specification"]

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
            "friends in a specification of RDataFrame's are not read: add them to a data set, "
            "treemill.dataset(…).add_friend(…)"
        )
    if document.get("range"):
        raise UnsupportedError(
            f"the range {document['range']} in a specification of RDataFrame's is not read: leave "
            "it out, and give entries= to run"
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
