"""A query bound to a dataset's trees, file by file. All workers of a process share it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from ..errors import QueryError
from .packet_boundaries import PacketBoundaries
from .side_work import FILES_AT_ONCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from treemill import _core

    from ..data.chain import Chain
    from ..errors import SourceError
    from .file_query import PerFile
    from .workload import FileState

__all__ = ["QueryWorkload"]

_LEAST_ENTRY = 1e-3
"""Bytes per entry, at least, if entries that are fetched ahead are counted."""


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
        self._binding: dict[int, threading.Lock] = {}  # files that are being bound
        # Of files on servers only it is worth asking what they want ahead; a path may lead to a
        # server, too, which the file says when it is open.
        self._far = set(chain.trees.far)
        self._opens: bool | None = None
        self._bytes_per_entry: dict[int, float] = {}

    def begin(self) -> None:
        """Nothing to do."""

    def place(self, file: int) -> tuple[str, int]:
        """The path; packets count from the file's first entry."""
        return self._chain.locations[file].path, 0

    def changed(self, file: int) -> SourceError | None:
        """See Workload."""
        return self._chain.trees.changed((file,))

    def states(self, files: Iterable[int]) -> Mapping[str, FileState]:
        """See Workload."""
        return self._chain.states(files)

    def finish(self, partial: _core.Partial) -> _core.Partial:
        """The partial as it is."""
        return partial

    def discard(self, partial: _core.Partial) -> None:
        """Nothing to do."""

    def bound(self, file: int) -> _core.Bound:
        """The query bound to the tree of this file."""
        with self._lock:
            known = self._known(file)
            if known is not None:
                return known
            binding = self._binding.setdefault(file, threading.Lock())
        # A packet may begin while its file is still being opened for its bytes to be fetched: it
        # waits for that, and does not open the file again.
        with binding:
            with self._lock:
                known = self._known(file)
            return self._bind(file, binding) if known is None else known

    def _known(self, file: int) -> _core.Bound | None:
        known = self._bound.get(file)
        if known is not None:
            self._bound.move_to_end(file)
        return known

    def _bind(self, file: int, binding: threading.Lock) -> _core.Bound:
        try:
            bound = self._query.bind(self._chain, file)
        except QueryError as error:
            # Files of a dataset may differ, so say which one lacks a branch.
            if error.file is None and len(self._chain.locations) > 1:
                error.file = self._chain.locations[file].path
            raise
        with self._lock:
            self._bound[file] = bound
            if bound.ahead():
                self._far.add(file)
            # Each holds the buffers of its columns: memory may grow with workers, not with files.
            most = self._workers * (FILES_AT_ONCE if self._far else 1)
            while len(self._bound) > most:
                del self._bound[self._least_wanted()]
            if self._binding.get(file) is binding:
                del self._binding[file]
        return bound

    def _least_wanted(self) -> int:
        """The file that leaves for another one: one that is done, if there is any. The bytes of the
        others may have been asked for, and would be asked for again."""
        spent = (file for file, bound in self._bound.items() if bound.is_spent())
        return next(spent, next(iter(self._bound)))

    def ahead(self, file: int) -> int:
        """The entries whose bytes the core wants ahead; 0 for files on disks."""
        if file not in self._far:
            return 0
        try:
            bound = self.bound(file)
            wanted = bound.ahead(opens=self._asks_servers())
            return int(wanted / self._entry_bytes(file, bound)) + 1 if wanted else 0
        except Exception:  # the packet that needs the file will meet it again
            return 0

    def _asks_servers(self) -> bool:
        """True if the pass has to ask servers to open files: several are opened at once, then, also
        where all that is read of them later is in memory."""
        if self._opens is None:
            self._opens = self._chain.trees.asks_servers()
        return self._opens

    def _entry_bytes(self, file: int, bound: _core.Bound) -> float:
        known = self._bytes_per_entry.get(file)
        if known is None:
            entries = self._chain.sizes[file][0]
            known = max(bound.bytes_of(0, entries) / max(entries, 1), _LEAST_ENTRY)
            self._bytes_per_entry[file] = known
        return known

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
        closed = self._chain.is_closed(file)
        return entries, boundaries.of(
            entries, clusters, fewest_baskets, is_remembered, closed=closed
        )
