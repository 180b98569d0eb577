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

from ..errors import FormatError, first_line
from .outline import Leaf, Outline, OutlineGroup, first_few

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
_AXES = ("fXaxis", "fYaxis", "fZaxis")
_INTEGER = re.compile("0|-?[1-9][0-9]{0,8}")
"""Labels that axes of integers can have."""
_ROUNDING = 1e-9
"""The part of a sum of squares by which differences below zero are rounding. Larger ones are sums
with negative weights."""
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
            warnings.warn(f"{path}: {what} {first_few(names)}{hint}", stacklevel=5)
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

    axes = [stored.member(name) for name in _AXES[: _DIMENSIONS[kind]]]
    shape = [int(axis.member("fNbins")) + 2 for axis in axes]
    storage, cells = (_sums if kind in _PROFILES else _contents)(stored, shape)
    made, notes, place = [], [], []
    for dimension, axis in enumerate(axes):
        below = any(np.take(each, 0, axis=dimension).any() for each in cells.values())
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
    for name, values in cells.items():
        (view[name] if name else view)[...] = values[tuple(place)]
    return histogram, notes


def _contents(stored: Model, shape: Sequence[int]) -> tuple[str, Mapping[str, Numbers]]:
    """The storage for counts or sums of weights, and what each of its fields has in all cells."""
    values = _cells(_base(stored), shape)
    squares = stored.member("fSumw2")
    if len(squares) == values.size:
        return "Weight", {"value": values, "variance": _cells(squares, shape)}
    return "Int64" if values.dtype.kind == "i" else "Double", {"": values}


def _sums(stored: Model, shape: Sequence[int]) -> tuple[str, Mapping[str, Numbers]]:
    """The same for means: ROOT has sums of values and of their squares."""
    weights = _cells(stored.member("fBinEntries"), shape)
    total = _cells(_base(stored), shape)
    of_squares = _cells(stored.member("fSumw2"), shape)
    squares = stored.member("fBinSumw2", none_if_missing=True)
    weighted = squares is not None and len(squares) == weights.size
    squares = _cells(squares, shape) if weighted else weights
    mean = np.divide(total, weights, out=np.zeros(shape), where=weights != 0)
    # As hist has it: there is no mean where weights cancel.
    mean[(weights == 0) & (squares != 0)] = np.nan
    off = of_squares - weights * mean**2
    off[(off < 0) & (off > -_ROUNDING * np.abs(of_squares))] = 0.0
    if not weighted:
        return "Mean", {"count": weights, "value": mean, "_sum_of_deltas_squared": off}
    return "WeightedMean", {
        "sum_of_weights": weights,
        "sum_of_weights_squared": squares,
        "value": mean,
        "_sum_of_weighted_deltas_squared": off,
    }


def _base(stored: Model) -> object:
    from uproot.models.TArray import Model_TArray

    (array,) = stored.base(Model_TArray)
    return array


def _cells(values: object, shape: Sequence[int]) -> Numbers:
    """ROOT's cells, of which the first index runs fastest, by all indices."""
    array = np.asarray(values)
    return array.astype(array.dtype.newbyteorder("=")).reshape(shape[::-1]).T


def _labels(axis: Model, is_below: bool) -> tuple[list[str] | None, str]:
    """A label for each bin, and nothing; or None, and the reason if there are labels nevertheless.
    Bins without a label are called by their numbers. `is_below`: whether something is below the
    first bin, which axes with labels do not have."""
    stored = axis.member("fLabels", none_if_missing=True)
    texts = [] if stored is None else [str(each) for each in stored]
    if not any(texts):
        return None, ""
    bins = int(axis.member("fNbins"))
    # ROOT goes by these numbers; programs that leave them out have labels in the bins' order.
    numbers = [int(each.member("@fUniqueID")) for each in stored]
    if not any(numbers) and len(texts) == bins:
        numbers = [*range(1, bins + 1)]
    named = dict(zip(numbers, texts, strict=True))
    if is_below:
        return None, f"there is something below the bins of {', '.join(texts[:_TOLD])}"
    if len(named) < len(texts) or not all(1 <= number <= bins for number in numbers):
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
