"""Histograms of hist as ROOT's classes, for uproot to write, and the contents of ROOT's into them.

TH1D to TH3D for counts and sums of weights, TProfile and TProfile2D for means. All bins outside are
kept: ROOT has one below and one above on every axis, hist has those that the user wants.

Categories are bins with labels, on axes that may get more of them: ROOT adds such histograms label
by label. It loses what is above such an axis then, so that what is in none of the categories is in
a bin with a label, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..results.fills import cancelled_of, fills_of
from .outline import unsupported

if TYPE_CHECKING:
    from boost_histogram.axis import Axis
    from hist import Hist
    from numpy.typing import NDArray
    from uproot.model import Model

    Numbers = NDArray[np.float64]

__all__ = ["check_exact", "filled", "is_profile", "root_histogram"]

_EXACT = 2**53
"""The largest whole number up to which doubles have all: an integer, as 2^53 + 1 is 2.0^53."""
_ELSEWHERE = "a .h5 or .json.gz file holds it"
_AXES = ("xaxis", "yaxis", "zaxis")
_CATEGORIES = ("StrCategory", "IntCategory", "Boolean")
_OTHER = "(other)"
"""The label of what is in none of an axis' categories."""
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
    make = _profile if profile else _counts
    labels = [_labels_of(histogram, i) for i in range(len(axes))]
    # ROOT takes labels of the third axis for those of the second.
    grows = len(axes) < 3 or labels[2] is None
    made = [_axis(*each, grows=grows) for each in zip(axes, _AXES, labels, strict=False)]
    return make(histogram, made)


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
    kinds = dict(zip(("fXaxis", "fYaxis", "fZaxis"), axes, strict=False))
    entries = fills_of(histogram)
    return make(None, _title(histogram), values, entries, *sums, fSumw2=squares, **kinds)


def _profile(histogram: Hist, axes: Sequence[Model]) -> Model:
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
    totals, squares = sums * means, deltas + sums * means**2
    # Where weights cancel there is no mean, but ROOT's sums are there.
    known = cancelled_of(histogram)
    if known is not None:
        gone = (sums == 0) & (of_weights != 0) & np.isnan(means)
        first, second = (_padded(each, histogram.axes, axes) for each in known)
        totals, squares = np.where(gone, first, totals), np.where(gone, second, squares)
    one = len(axes) == 1
    make = identify.to_TProfile if one else identify.to_TProfile2D
    kinds = dict(zip(("fXaxis", "fYaxis"), axes, strict=False))
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


def _slices(axes: Sequence[Axis]) -> tuple[slice, ...]:
    """Returns where hist's bins lie among ROOT's."""
    first = [0 if axis.traits.underflow else 1 for axis in axes]
    return tuple(slice(at, at + axis.extent) for at, axis in zip(first, axes, strict=True))


def _padded(values: NDArray[np.generic], axes: Sequence[Axis], made: Sequence[Model]) -> Numbers:
    """ROOT's bins in ROOT's order. `made`: ROOT's axes."""
    padded = np.zeros([axis.member("fNbins") + 2 for axis in made])
    padded[_slices(axes)] = values
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


def _axis(axis: Axis, name: str, labels: Sequence[str] | None, *, grows: bool) -> Model:
    from uproot.writing import identify

    kind = type(axis).__name__
    even = kind == "Regular" and axis.transform is None
    # ROOT has no axis without bins.
    bins = axis.size if labels is None else max(len(labels), 1)
    edges = np.arange(bins + 1.0) if labels is not None else np.array(axis.edges, ">f8")
    uneven = not even and labels is None and kind != "Integer"
    return identify.to_TAxis(
        name,
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
    """Put the contents of ROOT's histogram into an empty one with the same bins."""
    place = _slices(histogram.axes)
    view = histogram.view(flow=True)
    values = np.asarray(stored.values(flow=True), float)[place]
    if histogram.storage_type.__name__ == "Weight":
        view["value"] = values
        view["variance"] = np.asarray(stored.variances(flow=True), float)[place]
    else:
        view[...] = values
    return histogram
