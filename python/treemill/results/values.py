"""Makes what the user gets of the core's raw results: hist.Hist, numbers, arrays, cut flows.

Knows the classes of hist, NumPy and awkward; knows nothing of passes and workers.
"""

from __future__ import annotations

import copy
import keyword
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from .._system.memory import give_back
from ..data.luminosity import sections_of
from ..data.rows import CollectedRows
from ..errors import QueryError
from ..query.axes import FixedAxis, names_of
from ..query.axis_specification import COUNTS
from ..query.booking import named_filters
from ..query.cutflow import Cut, CutFlow
from ..query.node import Booking
from ..query.quantities import Flow, Hist, Moments, Quantiles, Sections, Unique
from ..query.rows import Arrays, Snapshot, Take
from ..query.steps import Filter
from .by_dataset import ByDataset
from .histograms import note_cancelled, note_fills
from .variations import NOMINAL, Variations

if TYPE_CHECKING:
    import awkward
    import hist
    import numpy as np
    from boost_histogram.axis import Axis as UserAxis
    from numpy.typing import ArrayLike, NDArray

    from treemill import _core

    from ..data.luminosity import LumiSections
    from ..query.axis_specification import AxisSpecification
    from ..query.booking import Array
    from ..query.node import Booking
    from ..query.planning import Plan

__all__ = [
    "BookedHistograms",
    "are_large",
    "booked_value",
    "categories",
    "result",
    "value_by_dataset",
]

# The histograms of a booking, one for each variation and sample: made empty, before there is
# anything to put into them, and filled with the core's results. Knows the classes of hist and
# NumPy; knows nothing of passes and workers.


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
        """Makes an empty histogram, which `filled` fills. Of a large one it takes no memory before
        that: workers need it meanwhile."""
        unfilled = self._unfilled[dataset, variation] = self._empty()
        if unfilled.view.nbytes >= _LARGE:
            give_back(unfilled.view)

    def filled(self, dataset: str | None, variation: str, raw: object) -> hist.Hist:
        """A histogram that the caller owns. `dataset`: one of a fileset's. `raw`: the core's
        bins, which have the shape of the histogram with its flow bins. Those of a large one are
        freed as they are put into the histogram: they cannot be used again."""
        bins = cast("_core.Bins", raw)
        wanted = self._wanted
        unfilled = self._unfilled.pop((dataset, variation), None)
        histogram, view = self._empty() if unfilled is None else unfilled
        is_count = wanted.weight is not None and wanted.storage in COUNTS
        fields = _FIELDS.get(wanted.storage, _PLAIN)
        if wanted.weight is None:  # each value has weight 1, and 1 is its square
            fields = {theirs: _UNWEIGHTED.get(ours, ours) for theirs, ours in fields.items()}
        # Those of weights that cancel are asked for below.
        sums = wanted.weight is not None and wanted.sample is not None
        check = partial(_whole, storage=wanted.storage) if is_count else None
        _Filling(bins, fields, check, frees=not sums).fill(view)
        if wanted.weight is not None:
            note_fills(histogram, bins.fills, view)
            if sums:
                note_cancelled(histogram, lambda: (bins["sums"], bins["sums_of_squares"]))
        return histogram

    def _empty(self) -> _Unfilled:
        import hist
        import numpy as np

        axes, storage = [make() for make in self._axes], self._storage()
        histogram = hist.Hist(*axes, storage=storage, name=self._wanted.name, label=self._label)
        return _Unfilled(histogram, np.asarray(histogram.view(flow=True)))


class _Filling:
    """Puts bins into the view of a histogram in which all is 0, in pieces of some MB: each is there
    twice for a moment, and not the whole histogram. Fields of other names than views have are in
    arrays by themselves."""

    def __init__(
        self,
        bins: _core.Bins,
        fields: Mapping[str | None, str],
        check: Callable[[Array], Array] | None,
        *,
        frees: bool,
    ) -> None:
        """`fields`: the bins' names of fields, by the view's; None: the view has no fields.
        `check` gives what is put there. `frees`: whether bins are freed that are there."""
        self._bins = bins
        self._fields = fields
        self._check = check
        self._frees = frees

    def fill(self, view: Array, first: int = 0) -> None:
        """Fills a part of the view whose first bin is this one, in C order."""
        if 8 * view.size <= _PIECE or not view.ndim:
            for theirs, ours in self._fields.items():
                part = self._bins.part(ours, first, first + view.size)
                if part is None:
                    continue
                part = part.reshape(view.shape)
                to = view if theirs is None else view[theirs]
                to[...] = part if self._check is None else self._check(part)
            if self._frees:
                self._bins.free_before(first + view.size)
            return
        row = view.size // len(view)
        rows = _PIECE // (8 * row)
        for start in range(0, len(view), max(rows, 1)):
            piece = view[start : start + rows] if rows else view[start]
            self.fill(piece, first + start * row)


def _whole(sums: ArrayLike, storage: str) -> NDArray[np.float64]:
    """Sums of weights that integers hold without loss; boost-histogram would cut off the rest."""
    import numpy as np

    values = np.asarray(sums)
    if not np.all((np.abs(values) < _EXACT) & (values == np.rint(values))):
        raise QueryError(
            f"storage {storage} holds whole numbers, but sums of weights are not whole: "
            'storage="Weight" or "Double" holds them'
        )
    return values


_EXACT = 2.0**53
"""The number below which each sum of whole numbers is exact in double precision."""

_PIECE = 4 << 20
"""Bytes of a field that are put into a histogram at a time."""
_LARGE = 16 << 20
"""Bytes of a result that takes longer to make than to give its memory back meanwhile."""

# The core's names for the fields of a storage.
_PLAIN: Mapping[str | None, str] = {None: "values"}
_FIELDS: Mapping[str, Mapping[str | None, str]] = {
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


def are_large(raw: object) -> bool:
    """Whether the core's results of a pass have so many bins that there should be no others beside
    the user's."""
    return _bins(raw) * 8 >= _LARGE


def _bins(raw: object) -> int:
    if isinstance(raw, list):
        return sum(map(_bins, raw))
    if isinstance(raw, Mapping):  # by dataset
        return sum(map(_bins, raw.values()))
    shape: Sequence[int] | None = getattr(raw, "shape", None)
    return 0 if shape is None else math.prod(shape)


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
    assert isinstance(booking.wanted, Flow)
    steps = [node.step for node in named_filters(booking.node)[booking.wanted.first :]]
    names = [str(step.name) for step in steps if isinstance(step, Filter)]
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
    integers = [value for value in distinct if isinstance(value, int)]
    if not any(int(float(value)) != value or value >= 1 << 63 for value in integers):
        return np.array(distinct)
    # NumPy makes floats of integers beside floats, and of the largest ones. Files that differ may
    # have what no type of NumPy's holds.
    if len(integers) < len(distinct) or (integers[0] < 0 and integers[-1] >= 1 << 63):
        return np.array(distinct, dtype=object)
    return np.array(distinct, dtype=np.uint64 if integers[-1] >= 1 << 63 else np.int64)


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


# The value of a booking from the core's results of a pass: one, or one for each variation.


def booked_value(
    booking: Booking,
    plan: Plan,
    raw: Sequence[object],
    histograms: BookedHistograms | None = None,
    dataset: str | None = None,
) -> object:
    """The booking's value. `raw` are the core's results of all bookings of the plan. `histograms`:
    those of a booked histogram; None: as they were booked. `dataset`: one of a fileset's."""
    by_variation, wanted = plan.slots[booking.number], booking.wanted
    if histograms is None and isinstance(wanted, Hist):
        histograms = BookedHistograms(wanted)
    values_by_variation = {
        variation: result(booking, [raw[slot] for slot in slots], variation, dataset, histograms)
        for variation, slots in by_variation.items()
    }
    stacked = isinstance(wanted, Hist) and wanted.varied
    if not (stacked or plan.varied(booking)):
        return values_by_variation[NOMINAL]
    values = Variations(values_by_variation, unchanged=plan.unchanged(booking))
    return values.to_hist(names=plan.variations(booking)) if stacked else values


def value_by_dataset(
    booking: Booking,
    plan: Plan,
    raw: Sequence[object],
    metadata: Mapping[str, Mapping[str, object]],
    none: Callable[[], Sequence[object]],
    histograms: BookedHistograms | None = None,
) -> object:
    """The booking's value for each sample of a fileset, or stacked, if that was booked. `raw` is
    what `PartialByDataset` gives; `metadata` is that of all samples. `none` gives the same of no
    entries, for samples that `raw` lacks. `histograms`: see `booked_value`."""
    (raw_by_dataset,) = cast("Sequence[Mapping[str, list[object]]]", raw)
    lacking: list[object] = []
    if raw_by_dataset.keys() < metadata.keys():
        (empty,) = cast("Sequence[Mapping[str, list[object]]]", none())
        lacking = next(iter(empty.values()))
    values = ByDataset(
        {
            name: booked_value(booking, plan, raw_by_dataset.get(name, lacking), histograms, name)
            for name in metadata
        },
        metadata,
    )
    by = booking.wanted.stack if isinstance(booking.wanted, Hist) else None
    return values if by is None else values.stack(by)
