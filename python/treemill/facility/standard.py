"""The standard queries over a dataset, as bookings and as a selector, and what their results say of
whether all events were seen once. Runs nothing.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import QueryError
from ..workers.selector import Chunk, Inputs, Selector
from .exerciser import Size

if TYPE_CHECKING:
    from hist import Hist

    from ..dataset import Dataset
    from ..query.node import Booking

__all__ = [
    "EVENTS",
    "Digest",
    "Gaussians",
    "booked",
    "digest",
    "nearest",
    "partial_share",
    "same",
    "share_of",
]

# Which branches make up a share of a dataset's bytes, as nearly as whole branches can. Pure: it
# knows names and sizes.


def nearest(sizes: Iterable[Size], share: float) -> list[str]:
    """The branches whose bytes together are near to this share of all bytes: a small and a large
    one in turn, as users take them, without those that would go beyond it; and then one of these if
    that comes nearer. At least one, if there are any.

    >>> nearest([Size("a", 50), Size("b", 30), Size("c", 12), Size("d", 8)], 0.2)
    ['d', 'c']
    """
    left = sorted(sizes, key=lambda size: (size.zip_bytes, size.branch))
    wanted = share * sum(size.zip_bytes for size in left)
    selection: list[Size] = []
    beyond: list[Size] = []
    taken = 0
    small = True
    while left:
        size = left.pop(0 if small else -1)
        if taken + size.zip_bytes > wanted:
            beyond.append(size)
            continue
        selection.append(size)
        taken += size.zip_bytes
        small = not small
    smallest = min(beyond, key=lambda size: size.zip_bytes, default=None)
    if smallest is not None and (not taken or taken + smallest.zip_bytes - wanted < wanted - taken):
        selection.append(smallest)
    return [size.branch for size in selection]


def share_of(sizes: Sequence[Size], names: Iterable[str]) -> float:
    """The part of all bytes that these branches have.

    >>> share_of([Size("a", 30), Size("b", 10)], ["b"])
    0.25
    """
    chosen = set(names)
    whole = sum(size.zip_bytes for size in sizes)
    return sum(size.zip_bytes for size in sizes if size.branch in chosen) / max(whole, 1)


_PARTIAL = 0.2
"""The share of the bytes that `partial` reads, as nearly as whole branches can."""
_READABLE = ("number", "list", "array")
_HISTOGRAMS = 16
EVENTS = 10_000
"""Events that `cpu` makes in a cycle: fewer would measure calls of Python, not arithmetic."""
_BINS = 64

Digest = tuple[str, tuple[float, ...]]
"""Exact contents, as a checksum, and sums, which are equal up to rounding."""


class Gaussians(Selector):
    """`cpu`: 16 histograms of Gaussian random numbers; the same ones in every process."""

    def begin_worker(self, inputs: Inputs) -> None:
        """Makes the histograms."""
        import hist

        for number in range(_HISTOGRAMS):
            axis = hist.axis.Regular(100, -5, 5)
            self.output[f"gauss{number:02d}"] = hist.Hist(axis, storage=hist.storage.Int64())

    def process(self, events: Chunk) -> None:
        """Fills each of them once for each event."""
        # Cycle by cycle: chunks are longer if there are more cycles, and longer arrays cost less.
        for _ in range(len(events)):
            for number in range(_HISTOGRAMS):
                self.output[f"gauss{number:02d}"].fill(self.rng.standard_normal(EVENTS))


def booked(query: str, events: Dataset, entries: int) -> list[Booking]:
    """Returns what `none`, `full` or `partial` computes of so many entries."""
    numbers = events.hist("entry_number", bins=(_BINS, 0, entries))
    if query == "none":
        return [numbers]
    readable = _readable(events)
    if not readable:
        raise QueryError("the tree has no branch of numbers to read", file=events.files[0])
    if query == "full":
        return [numbers, *(events.sum(f"`{size.branch}`") for size in readable)]
    return [
        numbers,
        *(
            events.hist(f"`{name}`", bins=(_BINS, -50, 50), label=name)
            for name in nearest(readable, _PARTIAL)
        ),
    ]


def partial_share(events: Dataset) -> float:
    """The part of the bytes that `full` reads that `partial` reads."""
    readable = _readable(events)
    return share_of(readable, nearest(readable, _PARTIAL))


def _readable(events: Dataset) -> list[Size]:
    return [
        Size(branch.name, branch.zip_bytes)
        for branch in events.branches.values()
        if branch.kind in _READABLE and branch.dtype
    ]


def digest(results: Sequence[object]) -> Digest:
    """Returns what the results say: bins of histograms exactly, sums up to rounding."""
    exact = hashlib.sha256()
    sums = []
    for result in results:
        if hasattr(result, "values"):
            histogram: Hist = result
            exact.update(np.ascontiguousarray(histogram.values(flow=True), np.float64).tobytes())
        else:
            sums.append(float(result))  # type: ignore[arg-type]
    return exact.hexdigest()[:16], tuple(sums)


def same(one: Digest, other: Digest) -> bool:
    """True if both are of the same events."""
    if one[0] != other[0] or len(one[1]) != len(other[1]):
        return False
    # Sums of values of both signs are small compared with what was added.
    scale = max((abs(value) for value in (*one[1], *other[1]) if math.isfinite(value)), default=1.0)
    return all(
        math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9 * scale) or (a != a and b != b)
        for a, b in zip(one[1], other[1], strict=True)
    )
