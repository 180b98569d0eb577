"""Collects rows on workers, packet by packet, in addition to the core's partial. Knows what a
workload is; knows no worker and no file.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ..data.columns import Table
from ..data.rows import CollectedRows, Order, Sink, Store, Stored, types_of
from ..scheduling import FAILED
from .workload import Bound, Forwarding, Ran, Turn, Workload, with_core

if TYPE_CHECKING:
    from treemill import _core

    from .._core import Column, Control
    from .workload import Span

    Taken = Sequence[tuple[int, Sequence[Column]]]
    """Columns of rows, by the index of the booking that has them."""

__all__ = ["Collecting", "CollectingWorkload", "load"]


class _RowsPartial:
    """A core partial and, for some of its bookings, rows."""

    def __init__(self, core: _core.Partial, sinks: Mapping[int, Sink]) -> None:
        self.core = core
        self._made_for: Bound[_core.Partial] | None = None
        """The bound query whose types `core` has, if that is known."""
        self.rows = {index: CollectedRows(sink) for index, sink in sinks.items()}
        self._none: dict[int, Table] = {}
        self._stores: dict[int, Store] = {}
        if sinks:
            self._describe(core)

    def _describe(self, core: _core.Partial) -> None:
        """Sees the types in the file that a core partial was made for."""
        types = dict(core.row_types())
        self._none = {index: _table(columns) for index, columns in types.items()}
        for index, rows in self.rows.items():
            varied = rows.sink.varied
            rows.empty = types_of(types[index]) if varied is None else varied.types(types)

    def note_types(self) -> None:
        """Notes the types of the core partial: some of its entries are of a file that has them. A
        file without entries says nothing, whichever worker meets it."""
        for rows in self.rows.values():
            rows.note(rows.empty)

    def as_of(self, bound: Bound[_core.Partial]) -> None:
        """Continues with rows of the types that this file's columns have. A core partial keeps the
        types that it was made with, and would force other values into them."""
        if self._made_for is not bound:
            fresh = bound.partial()
            self._describe(fresh)
            fresh.merge(self.core)
            self.core = fresh
            self._made_for = bound
            self.note_types()

    def take(self, order: Order, *taken: Taken) -> None:
        """Takes over rows of the core, which follow each other. `order`: the place of the first of
        them."""
        tables: dict[int, list[Table]] = {}
        for each in taken:
            for index, table in self._tables(each):
                tables.setdefault(index, []).append(table)
        for index, some in tables.items():
            table = some[0] if len(some) == 1 else Table.joined(some)
            collected = self.rows[index]
            collected.bytes += table.nbytes
            collected.check()
            piece: Table | Stored = table
            if collected.sink.folder is not None:
                from ..writing.tables import unequal_counts, unequal_lists  # heavy: numpy

                piece = self._store(index, collected.sink.folder, table)
                collected.unequal |= unequal_counts(table)
                collected.unequal |= unequal_lists(table, collected.sink.uncounted)
            collected.pieces.append((order, piece))

    def _tables(self, taken: Taken) -> Iterator[tuple[int, Table]]:
        """Rows by the index of the booking that has them."""
        tables = {index: _table(columns) for index, columns in taken}
        for index, rows in self.rows.items():
            varied = rows.sink.varied
            if varied is None:
                if index in tables:
                    yield index, tables[index]
            elif not tables.keys().isdisjoint(varied.results):
                yield index, varied.table(tables, self._none)

    def _store(self, index: int, folder: str, table: Table) -> Stored:
        if index not in self._stores:  # if the folder is gone, the pass that wants the rows is too
            self._stores[index] = Store(folder, folder)
        return self._stores[index].add(table)

    def close(self) -> None:
        """Ends this worker's files; later pieces go to other files."""
        for store in self._stores.values():
            store.close()
        self._stores = {}

    def discard(self) -> None:
        """Removes files that were written and not handed over."""
        stores, self._stores = self._stores, {}
        for store in stores.values():
            store.discard()

    @property
    def is_full(self) -> bool:
        return self.core.is_full

    def merge(self, other: _RowsPartial) -> None:
        self.core.merge(other.core)
        for index, rows in self.rows.items():
            rows.merge(other.rows[index])

    def dumps(self, before: bytes = b"") -> bytes:
        return before + pickle.dumps((self.core.dumps(), self.rows))

    def results(self) -> list[object]:
        """The core's results, with `CollectedRows` for rows."""
        results: list[object] = list(self.core.results())
        for index, rows in self.rows.items():
            results[index] = CollectedRows(
                rows.sink,
                list(rows.pieces),
                rows.bytes,
                list(rows.files),
                rows.empty,
                set(rows.unequal),
            )
        return results


def _table(columns: Sequence[Column]) -> Table:
    return Table({column.name: column for column in columns})


def load(data: bytes, first: int, loads: Callable[[bytes], _core.Partial]) -> _RowsPartial:
    """Rebuilds a partial from the bytes of its `dumps`, which begin at `first`; `loads` is the
    core's."""
    core, rows = pickle.loads(memoryview(data)[first:])
    partial = _RowsPartial(loads(core), {})
    partial.rows = rows
    return partial


class PlainWorkload(Workload["_core.Partial"], Protocol):
    """A workload of the core."""

    def run_plain(
        self, spans: Sequence[Span], turn: Turn, partial: _core.Partial | None, control: Control
    ) -> tuple[_core.Partial | None, Ran, Sequence[Sequence[tuple[int, Taken]]]]:
        """Runs small files as far as the core can do it by itself. Gives the rows of each file, in
        pieces, with the entries from which on they were selected."""


class CollectingWorkload(Forwarding["_core.Partial"]):
    """Adds rows to a workload whose partials are the core's."""

    def __init__(self, inner: PlainWorkload, sinks: Mapping[int, Sink]) -> None:
        super().__init__(inner)
        self._plain = inner
        self._sinks = sinks

    def run_files(
        self, spans: Sequence[Span], turn: Turn, partial: _RowsPartial | None, control: Control
    ) -> tuple[_RowsPartial | None, Ran]:
        """See Workload."""

        def run_plain(
            spans: Sequence[Span], turn: Turn, partial: _RowsPartial | None
        ) -> tuple[_RowsPartial | None, Ran]:
            before = None if partial is None else partial.core
            core, ran, rows = self._plain.run_plain(spans, turn, before, control)
            if core is not None:
                partial = partial or _RowsPartial(core, self._sinks)
                if any(ran.entries):
                    partial.note_types()
                try:
                    for order, taken in _in_a_row(spans, rows):
                        partial.take(order, *taken)
                except Exception:  # the file's own order meets it again
                    return partial, Ran(ended=FAILED)
            return partial, ran

        return with_core(self, run_plain, spans, turn, partial, control)

    def bound(self, file: int) -> Collecting:
        """See Workload."""
        return Collecting(self.inner.bound(file), file, self._sinks)

    def finish(self, partial: _RowsPartial) -> _RowsPartial:
        """Completes the partial's files."""
        partial.close()
        return partial

    def discard(self, partial: _RowsPartial) -> None:
        """Removes the partial's files."""
        partial.discard()


def _in_a_row(
    spans: Sequence[Span], rows: Sequence[Sequence[tuple[int, Taken]]]
) -> Iterator[tuple[Order, list[Taken]]]:
    """The rows of parts between which nothing of the dataset lies, with the place of the first."""
    order: Order | None = None
    taken: list[Taken] = []
    next_file = -1
    for (file, first, stop), pieces in zip(spans, rows, strict=False):
        if (file, first) != (next_file, 0) and order is not None:
            yield order, taken
            order, taken = None, []
        next_file = file + 1 if stop is None else -1
        for at, piece in pieces:
            order = order or (file, at)
            taken.append(piece)
    if order is not None:
        yield order, taken


class Collecting:
    """A query bound to one file, with rows."""

    def __init__(self, bound: Bound[_core.Partial], file: int, sinks: Mapping[int, Sink]) -> None:
        self._bound = bound
        self._file = file
        self._sinks = sinks

    def partial(self) -> _RowsPartial:
        """See Bound."""
        return _RowsPartial(self._bound.partial(), self._sinks)

    def run(self, start: int, stop: int, partial: _RowsPartial, control: _core.Control) -> int:
        """Runs the core until `stop`. It ends early when its buffer of rows is full: the rows are
        moved, and it continues."""
        at = reached = start
        if start < stop:
            partial.as_of(self._bound)
        try:
            while True:
                ended = self._bound.run(at, stop, partial.core, control)
                reached = stop if ended is None else int(ended)
                partial.take((self._file, at), partial.core.take_rows())
                is_over = reached >= stop or reached == at or control.stopped
                if is_over or partial.is_full:
                    return reached
                at = reached
        finally:
            if reached < stop:  # the bytes of the rest may have been asked for
                self._bound.forget(reached, stop)

    def prefetch(self, start: int, stop: int, control: _core.Control) -> None:
        """See Bound."""
        self._bound.prefetch(start, stop, control)

    def forget(self, start: int, stop: int) -> None:
        """See Bound."""
        self._bound.forget(start, stop)

    def ahead(self) -> int:
        """See Bound."""
        return self._bound.ahead()

    def bytes_of(self, start: int, stop: int) -> int:
        """See Bound."""
        return self._bound.bytes_of(start, stop)
