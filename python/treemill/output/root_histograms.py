"""Histograms of hist as ROOT's classes, for uproot to write, and the contents of ROOT's into them.

TH1D to TH3D for counts and sums of weights, TProfile and TProfile2D for means. All bins outside are
kept: ROOT has one below and one above on every axis, hist has those that the user wants.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

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
    return make(histogram, [_axis(axis, name) for axis, name in zip(axes, _AXES, strict=False)])


def _title(histogram: Hist) -> str:
    return str(getattr(histogram, "label", None) or getattr(histogram, "name", None) or "")


def _counts(histogram: Hist, axes: Sequence[Model]) -> Model:
    from uproot.writing import identify

    view = histogram.view(flow=True)
    weighted = histogram.storage_type.__name__ == "Weight"
    values = _padded(view["value"] if weighted else view, histogram.axes)
    squares = _padded(view["variance"], histogram.axes) if weighted else None
    entries = _effective(values, squares)
    make = (identify.to_TH1x, identify.to_TH2x, identify.to_TH3x)[len(axes) - 1]
    # Without sums over values of x ROOT takes them from the bins.
    sums = [0.0] * (4, 7, 11)[len(axes) - 1]
    kinds = dict(zip(("fXaxis", "fYaxis", "fZaxis"), axes, strict=False))
    return make(None, _title(histogram), values, entries, *sums, fSumw2=squares, **kinds)


def _effective(values: Numbers, squares: Numbers | None) -> float:
    """The number of entries that have this error; ROOT takes no sums from bins without entries."""
    total = float(values.sum())
    if squares is None:
        return max(total, 0.0)
    errors = float(squares.sum())
    return total * total / errors if errors > 0 else 0.0


def _profile(histogram: Hist, axes: Sequence[Model]) -> Model:
    from uproot.writing import identify

    view = histogram.view(flow=True)
    weighted = histogram.storage_type.__name__ == "WeightedMean"
    names = ("sum_of_weights", "_sum_of_weighted_deltas_squared")
    weights, off = names if weighted else ("count", "_sum_of_deltas_squared")
    sums, means = _padded(view[weights], histogram.axes), _padded(view["value"], histogram.axes)
    of_weights = _padded(view["sum_of_weights_squared"], histogram.axes) if weighted else sums
    # Where weights cancel there is no mean, and nothing that it could be made of.
    means = np.where(of_weights == 0, 0.0, means)
    squares = _padded(view[off], histogram.axes) + sums * means**2
    one = len(axes) == 1
    make = identify.to_TProfile if one else identify.to_TProfile2D
    kinds = dict(zip(("fXaxis", "fYaxis"), axes, strict=False))
    return make(
        None,
        _title(histogram),
        sums * means,
        float(sums.sum()),
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


def _padded(values: NDArray[np.generic], axes: Sequence[Axis]) -> Numbers:
    """ROOT's bins in ROOT's order."""
    padded = np.zeros([axis.size + 2 for axis in axes])
    padded[_slices(axes)] = values
    return np.ascontiguousarray(padded.T.reshape(-1), ">f8")


def _axis(axis: Axis, name: str) -> Model:
    from uproot.writing import identify

    kind = type(axis).__name__
    even = kind == "Regular" and axis.transform is None
    words = (
        [str(axis.value(i)) for i in range(axis.size)]
        if kind in ("StrCategory", "IntCategory", "Boolean")
        else None
    )
    edges = np.arange(axis.size + 1.0) if words is not None else np.array(axis.edges, ">f8")
    uneven = not even and words is None and kind != "Integer"
    return identify.to_TAxis(
        name,
        str(getattr(axis, "label", "") or ""),
        axis.size,
        float(edges[0]),
        float(edges[-1]),
        fXbins=edges.astype(">f8") if uneven else np.array([], ">f8"),
        fLabels=None if words is None else _labels(words),
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
