"""Other trees of a dataset's files, such as NanoAOD's Runs, as snapshots copy them: all entries of
all files, all columns that can be read. Knows chains; knows no query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ..data.entry_ranges import starts
from ..data.reader import read
from ..errors import UnsupportedError
from ..query.snapshot_columns import without_dimensions
from ..query.snapshot_target import titles_of

if TYPE_CHECKING:
    from ..data.chain import Chain
    from ..data.columns import Table

__all__ = ["CopiedTree", "copied"]

_STEP_BYTES = 32 << 20


class CopiedTree:
    """Implements results.snapshot.Copied."""

    def __init__(self, chain: Chain, name: str) -> None:
        self.name = name
        self._trees = chain.sibling(list(chain.files), name)
        kinds = read(self._trees, None, 0, 0).to_table().kinds
        self._stored = {without_dimensions(column): column for column in kinds}
        if len(self._stored) < len(kinds):
            raise UnsupportedError(
                f"copy_trees= cannot copy {name}, in which the names of two branches differ by "
                "dimensions only: leave it out"
            )
        self.kinds = {own: kinds[column] for own, column in self._stored.items()}
        branches = self._trees.branches
        self.titles = titles_of(branches, self._stored)
        self.counters: dict[str, str] = {}
        for own, column in self._stored.items():
            counter = branches[column].counter if column in branches else None
            if counter is not None and counter in self._stored:
                self.counters[own] = counter

    def tables(self) -> Iterator[Table]:
        """Yields all entries, in tables of some MB."""
        trees = self._trees
        for file, (first, end) in enumerate(pairwise(starts(trees.entries))):
            each = sum(trees.bytes[file].values()) // max(end - first, 1)
            step = max(_STEP_BYTES // max(each, 1), 1)
            for start in range(first, end, step):
                yield read(trees, self._stored, start, min(start + step, end)).to_table()


def copied(chain: Chain, names: Sequence[str]) -> list[CopiedTree]:
    """The dataset's other trees of these names. Raises QueryError if a file has none."""
    return [CopiedTree(chain, name) for name in names]
