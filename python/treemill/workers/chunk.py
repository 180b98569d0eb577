"""Chunks of events as selectors see them: awkward records whose columns are read when touched.

awkward's virtual arrays call this module when they are touched. Knows trees and awkward; knows no
selector and no packet.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import awkward as ak
import numpy as np

from ..data.columns import column_of, picked
from ..data.from_core import layout
from ..errors import FormatError, TreemillError, UnsupportedError
from .chunk_form import Layout, form_key, layout_of
from .chunk_source import OBJECTS

if TYPE_CHECKING:
    from .._core import Column, Control
    from ..data.column_source import ColumnSource

__all__ = ["ChunkColumns", "ColumnUse", "EventReader", "Events"]

# Which columns a selector's chunks have touched, and so will touch again. Pure: it reads nothing.
# Columns that are read ahead are given to awkward as they are, and then it cannot be seen whether
# they are touched. So now and then a chunk is a *look*: it is given columns only when it touches
# them. A column that several looks in a row have not touched is no longer expected.

_PATIENCE = 3
"""Looks in a row that do not touch a column before it is dropped: one may have no entry that needs
it."""
_RARELY = 64
"""Chunks between looks, at most; the first ones are 1, 2, 4 … chunks apart."""


class ColumnUse(set[str]):
    """The columns that the next chunk is expected to touch.

    >>> touched = ColumnUse()
    >>> touched.begin()  # the first chunk is a look
    True
    >>> touched.add("MET_pt")
    >>> sorted(touched)
    ['MET_pt']
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        """`known`: what earlier runs have touched."""
        super().__init__(known)
        self._looking = False
        self._chunks = 0
        self._next = 1
        self._seen: set[str] = set()
        self._idle: dict[str, int] = {}

    def add(self, name: str) -> None:
        """Notes that the chunk has touched a column."""
        super().add(name)
        self._seen.add(name)

    def begin(self) -> bool:
        """Begins a chunk. Says whether it is a look."""
        if self._looking:
            self._end_look()
        self._seen = set()
        self._chunks += 1
        self._looking = self._chunks >= self._next
        if self._looking:
            self._next = self._chunks + min(self._chunks, _RARELY)
        return self._looking

    def _end_look(self) -> None:
        idle = {name: self._idle.get(name, 0) + 1 for name in self - self._seen}
        self.difference_update(name for name, looks in idle.items() if looks >= _PATIENCE)
        self._idle = {name: looks for name, looks in idle.items() if looks < _PATIENCE}


# Columns that are read ahead: a range of entries of one tree, from which chunks are cut. Baskets
# are decompressed once per window rather than once per chunk, and all columns that are likely to
# be touched are read together. Knows trees and columns; no selector, no packet and no awkward.


class Window:
    """Entries `[start, stop)` of a tree. The columns that were read are kept."""

    def __init__(
        self, tree: ColumnSource, span: tuple[int, int], optional: Collection[str]
    ) -> None:
        """`optional` names the columns whose values may be missing."""
        self.start, self.stop = span
        self._tree = tree
        self._optional = optional
        self._columns: dict[str, Column] = {}

    def covers(self, start: int, stop: int) -> bool:
        """True if these entries are in the window."""
        return self.start <= start and stop <= self.stop

    def read(self, names: Sequence[str], control: Control | None) -> None:
        """Reads these columns together, unless they are read already. `control` counts what is
        read."""
        missing = [name for name in names if name not in self._columns]
        if not missing:
            return
        columns = self._tree.read(missing, self.start, self.stop, control)
        for name, each in zip(missing, columns, strict=True):
            column: Column = column_of(each)
            if column.null_count and name not in self._optional:
                raise UnsupportedError(
                    f"branch {name} has missing values, but its type allows none", branch=name
                )
            self._columns[name] = column

    def cut(self, name: str, start: int, stop: int) -> Column:
        """The entries `[start, stop)` of a column that was read; nothing is copied."""
        return self._columns[name].slice(start - self.start, stop - start)


if TYPE_CHECKING:
    from awkward.contents import Content
    from numpy.typing import NDArray

    from .._core import Column, Control
    from ..data.column_source import ColumnSource
    from .chunk_source import Places

    Buffer = NDArray[np.generic]


Buffers = dict[str, "Buffer | Callable[[], Buffer]"]
"""awkward's buffers by key, or functions that give them."""


class Events(ak.Array):  # type: ignore[misc]
    """A chunk of events."""

    @property
    def metadata(self) -> Mapping[str, object]:
        """The origin of the events: `dataset`, `filename`, `treename`, `entrystart`,
        `entrystop`, and what was given to `treemill.dataset(…, metadata=…)`."""
        metadata: Mapping[str, object] = self.attrs["metadata"]
        return metadata

    def __getattr__(self, name: str) -> ak.Array:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if not name.startswith("_") and name in self.attrs.get(OBJECTS, ()):
                raise AttributeError(
                    f"{name} has objects, which only expressions can use: define what the selector "
                    f'needs of them, as in define("{name}_pt", "{name}.pt")'
                ) from None
            raise

    def __getitem__(self, where: object) -> ak.Array:
        array = super().__getitem__(where)
        if isinstance(where, list) and where and all(isinstance(name, str) for name in where):
            return ak.with_name(array, "Events")  # records of some of the fields are events too
        return array

    @property
    def numba_type(self) -> object:
        """The type of the chunk as an argument of a compiled function. Such a function cannot read,
        so all fields of the chunk are read first: give it those that it needs,
        `events[["MET_pt", "Jet_pt"]]`."""
        self._layout: Content = ak.materialize(self).layout
        return super().numba_type


_BEHAVIOR = {("*", "Events"): Events}


class EventReader:
    """Makes the chunks of one tree. Implements `chunk_source.ChunkReader`."""

    def __init__(self, tree: ColumnSource, touched: set[str], collections: bool = False) -> None:
        """`touched` names the columns that earlier chunks have touched, in this file or others:
        they are read ahead, together. Each column that is read is added to it; a `ColumnUse` says
        which chunks are looks. `collections`: see `chunk_form.layout_of`."""
        self._tree = tree
        self._touched = touched
        self.layout = layout_of(tree, collections)
        self._window: Window | None = None

    def refuse(self, columns: Mapping[str, TreemillError]) -> None:
        """See ChunkReader."""
        unreadable = {**self.layout.unreadable, **columns}
        self.layout = replace(self.layout, unreadable=unreadable)

    def chunk(
        self,
        start: int,
        stop: int,
        metadata: Mapping[str, object],
        control: Control | None = None,
        kept: Places | None = None,
        ahead: int = 0,
    ) -> ak.Array:
        """See ChunkReader. Columns that earlier chunks have touched are read at once."""
        window = self._window
        if window is None or not window.covers(start, stop):
            window = Window(self._tree, (start, max(stop, ahead)), self.layout.optional)
            self._window = window
        touched = self._touched
        is_look = isinstance(touched, ColumnUse) and touched.begin()
        cut = ChunkColumns(self.layout, window, touched, (start, stop), control, kept, is_look)
        return self.made(cut, metadata)

    def made(self, cut: ChunkColumns, metadata: Mapping[str, object]) -> ak.Array:
        """Makes the chunk from its columns."""
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


class ChunkColumns:
    """The columns of one chunk, cut out of a window, as awkward's buffers."""

    def __init__(
        self,
        layout: Layout,
        window: Window,
        touched: set[str],
        span: tuple[int, int],
        control: Control | None,
        kept: Places | None,
        is_look: bool = False,
    ) -> None:
        """`is_look`: columns are given when they are touched, though they are read before."""
        self._layout = layout
        self._window = window
        self._touched = touched
        self._span = span
        self._control = control
        self._kept = kept
        self._is_look = is_look
        self._buffers: dict[str, Buffer] = {}
        self._offsets: dict[str, Buffer] = {}  # of collections, by the column of counts

    @property
    def span(self) -> tuple[int, int]:
        """The entries of the tree that these are, or are among."""
        return self._span

    def __len__(self) -> int:
        start, stop = self._span
        return stop - start if self._kept is None else len(self._kept)

    def prefetch(self) -> Collection[str]:
        """Reads the columns that earlier chunks have touched, and gives their names. Gives none if
        reading fails: this chunk may not touch them."""
        columns = sorted(self._touched & self._layout.keys.keys())
        try:
            self._window.read(columns, self._control)
        except TreemillError:
            return ()
        return columns

    def prefetched(self) -> Buffers:
        """The buffers of the columns that earlier chunks have touched; none if this is a look."""
        if self._is_look:
            self.prefetch()
            return {}
        try:
            return {
                key: buffer
                for column in self.prefetch()
                for key, buffer in self._unpacked(column).items()
            }
        except TreemillError:
            return {}

    def column(self, name: str) -> Content:
        """Reads a column, as an awkward layout."""
        self._read(name)
        return self._content(name)

    def getter(self, column: str, key: str) -> Callable[[], Buffer]:
        """A function that gives the buffer `key` of a column, which it reads."""

        def get() -> Buffer:
            if key not in self._buffers:
                self._read(column)
                self._buffers |= self._unpacked(column)
            return self._buffers.pop(key)

        return get

    def offsets(self, counter: str) -> Buffer | Callable[[], Buffer]:
        """The offsets of a collection, or a function that gives them: from the column of the
        collection that was read first, or from the column of counts if none was read."""

        def get() -> Buffer:
            if counter not in self._offsets:
                if counter in self._layout.unreadable:
                    raise self._layout.unreadable[counter]
                # Not noted as touched: in the next chunk a column of the collection gives them.
                self._window.read([counter], self._control)
                counts = np.asarray(ak.fill_none(ak.Array(self._content(counter)), 0))
                offsets = np.zeros(len(counts) + 1, np.int64)
                np.cumsum(counts, out=offsets[1:])
                self._offsets[counter] = offsets
            return self._offsets[counter]

        # If items have been read, give their offsets: awkward cannot tell how many items there are.
        return self._offsets.get(counter, get)

    def _read(self, column: str) -> None:
        if column in self._layout.unreadable:
            raise self._layout.unreadable[column]
        self._touched.add(column)
        self._window.read([column], self._control)

    def _unpacked(self, column: str) -> dict[str, Buffer]:
        content = self._content(column)
        keys, kind = self._layout.keys[column], type(content)
        # Nearly all columns are of these two kinds, for which awkward's general way is slow.
        if kind is ak.contents.NumpyArray:
            return {keys[0]: content.data}
        if kind is ak.contents.ListOffsetArray and type(content.content) is ak.contents.NumpyArray:
            self._same_offsets(column, content.offsets.data)
            return {keys[0]: content.offsets.data, keys[1]: content.content.data}
        _, _, buffers = ak.to_buffers(ak.Array(content), form_key=form_key(column))
        return dict(buffers)

    def _same_offsets(self, column: str, offsets: Buffer) -> None:
        """Checks that all columns of a collection have equally many items."""
        counter = self._layout.counters.get(column)
        if counter is None or np.array_equal(self._offsets.setdefault(counter, offsets), offsets):
            return
        raise FormatError(
            f"branch {column} does not have as many items as its counter {counter} and the other "
            "branches of this counter",
            branch=column,
            entries=self._span,
        )

    def _content(self, column: str) -> Content:
        return layout(self._column(column), column in self._layout.optional)

    def _column(self, column: str) -> Column:
        whole = self._window.cut(column, *self._span)
        if self._kept is None:
            return whole
        kept: Column = picked(whole, self._kept)
        return kept
