"""Histograms of hist as ROOT's classes, for uproot to write, and the contents of ROOT's into them.

TH1D to TH3D for counts and sums of weights, TProfile and TProfile2D for means. All bins outside are
kept: ROOT has one below and one above on every axis, hist has those that the user wants.

Categories are bins with labels, on axes that may get more of them: ROOT adds such histograms label
by label. It loses what is above such an axis then, so that what is in none of the categories is in
a bin with a label, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import warn
from ..pictures.histogram_labels import edges_of
from .histograms import cancelled_of, fills_of, note_cancelled, note_fills
from .result_tree import unsupported

if TYPE_CHECKING:
    from boost_histogram.axis import Axis
    from hist import Hist
    from numpy.typing import NDArray
    from uproot.model import Model

    Numbers = NDArray[np.float64]

__all__ = [
    "ROOT_AXES",
    "ProfileSums",
    "bin_labels",
    "cells",
    "check_exact",
    "contents",
    "filled",
    "is_profile",
    "root_histogram",
]

_EXACT = 2**53
"""The largest whole number up to which doubles have all: an integer, as 2^53 + 1 is 2.0^53."""
_ELSEWHERE = "a .h5 or .json.gz file holds it"
ROOT_AXES = ("fXaxis", "fYaxis", "fZaxis")
"""The axes of ROOT's histograms."""
_CATEGORIES = ("StrCategory", "IntCategory", "Boolean")
_ROUNDING = 1e-9
"""The part of a sum of squares by which differences below zero are rounding. Larger ones are sums
with negative weights."""
_SHIFT = (1e-200, 1e-14)
"""What a sum of squares is shifted by, at least and in parts of itself, where ROOT would otherwise
take a bin for empty: less than rounding, and enough for an error that is not 0."""
_SHIFTED = 1e-190
"""Deviations below this are such shifts."""
_OTHER = "(other)"
"""The label of what is in none of an axis' categories."""
_END = float(np.finfo(float).max) / 2
"""The end of a bin without one: two of these are not farther apart than a double holds."""
_GROWS_BY_LABEL = 0b11
"""TAxis::kAlphanumeric and kCanExtend."""


def is_profile(histogram: Hist) -> bool:
    """True if it has means."""
    return str(histogram.kind) in ("MEAN", "Kind.MEAN")


def root_histogram(histogram: Hist, path: str) -> Model:
    """The object that uproot writes. Raises UnsupportedError if there is none for it."""
    axes, profile = histogram.axes, is_profile(histogram)
    most = 2 if profile else 3
    if not 1 <= len(axes) <= most:
        what = f"a {'profile' if profile else 'histogram'} of {len(axes)} dimensions"
        raise unsupported(path, f"{what}, which cannot be written to a ROOT file", _ELSEWHERE)
    if histogram.storage_type.__name__ == "MultiCell":
        raise unsupported(path, "a histogram of storage MultiCell", _ELSEWHERE)
    labels = [_labels_of(histogram, i) for i in range(len(axes))]
    # ROOT takes labels of the third axis for those of the second.
    grows = len(axes) < 3 or labels[2] is None
    if not grows and axes[2].traits.growth:
        _warn(
            path,
            "has categories on its third axis, by which hadd does not add: put them on the first "
            "or the second one if you will add files with other categories",
        )
    by_label = any(each is not None for each in labels)
    made = [
        _axis(*each, grows=grows, by_label=by_label)
        for each in zip(axes, ROOT_AXES, labels, strict=False)
    ]
    return _profile(histogram, made, path, by_label) if profile else _counts(histogram, made)


def _title(histogram: Hist) -> str:
    return str(getattr(histogram, "label", None) or getattr(histogram, "name", None) or "")


def _counts(histogram: Hist, axes: Sequence[Model]) -> Model:
    from uproot.writing import identify

    view = histogram.view(flow=True)
    weighted = histogram.storage_type.__name__ == "Weight"
    values = _padded(view["value"] if weighted else view, histogram.axes, axes)
    squares = _padded(view["variance"], histogram.axes, axes) if weighted else None
    make = (identify.to_TH1x, identify.to_TH2x, identify.to_TH3x)[len(axes) - 1]
    # Without sums over values of x ROOT takes them from the bins.
    sums = [0.0] * (4, 7, 11)[len(axes) - 1]
    kinds = dict(zip(ROOT_AXES, axes, strict=False))
    entries = fills_of(histogram)
    return make(None, _title(histogram), values, entries, *sums, fSumw2=squares, **kinds)


def _profile(histogram: Hist, axes: Sequence[Model], path: str, by_label: bool) -> Model:
    from uproot.writing import identify

    view = histogram.view(flow=True)
    weighted = histogram.storage_type.__name__ == "WeightedMean"
    names = ("sum_of_weights", "_sum_of_weighted_deltas_squared")
    weights, off = names if weighted else ("count", "_sum_of_deltas_squared")
    sums, means, deltas = (
        _padded(view[name], histogram.axes, axes) for name in (weights, "value", off)
    )
    of_weights = _padded(view["sum_of_weights_squared"], histogram.axes, axes) if weighted else sums
    means = np.where(of_weights == 0, 0.0, means)
    with np.errstate(invalid="ignore"):  # where weights cancel hist may have an infinite mean
        totals, squares = sums * means, deltas + sums * means**2
    # Where weights cancel there is no mean, but ROOT's sums are there.
    known = cancelled_of(histogram)
    gone = (sums == 0) & (of_weights != 0) & ~np.isfinite(means)
    if known is None and gone.any():
        _warn(
            path,
            f"has {int(gone.sum())} bins where weights cancel, and hist does not keep their sums: "
            "they are no numbers in the file. Save profiles before you add them, and add the files",
        )
    if known is not None:
        first, second = (_padded(each, histogram.axes, axes) for each in known)
        totals, squares = np.where(gone, first, totals), np.where(gone, second, squares)
    if by_label:
        squares = _seen(sums, of_weights, totals, squares, path)
    one = len(axes) == 1
    make = identify.to_TProfile if one else identify.to_TProfile2D
    kinds = dict(zip(ROOT_AXES, axes, strict=False))
    return make(
        None,
        _title(histogram),
        totals,
        fills_of(histogram),
        *[0.0] * (6 if one else 9),
        fSumw2=squares,
        fBinEntries=sums,
        fBinSumw2=of_weights,
        **kinds,
    )


def _seen(
    sums: Numbers, of_weights: Numbers, totals: Numbers, squares: Numbers, path: str
) -> Numbers:
    """The sums of squares by which ROOT sees each bin with fills. When ROOT adds by label, it skips
    a bin whose mean and error are 0. The mean is 0 for it if the weights do not sum to more than 0,
    and the error if all values are equal: bins of zeros, and of one fill with a negative weight."""
    filled = of_weights != 0
    skipped = filled & (sums == 0)
    if skipped.any():
        _warn(
            path,
            f"has {int(skipped.sum())} bins of categories where weights cancel, and hadd leaves "
            "out such bins: if you will add files, give the axis numbers instead of categories",
        )
    means = np.divide(totals, sums, out=np.zeros(sums.shape), where=sums != 0)
    least, part = _SHIFT
    spread = np.abs(squares - sums * means**2)
    hidden = filled & ((sums < 0) | (totals == 0)) & (spread <= part * np.abs(squares))
    return np.where(hidden, squares + np.maximum(least, part * np.abs(squares)), squares)


def _warn(path: str, words: str) -> None:
    warn(f"{path or 'the result'} {words}")


def _falls(axis: Axis) -> bool:
    """Whether a regular axis goes from its upper end to its lower one."""
    return axis.traits.continuous and bool(axis.edges[0] > axis.edges[-1])


def _slices(axes: Sequence[Axis], made: Sequence[Model]) -> tuple[slice, ...]:
    """Returns where hist's bins lie among ROOT's, whose axes all rise (ROOT adds no others)."""
    slices = []
    for axis, theirs in zip(axes, made, strict=True):
        turns = _falls(axis) and theirs.member("fXmin") < theirs.member("fXmax")
        at = 0 if (axis.traits.overflow if turns else axis.traits.underflow) else 1
        last = at + axis.extent - 1
        slices.append(slice(last, at - 1 if at else None, -1) if turns else slice(at, last + 1))
    return tuple(slices)


def _padded(values: NDArray[np.generic], axes: Sequence[Axis], made: Sequence[Model]) -> Numbers:
    """ROOT's bins in ROOT's order. `made`: ROOT's axes."""
    padded = np.zeros([axis.member("fNbins") + 2 for axis in made])
    padded[_slices(axes, made)] = values
    return np.ascontiguousarray(padded.T.reshape(-1), ">f8")


def _labels_of(histogram: Hist, number: int) -> list[str] | None:
    """The labels of an axis' bins; None if it has numbers."""
    axis = histogram.axes[number]
    if type(axis).__name__ not in _CATEGORIES:
        return None
    labels = [str(axis.value(i)) for i in range(axis.size)]
    view = np.moveaxis(histogram.view(flow=True), number, 0)
    beyond = view[axis.size :]  # no bin, or one
    if any((beyond[name] != 0).any() for name in beyond.dtype.names or (...,)):
        other = _OTHER
        while other in labels:
            other = f"({other})"
        labels.append(other)
    return labels


def _axis(
    axis: Axis, name: str, labels: Sequence[str] | None, *, grows: bool, by_label: bool
) -> Model:
    """`by_label`: whether ROOT adds by the labels of an axis. By an axis of numbers it adds by the
    centres of bins then, and a bin without an end needs one to have a centre."""
    from uproot.writing import identify

    kind = type(axis).__name__
    even = kind == "Regular" and axis.transform is None
    # ROOT has no axis without bins.
    bins = axis.size if labels is None else max(len(labels), 1)
    edges = np.arange(bins + 1.0) if labels is not None else np.array(edges_of(axis))
    if labels is None and _falls(axis):
        edges = edges[::-1]
    if by_label:
        edges = np.clip(edges, -_END, _END)
    uneven = not even and labels is None and kind != "Integer"
    return identify.to_TAxis(
        name[1:].lower(),
        str(getattr(axis, "label", "") or ""),
        bins,
        float(edges[0]),
        float(edges[-1]),
        fXbins=edges.astype(">f8") if uneven else np.array([], ">f8"),
        fBits2=_GROWS_BY_LABEL if labels is not None and grows else 0,
        fLabels=None if labels is None else _labels(labels),
    )


def _labels(words: Sequence[str]) -> Model:
    from uproot.writing import identify

    labels = identify.to_THashList([identify.to_TObjString(word) for word in words])
    for number, each in enumerate(labels, 1):  # TAxis::SetBinLabel keeps the bin's number so
        each._bases[0]._members["@fUniqueID"] = number
    return labels


def check_exact(histogram: Hist, path: str) -> None:
    """Raise UnsupportedError if a bin has a whole number that ROOT's doubles do not hold."""
    if histogram.storage_type.__name__ not in ("Int64", "AtomicInt64"):
        return
    counts = histogram.view(flow=True)
    if counts.size and not -_EXACT <= counts.min() <= counts.max() <= _EXACT:
        raise unsupported(path, "which has more than 2^53 in a bin", _ELSEWHERE)


def filled(histogram: Hist, stored: Model) -> Hist:
    """Put the contents of ROOT's histogram into one with the same bins. Bins with labels are found
    by them. A profile that has the same weights stays as it is, as ROOT's sums give its means only
    about. Raises KeyError if a category has no bin."""
    place = np.ix_(*_places(histogram, stored))
    view, storage = histogram.view(flow=True), histogram.storage_type.__name__
    if is_profile(histogram):
        sums = ProfileSums.of(stored, view.ndim)
        fields = sums.fields(storage)
        weights = [name for name in fields if name == "count" or name.startswith("sum_of_weights")]
        if not all(np.array_equal(view[name], fields[name][place]) for name in weights):
            for name, values in fields.items():
                view[name] = values[place]
        else:
            # UHI's form has no deviations where weights give no estimate of the variance.
            off = next(name for name in fields if name.startswith("_sum"))
            kept, known = view[off], fields[off][place]
            is_lost = (kept == 0) & (np.abs(known) > _ROUNDING * np.abs(sums.of_squares[place]))
            view[off] = np.where(is_lost, known, kept)
        sums.note(histogram, place)
    else:
        values = contents(stored, view.ndim)
        (view["value"] if storage == "Weight" else view)[...] = values[place]
        if storage == "Weight":
            # Where there are no sums of squares ROOT goes by the contents.
            squares = stored.member("fSumw2")
            is_there = len(squares) == values.size
            view["variance"] = (cells(squares, values.shape) if is_there else abs(values))[place]
    note_fills(histogram, stored.member("fEntries"))
    return histogram


def _places(histogram: Hist, stored: Model) -> list[list[int]]:
    """ROOT's bins of hist's, by axis."""
    places = []
    made = [stored.member(name) for name in ROOT_AXES[: len(histogram.axes)]]
    for theirs, axis, bins in zip(made, histogram.axes, _slices(histogram.axes, made), strict=True):
        place = list(range(theirs.member("fNbins") + 2)[bins])
        numbers = {text: number for number, text in bin_labels(theirs)}
        if type(axis).__name__ in _CATEGORIES and numbers:
            labels = [str(axis.value(i)) for i in range(axis.size)]
            place[: axis.size] = [numbers.pop(label) for label in labels]
            # What is in none of the categories has a label, too, if there is something.
            place[axis.size :] = [*numbers.values(), place[-1]][: len(place) - axis.size]
        places.append(place)
    return places


def bin_labels(axis: Model) -> list[tuple[int, str]]:
    """The numbers and the labels of the bins of ROOT's axis that have labels."""
    stored = axis.member("fLabels", none_if_missing=True)
    texts = [] if stored is None else [str(each) for each in stored]
    # ROOT goes by these numbers; programs that leave them out have labels in the bins' order.
    numbers = [int(each.member("@fUniqueID")) for each in stored or ()]
    if not any(numbers) and len(texts) == axis.member("fNbins"):
        numbers = [*range(1, len(texts) + 1)]
    return list(zip(numbers, texts, strict=True))


@dataclass(frozen=True)
class ProfileSums:
    """What ROOT's profiles have in all cells."""

    weights: Numbers
    squared_weights: Numbers | None
    """None if there are no weights."""
    total: Numbers
    """The weighted sum of the sample."""
    of_squares: Numbers
    """The same of its squares."""

    @classmethod
    def of(cls, stored: Model, dimensions: int) -> ProfileSums:
        """Those of a profile."""
        total = contents(stored, dimensions)
        squared = stored.member("fBinSumw2", none_if_missing=True)
        weighted = squared is not None and len(squared) == total.size
        return cls(
            cells(stored.member("fBinEntries"), total.shape),
            cells(squared, total.shape) if weighted else None,
            total,
            cells(stored.member("fSumw2"), total.shape),
        )

    @property
    def storage(self) -> str:
        """The storage of hist that holds them."""
        return "Mean" if self.squared_weights is None else "WeightedMean"

    def fields(self, storage: str | None = None) -> dict[str, Numbers]:
        """What hist has in place of them. `storage`: of hist, if it is known."""
        weights = self.weights
        squares = weights if self.squared_weights is None else self.squared_weights
        mean = np.divide(self.total, weights, out=np.zeros(weights.shape), where=weights != 0)
        # As hist has it: there is no mean where weights cancel.
        mean[(weights == 0) & (squares != 0)] = np.nan
        off = self.of_squares - weights * mean**2
        off[(off < 0) & (off > -_ROUNDING * np.abs(self.of_squares))] = 0.0
        off[np.abs(off) < _SHIFTED] = 0.0
        if (storage or self.storage) == "Mean":
            return {"count": weights, "value": mean, "_sum_of_deltas_squared": off}
        return {
            "sum_of_weights": weights,
            "sum_of_weights_squared": squares,
            "value": mean,
            "_sum_of_weighted_deltas_squared": off,
        }

    def note(self, histogram: Hist, place: tuple[Any, ...]) -> None:
        """Notes the sums with the histogram that has them in its bins. `place`: where its bins are
        among ROOT's."""
        note_cancelled(histogram, lambda: (self.total[place], self.of_squares[place]))


def contents(stored: Model, dimensions: int) -> NDArray[Any]:
    """What a histogram of ROOT has in all its cells, by the numbers of axes."""
    from uproot.models.TArray import Model_TArray

    axes = [stored.member(name) for name in ROOT_AXES[:dimensions]]
    (array,) = stored.base(Model_TArray)
    return cells(array, [int(axis.member("fNbins")) + 2 for axis in axes])


def cells(values: object, shape: Sequence[int]) -> NDArray[Any]:
    """ROOT's cells, of which the first index runs fastest, by all indices."""
    array = np.asarray(values)
    return array.astype(array.dtype.newbyteorder("=")).reshape(shape[::-1]).T
