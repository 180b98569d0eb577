"""Chunks of a chain's files, or of what a node of a query selects and defines. Implements
`chunk_source.ChunkSource`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ..worker.packet_boundaries import PacketBoundaries
from .chunk_size import Pace

if TYPE_CHECKING:
    import awkward as ak

    from .._core import Control
    from ..chain.chain import Chain
    from ..tree.file_tree import FileTree
    from .chunk_source import ChunkReader, Places, ReaderMaker
    from .node_columns import NodeColumns

__all__ = ["ChainChunks"]


class ChainChunks:
    """Makes the chunks of one worker, from one file after another."""

    def __init__(
        self, chain: Chain, make_reader: ReaderMaker, node: NodeColumns | None, workers: int
    ) -> None:
        """`node` filters entries and defines columns; None: the selector sees the whole chain."""
        self._chain = chain
        self._make_reader = make_reader
        self._node = node
        self._workers = workers
        self._pace = Pace()
        self._touched: set[str] = set()
        self._reading: tuple[FileTree, ChunkReader] | None = None

    def path(self, file: int) -> str:
        """See ChunkSource."""
        return self._chain.files[file]

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """See ChunkSource."""
        entries, clusters = self._chain.sizes[file]

        def usual_baskets() -> int:
            counts = self._chain.baskets[file]
            some = sorted(counts[name] for name in self._touched & set(counts))
            some = some or sorted(counts.values())
            return some[len(some) // 2] if some else 1

        boundaries = PacketBoundaries(self._workers)
        return entries, boundaries.of(entries, clusters, usual_baskets)

    def spans(self, file: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """See ChunkSource."""
        first = start
        while first < stop:
            left = stop - first
            size = self._pace.chunk(self._bytes_per_entry(file, self._touched))
            # Chunks of equal sizes are better than a small one at the end.
            last = first + -(-left // -(-left // size))
            yield first, last
            first = last

    def took(self, entries: int, seconds: float) -> None:
        """See ChunkSource."""
        self._pace.took(entries, seconds)

    def events(
        self, file: int, span: tuple[int, int], stop: int, control: Control
    ) -> ak.Array | None:
        """See ChunkSource."""
        kept, columns = self._kept(file, span)
        if kept is not None and not len(kept):
            return None
        start, last = span
        metadata = {**self._chain.described(file), "entrystart": start, "entrystop": last}
        # Any column may be touched if none has been touched so far.
        bytes_per_entry = self._bytes_per_entry(file, self._touched or None)
        ahead = min(stop, start + self._pace.ahead(bytes_per_entry))
        events = self._reader(file).chunk(start, last, metadata, control, kept, ahead)
        for name, column in columns.items():
            events[name] = column
        return events

    def _kept(
        self, file: int, span: tuple[int, int]
    ) -> tuple[Places | None, Mapping[str, ak.contents.Content]]:
        """The places of the entries that are wanted, None for all, and the columns that are defined
        for them."""
        if self._node is not None:
            return self._node.within(file, *span)
        selected = self._chain.selected
        return (None if selected is None else selected.within(file, *span)), {}

    def _reader(self, file: int) -> ChunkReader:
        tree = self._chain.trees[file]
        # One reader is enough: a worker stays with one file as long as it can.
        if self._reading is None or self._reading[0] is not tree:
            reader = self._make_reader(self._chain.table(file), self._touched)
            if self._node is not None:
                reader.refuse(self._node.refused)
            self._reading = tree, reader
        return self._reading[1]

    def _bytes_per_entry(self, file: int, columns: Iterable[str] | None) -> float:
        """Uncompressed bytes of these columns, or of all columns if `columns` is None."""
        sizes = self._chain.bytes[file]
        total = sum(sizes.get(name, 0) for name in (sizes if columns is None else columns))
        return total / max(self._chain.sizes[file][0], 1)
