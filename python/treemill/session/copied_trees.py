"""Other trees of a dataset's files, such as NanoAOD's Runs, as snapshots copy them: all entries of
all files, all columns that can be read. Knows chains; knows no query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ..chain.entry_ranges import starts
from ..chain.reader import read
from ..query.snapshot_target import titles_of

if TYPE_CHECKING:
    from ..arrays.columns import Table
    from ..chain.chain import Chain

__all__ = ["CopiedTree", "copied"]

_STEP_BYTES = 32 << 20


class CopiedTree:
    """Implements results.snapshot.Copied."""

    def __init__(self, chain: Chain, name: str) -> None:
        self.name = name
        self._trees = chain.sibling(list(chain.files), name)
        self.kinds = read(self._trees, None, 0, 0).to_table().kinds
        branches = self._trees.branches
        names = list(self.kinds)
        self.titles = titles_of(branches, {name: name for name in names})
        self.counters: dict[str, str] = {}
        for name in names:
            counter = branches[name].counter if name in branches else None
            if counter is not None and counter in names:
                self.counters[name] = counter

    def tables(self) -> Iterator[Table]:
        """Yields all entries, in tables of some MB."""
        trees = self._trees
        for file, (first, end) in enumerate(pairwise(starts(trees.entries))):
            each = sum(trees.bytes[file].values()) // max(end - first, 1)
            step = max(_STEP_BYTES // max(each, 1), 1)
            for start in range(first, end, step):
                yield read(trees, list(self.kinds), start, min(start + step, end)).to_table()


def copied(chain: Chain, names: Sequence[str]) -> list[CopiedTree]:
    """The dataset's other trees of these names. Raises QueryError if a file has none."""
    return [CopiedTree(chain, name) for name in names]
