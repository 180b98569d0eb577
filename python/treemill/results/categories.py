"""Histograms with an axis of categories, taken apart. Knows no booking and no file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .variations import NOMINAL, Variations

if TYPE_CHECKING:
    from hist import Hist

__all__ = ["VARIATION", "split", "systematic"]

VARIATION = "variation"
"""The name of an axis of variations."""


def split(values: Variations[Hist], axis: str | int) -> dict[str, Variations[Hist]]:
    """Histograms by the categories of the axis of this name or number, without it; nothing if there
    is no such axis. Raises ValueError if they have no other."""
    axes = values.nominal.axes
    places = [axis] if isinstance(axis, int) else [i for i, a in enumerate(axes) if a.name == axis]
    if not places or axes[places[0]].traits.continuous:
        return {}
    if len(axes) == 1:
        raise ValueError(f"a histogram has no other axis than {axis!r}")
    parts = {}
    for i in range(axes[places[0]].size):
        place = {places[0]: i}
        parts[str(axes[places[0]].value(i))] = values.map(lambda each, at=place: each[at])  # type: ignore[misc]
    return parts


def systematic(values: Variations[Hist]) -> Variations[Hist]:
    """The variations of a histogram that has them on an axis; others as they are."""
    parts = split(values, VARIATION) if len(values) == 1 else {}
    if parts and NOMINAL not in parts:
        raise ValueError(f'the axis "{VARIATION}" has no category "{NOMINAL}"')
    return Variations({name: each.nominal for name, each in parts.items()}) if parts else values
