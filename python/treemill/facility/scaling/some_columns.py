"""Which branches make up a share of a dataset's bytes, as nearly as whole branches can. Pure: it
knows names and sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..exerciser import Size

__all__ = ["nearest", "share_of"]


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
