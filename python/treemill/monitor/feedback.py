"""Which of a query's values is drawn while it runs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["histograms", "pick"]


def pick(values: Any, titles: Sequence[str], name: str | None) -> tuple[str, Any] | None:
    """Name and histogram of the one that is called `name` (None: of the first); None where there
    is none. `values`: a selector's output, in which names may be of dicts in dicts ("dy.mass" or
    "mass"), or the values of bookings with these `titles`."""
    for path, histogram in histograms(values, titles):
        if name is None or path == name or path.endswith(f".{name}"):
            return path, histogram
    return None


def histograms(values: Any, titles: Sequence[str] = ()) -> Iterator[tuple[str, Any]]:
    """All that can be drawn, by name."""
    if isinstance(values, Mapping) and not titles:
        pairs = [(str(key), value) for key, value in values.items()]
    elif isinstance(values, tuple):
        pairs = list(zip(titles, values, strict=False))
    else:
        return
    for name, value in pairs:
        if _is_histogram(value):
            yield name, value
        elif _is_histogram(getattr(value, "nominal", None)):
            yield name, value.nominal
        elif isinstance(value, Mapping):
            for inner, histogram in histograms(value):
                yield f"{name}.{inner}", histogram


def _is_histogram(value: Any) -> bool:
    return all(hasattr(value, part) for part in ("axes", "values", "ndim", "storage_type"))
