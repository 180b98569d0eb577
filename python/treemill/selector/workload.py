"""A selector at work in one worker: chunks go in, its output is handed over as partials.

Implements worker.workload.Workload, so that a worker runs packets of selectors as it runs those of
queries.
"""

from __future__ import annotations

import copy
import functools
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import QueryError, TreemillError, WorkerError
from ..results.file_output import file_outputs, writing_at
from ..results.parts import Client, work_for
from ..worker.packet_borders import packet_borders
from .additive import Additive, Chunks
from .chunk_size import PACKET_SECONDS, Pace
from .materialised import materialised
from .merge import check, check_neutral, merge
from .partial import OutputPartial
from .selector import Selector, commits_only_at_end

if TYPE_CHECKING:
    from ..chain.chain import Chain
    from ..worker.workload import Workload
    from .node_columns import Derived

__all__ = ["Cycles", "SelectorWorkload", "blocks", "reader_of"]

_BLOCK = 10_000
"""Cycles in a chunk, at most."""


class Cycles:
    """What `process` gets where there is no data: cycles `[start, stop)` to generate."""

    def __init__(self, start: int, stop: int) -> None:
        self.start = start
        self.stop = stop

    def __len__(self) -> int:
        return self.stop - self.start

    def __repr__(self) -> str:
        return f"<cycles {self.start}..{self.stop}>"


def blocks(cycles: int) -> int:
    """Cycles in one chunk. It depends on the number of cycles only, and so do random numbers."""
    return max(1, min(_BLOCK, -(-cycles // 1000)))


def reader_of(selector: Selector, schema: Any = None) -> Callable[[Any, set[str]], Any]:
    """What makes a reader of the selector's chunks from a file's table and what is touched.
    `schema`: one of coffea's, which makes them; else a coffea processor's own."""
    processor = getattr(selector, "processor", None)
    is_coffeas = _is_coffeas(processor)
    if schema is None and is_coffeas:
        schema = getattr(processor, "schema", None)
    if schema is not None or is_coffeas:
        from .coffea import coffea_reader  # heavy: coffea

        return functools.partial(coffea_reader, schema=schema)
    from .chunk import ChunkReader  # heavy: awkward

    return functools.partial(ChunkReader, collections=selector.collections)


def _is_coffeas(processor: Any) -> bool:
    return any(base.__module__.startswith("coffea.") for base in type(processor).__mro__)


class SelectorWorkload:
    """A worker's selector, and the trees that it goes through."""

    def __init__(
        self,
        selector: Selector,
        inputs: Mapping[str, Any],
        chain: Chain | None,
        *,
        cycles: int,
        seed: int,
        workers: int,
        name: str,
        derived: Derived | None = None,
        beside: Workload[Any] | None = None,
        client: Client | None = None,
        schema: Any = None,
    ) -> None:
        """`selector` becomes this worker's own. Without a dataset there are `cycles`. `beside`: of
        the bookings that it takes along. `schema`: see reader_of."""
        self._schema = schema
        self.derived = derived
        self.beside = beside
        self.selector = selector
        self.chain = chain
        self._client = client
        self.touched: set[str] = set()
        self.pace = Pace()
        self.seed = seed
        self.name = name
        self._inputs = inputs
        self._cycles = cycles
        self._workers = workers
        self._begun = False
        self._empty: dict[str, Any] = {}
        self.chunks = Chunks(f"{selector.title}.output")
        self._ends = commits_only_at_end(selector)
        self._readers: dict[int, tuple[Any, Any]] = {}
        self._aside: Any = None

    def begin(self) -> None:
        """Runs begin_worker; afterwards each partial starts with a copy of what that made."""
        if self._client is not None:
            work_for(self._client)
        self.selector.inputs = self._inputs
        self.selector.output = {}
        try:
            self.selector.begin_worker(self._inputs)
        except Exception as error:
            raise self.failure(error, "begin_worker") from error
        self._check_output(check_neutral)
        self._empty = self.selector.output
        self._begun = True

    def size(self, file: int) -> tuple[int, tuple[int, ...]]:
        """The tree's entries, and where packets are best cut."""
        if self.chain is None:
            step = blocks(self._cycles)
            return self._cycles, tuple(range(step, self._cycles, step))
        entries, clusters = self.chain.sizes[file]

        def usual_baskets() -> int:
            counts = self.chain.baskets[file] if self.chain is not None else {}
            some = sorted(counts[name] for name in self.touched & set(counts))
            some = some or sorted(counts.values())
            return some[len(some) // 2] if some else 1

        return entries, packet_borders(entries, clusters, usual_baskets, self._workers)

    def aside(self, control: Any) -> Any:
        """Counts what the bookings beside take, which nobody asks for: one for the whole pass."""
        if self._aside is None:
            self._aside = type(control)()
        return self._aside

    def bound(self, file: int) -> _Bound:
        """The selector on the tree of this file."""
        return _Bound(self, file)

    def partial(self, file: int) -> OutputPartial:
        """An empty one, of the types that this file has."""
        if not self._begun:
            self.begin()
        beside = None if self.beside is None else self.beside.bound(file).partial()
        return OutputPartial(self._additive(copy.deepcopy(self._empty)), beside)

    def keep_additive(self, before: Any) -> None:
        """After `process`, which began with this output, and may have bound another one."""
        output: Any = self.selector.output
        if output is before:
            output.adopt()
        elif isinstance(output, dict):
            before.check_replacement(output)
            self.selector.output = self._additive(output)

    def _additive(self, output: dict[str, Any]) -> Additive:
        return Additive(output, self.chunks, self.chunks.name)

    def place(self, file: int) -> tuple[str, int]:
        """The path; packets count from the file's first entry."""
        return ("cycles" if self.chain is None else self.chain.files[file]), 0

    def finish(self, partial: OutputPartial) -> OutputPartial:
        """The partial as it is handed over."""
        if self._ends:
            self.selector.output = partial.output
            try:
                self.selector.end_worker()
            except Exception as error:
                raise self.failure(error, "end_worker") from error
            partial.output = self.selector.output
            self._begun = False
        self._check_output(check)
        if isinstance(partial.output, Additive):
            partial.output = partial.output.plain()
        try:
            partial.output = materialised(partial.output)
        except Exception as error:
            raise self.failure(error, "process") from error
        for file in file_outputs(partial.output):
            file.close()
        if self.beside is not None:
            partial.beside = self.beside.finish(partial.beside)
        return partial

    def discard(self, partial: OutputPartial) -> None:
        """The partial is void."""
        for file in file_outputs(partial.output):
            file.discard()
        if self.beside is not None:
            self.beside.discard(partial.beside)

    def reader(self, file: int) -> Any:
        """Of chunks of the file's tree."""
        assert self.chain is not None
        tree = self.chain.trees[file]
        known = self._readers.get(file)
        if known is None or known[0] is not tree:
            self._readers.clear()  # a worker keeps to one file while it can
            of_table = reader_of(self.selector, self._schema)
            made = of_table(self.chain.table(file), self.touched)
            if self.derived is not None:
                made.refuse(self.derived.refused)
            self._readers[file] = known = (tree, made)
        return known[1]

    def chunk_size(self, file: int) -> int:
        """Entries in the next chunk."""
        if self.chain is None:
            return blocks(self._cycles)
        return self.pace.chunk(self._bytes_of_entry(file, self.touched))

    def ahead(self, file: int, start: int, stop: int) -> int:
        """How far columns may be read when the entries from `start` on are, of a packet that ends
        at `stop`."""
        # Before anything was touched, everything may be.
        each = self._bytes_of_entry(file, self.touched or None)
        return min(stop, start + self.pace.ahead(each))

    def _bytes_of_entry(self, file: int, columns: Iterable[str] | None) -> float:
        """Of these columns, uncompressed; None: of all."""
        assert self.chain is not None
        sizes = self.chain.bytes[file]
        found = sum(sizes.get(name, 0) for name in (sizes if columns is None else columns))
        return float(found / max(self.chain.sizes[file][0], 1))

    def failure(
        self,
        error: BaseException,
        method: str,
        file: str | None = None,
        entries: tuple[int, int] | None = None,
    ) -> TreemillError:
        """The selector's own error as ours, with its traceback; one of ours as it is."""
        found: BaseException | None = error
        while found is not None:  # awkward puts its own around what reading raised
            if isinstance(found, TreemillError):
                return found
            found = found.__cause__ or found.__context__
        return WorkerError(
            f"{self.selector.title}.{method} raised {type(error).__name__}: {error}",
            worker=self.name,
            traceback="".join(traceback.format_exception(error)),
            file=file,
            entries=entries,
        )

    def _check_output(self, checks: Any) -> None:
        output = self.selector.output
        if not isinstance(output, dict):
            raise QueryError(
                f"{self.selector.title}.output is a dict by name, not {type(output).__name__}"
            )
        checks(output, f"{self.selector.title}.output")


class _Bound:
    """Implements what a worker needs of core.Bound."""

    def __init__(self, trees: SelectorWorkload, file: int) -> None:
        self._trees = trees
        self._file = file

    def partial(self) -> OutputPartial:
        """An empty one."""
        return self._trees.partial(self._file)

    def run(self, start: int, stop: int, partial: OutputPartial, control: Any) -> int | None:
        """Processes entries `[start, stop)`; gives back where it ended, if before: told to stop, or
        because it took long."""
        ended = self._chunk_by_chunk(start, stop, partial, control)
        if self._trees.beside is not None:
            reached = stop if ended is None else ended
            aside = self._trees.aside(control)
            self._trees.beside.bound(self._file).run(start, reached, partial.beside, aside)
        return ended

    def _chunk_by_chunk(
        self, start: int, stop: int, partial: OutputPartial, control: Any
    ) -> int | None:
        began = before = time.perf_counter()
        for first, last in self._chunks(start, stop):
            if control.stopped or before - began > PACKET_SECONDS:
                return first
            self._process((first, last), stop, partial, control)
            control.add_entries(last - first)
            now = time.perf_counter()
            self._trees.pace.took(last - first, now - before)
            before = now
        return None

    def _chunks(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        first = start
        while first < stop:
            left = stop - first
            size = self._trees.chunk_size(self._file)
            # Chunks of one size rather than a small one at the end.
            last = first + (
                -(-left // -(-left // size)) if self._trees.chain is not None else min(left, size)
            )
            yield first, last
            first = last

    def _process(
        self, chunk: tuple[int, int], end: int, partial: OutputPartial, control: Any
    ) -> None:
        """A chunk of a packet that ends at `end`."""
        import numpy as np

        trees, (start, stop) = self._trees, chunk
        kept, columns = self._kept(start, stop)
        if kept is not None and not len(kept):
            return
        selector = trees.selector
        selector.output = partial.output
        key = np.random.SeedSequence(trees.seed, spawn_key=(self._file, start, stop))
        selector.rng = np.random.Generator(np.random.PCG64(key))
        path = trees.chain.files[self._file] if trees.chain is not None else None
        writing_at((self._file, start))
        try:
            events = self._events(chunk, end, control, kept)
            for name, column in columns.items():
                events[name] = column
            trees.chunks.begin()
            returned = materialised(selector.process(events))
            trees.keep_additive(partial.output)
            trees.chunks.end()
        except MemoryError:
            raise
        except Exception as error:
            raise trees.failure(error, "process", path, (start, stop)) from error
        finally:
            writing_at(None)
        if returned is not None:
            if not isinstance(returned, Mapping):
                raise QueryError(
                    f"{selector.title}.process returned {type(returned).__name__}; it should "
                    "return a dict of results, or nothing"
                )
            name = trees.chunks.name
            check(returned, name)
            selector.output = merge(selector.output, returned, name)
        trees._check_output(check)
        partial.output = selector.output

    def _kept(self, start: int, stop: int) -> tuple[Any, dict[str, Any]]:
        """Which of the entries are wanted, None for all, and what is defined for them."""
        trees = self._trees
        if trees.derived is not None:
            return trees.derived.within(self._file, start, stop)
        selected = None if trees.chain is None else trees.chain.selected
        return (None if selected is None else selected.within(self._file, start, stop)), {}

    def _events(self, chunk: tuple[int, int], end: int, control: Any, kept: Any) -> Any:
        start, stop = chunk
        chain = self._trees.chain
        if chain is None:
            return Cycles(start, stop)
        metadata = {**chain.described(self._file), "entrystart": start, "entrystop": stop}
        ahead = self._trees.ahead(self._file, start, end)
        reader = self._trees.reader(self._file)
        return reader.chunk(start, stop, metadata, control, kept, ahead)
