"""A query bound to a dataset's trees, file by file. All workers of a process share it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from ..errors import QueryError
from ..worker.packet_boundaries import PacketBoundaries

if TYPE_CHECKING:
    from treemill import _core

    from ..chain.chain import Chain
    from .file_query import PerFile

__all__ = ["QueryWorkload"]


class QueryWorkload:
    """Implements worker.workload.Workload. Thread-safe."""

    def __init__(
        self, query: PerFile, chain: Chain, workers: int, *, remember: bool = False
    ) -> None:
        """`remember`: whether the workers share the cache of this process."""
        self._query = query
        self._chain = chain
        self._workers = workers
        self._remember = remember
        self._bound: OrderedDict[int, _core.Bound] = OrderedDict()
        self._sizes: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Nothing to do."""

    def place(self, file: int) -> tuple[str, int]:
        """The path; packets count from the file's first entry."""
        return self._chain.locations[file].path, 0

    def finish(self, partial: _core.Partial) -> _core.Partial:
        """The partial as it is."""
        return partial

    def discard(self, partial: _core.Partial) -> None:
        """Nothing to do."""

    def bound(self, file: int) -> _core.Bound:
        """The query bound to the tree of this file."""
        with self._lock:
            known = self._bound.get(file)
            if known is not None:
                self._bound.move_to_end(file)
                return known
        try:
            made = self._query.bind(
                self._chain.trees[file],
                self._chain.foreign(file),
                lambda: self._chain.first_entry(file),
            )
        except QueryError as error:
            # Files of a dataset may differ, so say which one lacks a branch.
            if error.file is None and len(self._chain.locations) > 1:
                error.file = self._chain.locations[file].path
            raise
        with self._lock:
            made = self._bound.setdefault(file, made)
            # Each holds the buffers of its columns: memory may grow with workers, not with files.
            while len(self._bound) > self._workers:
                self._bound.popitem(last=False)
        return made

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """The tree's entries, and the entries before which packets may end. Both the session and
        the worker that opens the file ask for them."""
        known = self._sizes.get(file)
        if known is None:
            known = self._sizes[file] = self._size(file)
        return known

    def _size(self, file: int) -> tuple[int, tuple[int, ...]]:
        entries, clusters = self._chain.sizes[file]

        def fewest_baskets() -> int:
            return self.bound(file).fewest_baskets()

        def is_remembered() -> bool:
            return self._remember and self.bound(file).is_remembered()

        boundaries = PacketBoundaries(self._workers, len(self._chain.locations))
        return entries, boundaries.of(entries, clusters, fewest_baskets, is_remembered)
