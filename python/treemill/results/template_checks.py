"""What a fit would stumble over in templates: bins that are empty, negative or no number, empty
variations. Knows histograms by their labels; knows no file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from boost_histogram.axis import Axis
    from hist import Hist
    from numpy.typing import NDArray

__all__ = ["TemplateFinding", "bins_in_words", "findings"]

_SHOWN = 3
"""Bins that a message names."""


class TemplateFinding(NamedTuple):
    """One thing that is wrong with one template."""

    kind: str
    """"bad", "negative" or "empty"."""
    name: str
    words: str


def findings(
    nominal: Mapping[str, Hist], varied: Mapping[str, tuple[str, Hist]]
) -> list[TemplateFinding]:
    """Returns what is wrong. `nominal`: histograms by name; `varied`: by name, with the name of the
    nominal one."""
    problems = [
        each for name, histogram in nominal.items() for each in _of_one(name, histogram, None)
    ]
    for name, (base, histogram) in varied.items():
        problems += _of_one(name, histogram, nominal[base])
    return problems


def _of_one(name: str, histogram: Hist, base: Hist | None) -> Iterator[TemplateFinding]:
    import numpy as np

    values = np.asarray(histogram.values(), float)
    bad = ~np.isfinite(values)
    if bad.any():
        yield TemplateFinding("bad", name, f"{bins_in_words(histogram, bad)} no number")
    negative = values < 0
    if negative.any():
        yield TemplateFinding("negative", name, f"{bins_in_words(histogram, negative)} negative")
    if base is None:
        empty = values == 0
        if empty.all():
            yield TemplateFinding("empty", name, "it is empty")
        elif empty.any():
            yield TemplateFinding("empty", name, f"{bins_in_words(histogram, empty)} empty")
        return
    expected = np.asarray(base.values(), float)
    if not values.any() and expected.any():
        yield TemplateFinding("empty", name, "it is empty, and the nominal one is not")
        return
    # Fits interpolate between logarithms of the two.
    for where, which in (
        ((values > 0) & (expected == 0), "the nominal one"),
        ((values == 0) & (expected > 0), "this variation"),
    ):
        if where.any():
            words = f"{bins_in_words(histogram, where)} empty in {which} only"
            yield TemplateFinding("empty", name, words)


def bins_in_words(histogram: Hist, chosen: NDArray[np.bool_]) -> str:
    """The first of the chosen bins by their edges, with a verb: "bin 3 [40, 60) is"."""
    import numpy as np

    places = [tuple(map(int, at)) for at in np.argwhere(chosen)]
    named = [_bin(histogram, at) for at in places[:_SHOWN]]
    more = len(places) - len(named)
    words = ", ".join(named) + (f" and {more} more" if more else "")
    return f"bin{'s' if len(places) > 1 else ''} {words} {'are' if len(places) > 1 else 'is'}"


def _bin(histogram: Hist, at: Sequence[int]) -> str:
    words = [_range(axis, i) for axis, i in zip(histogram.axes, at, strict=True)]
    numbers = ",".join(str(i + 1) for i in at)
    return f"{numbers} {' x '.join(words)}"


def _range(axis: Axis, i: int) -> str:
    if not axis.traits.continuous:
        return repr(axis.value(i))
    low, high = axis.bin(i)
    return f"[{low:.6g}, {high:.6g})"
