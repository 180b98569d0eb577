"""From the core's raw results to what the user gets: hist.Hist, int, float.

Knows hist's classes; knows nothing of how the numbers came about.
"""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .axes import FixedAxis
from .query import Booking, Hist

if TYPE_CHECKING:
    import hist

__all__ = ["histogram", "result"]


def result(booking: Booking, raw: Any, axes: Sequence[FixedAxis] | None = None) -> Any:
    """The booking's value. `raw` is the core's result for it; `axes` those of a histogram that had
    automatic ones."""
    if isinstance(booking.wanted, Hist):
        fixed = axes or [axis for axis in booking.wanted.axes if isinstance(axis, FixedAxis)]
        return histogram(booking.wanted, fixed, raw)
    return raw


def histogram(wanted: Hist, axes: Sequence[FixedAxis], raw: Any) -> hist.Hist[Any]:
    """A hist.Hist with Double storage, or Weight storage for weighted fills. `raw["values"]` and
    `raw["variances"]` have the shape of the histogram with its flow bins."""
    import hist
    import hist.storage

    made = [_axis(axis, i, wanted) for i, axis in enumerate(axes)]
    storage = hist.storage.Double() if wanted.weight is None else hist.storage.Weight()
    filled: hist.Hist[Any] = hist.Hist(*made, storage=storage, name=wanted.name)
    view: Any = filled.view(flow=True)
    if wanted.weight is None:
        view[...] = raw["values"]
    else:
        view["value"] = raw["values"]
        view["variance"] = raw["variances"]
    return filled


# Words that hist's fill() takes for itself.
_TAKEN = {"weight", "sample", "threads"}


def _axis(axis: FixedAxis, index: int, wanted: Hist) -> Any:
    if axis.given is not None:
        return axis.given
    text = wanted.exprs[index].text
    same = sum(expr.text == text for expr in wanted.exprs) > 1
    plain = text.isidentifier() and text not in _TAKEN and not keyword.iskeyword(text) and not same
    return _make(axis.spec, text if plain else "", wanted.labels[index] or text)


def _make(spec: dict[str, Any], name: str, label: str) -> Any:
    import hist.axis as make

    named = {"name": name, "label": label}
    flags = {flag: spec[flag] for flag in ("underflow", "overflow", "circular") if flag in spec}
    kind = spec["kind"]
    if kind == "regular":
        return make.Regular(spec["bins"], spec["start"], spec["stop"], **named, **flags)
    if kind == "variable":
        return make.Variable(spec["edges"], **named, **flags)
    if kind == "integer":
        return make.Integer(spec["start"], spec["stop"], **named, **flags)
    if kind == "boolean":
        return make.Boolean(**named)
    raise AssertionError(f"no axis of kind {kind} is made without an object of the user's")
