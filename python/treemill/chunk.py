"""Chunks of events as selectors see them: awkward records whose columns are read when touched.

awkward's virtual arrays do the waiting; here are their forms and what reads them. Knows trees and
awkward, no selector and no packet.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import awkward as ak
import numpy as np
import pyarrow

from .arrow_awkward import nullable
from .errors import UnsupportedError

__all__ = ["ChunkReader", "Events"]

Buffers = dict[str, Any]


class Events(ak.Array):  # type: ignore[misc]
    """A chunk of events."""

    @property
    def metadata(self) -> Any:
        """Where the events are from: `dataset`, `filename`, `treename`, `entrystart`,
        `entrystop`."""
        return self.attrs["metadata"]


class ChunkReader:
    """Makes the chunks of one tree. `touched` grows by every column that was read."""

    def __init__(self, tree: Any, touched: set[str], collections: bool = False) -> None:
        """`tree` is a file's tree or foreign.Table. `touched` names the columns that the chunks
        before asked for, in this file or others: they are read in one call as soon as one of them
        is needed."""
        self._tree = tree
        self._touched = touched
        branches = [b for b in tree.branches() if b["supported"] and b["kind"] != "group"]
        self._names = {b["name"] for b in branches}
        self._optional = {b["name"] for b in branches if b["kind"] == "optional"}
        self._counters: dict[str, str] = {}  # key of a collection's offsets -> column of counts
        self._columns: dict[str, str] = {}  # key of a buffer -> column
        forms = self._column_forms([b["name"] for b in branches])
        if collections:
            forms = self._zipped(branches, forms)

        self._form = ak.forms.RecordForm(
            list(forms.values()),
            list(forms),
            parameters={"__record__": "Events"},
            form_key="events",
        )

    def chunk(
        self,
        start: int,
        stop: int,
        metadata: dict[str, Any],
        control: Any = None,
        kept: Any = None,
    ) -> Any:
        """Entries `[start, stop)`, or of these the ones at `kept`. Nothing is read before a field
        is touched; `control` counts what is."""

        pieces = _Pieces(
            self._tree, (start, stop), control, self._touched, self._names, self._optional, kept
        )
        buffers: dict[str, Callable[[], Any]] = {
            key: pieces.getter(column, key) for key, column in self._columns.items()
        }
        for key, column in self._counters.items():
            buffers[key] = pieces.offsets_getter(column)
        return ak.from_buffers(
            self._form,
            stop - start if kept is None else len(kept),
            buffers,
            behavior={("*", "Events"): Events},
            attrs={"metadata": metadata},
        )

    def _column_forms(self, names: list[str]) -> dict[str, Any]:

        forms = {}
        for name, column in zip(names, self._tree.read(names, 0, 0), strict=True):
            empty = ak.Array(nullable(pyarrow.array(column), name in self._optional))
            form, _, buffers = ak.to_buffers(empty, form_key=_form_key(name))
            forms[name] = form
            self._columns |= dict.fromkeys(buffers, name)
        return forms

    def _zipped(self, branches: list[dict[str, Any]], forms: dict[str, Any]) -> dict[str, Any]:
        """Forms of NanoAOD's collections: Muon_pt and Muon_eta, counted by nMuon, as Muon.pt and
        Muon.eta; MET_pt and MET_phi as MET.pt and MET.phi."""

        groups: dict[str, dict[str, Any]] = {}
        counted: dict[str, str | None] = {}
        plain: dict[str, Any] = {}
        by_name = {b["name"]: b for b in branches}
        for name, form in forms.items():
            group, _, field = name.partition("_")
            counter = by_name[name]["counter"]
            if name in self._optional and counter is not None:
                plain[name] = form  # a list that may be missing has no offsets of its counter's
            elif not field or counted.setdefault(group, counter) != counter:
                plain[name] = form
            else:
                groups.setdefault(group, {})[field] = form
        for group, fields in groups.items():
            counter = counted[group]
            if counter is None or counter not in by_name:
                if group in plain:  # the name is taken, as by Flag beside Flag_good
                    plain |= {f"{group}_{field}": form for field, form in fields.items()}
                    continue
                plain[group] = ak.forms.RecordForm(
                    list(fields.values()), list(fields), form_key=f"{group}#record"
                )
                continue
            items = ak.forms.RecordForm(
                [form.content for form in fields.values()],
                list(fields),
                parameters={"__record__": group},
                form_key=f"{group}#items",
            )
            key = f"{group}#list"
            plain[group] = ak.forms.ListOffsetForm("i64", items, form_key=key)
            self._counters[f"{key}-offsets"] = counter
        return plain


class _Pieces:
    """What was read of one chunk so far."""

    def __init__(
        self,
        tree: Any,
        span: tuple[int, int],
        control: Any,
        touched: set[str],
        known: Iterable[str],
        optional: Collection[str],
        kept: Any,
    ) -> None:
        """`known`: the tree's columns; `optional`: those whose values may be missing."""
        self._tree = tree
        self._span = span
        self._control = control
        self._touched = touched
        self._known = known
        self._optional = optional
        self._kept = kept
        self._contents: dict[str, Any] = {}
        self._buffers: Buffers = {}

    def getter(self, column: str, key: str) -> Callable[[], Any]:
        """What gives the buffer `key` of a column, when it is called."""

        def get() -> Any:
            if key not in self._buffers:
                self._unpack(column)
            return self._buffers.pop(key)

        return get

    def offsets_getter(self, column: str) -> Callable[[], Any]:
        """What gives offsets from a column of counts."""

        def get() -> Any:
            counts = np.asarray(ak.fill_none(ak.Array(self._content(column)), 0))
            offsets = np.zeros(len(counts) + 1, np.int64)
            np.cumsum(counts, out=offsets[1:])
            return offsets

        return get

    def _unpack(self, column: str) -> None:

        array = ak.Array(self._content(column))
        _, _, buffers = ak.to_buffers(array, form_key=_form_key(column))
        self._buffers |= buffers

    def _content(self, column: str) -> Any:
        if column not in self._contents:
            self._read(column)
        return self._contents[column]

    def _read(self, column: str) -> None:
        """The column, and with the first one all that the chunks before wanted too."""

        wanted = {column}
        if not self._contents and column in self._touched:
            wanted |= self._touched & set(self._known)
        self._touched.add(column)
        names = sorted(wanted)
        columns = self._tree.read(names, *self._span, self._control)
        for name, each in zip(names, columns, strict=True):
            array = pyarrow.array(each)
            if self._kept is not None:
                array = array.take(pyarrow.array(self._kept))
            if array.null_count and name not in self._optional:
                raise UnsupportedError(
                    f"branch {name} has missing values, where its type has none", branch=name
                )
            self._contents[name] = nullable(array, name in self._optional)


def _form_key(column: str) -> str:
    # A column is a tree of nodes: awkward numbers them.
    return column.replace("{", "{{").replace("}", "}}") + "#{id}"
