"""Histograms with an axis of categories, taken apart. Knows no booking and no file."""

from __future__ import annotations

from typing import Any

from .variations import Variations

__all__ = ["split"]


def split(values: Variations[Any], axis: str | int) -> dict[str, Variations[Any]]:
    """Histograms by the categories of the axis of this name or number, without it; nothing if there
    is no such axis. Raises ValueError if they have no other."""
    axes = values.nominal.axes
    places = [axis] if isinstance(axis, int) else [i for i, a in enumerate(axes) if a.name == axis]
    if not places or axes[places[0]].traits.continuous:
        return {}
    if len(axes) == 1:
        raise ValueError(f"a histogram has no other axis than {axis!r}")
    made = {}
    for i in range(axes[places[0]].size):
        place = {places[0]: i}
        made[str(axes[places[0]].value(i))] = values.map(lambda each, at=place: each[at])  # type: ignore[misc]
    return made
