"""From the core's raw results to what the user gets: hist.Hist, numbers, arrays, cut flows.

Knows the classes of hist, numpy and awkward; knows nothing of how the numbers came about.
"""

from __future__ import annotations

import copy
import keyword
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..arrays.rows import Collected
from ..errors import QueryError
from ..query.axes import FixedAxis, names_of
from ..query.cutflow import Cut, CutFlow
from ..query.node import Booking, steps_to
from ..query.quantities import Flow, Hist, Moments, Quantiles, Rows, Unique
from ..query.steps import Filter
from ..query.storages import COUNTS

if TYPE_CHECKING:
    import hist

__all__ = ["categories", "empty", "result"]


def result(
    booking: Booking,
    raw: Sequence[Any],
    axes: Sequence[FixedAxis] | None = None,
    into: hist.Hist[Any] | None = None,
) -> Any:
    """The booking's value in one variation. `raw` are the core's results for it, one for all but
    cut flows; `axes` those of a histogram that had automatic ones; `into` one that `empty` made."""
    wanted = booking.wanted
    if isinstance(wanted, Hist):
        return _filled(wanted, empty(booking, axes) if into is None else into, raw[0])
    if isinstance(wanted, Flow):
        return _flow(booking, raw)
    make = _MAKERS.get(type(wanted))
    return raw[0] if make is None else make(wanted, raw[0])


def _flow(booking: Booking, raw: Sequence[Any]) -> CutFlow:
    steps = [node.step for node in steps_to(booking.node)]
    names = [step.name for step in steps if isinstance(step, Filter) and step.name is not None]
    sums = [each if isinstance(each, tuple) else (each, each) for each in raw]
    pairs = zip(names, sums[::2], sums[1::2], strict=True)
    return CutFlow(
        [Cut(name, total[0], passed[0], total[1], passed[1]) for name, total, passed in pairs]
    )


def _moments(wanted: Moments, raw: Any) -> float | None:
    n, weights, _, mean, deltas = raw
    if n == 0 or wanted.kind == "mean":
        return None if mean is None else float(mean)
    divisor = weights - wanted.ddof
    if divisor <= 0:
        return math.nan
    variance = deltas / divisor
    if wanted.kind == "var":
        return float(variance)
    return math.sqrt(variance) if variance >= 0 else math.nan


def categories(raw: Sequence[Any]) -> list[Any]:
    """Different values as the core gives them: numbers, or strings as bytes."""
    return [e.decode("utf-8", "surrogateescape") if isinstance(e, bytes) else e for e in raw]


def _unique(wanted: Unique, raw: list[Any]) -> Any:
    import numpy as np

    found = categories(raw)
    if not any(isinstance(value, int) and value >= 1 << 63 for value in found):
        return np.array(found)
    # NumPy makes floats of integers that are partly too large for a sign; files that differ may
    # have both, which no type of NumPy's holds.
    return np.array(found, dtype=object if found[0] < 0 else np.uint64)


def _quantiles(wanted: Quantiles, raw: list[float] | None) -> Any:
    import numpy as np

    if raw is None:
        return None
    return raw[0] if wanted.single else np.array(raw)


def _rows(wanted: Rows, raw: Collected) -> Any:
    """Arrays; None for files, which are made at the end."""
    if wanted.form == "snapshot":
        return None

    from ..arrays.from_core import layout, numpy_of, records  # heavy: awkward

    raw.check()
    whole = raw.whole()
    layouts = [layout(column, name in raw.optional) for name, column in whole.columns.items()]
    array = records(raw.names, layouts, len(whole))
    if wanted.form == "arrays":
        return array
    array = array[raw.names[0]]
    return numpy_of(layouts[0]) if array.ndim == 1 and not raw.optional else array


_MAKERS: dict[type, Callable[[Any, Any], Any]] = {
    Moments: _moments,
    Unique: _unique,
    Quantiles: _quantiles,
    Rows: _rows,
}


def empty(booking: Booking, axes: Sequence[FixedAxis] | None = None) -> hist.Hist[Any]:
    """A booked histogram before it is filled."""
    import hist
    import hist.storage

    wanted = booking.wanted
    assert isinstance(wanted, Hist)
    fixed = axes or [axis for axis in wanted.axes if isinstance(axis, FixedAxis)]
    given = names_of(fixed)
    made = [_axis(axis, i, wanted, given) for i, axis in enumerate(fixed)]
    storage = getattr(hist.storage, wanted.storage)()
    label = None if wanted.sample is None else wanted.sample.text
    return hist.Hist(*made, storage=storage, name=wanted.name, label=label)


def _filled(wanted: Hist, histogram: hist.Hist[Any], raw: Any) -> hist.Hist[Any]:
    """The arrays in `raw` have the shape of the histogram with its flow bins."""
    view: Any = histogram.view(flow=True)
    fields = _FIELDS.get(wanted.storage)
    if fields is None:
        is_count = wanted.weight is not None and wanted.storage in COUNTS
        view[...] = _whole(raw["values"], wanted.storage) if is_count else raw["values"]
        return histogram
    for theirs, ours in fields.items():
        # Without weights each value has weight 1, whose square is 1.
        view[theirs] = raw[_UNWEIGHTED.get(ours, ours) if wanted.weight is None else ours]
    return histogram


def _whole(sums: Any, storage: str) -> Any:
    """Sums of weights that integers hold without loss; boost-histogram would cut off the rest."""
    import numpy as np

    found = np.asarray(sums)
    if not np.all((np.abs(found) < _EXACT) & (found == np.rint(found))):
        raise QueryError(
            f"storage {storage} holds whole numbers, which the sums of weights are not: "
            'storage="Weight" or "Double" holds them'
        )
    return found


_EXACT = 2.0**53
"""Below it each sum of whole numbers is exact in double precision."""

# Fields of storages that have several, with our names for them.
_FIELDS = {
    "Weight": {"value": "values", "variance": "variances"},
    "Mean": {"count": "weights", "value": "means", "_sum_of_deltas_squared": "deltas"},
    "WeightedMean": {
        "sum_of_weights": "weights",
        "sum_of_weights_squared": "weights_squared",
        "value": "means",
        "_sum_of_weighted_deltas_squared": "deltas",
    },
}
_UNWEIGHTED = {"variances": "values", "weights_squared": "weights"}


# Words that hist's fill() takes for itself.
_TAKEN = {"weight", "sample", "threads"}


def _axis(axis: FixedAxis, index: int, wanted: Hist, given: Sequence[str]) -> Any:
    """An axis of hist's; `given`: names that the user gave to others."""
    if axis.given is not None:
        return _labelled(axis.given, wanted.labels[index])
    text = wanted.exprs[index].text
    same = text in given or sum(expr.text == text for expr in wanted.exprs) > 1
    plain = text.isidentifier() and text not in _TAKEN and not keyword.iskeyword(text) and not same
    return _make(axis.spec, text if plain else "", wanted.labels[index] or text)


def _labelled(given: Any, label: str | None) -> Any:
    """The user's axis, which is left as it is, with the label that it was booked with."""
    if label is None:
        return given
    own = copy.copy(given)
    own.label = label
    return own


def _make(spec: dict[str, Any], name: str, label: str) -> Any:
    import hist.axis as make

    named = {"name": name, "label": label}
    flags = {flag: spec[flag] for flag in ("underflow", "overflow", "circular") if flag in spec}
    kind = spec["kind"]
    if kind == "regular":
        return make.Regular(spec["bins"], spec["start"], spec["stop"], **named, **flags)
    if kind == "variable":
        return make.Variable([float(edge) for edge in spec["edges"]], **named, **flags)
    if kind == "integer":
        return make.Integer(spec["start"], spec["stop"], **named, **flags)
    if kind == "boolean":
        return make.Boolean(**named)
    raise AssertionError(f"no axis of kind {kind} is made without an object of the user's")
