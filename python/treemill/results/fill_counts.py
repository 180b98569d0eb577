"""How many values are in a histogram: sums of weights do not say, and ROOT's histograms have the
number. It is noted with the histogram, and holds until other things are in its bins. So are the
sums of a profile whose weights cancel: hist has means, and there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from hist import Hist
    from numpy.typing import NDArray

__all__ = ["cancelled_of", "fills_of", "note_cancelled", "note_fills"]

_NOTE = "@fills"
"""The attribute of the histogram. UHI's form leaves out attributes that begin so."""
_CANCELLED = "@cancelled"
_FIELDS = {
    "count": ("count", None),
    "sum_of_weights": ("sum_of_weights", "sum_of_weights_squared"),
    "value": ("value", "variance"),
}
"""The fields that hold sums of weights and of their squares, by a field that the storage has."""


def note_fills(histogram: Hist, number: float) -> None:
    """Notes how many values are in the bins that the histogram has now."""
    histogram.__dict__[_NOTE] = (float(number), _sums(histogram))


def fills_of(histogram: Hist) -> float:
    """The number of values in a histogram. If it is not known, it is the effective number of each
    bin, which is the number if a bin's weights are equal, and at least one for a bin that has
    something.
    """
    number, sums = histogram.__dict__.get(_NOTE, (0.0, None))
    if sums == _sums(histogram):
        return float(number)
    weights, squares = _weights(histogram.view(flow=True))
    if squares is None:
        there, numbers = weights != 0, np.abs(weights)
    else:
        there = squares != 0
        numbers = np.divide(weights**2, squares, out=np.zeros(weights.shape), where=there)
    return float(np.where(numbers[there] > 1, numbers[there], 1.0).sum())


def note_cancelled(
    histogram: Hist, sums: Callable[[], tuple[NDArray[np.float64], NDArray[np.float64]]]
) -> None:
    """Notes the weighted sums of a profile's sample and its squares, which `sums` gives, if weights
    of a bin cancel."""
    weights, squares = _weights(histogram.view(flow=True))
    if squares is not None and ((weights == 0) & (squares != 0)).any():
        bins = weights.copy(), squares.copy()
        histogram.__dict__[_CANCELLED] = bins, sums()


def cancelled_of(histogram: Hist) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Both sums of each bin; None if they are not known for what is in the bins."""
    bins, sums = histogram.__dict__.get(_CANCELLED, (None, None))
    if bins is None:
        return None
    weights, squares = _weights(histogram.view(flow=True))
    if squares is None or not all(map(np.array_equal, bins, (weights, squares))):
        return None
    return sums  # type: ignore[no-any-return]


def _sums(histogram: Hist) -> list[float]:
    """What the bins hold, in a few numbers: histograms keep their attributes when they are added,
    cut or filled."""
    return [float(each.sum()) for each in _weights(histogram.view(flow=True)) if each is not None]


def _weights(view: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Sums of weights by bin, and of their squares if there are weights."""
    found = next((_FIELDS[name] for name in _FIELDS if name in (view.dtype.names or ())), None)
    if found is None:
        return np.asarray(view, float), None
    weights, squares = found
    of_squares = None if squares is None else np.asarray(view[squares], float)
    return np.asarray(view[weights], float), of_squares
