"""The steps in which a reader goes through a tree, the branches that it reads, and how the baskets
lie. Pure: knows numbers of entries and bytes, no file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...errors import QueryError
from ..exerciser import Size

__all__ = ["STEP", "ahead", "branches", "layout", "steps"]

STEP = 4 << 20
"""Stored bytes of a step, about, at most: a reader ends between steps."""


def layout(clusters: Sequence[int], baskets: Sequence[int]) -> str:
    """ "flushed" if each branch with data has a basket in each cluster, as ROOT writes since
    TTree::AutoFlush; else "unordered". `clusters`: their first entries; `baskets`: how many each
    branch has.

    >>> layout([0, 100], [2, 4, 2, 0]), layout([0, 50, 100], [3, 1])
    ('flushed', 'unordered')
    """
    ordered = all(number >= len(clusters) for number in baskets if number)
    return "flushed" if ordered else "unordered"


def branches(sizes: Sequence[Size], what: str) -> tuple[str, ...]:
    """The branches that are read. Raises QueryError if there are none."""
    if what == "whole":
        return ()
    if not sizes:
        raise QueryError("there is no branch of numbers to read")
    if what == "all":
        return tuple(size.branch for size in sizes)
    ordered = sorted(sizes, key=lambda size: (size.zip_bytes, size.branch))
    both = (ordered[-1].branch, ordered[(len(ordered) - 1) // 2].branch)
    return tuple(dict.fromkeys(both))


def steps(clusters: Sequence[int], entries: int, stored: int) -> list[tuple[int, int]]:
    """Ranges of entries, one after the other: clusters, cut into equal parts where they have more
    than STEP of the `stored` bytes of all entries.

    >>> steps([0, 60], 100, 1000)
    [(0, 60), (60, 100)]
    """
    edges = sorted({0, *(start for start in clusters if 0 < start < entries)})
    found: list[tuple[int, int]] = []
    for start, stop in zip(edges, [*edges[1:], entries], strict=True):
        length = stop - start
        if length <= 0:
            continue
        parts = min(max(-(-stored * length // max(entries, 1) // STEP), 1), length)
        cuts = [start + length * part // parts for part in range(parts + 1)]
        found += pairwise(cuts)
    return found


def ahead(sizes: Sequence[int], window: int) -> Iterator[int]:
    """Before each step: up to which step the bytes should have been asked for, so that those that
    are not used yet are at most `window`; at least the step itself, if there is a window.

    >>> list(ahead([10, 10, 10, 10], 25))
    [2, 3, 4, 4]
    """
    until = held = 0
    for number, size in enumerate(sizes):
        while until < len(sizes) and (until <= number or held + sizes[until] <= window):
            held += sizes[until]
            until += 1
        yield until
        held -= size
