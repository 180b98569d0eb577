"""The list of a fileset's sound files, with what was found of each, as a fileset. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from .findings import Finding, Seen

if TYPE_CHECKING:
    from .filesets import FilesetFiles

__all__ = ["listed", "text"]

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
