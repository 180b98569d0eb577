"""The steps in which a reader goes through a tree, the branches that it reads, and how the baskets
lie. Pure: knows numbers of entries and bytes, no file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from ...errors import QueryError
from ..exerciser import Size

__all__ = ["STEP", "ahead", "branches", "fresh", "layout", "steps"]

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


def steps(
    clusters: Sequence[int], entries: int, stored: int, lies: str = "flushed"
) -> list[tuple[int, int]]:
    """Ranges of entries, one after the other: clusters, cut into equal parts where they have more
    than STEP of the `stored` bytes of all entries. A tree that `lies` "unordered" has no clusters,
    whatever the ends of its baskets look like: it is one.

    >>> steps([0, 60], 100, 1000), steps([0, 60], 100, 1000, "unordered")
    ([(0, 60), (60, 100)], [(0, 100)])
    """
    starts = clusters if lies == "flushed" else ()
    edges = sorted({0, *(start for start in starts if 0 < start < entries)})
    ranges: list[tuple[int, int]] = []
    for start, stop in zip(edges, [*edges[1:], entries], strict=True):
        length = stop - start
        if length <= 0:
            continue
        parts = min(max(-(-stored * length // max(entries, 1) // STEP), 1), length)
        cuts = [start + length * part // parts for part in range(parts + 1)]
        ranges += pairwise(cuts)
    return ranges


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


def fresh(bytes_of: Callable[[int, int], int], ranges: Sequence[tuple[int, int]]) -> Iterator[int]:
    """The bytes of each step without those of baskets that the step before has, too: together, all
    baskets once. `bytes_of`: the bytes of the baskets that have entries of a range.

    >>> tens = lambda start, stop: 100 * (-(-stop // 10) - start // 10)
    >>> list(fresh(tens, [(0, 5), (5, 12), (12, 20)]))
    [100, 100, 0]
    """
    for start, stop in ranges:
        shared = 0
        if start:
            beside = bytes_of(start - 1, start) + bytes_of(start, start + 1)
            shared = beside - bytes_of(start - 1, start + 1)
        yield bytes_of(start, stop) - shared
