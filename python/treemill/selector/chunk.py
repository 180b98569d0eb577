"""Chunks of events as selectors see them: awkward records whose columns are read when touched.

awkward's virtual arrays do the waiting; here is what reads them. Knows trees and awkward, no
selector and no packet.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import awkward as ak
import numpy as np

from ..arrays.columns import picked
from ..arrays.from_core import layout
from ..errors import FormatError, TreemillError
from .chunk_form import Layout, form_key, layout_of
from .read_ahead import Window

__all__ = ["ChunkReader", "Cut", "Events"]

Buffers = dict[str, Any]


class Events(ak.Array):  # type: ignore[misc]
    """A chunk of events."""

    @property
    def metadata(self) -> Any:
        """Where the events are from: `dataset`, `filename`, `treename`, `entrystart`,
        `entrystop`, and what was given to `treemill.dataset(…, metadata=…)`."""
        return self.attrs["metadata"]

    def __getitem__(self, where: Any) -> Any:
        found = super().__getitem__(where)
        if isinstance(where, list) and where and all(isinstance(name, str) for name in where):
            return ak.with_name(found, "Events")  # some of the fields are events, too
        return found

    @property
    def numba_type(self) -> Any:
        """The chunk as an argument of a compiled function, which cannot read on: all of its fields
        are read before. Give it those that it needs, `events[["MET_pt", "Jet_pt"]]`."""
        self._layout: Any = ak.materialize(self).layout
        return super().numba_type


_BEHAVIOR = {("*", "Events"): Events}


class ChunkReader:
    """Makes the chunks of one tree. `touched` grows by every column that was read."""

    def __init__(
        self,
        tree: Any,
        touched: set[str],
        collections: bool = False,
    ) -> None:
        """`tree` is a file's tree or foreign.Table. `touched` names the columns that the chunks
        before asked for, in this file or others: they are read ahead, together. `collections`: see
        forms.layout_of."""
        self._tree = tree
        self._touched = touched
        self.layout = layout_of(tree, collections)
        self._window: Window | None = None

    def refuse(self, columns: Mapping[str, TreemillError]) -> None:
        """Columns of the tree that are not to be read, and what is raised where one is touched."""
        unreadable = {**self.layout.unreadable, **columns}
        self.layout = replace(self.layout, unreadable=unreadable)

    def chunk(
        self,
        start: int,
        stop: int,
        metadata: dict[str, Any],
        control: Any = None,
        kept: Any = None,
        ahead: int = 0,
    ) -> Any:
        """Entries `[start, stop)`, or of these the ones at `kept`. What earlier chunks touched is
        read at once, other columns when they are touched; of all entries up to `ahead`, where that
        is beyond `stop`: chunks of these are to follow. `control` counts what is read."""
        window = self._window
        if window is None or not window.covers(start, stop):
            window = Window(self._tree, (start, max(stop, ahead)), self.layout.optional)
            self._window = window
        cut = Cut(self.layout, window, self._touched, (start, stop), control, kept)
        return self.made(cut, metadata)

    def made(self, cut: Cut, metadata: dict[str, Any]) -> Any:
        """The chunk of a cut."""
        layout = self.layout
        buffers = cut.prefetched()
        for column, keys in layout.keys.items():
            if keys and keys[0] not in buffers:
                buffers |= {key: cut.getter(column, key) for key in keys}
        for key, counter in layout.offsets.items():
            buffers[key] = cut.offsets(counter)
        return ak.from_buffers(
            layout.form,
            len(cut),
            buffers,
            behavior=_BEHAVIOR,
            attrs={"metadata": metadata},
        )


class Cut:
    """One chunk's columns: cut out of a window, as awkward's buffers."""

    def __init__(
        self,
        layout: Layout,
        window: Window,
        touched: set[str],
        span: tuple[int, int],
        control: Any,
        kept: Any,
    ) -> None:
        self._layout = layout
        self._window = window
        self._touched = touched
        self._span = span
        self._control = control
        self._kept = kept
        self._buffers: Buffers = {}
        self._offsets: dict[str, Any] = {}  # of collections, by the column of counts

    def __len__(self) -> int:
        start, stop = self._span
        return stop - start if self._kept is None else len(self._kept)

    def prefetch(self) -> Collection[str]:
        """Reads the columns that are likely to be wanted, by one plan; gives their names. None
        where that fails: perhaps nobody asks for them this time."""
        columns = sorted(self._touched & self._layout.keys.keys())
        try:
            self._window.read(columns, self._control)
        except TreemillError:
            return ()
        return columns

    def prefetched(self) -> Buffers:
        """The buffers of these columns."""
        try:
            return {
                key: buffer
                for column in self.prefetch()
                for key, buffer in self._unpacked(column).items()
            }
        except TreemillError:
            return {}

    def column(self, name: str) -> Any:
        """The awkward layout of a column, read when it is asked for."""
        self._read(name)
        return self._content(name)

    def getter(self, column: str, key: str) -> Callable[[], Any]:
        """What gives the buffer `key` of a column, when it is called."""

        def get() -> Any:
            if key not in self._buffers:
                self._read(column)
                self._buffers |= self._unpacked(column)
            return self._buffers.pop(key)

        return get

    def offsets(self, counter: str) -> Any:
        """A collection's offsets, or what gives them: those of its column that was read first, or
        else the column of counts is read."""

        def get() -> Any:
            if counter not in self._offsets:
                if counter in self._layout.unreadable:
                    raise self._layout.unreadable[counter]
                # Not noted as touched: next time a column of the collection will give them.
                self._window.read([counter], self._control)
                counts = np.asarray(ak.fill_none(ak.Array(self._content(counter)), 0))
                offsets = np.zeros(len(counts) + 1, np.int64)
                np.cumsum(counts, out=offsets[1:])
                self._offsets[counter] = offsets
            return self._offsets[counter]

        # Where the items are there their offsets must be: awkward would not know how many.
        return self._offsets.get(counter, get)

    def _read(self, column: str) -> None:
        if column in self._layout.unreadable:
            raise self._layout.unreadable[column]
        self._touched.add(column)
        self._window.read([column], self._control)

    def _unpacked(self, column: str) -> Buffers:
        content = self._content(column)
        keys, kind = self._layout.keys[column], type(content)
        # The two kinds that nearly all columns are, without the way through all that there may be.
        if kind is ak.contents.NumpyArray:
            return {keys[0]: content.data}
        if kind is ak.contents.ListOffsetArray and type(content.content) is ak.contents.NumpyArray:
            self._same_offsets(column, content.offsets.data)
            return {keys[0]: content.offsets.data, keys[1]: content.content.data}
        _, _, buffers = ak.to_buffers(ak.Array(content), form_key=form_key(column))
        return dict(buffers)

    def _same_offsets(self, column: str, offsets: Any) -> None:
        """All columns of a collection have as many items."""
        counter = self._layout.counters.get(column)
        if counter is None or np.array_equal(self._offsets.setdefault(counter, offsets), offsets):
            return
        raise FormatError(
            f"branch {column} does not have as many items as {counter} and what else it counts",
            branch=column,
            entries=self._span,
        )

    def _content(self, column: str) -> Any:
        return layout(self._column(column), column in self._layout.optional)

    def _column(self, column: str) -> Any:
        whole = self._window.cut(column, *self._span)
        return whole if self._kept is None else picked(whole, self._kept)
