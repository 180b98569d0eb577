"""Results in a ROOT file, by uproot: mappings are folders, histograms are ROOT's own, numbers are
texts, arrays are trees. A text named "treemill" says what it all was, so that the same results come
back. Files of histograms by ROOT and by others are read, too.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FormatError, SourceError, UnsupportedError, first_line, warn
from .histograms import note_fills
from .json_file import decoded, encoded
from .result_tree import (
    Json,
    ResultGroup,
    ResultLeaf,
    ResultTree,
    described,
    first_few,
    from_description,
    unsupported,
)
from .root_histograms import (
    ROOT_AXES,
    ProfileSums,
    bin_labels,
    cells,
    check_exact,
    contents,
    filled,
    is_profile,
    root_histogram,
)

if TYPE_CHECKING:
    from hist import Hist
    from numpy.typing import NDArray
    from uproot.model import Model
    from uproot.reading import ReadOnlyDirectory
    from uproot.writing import WritableDirectory

__all__ = ["folder_name", "read", "write"]

# Histograms and texts of ROOT files that other programs wrote, as results: all bins, the labels
# of axes, the sums of which profiles are made. Warnings name what is left out.

if TYPE_CHECKING:
    from boost_histogram.axis import Axis
    from hist import Hist
    from numpy.typing import NDArray
    from uproot.model import Model
    from uproot.reading import ReadOnlyDirectory

    Numbers = NDArray[np.generic]


_COUNTS = {f"TH{n}{letter}": n for n in (1, 2, 3) for letter in "CSILFD"}
_PROFILES = {"TProfile": 1, "TProfile2D": 2, "TProfile3D": 3}
_DIMENSIONS = _COUNTS | _PROFILES
_INTEGER = re.compile("0|-?[1-9][0-9]{0,8}")
"""Labels that axes of integers can have."""
_TOLD = 5
"""Labels that a warning names."""


def others(file: ReadOnlyDirectory, path: str) -> ResultGroup:
    """The histograms and texts of a file, by folder. Raises FormatError if it has some, and none of
    them can be read."""
    reading = _ForeignReading()
    group = reading.group(file, "")
    if reading.damaged and not group.items:
        raise FormatError(f"nothing in it can be read: {first_few(reading.damaged)}", file=path)
    for what, names, hint in (
        ("left out", reading.left, ": load() takes histograms and texts, and tm.dataset() trees"),
        ("left out", reading.damaged, "; the others are loaded"),
        ("axes have numbers in place of labels:", reading.numbered, ""),
    ):
        if names:
            warn(f"{path}: {what} {first_few(names)}{hint}")
    return group


@dataclass
class _ForeignReading:
    """The objects of a file that are read, with notes of those that are not."""

    left: list[str] = field(default_factory=list)
    """Objects that are no results."""
    damaged: list[str] = field(default_factory=list)
    """Objects that cannot be read."""
    numbered: list[str] = field(default_factory=list)
    """Axes without their labels."""

    def group(self, folder: ReadOnlyDirectory, path: str) -> ResultGroup:
        """The results in a folder."""
        group = ResultGroup()
        for name in dict.fromkeys(folder.keys(recursive=False, cycle=False)):
            key = folder.key(name)  # the newest of this name
            kind, where = str(key.fClassName), f"{path}{name}"
            try:
                found = self._object(key.get, kind, where)
            except Exception as error:  # uproot has no class of its own for damaged objects
                self.damaged.append(f"{where} ({kind}: {first_line(error)})")
                continue
            if found is not None:
                group.items[name] = found
        return group

    def _object(self, get: Callable[[], Any], kind: str, where: str) -> ResultTree | None:
        if kind in _DIMENSIONS:
            histogram, notes = _histogram(get(), kind)
            self.numbered += [f"{where} ({note})" for note in notes]
            return ResultLeaf("histogram", histogram)
        if kind == "TObjString":
            return ResultLeaf("text", str(get()))
        if kind.startswith("TDirectory"):
            inner = self.group(get(), f"{where}/")
            return inner if inner.items else None
        self.left.append(f"{where} ({kind})")
        return None


def _histogram(stored: Model, kind: str) -> tuple[Hist, list[str]]:
    """The histogram, and for each axis whose labels it cannot have the reason."""
    import hist

    dimensions = _DIMENSIONS[kind]
    axes = [stored.member(name) for name in ROOT_AXES[:dimensions]]
    sums = ProfileSums.of(stored, dimensions) if kind in _PROFILES else None
    storage, fields = (
        _contents(stored, dimensions) if sums is None else (sums.storage, sums.fields())
    )
    made, notes, place = [], [], []
    for dimension, axis in enumerate(axes):
        below = any(np.take(each, 0, axis=dimension).any() for each in fields.values())
        labels, note = _labels(axis, below)
        made.append(_axis(axis, labels))
        notes += [f"{axis.member('fName')}: {note}"] if note else []
        place.append(slice(0 if labels is None else 1, None))
    histogram = hist.Hist(
        *made,
        storage=getattr(hist.storage, storage)(),
        name=stored.member("fName"),
        label=stored.member("fTitle"),
    )
    view = histogram.view(flow=True)
    for name, values in fields.items():
        (view[name] if name else view)[...] = values[tuple(place)]
    if stored.member("fEntries") > 0:
        note_fills(histogram, stored.member("fEntries"))
    if sums is not None:
        sums.note(histogram, tuple(place))
    return histogram, notes


def _contents(stored: Model, dimensions: int) -> tuple[str, Mapping[str, Numbers]]:
    """The storage for counts or sums of weights, and what each of its fields has in all cells."""
    values = contents(stored, dimensions)
    squares = stored.member("fSumw2")
    if len(squares) == values.size:
        return "Weight", {"value": values, "variance": cells(squares, values.shape)}
    return "Int64" if values.dtype.kind == "i" else "Double", {"": values}


def _labels(axis: Model, is_below: bool) -> tuple[list[str] | None, str]:
    """A label for each bin, and nothing; or None, and the reason if there are labels nevertheless.
    Bins without a label are called by their numbers. `is_below`: whether something is below the
    first bin, which axes with labels do not have."""
    labelled = bin_labels(axis)
    texts = [text for _, text in labelled]
    if not any(texts):
        return None, ""
    bins = int(axis.member("fNbins"))
    named = dict(labelled)
    if is_below:
        return None, f"there is something below the bins of {', '.join(texts[:_TOLD])}"
    if len(named) < len(texts) or not all(1 <= number <= bins for number in named):
        return None, f"it is not said which bins are {', '.join(texts[:_TOLD])}"
    return [named.get(number) or f"bin {number}" for number in range(1, bins + 1)], ""


def _axis(axis: Model, labels: Sequence[str] | None) -> Axis:
    import hist

    named = {"name": axis.member("fName"), "label": axis.member("fTitle")}
    bins, edges = axis.member("fNbins"), axis.member("fXbins")
    if labels is not None:
        if all(map(_INTEGER.fullmatch, labels)):
            return hist.axis.IntCategory([int(label) for label in labels], **named)
        return hist.axis.StrCategory(labels, **named)
    if len(edges) == bins + 1:
        return hist.axis.Variable(np.asarray(edges, float), **named)
    return hist.axis.Regular(bins, axis.member("fXmin"), axis.member("fXmax"), **named)


_RECORD = "treemill"
_ARRAY = "values"
_SAFE = set("_-+=.,() #@!&|^~{}<>")
_ASIDE = "object"
"""The kind of a group that stands for an object of the file."""


def write(results: ResultTree, path: str) -> None:
    """Write the results."""
    import uproot

    top = results if isinstance(results, ResultGroup) else ResultGroup(items={"value": results})
    with uproot.recreate(path) as file:
        record = _put_all(file, top, "", "")
        own = str(file.file.uuid)
        said = {"format": 1, "one": top is not results, "results": encoded(record), "uuid": own}
        file[_RECORD] = json.dumps(said)


def folder_name(name: str) -> str:
    """A name that ROOT does not read as a path, a cycle or a file."""
    safe = (c if c.isascii() and (c.isalnum() or c in _SAFE) else "_" for c in name)
    return "".join(safe) or "_"


def _put_all(file: WritableDirectory, group: ResultGroup, folder: str, path: str) -> ResultGroup:
    """Write the members of a group. What it gives is the record of them, in which objects of the
    file are only named."""
    record = ResultGroup(group.kind, {}, group.facts)
    names = {_RECORD} if not folder else set()
    for name, each in group.items.items():
        where = f"{path}/{name}" if path else name
        own = folder_name(name)
        if own in names:
            raise unsupported(where, f"as ROOT has an object {own} here already", "rename it")
        names.add(own)
        record.items[name] = _put(file, each, folder + own, where)
    return record


def _put(file: WritableDirectory, results: ResultTree, at: str, path: str) -> ResultTree:
    try:
        return _added(file, results, at, path)
    except UnicodeEncodeError as error:
        what = f"which has a text that ROOT does not hold ({error})"
        raise unsupported(path, what, "a .json.gz file holds it") from error


def _added(file: WritableDirectory, results: ResultTree, at: str, path: str) -> ResultTree:
    if isinstance(results, ResultGroup):
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


def _put_histogram(file: WritableDirectory, histogram: Hist, at: str, path: str) -> ResultGroup:
    check_exact(histogram, path)
    file[at] = root_histogram(histogram, path)
    said = described(histogram, path, is_all=False)
    facts: dict[str, object] = {"at": at}
    if not is_profile(histogram):
        # ROOT's object has the contents. The sums of a profile would give its means only about.
        contents = {k: v for k, v in said["storage"].items() if isinstance(v, np.ndarray)}
        rest = {k: v for k, v in said["storage"].items() if k not in contents}
        said = {**said, "storage": rest}
        facts |= {"contents": sorted(contents), "shape": list(histogram.view(flow=True).shape)}
    return ResultGroup(_ASIDE, {}, {**facts, "histogram": _plain(said, path)})


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
) -> ResultGroup:
    if array.dtype.kind == "U":
        raise unsupported(path, "an array of texts", "a .h5 or .json.gz file holds it")
    if 0 in array.shape[1:] or (array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8)):
        what = f"an array of {array.dtype} with shape {array.shape}"
        raise unsupported(path, what, "a .h5 or .json.gz file holds it")
    kind = np.dtype((array.dtype, array.shape[1:])) if array.ndim > 1 else array.dtype
    tree = file.mktree(at, {_ARRAY: kind})
    if len(array):
        tree.extend({_ARRAY: array})
    return ResultGroup(_ASIDE, {}, {"at": at, "array": array.dtype.str, "shape": list(array.shape)})


def _put_cuts(file: WritableDirectory, group: ResultGroup, at: str) -> None:
    """A histogram of what came to each cut, and one of what passed."""
    for name in group.facts["names"]:
        name.encode()  # raises what says more than hist does
    for column in ("total", "passed"):
        if not group.facts["names"]:
            continue
        made = _empty_cuts(group.facts["names"])
        view = made.view(flow=True)
        view["value"] = group.items[column].value  # type: ignore[union-attr]
        view["variance"] = group.items[f"{column}_variance"].value  # type: ignore[union-attr]
        # The number of entries, or what adds up as it does if there are weights.
        note_fills(made, float(view["variance"].sum()))
        file[f"{at}/{column}"] = root_histogram(made, at)


def _empty_cuts(names: Sequence[str]) -> Hist:
    import hist

    axis = hist.axis.StrCategory(names, name="cut", overflow=False)
    return hist.Hist(axis, storage=hist.storage.Weight())


def read(path: str) -> ResultTree:
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
                    "the file has no list of its contents: the program that wrote it did not "
                    "close it",
                    file=path,
                )
            names = [name for name in file.keys(recursive=False) if _is_record(name)]
            if not names:
                return others(file, path)
            said = [json.loads(str(file[name])) for name in reversed(names)]
            # ROOT may keep one record of several, and joins other programs' files, too.
            is_copy = said[0].get("uuid", str(file.file.uuid)) != str(file.file.uuid)
            results = _results([decoded(each["results"]) for each in said], file, path, is_copy)
            if said[0]["one"] and isinstance(results, ResultGroup):
                return results.items["value"]
            return results
    except (FormatError, UnsupportedError):
        raise
    except Exception as error:  # uproot has no class of its own for damaged files
        raise FormatError(f"not a ROOT file of results: {error}", file=path) from error


def _is_record(name: str) -> bool:
    return name.rpartition(";")[0] == _RECORD


def _results(
    records: Sequence[ResultTree], file: ReadOnlyDirectory, path: str, is_copy: bool
) -> ResultTree:
    """What these records name. Several are of a file that ROOT has joined from files of results: a
    warning names what is not known then. Raises UnsupportedError if nothing is. `is_copy`: whether
    they were written for another file, which may have been joined."""
    reading = _Reading(file, is_copy or len(records) > 1)
    found = reading.of(records, "", "")
    instead = "load each of the files that were joined, and add the results"
    if len(records) == 1:
        instead = "load the files that save() has written, and add the results if there are several"
    if found is None or (reading.left and isinstance(found, ResultGroup) and not found.items):
        raise UnsupportedError(
            f"it was joined from several files, but their results were not added: {instead}",
            file=path,
        )
    if reading.left:
        how = "joined from several files"
        if len(records) == 1:
            how = "written by another program, such as hadd, from what may be several files"
        words = f"{path} was {how}. Left out: {first_few(reading.left)}"
        warn(f"{words}; {instead}")
    return found


class _UnknownError(Exception):
    """A result is not known; why."""


@dataclass
class _Reading:
    """Reads what the records of a file name. If there are several, ROOT has added histograms, and
    nothing else. Records may be missing then, as those of a file that was itself joined: only what
    ROOT has added is taken from it."""

    file: ReadOnlyDirectory
    is_joined: bool
    left: list[str] = field(default_factory=list)
    """The results that are not known, and why."""
    taken: dict[str, str] = field(default_factory=dict)
    """The results by where they are in the file."""

    def of(self, records: Sequence[ResultTree], at: str, path: str) -> ResultTree | None:
        """The result that these records are of; None if it is not known."""
        try:
            return self._known(records, at, path)
        except _UnknownError as why:
            self._leave(path, str(why))
            return None

    def _leave(self, path: str, why: str) -> None:
        self.left.append(f"{path or 'the result'} ({why})")

    def _known(self, records: Sequence[ResultTree], at: str, path: str) -> ResultTree:
        first = records[0]
        if self.taken.setdefault(at, path) != path:
            raise _UnknownError(f"its name is that of {self.taken[at]} in the file")
        if any(each.kind != first.kind for each in records):
            raise _UnknownError("other kinds of objects in each")
        if isinstance(first, ResultLeaf):
            if self.is_joined and first.kind == "number":
                raise _UnknownError("a number")
            if any(each != first for each in records):
                raise _UnknownError(f"another {first.kind} in each")
            return first
        groups = [each for each in records if isinstance(each, ResultGroup)]
        if first.kind == _ASIDE:
            return self._object([group.facts for group in groups])
        if first.kind == "cutflow" and self.is_joined:
            return self._cuts(groups, at)
        return self._group(groups, at, path)

    def _group(self, groups: Sequence[ResultGroup], at: str, path: str) -> ResultGroup:
        first = groups[0]
        facts = first.facts
        by_name = first.kind in ("mapping", "by_dataset")
        if not by_name and any(group.items.keys() != first.items.keys() for group in groups):
            raise _UnknownError("other parts in each")
        if first.kind == "by_dataset":
            metadata: Json = {}
            for group in reversed(groups):
                metadata |= group.facts["metadata"]
            if any({**metadata, **group.facts["metadata"]} != metadata for group in groups):
                self._leave(path, "other metadata in each, but for those of the first")
            facts = {**facts, "metadata": metadata}
        elif any(group.facts != facts for group in groups):
            raise _UnknownError("described in another way in each")
        made = ResultGroup(first.kind, {}, facts)
        folder = f"{at}/" if at else ""
        for name in dict.fromkeys(name for group in groups for name in group.items):
            records = [group.items[name] for group in groups if name in group.items]
            below = f"{path}/{name}" if path else name
            found = self.of(records, folder + folder_name(name), below)
            if found is not None:
                made.items[name] = found
            elif not by_name:
                raise _UnknownError("it has a part that is left out")
        if self.is_joined and by_name and (not at or at in self.file):
            there = self.file.get(at) if at else self.file
            for name in there.keys(recursive=False, cycle=False):
                if folder + name not in {*self.taken, _RECORD}:
                    self._leave(folder + name, "of a file whose record is lost")
        return made

    def _cuts(self, groups: Sequence[ResultGroup], at: str) -> ResultGroup:
        """A cut flow from its histograms."""
        facts = groups[0].facts
        if any(group.facts != facts for group in groups):
            raise _UnknownError("other cuts in each")
        if not facts["names"]:
            return groups[0]
        items: dict[str, ResultTree] = {}
        for column in ("total", "passed"):
            added = filled(_empty_cuts(facts["names"]), self.file[f"{at}/{column}"]).view()
            for name, values in ((column, added.value), (f"{column}_variance", added.variance)):
                whole = all(group.items[name].value.dtype.kind == "i" for group in groups)  # type: ignore[union-attr]
                items[name] = ResultLeaf(
                    "array", values.astype(np.int64) if whole else values.copy()
                )
        return ResultGroup("cutflow", items, facts)

    def _object(self, facts: Sequence[Json]) -> ResultTree:
        first = facts[0]
        if any("array" in each for each in facts):
            if self.is_joined:
                raise _UnknownError("an array")
            tree = self.file[first["at"]]
            values = tree[_ARRAY].array(library="np") if tree.num_entries else np.array([])
            return ResultLeaf("array", values.astype(first["array"]).reshape(first["shape"]))
        stored = self.file[first["at"]]
        said = [each["histogram"] for each in facts]
        axes = _common_axes([each["axes"] for each in said], stored)
        if axes is None or any(
            each["storage"]["type"] != said[0]["storage"]["type"] for each in said
        ):
            raise _UnknownError("other axes or another storage in each")
        if self.is_joined and _is_less(stored, said):
            raise _UnknownError("ROOT has left out bins of categories where weights cancel")
        return ResultLeaf("histogram", filled(_unfilled(first, axes), stored))


def _is_less(stored: Model, said: Sequence[Json]) -> bool:
    """True if a profile that ROOT has added lacks fills of some record. Sums of squared weights
    only grow."""
    if said[0]["storage"]["type"] not in _FILLS:
        return False
    fills = _FILLS[said[0]["storage"]["type"]]
    wanted = sum(float(np.sum(_with_arrays(each)["storage"][fills])) for each in said)
    sums = ProfileSums.of(stored, len(said[0]["axes"]))
    found = sums.weights if sums.squared_weights is None else sums.squared_weights
    return float(found.sum()) < wanted * (1 - 1e-9)


_FILLS = {"mean": "counts", "weighted_mean": "sum_of_weights_squared"}
"""What grows with each fill of a profile, by UHI's name of its storage."""


def _common_axes(all_axes: Sequence[Sequence[Json]], stored: Model) -> Sequence[Json] | None:
    """The axes of a histogram that ROOT has added; None if theirs are different. If axes get
    categories when they are filled, the sum has those of all."""
    if len({len(axes) for axes in all_axes}) > 1:
        return None
    common = []
    for number, axes in enumerate(zip(*all_axes, strict=True)):
        first = axes[0]
        grows = bool(first.get("writer_info", {}).get("boost-histogram", {}).get("growth"))
        # ROOT takes labels of the third axis for those of the second: they are not added by label.
        by_label = grows and first["type"].startswith("category") and number < len(ROOT_AXES) - 1
        own = {"metadata", "categories"} if by_label else {"metadata"}
        bare = [{name: axis[name] for name in axis.keys() - own} for axis in axes]
        if any(each != bare[0] for each in bare):
            return None
        if by_label:
            labels = [text for _, text in sorted(bin_labels(stored.member(ROOT_AXES[number])))]
            is_text = first["type"] == "category_str"
            first = {**first, "categories": labels if is_text else list(map(int, labels))}
        common.append(first)
    return common


def _unfilled(facts: Json, axes: Sequence[Json]) -> Hist:
    """The histogram of a record, with these axes, but for what is in the file's object only."""
    said = _with_arrays({**facts["histogram"], "axes": axes})
    storage = said["storage"]
    arrays = {name for name, each in storage.items() if isinstance(each, np.ndarray)}
    shape = list(facts.get("shape") or np.shape(storage["values"]))
    before = list(shape)
    for number, axis in enumerate(axes):
        if axis["type"].startswith("category") and not axis["flow"]:
            shape[number] = len(axis["categories"])
    empty = {*facts.get("contents", ()), *(arrays if shape != before else ())}
    said["storage"] = {**storage, **{name: np.zeros(shape) for name in empty}}
    return from_description(said)


def _with_arrays(said: Json) -> Json:
    from uhi.io.json import object_hook

    axes = [object_hook(dict(axis)) for axis in said["axes"]]
    return {**said, "axes": axes, "storage": object_hook(dict(said["storage"]))}
