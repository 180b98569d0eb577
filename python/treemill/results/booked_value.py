"""The value of a booking from the core's results of a pass: one, or one for each variation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .values import result
from .variations import Variations

if TYPE_CHECKING:
    from hist import Hist

    from ..query.axes import FixedAxis
    from ..query.node import Booking
    from ..query.planning import Plan

__all__ = ["booked_value"]


def booked_value(
    booking: Booking,
    plan: Plan,
    raw: Sequence[object],
    axes: Sequence[FixedAxis] | None = None,
    into: Callable[[str], Hist | None] = lambda variation: None,
) -> object:
    """The booking's value. `raw` are the core's results of all bookings of the plan. `axes` and
    `into(variation)`: see `values.result`."""
    values = Variations(unchanged=plan.unchanged(booking))
    for variation, slots in plan.slots[booking.number].items():
        values[variation] = result(booking, [raw[slot] for slot in slots], axes, into(variation))
    nominal: object = values.nominal
    return values if plan.varied(booking) else nominal
