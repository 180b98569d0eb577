"""Chunks of a chain's files, or of what a node of a query selects and defines. Implements
`chunk_source.ChunkSource`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..errors import MissingPackageError, require_version
from .chunk import ColumnUse
from .chunk_source import OBJECTS, Key, recall, remember
from .packets_and_chunks import ChunkPace, PacketBoundaries, chunk_of
from .selector import Selector

if TYPE_CHECKING:
    import awkward as ak

    from .._core import Control
    from ..data.chain import Chain
    from ..data.file_constants import DataFile
    from ..data.object_schemas import ObjectSchema
    from ..data.open_tree import OpenTree
    from ..errors import SourceError
    from .chunk_source import ChunkReader, Places, ReaderMaker
    from .node_columns import NodeColumns
    from .workload import FileState

__all__ = ["ChainChunks", "reader_of"]

# Which versions of coffea treemill works with. Imports nothing of coffea's.

OLDEST = "2025.7.0"
"""The first version with virtual arrays, of which treemill makes the events of processors."""


def check_coffea() -> None:
    """Raises UnsupportedError if coffea is too old, and MissingPackageError if it is not there."""
    try:
        found = version("coffea")
    except PackageNotFoundError:
        if find_spec("coffea") is None:
            raise MissingPackageError(
                "coffea's schemas and processors need coffea: pip install coffea"
            ) from None
        return  # a copy that was not installed
    require_version("coffea", found, OLDEST, "coffea")


_LEARNING_BYTES = 4_000_000
"""Bytes of a file on a server that the first chunk of a selector may bring though it does not touch
them: as many as come in one or two round trips over an ocean. Each column that it touches without
them takes one."""


class ChainChunks:
    """Makes the chunks of one worker, from one file after another."""

    def __init__(
        self,
        chain: Chain,
        make_reader: ReaderMaker,
        node: NodeColumns | None,
        workers: int,
        key: Key,
        known: Iterable[str] = (),
        chunksize: int | None = None,
        pace: ChunkPace | None = None,
    ) -> None:
        """`node` filters entries and defines columns; None: the selector sees the whole chain. What
        the selector `key` touches is remembered; `known`: what it has touched before. `chunksize`:
        chunks have about as many entries, and are the same in each run, as coffea's are. `pace`:
        how many entries they have otherwise."""
        self._chain = chain
        self._make_reader = make_reader
        self._node = node
        self._workers = workers
        self._pace = pace or ChunkPace()
        self._chunksize = chunksize
        # Of files on servers only it is worth knowing beforehand.
        self._far = chain.trees.far
        self._key = key
        self._touched: set[str] = ColumnUse({*known, *recall(key)}) if self._far else set()
        self._remembered: frozenset[str] = frozenset()
        self._stored: dict[int, tuple[frozenset[str], float]] = {}
        self._reading: tuple[int, OpenTree, ChunkReader] | None = None
        self._learning: object | None = None

    def path(self, file: int) -> str:
        """See ChunkSource."""
        return self._chain.files[file]

    def file(self, file: int) -> DataFile:
        """See ChunkSource."""
        return self._chain.constants.complete(file)

    def changed(self, file: int) -> SourceError | None:
        """See ChunkSource."""
        return self._chain.trees.changed((file,))

    def states(self, files: Iterable[int]) -> Mapping[str, FileState]:
        """See ChunkSource."""
        return self._chain.states(files)

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """See ChunkSource."""
        entries, clusters = self._chain.sizes[file]
        if self._chunksize is not None:  # packets are of whole chunks
            chunk = chunk_of(entries, self._chunksize)
            return entries, (*range(chunk, entries, chunk), entries)

        def usual_baskets() -> int:
            counts = self._chain.baskets[file]
            some = sorted(counts[name] for name in self._touched & set(counts))
            some = some or sorted(counts.values())
            return some[len(some) // 2] if some else 1

        boundaries = PacketBoundaries(self._workers, len(self._chain.locations))
        closed = self._chain.is_closed(file)
        return entries, boundaries.of(entries, clusters, usual_baskets, closed=closed)

    def spans(self, file: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """See ChunkSource."""
        first = start
        while first < stop:
            last = self._end(file, first, stop)
            yield first, last
            first = last

    def _end(self, file: int, first: int, stop: int) -> int:
        """The end of a chunk of a packet that ends at `stop`."""
        if self._chunksize is not None:
            chunk = chunk_of(self._chain.sizes[file][0], self._chunksize)
            return min(stop, (first // chunk + 1) * chunk)
        left = stop - first
        size = self._pace.chunk(self._bytes_per_entry(file, self._touched))
        # Chunks of equal sizes are better than a small one at the end.
        return first + -(-left // -(-left // size))

    def took(self, entries: int, seconds: float) -> None:
        """See ChunkSource."""
        self._pace.took(entries, seconds)
        if self._far and self._touched != self._remembered:
            self._remembered = frozenset(self._touched)
            remember(self._key, self._remembered)

    @property
    def learned(self) -> tuple[Key, frozenset[str]] | None:
        """See ChunkSource."""
        return (self._key, self._remembered) if self._remembered else None

    def open(self, file: int) -> None:
        """See ChunkSource."""
        if file in self._far:
            _ = self._chain.trees[file]

    def opens(self, file: int, then: Callable[[], None]) -> bool:
        """See ChunkSource."""
        return self._chain.trees.opens(file, then)

    def ask(self, file: int, start: int, stop: int, control: Control) -> object | None:
        """See ChunkSource."""
        wanted = self._wanted()
        if file not in self._far or not wanted or start >= stop:
            return None
        return self._chain.trees[file].core.ask(wanted, start, stop, control)

    def ahead(self, file: int) -> int:
        """See ChunkSource."""
        wanted = self._wanted()
        if file not in self._far or not wanted:
            return 0
        core = self._chain.trees[file].core
        most = core.ahead()
        if not most:
            return 0
        known, per_entry = self._stored.get(file, (None, 0.0))
        if known != (now := frozenset(wanted)):
            entries = self._chain.sizes[file][0]
            per_entry = core.bytes_of(wanted, 0, entries) / max(entries, 1)
            self._stored[file] = now, per_entry
        return int(most / per_entry) + 1 if per_entry else 0

    def _wanted(self) -> list[str]:
        """The columns of the file that chunks will touch, and those that the node's filters
        read."""
        filtered = () if self._node is None else self._node.columns
        return sorted({*tuple(self._touched), *filtered})

    def _learn(self, file: int, start: int, stop: int, control: Control) -> object | None:
        """Asks for the columns with the fewest bytes if nothing is known of the selector: what
        it touches of them need not be waited for, one after the other."""
        if file not in self._far or self._touched:
            return None
        tree = self._chain.trees[file]
        names = [branch["path"] for branch in tree.described() if branch["supported"]]
        return tree.core.ask(names, start, stop, control, most=_LEARNING_BYTES)

    def events(
        self, file: int, span: tuple[int, int], stop: int, control: Control
    ) -> ak.Array | None:
        """See ChunkSource."""
        kept, columns = self._kept(file, span)
        if kept is not None and not len(kept):
            return None
        start, last = span
        metadata = {**self._chain.described(file), "entrystart": start, "entrystop": last}
        # All columns may be touched if none has been touched so far.
        touched = self._touched & self._chain.bytes[file].keys()
        bytes_per_entry = self._bytes_per_entry(file, touched or None)
        ahead = min(stop, start + self._pace.ahead(bytes_per_entry))
        self._learning = self._learn(file, start, max(last, ahead), control)
        events = self._reader(file).chunk(start, last, metadata, control, kept, ahead)
        for name, column in columns.items():
            events[name] = column
        if self._node is not None and self._node.objects:
            events.attrs[OBJECTS] = self._node.objects
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
        tree = self._chain.trees[file].opened
        # One reader is enough: a worker stays with one file as long as it can.
        # Several files of a dataset may be one.
        reading = self._reading
        if reading is None or reading[0] != file or reading[1] is not tree:
            reader = self._make_reader(self._chain.table(file), self._touched)
            if self._node is not None:
                reader.refuse(self._node.refused)
            reading = self._reading = file, tree, reader
        return reading[2]

    def _bytes_per_entry(self, file: int, columns: Iterable[str] | None) -> float:
        """Uncompressed bytes of these columns, or of all columns if `columns` is None."""
        sizes = self._chain.bytes[file]
        total = sum(sizes.get(name, 0) for name in (sizes if columns is None else columns))
        return total / max(self._chain.sizes[file][0], 1)


# Chooses what makes a selector's chunks: treemill, or coffea for coffea's own processors.


def reader_of(
    selector: Selector,
    schema: str | Callable[..., object] | None = None,
    datas: ObjectSchema | None = None,
) -> ReaderMaker:
    """Returns what makes the readers of the selector's chunks. `schema` is one of coffea's or
    its name in coffea, which makes the chunks; None: a coffea processor's own schema if it has one,
    else that of the data."""
    processor = getattr(selector, "processor", None)
    is_coffeas = _is_coffeas(processor)
    if schema is None and is_coffeas:
        schema = getattr(processor, "schema", None)
        if isinstance(schema, str):
            from ..data.object_schemas import coffeas  # start-up

            schema = coffeas(schema)
        if schema is None and datas is not None:
            schema = datas.coffea
    if schema is not None or is_coffeas:
        check_coffea()
        from .coffea import coffea_reader  # heavy: coffea

        return functools.partial(coffea_reader, schema=schema)
    from .chunk import EventReader  # heavy: awkward

    return functools.partial(EventReader, collections=selector.collections)


def _is_coffeas(processor: object) -> bool:
    return any(base.__module__.startswith("coffea.") for base in type(processor).__mro__)
