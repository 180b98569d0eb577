"""What a selector's pass needs, in a form that can be sent to workers. Opens nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from ..frozen import frozen
from ..results.file_output import file_outputs
from ..results.parts import Client, client_here
from .chunk_source import remember
from .merge import merge
from .packets_and_chunks import FIRST_OF_COFFEA, SECONDS_OF_COFFEA, SHARE_OF_COFFEA, ChunkPace
from .selector import ProcessorSelector, Selector

if TYPE_CHECKING:
    from .._core import Control
    from ..data.chain import Chain
    from .chunk_source import ChunkSource, Key
    from .node_columns import Derivation
    from .query_task import QueryTask
    from .selector import Output
    from .workload import FileState, Partial, Span

__all__ = [
    "ChainData",
    "CycleData",
    "Cycles",
    "OutputPartial",
    "SelectorJob",
    "drop_files",
    "finish_files",
]

# Chunks of a selector that runs without data: numbers of cycles, in each of which it generates an
# event. Implements `chunk_source.ChunkSource`.

_LARGEST_CHUNK = 10_000
_CHUNKS = 1000


@frozen
class Cycles:
    """What `process` gets if there is no data: cycles `[start, stop)` to generate."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    def __repr__(self) -> str:
        return f"<cycles {self.start}..{self.stop}>"


class CycleChunks:
    """Cuts a number of cycles into chunks. Their size depends on the number of cycles only, and so
    do random numbers."""

    def __init__(self, cycles: int) -> None:
        self._cycles = cycles
        self._size = max(1, min(_LARGEST_CHUNK, -(-cycles // _CHUNKS)))

    def path(self, file: int) -> None:
        """See ChunkSource."""

    def file(self, file: int) -> None:
        """See ChunkSource."""

    def changed(self, file: int) -> None:
        """See ChunkSource."""

    def states(self, files: Iterable[int]) -> dict[str, FileState]:
        """See ChunkSource."""
        return {}

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """See ChunkSource."""
        return self._cycles, tuple(range(self._size, self._cycles, self._size))

    def spans(self, file: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """See ChunkSource."""
        for first in range(start, stop, self._size):
            yield first, min(first + self._size, stop)

    @property
    def learned(self) -> None:
        """Nothing: there are no columns."""

    def open(self, file: int) -> None:
        """Nothing: there is no file."""

    def opens(self, file: int, then: Callable[[], None]) -> bool:
        """Nothing: there is no file."""
        return False

    def ask(self, file: int, start: int, stop: int, control: Control) -> None:
        """Nothing: there is no file."""

    def ahead(self, file: int) -> int:
        """None: there is no file."""
        return 0

    def took(self, entries: int, seconds: float) -> None:
        """See ChunkSource."""

    def events(self, file: int, span: tuple[int, int], stop: int, control: Control) -> Cycles:
        """See ChunkSource."""
        return Cycles(*span)


# A selector's output as workers hand it over, and the end of the files in a merged output.


class OutputPartial:
    """What a selector has put into its output since the last commit, with the partial of the
    bookings that are computed along with it, if any."""

    def __init__(self, output: Output, bookings: Partial | None = None) -> None:
        self.output = output
        self.bookings = bookings
        self.learned: tuple[Key, frozenset[str]] | None = None
        """What is to be remembered of the selector in the process that gets this."""

    @property
    def is_full(self) -> bool:
        """See Partial. A selector commits when it should: its bookings grow meanwhile."""
        return False

    def merge(self, other: OutputPartial) -> None:
        """See Partial."""
        self.output = merge(self.output, other.output)
        if self.bookings is not None and other.bookings is not None:
            self.bookings.merge(other.bookings)

    def dumps(self, before: bytes = b"") -> bytes:
        """See Partial."""
        import cloudpickle

        bookings = None if self.bookings is None else self.bookings.dumps()
        data: bytes = cloudpickle.dumps((self.output, bookings, self.learned), protocol=5)
        return before + data if before else data

    @staticmethod
    def loads(
        data: bytes, load: Callable[[bytes], Partial] | None = None, first: int = 0
    ) -> OutputPartial:
        """Rebuilds a partial from its `dumps()`, which begins at `first`. `load` rebuilds the
        bookings' partial."""
        import pickle

        output, bookings, learned = pickle.loads(memoryview(data)[first:])
        if learned is not None:
            remember(*learned)
        return OutputPartial(output, None if load is None else load(bookings))

    def results(self) -> list[object]:
        """See Partial. The output is a copy, which does not change if more is merged."""
        bookings = [] if self.bookings is None else self.bookings.results()
        return [copy.deepcopy(self.output), *bookings]


def finish_files(output: object) -> None:
    """Puts the files that workers have written into their places."""
    for file in file_outputs(output):
        file.finish()


def drop_files(output: object) -> None:
    """Removes what workers have written, because there will be no result."""
    for file in file_outputs(output):
        file.drop()


class _Data(Protocol):
    """What a selector runs on."""

    @property
    def small_files(self) -> bool:
        """See Task.small_files."""

    def share(self, selector: Selector) -> int:
        """See Task.share_entries."""

    def preload(self, selector: Selector) -> None:
        """Imports the modules that make chunks."""

    def chunks(self, selector: Selector, workers: int, known: Iterable[str]) -> ChunkSource:
        """Returns what makes the chunks of one of this many workers. `known`: see SelectorJob."""


@frozen
class ChainData:
    """A chain, or what a node of a query selects and defines of it."""

    chain: Chain
    derivation: Derivation | None = None
    """What the node adds to the chain; None if the selector runs on the dataset itself."""
    schema: str | Callable[..., object] | None = None
    """One of coffea's schemas, or its name, which makes the events; see `readers.reader_of`."""
    chunksize: int | None = None
    """About the entries of a chunk, as coffea counts them; None: as many as suit."""

    @property
    def small_files(self) -> bool:
        """See Task.small_files."""
        return not self.chain.trees.far

    def is_coffeas(self, selector: Selector) -> bool:
        """True if the selector is called as coffea calls a processor."""
        return self.schema is not None or isinstance(selector, ProcessorSelector)

    def share(self, selector: Selector) -> int:
        """See Task.share_entries."""
        return SHARE_OF_COFFEA if self.is_coffeas(selector) and self.chunksize is None else 0

    def preload(self, selector: Selector) -> None:
        """See _Data."""
        from . import chain_chunks  # noqa: F401  # start-up
        from .chain_chunks import reader_of  # start-up

        reader_of(selector, self.schema, self.chain.schema)
        if self.derivation is not None:
            from . import node_columns  # noqa: F401  # heavy: numpy

    def chunks(self, selector: Selector, workers: int, known: Iterable[str]) -> ChunkSource:
        """See _Data."""
        from .chain_chunks import (
            ChainChunks,  # start-up
            reader_of,  # start-up
        )
        from .chunk_source import key_of  # start-up

        node = None
        if self.derivation is not None:
            from .node_columns import NodeColumns  # heavy: numpy

            node = NodeColumns(self.derivation, self.chain)
        reader = reader_of(selector, self.schema, self.chain.schema)
        is_coffeas = self.is_coffeas(selector)
        pace = ChunkPace(FIRST_OF_COFFEA, SECONDS_OF_COFFEA) if is_coffeas else ChunkPace()
        key = key_of(selector)
        return ChainChunks(self.chain, reader, node, workers, key, known, self.chunksize, pace)


@frozen
class CycleData:
    """No data: a number of cycles, in each of which the selector generates an event."""

    cycles: int
    small_files: bool = False

    def share(self, selector: Selector) -> int:
        """See Task.share_entries."""
        return 0

    def preload(self, selector: Selector) -> None:
        """See _Data."""

    def chunks(self, selector: Selector, workers: int, known: Iterable[str]) -> ChunkSource:
        """See _Data."""

        return CycleChunks(self.cycles)


@frozen
class SelectorJob:
    """What a selector's pass needs, but for the inputs, which are sent separately."""

    selector: Selector
    data: _Data
    seed: int
    workers: int
    spans: Sequence[Span] | None = None
    """The parts of files that are wanted; None: all entries."""
    bookings: QueryTask | None = None
    """Bookings that are computed in the same pass."""
    known: frozenset[str] = frozenset()
    """The columns that the selector has touched in earlier runs."""
    second_runs: bool = True
    """Whether a packet may be run by two workers; the first result counts."""
    client: Client = field(default_factory=client_here)
    """The owner of the files that workers write."""
