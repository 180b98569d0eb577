"""Histograms and texts of ROOT files that other programs wrote, as results: all bins, the labels of
axes, the sums of which profiles are made. Warnings name what is left out.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FormatError, first_line, outside
from .fills import note_fills
from .outline import Leaf, Outline, OutlineGroup, first_few
from .root_histograms import ROOT_AXES, ProfileSums, bin_labels, cells, contents

if TYPE_CHECKING:
    from boost_histogram.axis import Axis
    from hist import Hist
    from numpy.typing import NDArray
    from uproot.model import Model
    from uproot.reading import ReadOnlyDirectory

    Numbers = NDArray[np.generic]

__all__ = ["others"]

_COUNTS = {f"TH{n}{letter}": n for n in (1, 2, 3) for letter in "CSILFD"}
_PROFILES = {"TProfile": 1, "TProfile2D": 2, "TProfile3D": 3}
_DIMENSIONS = _COUNTS | _PROFILES
_INTEGER = re.compile("0|-?[1-9][0-9]{0,8}")
"""Labels that axes of integers can have."""
_TOLD = 5
"""Labels that a warning names."""


def others(file: ReadOnlyDirectory, path: str) -> OutlineGroup:
    """The histograms and texts of a file, by folder. Raises FormatError if it has some, and none of
    them can be read."""
    reading = _Reading()
    group = reading.group(file, "")
    if reading.damaged and not group.items:
        raise FormatError(f"nothing in it can be read: {first_few(reading.damaged)}", file=path)
    for what, names, hint in (
        ("left out", reading.left, ": load() takes histograms and texts, and tm.dataset() trees"),
        ("left out", reading.damaged, "; the others are loaded"),
        ("axes have numbers in place of labels:", reading.numbered, ""),
    ):
        if names:
            warnings.warn(f"{path}: {what} {first_few(names)}{hint}", stacklevel=outside())
    return group


@dataclass
class _Reading:
    """The objects of a file that are read, with notes of those that are not."""

    left: list[str] = field(default_factory=list)
    """Objects that are no results."""
    damaged: list[str] = field(default_factory=list)
    """Objects that cannot be read."""
    numbered: list[str] = field(default_factory=list)
    """Axes without their labels."""

    def group(self, folder: ReadOnlyDirectory, path: str) -> OutlineGroup:
        """The results in a folder."""
        group = OutlineGroup()
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

    def _object(self, get: Callable[[], Any], kind: str, where: str) -> Outline | None:
        if kind in _DIMENSIONS:
            histogram, notes = _histogram(get(), kind)
            self.numbered += [f"{where} ({note})" for note in notes]
            return Leaf("histogram", histogram)
        if kind == "TObjString":
            return Leaf("text", str(get()))
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
