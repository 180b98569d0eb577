"""The value of a booking from the core's results of a pass: one, or one for each variation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from ..query.quantities import Hist
from .booked_histograms import BookedHistograms
from .by_dataset import ByDataset
from .values import result
from .variations import NOMINAL, Variations

if TYPE_CHECKING:
    from ..query.node import Booking
    from ..query.planning import Plan

__all__ = ["booked_value", "value_by_dataset"]


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
    """The booking's value for each data set of a fileset, or stacked, if that was booked. `raw` is
    what `PartialByDataset` gives; `metadata` is that of all data sets. `none` gives the same of no
    entries, for data sets that `raw` lacks. `histograms`: see `booked_value`."""
    (raw_by_dataset,) = cast(Sequence[Mapping[str, list[object]]], raw)
    lacking: list[object] = []
    if raw_by_dataset.keys() < metadata.keys():
        (empty,) = cast(Sequence[Mapping[str, list[object]]], none())
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
