"""Chooses the histogram that feedback draws while a query runs, from the query's values. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hist import Hist

__all__ = ["histograms", "pick"]


def pick(values: object, titles: Sequence[str], name: str | None) -> tuple[str, Hist] | None:
    """The name and the histogram of the value called `name`, or of the first histogram if `name` is
    None. None if there is no such histogram.

    `values` is a selector's output, whose dicts may be nested ("dy.mass" or "mass"), or the tuple
    of values of bookings with these `titles`."""
    for path, histogram in histograms(values, titles):
        if name is None or path == name or path.endswith(f".{name}"):
            return path, histogram
    return None


def histograms(values: object, titles: Sequence[str] = ()) -> Iterator[tuple[str, Hist]]:
    """Yields all histograms among the values, each with its name."""
    pairs: list[tuple[str, object]]
    if isinstance(values, Mapping) and not titles:
        pairs = [(str(key), value) for key, value in values.items()]
    elif isinstance(values, tuple):
        pairs = list(zip(titles, values, strict=False))
    else:
        return
    for name, value in pairs:
        nominal = getattr(value, "nominal", None)
        if _is_histogram(value):
            yield name, value
        elif _is_histogram(nominal):
            yield name, nominal
        elif isinstance(value, Mapping):
            for inner, histogram in histograms(value):
                yield f"{name}.{inner}", histogram


def _is_histogram(value: object) -> bool:
    return all(hasattr(value, part) for part in ("axes", "values", "ndim", "storage_type"))
