"""Makes what the user gets of the core's raw results: hist.Hist, numbers, arrays, cut flows.

Knows the classes of hist, NumPy and awkward; knows nothing of passes and workers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..data.mask import sections_of
from ..data.rows import CollectedRows
from ..query.cutflow import Cut, CutFlow
from ..query.node import Booking, steps_to
from ..query.quantities import Flow, Moments, Quantiles, Sections, Unique
from ..query.rows import Arrays, Snapshot, Take
from ..query.steps import Filter
from .booked_histograms import BookedHistograms

if TYPE_CHECKING:
    import awkward

    from ..data.sections import LumiSections
    from ..query.booking import Array

__all__ = ["categories", "result"]

_RawMoments = tuple[int, float, float, float | None, float]
"""Number of values, sum of weights, sum of their squares, mean, sum of squared deviations."""


def result(
    booking: Booking,
    raw: Sequence[object],
    variation: str,
    dataset: str | None,
    histograms: BookedHistograms | None,
) -> object:
    """Makes the booking's value in one variation. `raw`: the core's results for it, only one except
    for cut flows. `histograms`: what makes a booked histogram, else None."""
    if histograms is not None:
        return histograms.filled(dataset, variation, raw[0])
    wanted = booking.wanted
    if isinstance(wanted, Flow):
        return _flow(booking, raw)
    make = _MAKERS.get(type(wanted))
    return raw[0] if make is None else make(wanted, raw[0])


def _flow(booking: Booking, raw: Sequence[object]) -> CutFlow:
    steps = [node.step for node in steps_to(booking.node)]
    names = [step.name for step in steps if isinstance(step, Filter) and step.name is not None]
    sums = [each if isinstance(each, tuple) else (each, each) for each in raw]
    pairs = zip(names, sums[::2], sums[1::2], strict=True)
    return CutFlow(
        [Cut(name, total[0], passed[0], total[1], passed[1]) for name, total, passed in pairs]
    )


def _moments(wanted: Moments, raw: _RawMoments) -> float | None:
    n, weights, _, mean, deltas = raw
    if n == 0 or mean is None or wanted.kind == "mean":
        return None if mean is None else float(mean)
    divisor = weights - wanted.ddof
    # Only sums of weights can be negative, and from them nothing is subtracted.
    if divisor == 0 or (wanted.ddof and divisor < 0):
        return math.nan
    variance = deltas / divisor
    if wanted.kind == "var":
        return float(variance)
    return math.sqrt(variance) if variance >= 0 else math.nan


def categories(raw: Sequence[float | bytes]) -> list[float | str]:
    """Different values from what the core gives: numbers, or strings as bytes."""
    return [e.decode("utf-8", "surrogateescape") if isinstance(e, bytes) else e for e in raw]


def _unique(wanted: Unique, raw: list[float | bytes]) -> Array:
    import numpy as np

    distinct = categories(raw)
    if not any(isinstance(value, int) and value >= 1 << 63 for value in distinct):
        return np.array(distinct)
    # NumPy makes floats of these integers. Files that differ may have negative ones too, and no
    # type of NumPy's holds both.
    lowest = distinct[0]
    is_signed = isinstance(lowest, int) and lowest < 0
    return np.array(distinct, dtype=object if is_signed else np.uint64)


def _sections(wanted: Sections, raw: list[int]) -> LumiSections:
    return sections_of(raw)


def _quantiles(wanted: Quantiles, raw: list[float] | None) -> float | Array | None:
    import numpy as np

    if raw is None:
        return None
    return raw[0] if wanted.single else np.array(raw)


def _arrays(wanted: Arrays, raw: CollectedRows) -> awkward.Array:
    return _records(raw)[0]


def _take(wanted: Take, raw: CollectedRows) -> Array | awkward.Array:
    from ..data.from_core import numpy_of  # heavy: awkward

    records, layouts = _records(raw)
    values = records[raw.names[0]]
    return numpy_of(layouts[0]) if values.ndim == 1 and not raw.optional else values


def _records(raw: CollectedRows) -> tuple[awkward.Array, list[awkward.contents.Content]]:
    """All columns as records, and their layouts."""
    from ..data.from_core import layout, records  # heavy: awkward

    raw.check()
    whole = raw.whole()
    layouts = [layout(column, name in raw.optional) for name, column in whole.columns.items()]
    return records(raw.names, layouts, len(whole)), layouts


def _snapshot(wanted: Snapshot, raw: CollectedRows) -> None:
    """Files are made when the query has ended."""


_MAKERS: dict[type, Callable[..., object]] = {
    Moments: _moments,
    Unique: _unique,
    Sections: _sections,
    Quantiles: _quantiles,
    Arrays: _arrays,
    Take: _take,
    Snapshot: _snapshot,
}
"""Functions that make a value of a booking and the core's result, by the kind of booking."""
