"""The histograms of a booking, one for each variation and data set: made empty, before there is
anything to put into them, and filled with the core's results.

Knows the classes of hist and NumPy; knows nothing of passes and workers.
"""

from __future__ import annotations

import copy
import keyword
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ..errors import QueryError
from ..query.axes import FixedAxis, names_of
from ..query.quantities import Hist
from ..query.storages import COUNTS
from .fills import note_cancelled, note_fills

if TYPE_CHECKING:
    import hist
    import numpy as np
    from boost_histogram.axis import Axis as UserAxis
    from numpy.typing import ArrayLike, NDArray

    from ..query.axis_specification import AxisSpecification
    from ..query.booking import Array

__all__ = ["BookedHistograms"]


class _Unfilled(NamedTuple):
    histogram: hist.Hist
    view: Array
    """The bins, with the flow bins: what is put here is in the histogram."""


class BookedHistograms:
    """The histograms of one booking, which have their axes, storage and names in common."""

    def __init__(self, wanted: Hist, axes: Sequence[FixedAxis] | None = None) -> None:
        """`axes`: those of a histogram that had automatic ones; None: the booked ones."""
        import hist.storage

        fixed = axes or [axis for axis in wanted.axes if isinstance(axis, FixedAxis)]
        named = names_of(fixed)
        self._wanted = wanted
        self._axes = [_axis(axis, i, wanted, named) for i, axis in enumerate(fixed)]
        self._storage = getattr(hist.storage, wanted.storage)
        self._label = None if wanted.sample is None else wanted.sample.text
        self._unfilled: dict[tuple[str | None, str], _Unfilled] = {}

    def prepare(self, dataset: str | None, variation: str) -> None:
        """Makes an empty histogram, which `filled` fills."""
        self._unfilled[dataset, variation] = self._empty()

    def filled(self, dataset: str | None, variation: str, raw: object) -> hist.Hist:
        """A histogram that the caller owns. `dataset`: one of a fileset's. `raw`: the core's
        arrays, which have the shape of the histogram with its flow bins."""
        assert isinstance(raw, dict)
        wanted = self._wanted
        unfilled = self._unfilled.pop((dataset, variation), None)
        histogram, view = self._empty() if unfilled is None else unfilled
        fields = _FIELDS.get(wanted.storage)
        if fields is None:
            is_count = wanted.weight is not None and wanted.storage in COUNTS
            view[...] = _whole(raw["values"], wanted.storage) if is_count else raw["values"]
        else:
            for theirs, ours in fields.items():
                # Without weights each value has weight 1, and 1 is its square.
                view[theirs] = raw[_UNWEIGHTED.get(ours, ours) if wanted.weight is None else ours]
        if wanted.weight is not None:
            note_fills(histogram, raw["fills"])
            if "sums" in raw:
                note_cancelled(histogram, raw["sums"], raw["sums_of_squares"])
        return histogram

    def _empty(self) -> _Unfilled:
        import hist

        axes, storage = [make() for make in self._axes], self._storage()
        histogram = hist.Hist(*axes, storage=storage, name=self._wanted.name, label=self._label)
        return _Unfilled(histogram, histogram.view(flow=True))


def _whole(sums: ArrayLike, storage: str) -> NDArray[np.float64]:
    """Sums of weights that integers hold without loss; boost-histogram would cut off the rest."""
    import numpy as np

    values = np.asarray(sums)
    if not np.all((np.abs(values) < _EXACT) & (values == np.rint(values))):
        raise QueryError(
            f"storage {storage} holds whole numbers, which the sums of weights are not: "
            'storage="Weight" or "Double" holds them'
        )
    return values


_EXACT = 2.0**53
"""The number below which each sum of whole numbers is exact in double precision."""

# The core's names for the fields of a storage.
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


# Names of hist's own arguments of fill().
_TAKEN = {"weight", "sample", "threads"}


def _axis(
    axis: FixedAxis, index: int, wanted: Hist, named: Sequence[str]
) -> Callable[[], UserAxis]:
    """What makes an axis of hist's. `named`: names that the user gave to other axes."""
    if axis.given is not None:
        return partial(_labelled, axis.given, wanted.labels[index])
    text = wanted.exprs[index].text
    same = text in named or sum(expr.text == text for expr in wanted.exprs) > 1
    plain = text.isidentifier() and text not in _TAKEN and not keyword.iskeyword(text) and not same
    return _maker(axis.spec, text if plain else "", wanted.labels[index] or text)


_FLAGS = ("underflow", "overflow", "circular")


def _labelled(axis: UserAxis, label: str | None) -> UserAxis:
    """A copy of the user's axis with the label that it was booked with."""
    if label is None:
        return axis
    own = copy.copy(axis)
    own.label = label
    return own


def _maker(spec: AxisSpecification, name: str, label: str) -> Callable[[], UserAxis]:
    import hist.axis as make

    named = {"name": name, "label": label}
    flags = {flag: spec.get(flag) for flag in _FLAGS if flag in spec}
    if spec["kind"] == "regular":
        limits = spec["bins"], spec["start"], spec["stop"]
        return partial(make.Regular, *limits, **named, **flags)
    if spec["kind"] == "variable":
        edges = [float(edge) for edge in spec["edges"]]
        return partial(make.Variable, edges, **named, **flags)
    if spec["kind"] == "integer":
        return partial(make.Integer, spec["start"], spec["stop"], **named, **flags)
    if spec["kind"] == "boolean":
        return partial(make.Boolean, **named)
    raise AssertionError(f"only the user makes an axis of kind {spec['kind']}")
