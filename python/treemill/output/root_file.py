"""Results in a ROOT file, by uproot: mappings are folders, histograms are ROOT's own, numbers are
texts, arrays are trees. A text named "treemill" says what it all was, so that the same results come
back. Files of histograms by ROOT and by others are read, too.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import numpy as np

from ..errors import FormatError, SourceError, UnsupportedError
from ..results.fills import note_fills
from .json_file import decoded, encoded
from .other_root_files import others
from .outline import Json, Leaf, Outline, OutlineGroup, unsupported
from .root_histograms import check_exact, filled, is_profile, root_histogram
from .uhi_description import described, from_description

if TYPE_CHECKING:
    from hist import Hist
    from numpy.typing import NDArray
    from uproot.reading import ReadOnlyDirectory
    from uproot.writing import WritableDirectory

__all__ = ["folder_name", "read", "write"]

_RECORD = "treemill"
_ARRAY = "values"
_SAFE = set("_-+=.,() #@!&|^~{}<>")
_ASIDE = "object"
"""The kind of a group that stands for an object of the file."""


def write(results: Outline, path: str) -> None:
    """Write the results."""
    import uproot

    top = results if isinstance(results, OutlineGroup) else OutlineGroup(items={"value": results})
    with uproot.recreate(path) as file:
        record = _put_all(file, top, "", "")
        said = {"format": 1, "one": top is not results, "results": encoded(record)}
        file[_RECORD] = json.dumps(said)


def folder_name(name: str) -> str:
    """A name that ROOT does not read as a path, a cycle or a file."""
    safe = (c if c.isascii() and (c.isalnum() or c in _SAFE) else "_" for c in name)
    return "".join(safe) or "_"


def _put_all(file: WritableDirectory, group: OutlineGroup, folder: str, path: str) -> OutlineGroup:
    """Write the members of a group. What it gives is the record of them, in which objects of the
    file are only named."""
    record = OutlineGroup(group.kind, {}, group.facts)
    names = {_RECORD} if not folder else set()
    for name, each in group.items.items():
        where = f"{path}/{name}" if path else name
        own = folder_name(name)
        if own in names:
            raise unsupported(where, f"as ROOT has an object {own} here already", "rename it")
        names.add(own)
        record.items[name] = _put(file, each, folder + own, where)
    return record


def _put(file: WritableDirectory, results: Outline, at: str, path: str) -> Outline:
    try:
        return _added(file, results, at, path)
    except UnicodeEncodeError as error:
        what = f"which has a text that ROOT does not hold ({error})"
        raise unsupported(path, what, "a .json.gz file holds it") from error


def _added(file: WritableDirectory, results: Outline, at: str, path: str) -> Outline:
    if isinstance(results, OutlineGroup):
        if results.kind == "awkward":
            instead = "a .h5 or .json.gz file holds it, and snapshot(…) makes a tree"
            raise unsupported(path, "an awkward array", instead)
        if results.kind == "cutflow":
            _put_cuts(file, results, at)
            return results
        return _put_all(file, results, f"{at}/", path)
    if results.kind == "histogram":
        return _put_histogram(file, results.value, at, path)
    if results.kind == "array":
        return _put_array(file, results.value, at, path)
    if results.kind != "nothing":
        file[at] = results.value if results.kind == "text" else repr(results.value)
    return results


def _put_histogram(file: WritableDirectory, histogram: Hist, at: str, path: str) -> OutlineGroup:
    check_exact(histogram, path)
    file[at] = root_histogram(histogram, path)
    said = described(histogram, path)
    facts: dict[str, object] = {"at": at}
    if not is_profile(histogram):
        # ROOT's object has the contents. The sums of a profile would give its means only about.
        contents = {k: v for k, v in said["storage"].items() if isinstance(v, np.ndarray)}
        rest = {k: v for k, v in said["storage"].items() if k not in contents}
        said = {**said, "storage": rest}
        facts |= {"contents": sorted(contents), "shape": list(histogram.view(flow=True).shape)}
    return OutlineGroup(_ASIDE, {}, {**facts, "histogram": _plain(said, path)})


def _plain(value: object, path: str) -> object:
    """The value as JSON has it. Raises UnsupportedError for what JSON has no form for."""
    if isinstance(value, dict):
        return {name: _plain(each, path) for name, each in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(each, path) for each in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise unsupported(path, f"whose metadata have a {type(value).__name__}", "leave it out")


def _put_array(
    file: WritableDirectory, array: NDArray[np.generic], at: str, path: str
) -> OutlineGroup:
    if array.dtype.kind == "U":
        raise unsupported(path, "an array of texts", "a .h5 or .json.gz file holds it")
    if 0 in array.shape[1:] or (array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8)):
        what = f"an array of {array.dtype} with shape {array.shape}"
        raise unsupported(path, what, "a .h5 or .json.gz file holds it")
    kind = np.dtype((array.dtype, array.shape[1:])) if array.ndim > 1 else array.dtype
    tree = file.mktree(at, {_ARRAY: kind})
    if len(array):
        tree.extend({_ARRAY: array})
    return OutlineGroup(
        _ASIDE, {}, {"at": at, "array": array.dtype.str, "shape": list(array.shape)}
    )


def _put_cuts(file: WritableDirectory, group: OutlineGroup, at: str) -> None:
    """A histogram of what came to each cut, and one of what passed."""
    import hist

    for name in group.facts["names"]:
        name.encode()  # raises what says more than hist does
    for column in ("total", "passed"):
        if not group.facts["names"]:
            continue
        axis = hist.axis.StrCategory(group.facts["names"], name="cut", overflow=False)
        filled = hist.Hist(axis, storage=hist.storage.Weight())
        view = filled.view(flow=True)
        view["value"] = group.items[column].value  # type: ignore[union-attr]
        view["variance"] = group.items[f"{column}_variance"].value  # type: ignore[union-attr]
        file[f"{at}/{column}"] = root_histogram(filled, at)


def read(path: str) -> Outline:
    """Read what `write` or another program wrote. Raises FormatError for what is not ROOT's."""
    import uproot

    try:
        with open(path, "rb") as plain:
            size = plain.seek(0, os.SEEK_END)
    except OSError as error:
        raise SourceError(f"cannot read: {error.strerror or error}", file=path) from error
    try:
        with uproot.open(path) as file:
            if file.file.fEND > size:
                raise FormatError("the file is cut short", file=path)
            if not 0 < file.file.fBEGIN <= file.fSeekKeys < size:
                raise FormatError(
                    "the file has no list of what is in it: the program that wrote it did not "
                    "close it",
                    file=path,
                )
            names = file.keys(recursive=False)
            records = [name for name in names if name.rpartition(";")[0] == _RECORD]
            if len(records) > 1:
                raise UnsupportedError(
                    "several files were joined into this one, and their numbers were not added: "
                    "load each of them, and add the results",
                    file=path,
                )
            if not records:
                return others(file, path)
            said = json.loads(str(file[_RECORD]))
            results = _got(decoded(said["results"]), file)
            return (
                results.items["value"]
                if said["one"] and isinstance(results, OutlineGroup)
                else results
            )
    except (FormatError, UnsupportedError):
        raise
    except Exception as error:  # uproot has no class of its own for damaged files
        raise FormatError(f"not a ROOT file of results: {error}", file=path) from error


def _got(record: Outline, file: ReadOnlyDirectory) -> Outline:
    if isinstance(record, Leaf):
        return record
    if record.kind != _ASIDE:
        items = {name: _got(each, file) for name, each in record.items.items()}
        return OutlineGroup(record.kind, items, record.facts)
    facts = record.facts
    stored = file[facts["at"]]
    if "array" in facts:
        values = stored[_ARRAY].array(library="np") if stored.num_entries else np.array([])
        return Leaf("array", values.astype(facts["array"]).reshape(facts["shape"]))
    said = facts["histogram"]
    if "contents" in facts:
        empty = {name: np.zeros(facts["shape"]) for name in facts["contents"]}
        said = {**said, "storage": {**said["storage"], **empty}}
    histogram = from_description(_with_arrays(said))
    if "contents" in facts:
        histogram = filled(histogram, stored)
    note_fills(histogram, stored.member("fEntries"))
    return Leaf("histogram", histogram)


def _with_arrays(said: Json) -> Json:
    from uhi.io.json import object_hook

    axes = [object_hook(dict(axis)) for axis in said["axes"]]
    return {**said, "axes": axes, "storage": object_hook(dict(said["storage"]))}
