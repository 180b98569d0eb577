"""Rows as workers collect them: beside the core's partial, packet by packet. Knows what a workload
is; knows no worker and no file.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from typing import Any

from ..arrays.columns import Table
from ..arrays.rows import Collected, Order, Sink
from ..arrays.stored import Store, Stored
from ..worker.workload import Forwarding, Partial, Workload

__all__ = ["Collecting", "CollectingWorkload", "load"]


class _RowsPartial:
    """A core partial and, for some of its bookings, rows."""

    def __init__(self, core: Any, sinks: Mapping[int, Sink], made_for: Any = None) -> None:
        """`made_for`: the core.Bound that made `core`, where it is to be filled."""
        self.core = core
        self._made_for = made_for
        self.rows = {index: Collected(sink) for index, sink in sinks.items()}
        self._stores: dict[int, Store] = {}
        if made_for is not None:
            self._describe(core)

    def _describe(self, core: Any) -> None:
        """Notes the types in the file that a core partial was made for."""
        for index, columns in core.row_types():
            self.rows[index].describe(columns)

    def as_of(self, bound: Any) -> None:
        """Goes on with rows of the types that this file's columns have: a core partial keeps those
        that it was made with, and would squeeze other values into them."""
        if self._made_for is not bound:
            if self._made_for is not None:
                fresh = bound.partial()
                self._describe(fresh)
                fresh.merge(self.core)
                self.core = fresh
            self._made_for = bound

    def take(self, order: Order) -> None:
        """Moves the core's rows here; they begin at this place."""
        for index, columns in self.core.take_rows():
            collected = self.rows[index]
            table = Table({column.name: column for column in columns})
            collected.bytes += table.nbytes
            collected.check()
            piece: Table | Stored = table
            if collected.sink.folder is not None:
                from ..writing.tables import unequal_counts  # heavy: numpy

                piece = self._store(index, collected.sink.folder, table)
                collected.unequal |= unequal_counts(table)
            collected.pieces.append((order, piece))

    def _store(self, index: int, folder: str, table: Any) -> Stored:
        if index not in self._stores:  # where the folder is gone, so is who wanted the rows
            self._stores[index] = Store(folder, folder)
        return self._stores[index].add(table)

    def close(self) -> None:
        """Ends this worker's files; later pieces go to others."""
        stores, self._stores = self._stores, {}
        for store in stores.values():
            store.close()

    def discard(self) -> None:
        """Removes what was written and not handed over."""
        stores, self._stores = self._stores, {}
        for store in stores.values():
            store.discard()

    def merge(self, other: _RowsPartial) -> None:
        self.core.merge(other.core)
        for index, rows in self.rows.items():
            rows.merge(other.rows[index])

    def dumps(self) -> bytes:
        return pickle.dumps((self.core.dumps(), self.rows))

    def results(self) -> list[Any]:
        """The core's, with `Collected` for rows."""
        found = self.core.results()
        for index, rows in self.rows.items():
            found[index] = Collected(
                rows.sink, list(rows.pieces), rows.bytes, list(rows.files), set(rows.unequal)
            )
        return list(found)


def load(data: bytes, loads: Callable[[bytes], Any]) -> Any:
    """The partial that `dumps` of one wrote; `loads` is the core's."""
    core, rows = pickle.loads(data)
    made = _RowsPartial(loads(core), {})
    made.rows = rows
    return made


class CollectingWorkload(Forwarding[Partial]):
    """A workload with rows around one whose partials are the core's."""

    def __init__(self, inner: Workload[Any], sinks: Mapping[int, Sink]) -> None:
        super().__init__(inner)
        self._sinks = sinks

    def bound(self, file: int) -> Collecting:
        """See Workload."""
        return Collecting(self.inner.bound(file), file, self._sinks)

    def finish(self, partial: _RowsPartial) -> _RowsPartial:
        """The partial, its files complete."""
        partial.close()
        return partial

    def discard(self, partial: _RowsPartial) -> None:
        """Removes its files."""
        partial.discard()


class Collecting:
    """The core's query of one file, with rows."""

    def __init__(self, bound: Any, file: int, sinks: Mapping[int, Sink]) -> None:
        self._bound = bound
        self._file = file
        self._sinks = sinks

    @property
    def columns(self) -> list[str]:
        """Those that the query reads."""
        columns: list[str] = self._bound.columns
        return columns

    def partial(self) -> _RowsPartial:
        """See Bound."""
        return _RowsPartial(self._bound.partial(), self._sinks, self._bound)

    def run(self, start: int, stop: int, partial: _RowsPartial, control: Any) -> int:
        """The core ends early where its rows have filled their room: they are moved, it goes on."""
        at = start
        partial.as_of(self._bound)
        while True:
            ended = self._bound.run(at, stop, partial.core, control)
            reached = stop if ended is None else int(ended)
            partial.take((self._file, at))
            if reached >= stop or reached == at or control.stopped:
                return reached
            at = reached
