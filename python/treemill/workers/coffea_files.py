"""Files that coffea reads by itself: chunks of schemas that use uproot's names of branches, the
file as uproot opens it, and the file's UUID.

Knows files by their paths only. Only this module and coffea.py import coffea.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import awkward as ak
from coffea.nanoevents import NanoEventsFactory
from coffea.nanoevents.mapping.base import UUIDOpener
from coffea.nanoevents.util import key_to_tuple, tuple_to_key

from ..data.file_tree import FileTree
from ..data.foreign import ExtendedTree
from ..errors import TreemillError, UnsupportedError

if TYPE_CHECKING:
    from awkward.forms import RecordForm

    from .._core import Control
    from ..data.column_source import ColumnSource
    from .chunk_source import Places

    Behavior = Mapping[object, object]

__all__ = ["OwnReader", "Schema", "file_tree", "partition_key"]


class Schema:
    """What a schema of coffea's has made of a tree: a form, and the behaviors of its records."""

    def __init__(self, form: RecordForm, behavior: Behavior) -> None:
        self.form = form
        self._behavior = behavior

    def behavior(self) -> Behavior:
        """The behaviors; coffea calls this."""
        return self._behavior

    def of(self, metadata: Mapping[str, object]) -> Schema:
        """A copy with a chunk's metadata, which coffea keeps in the form."""
        form = self.form
        parameters = {**form.parameters, "metadata": metadata}
        record_form = ak.forms.RecordForm(
            form.contents, form.fields, parameters=parameters, form_key=""
        )
        return Schema(record_form, self._behavior)


class OwnReader:
    """Makes the chunks of one tree as coffea's runner does: coffea reads the file. Columns that are
    not in the tree are not seen. Implements `chunk_source.ChunkReader`."""

    def __init__(self, tree: ColumnSource, schema: Callable[..., object]) -> None:
        if not isinstance(tree, FileTree):
            raise UnsupportedError(
                f"with {_name(schema)} coffea reads the file by itself, without the columns of "
                "friends and arrays"
            )
        self._tree = tree
        self._schema = schema
        self._opened: tuple[NanoEventsFactory, Schema] | None = None

    def refuse(self, columns: Mapping[str, TreemillError]) -> None:
        """See ChunkReader. No column may be refused: coffea would show the file's."""
        for name in columns:
            raise UnsupportedError(
                f"with {_name(self._schema)} coffea reads the file by itself, and {name} as it "
                "is there: give what is defined a name of its own"
            )

    def chunk(
        self,
        start: int,
        stop: int,
        metadata: Mapping[str, object],
        control: Control | None = None,
        kept: Places | None = None,
        ahead: int = 0,
    ) -> ak.Array:
        """See ChunkReader. coffea reads a field when it is touched."""
        if self._opened is None:
            file = self._tree.in_uproot()
            whole = NanoEventsFactory.from_root(
                file,
                treepath=self._tree.path_in_file,
                schemaclass=self._schema,
                mode="virtual",
            )
            whole._mapping._fileopener = _Opened(file)
            form = ak.forms.from_dict(whole._schema.form)
            self._opened = whole, Schema(form, whole._schema.behavior())
        whole, schema = self._opened
        columns = copy.copy(whole._mapping)
        columns._start, columns._stop = start, stop
        of_file, tree, _ = key_to_tuple(whole._partition_key)
        key = tuple_to_key((of_file, tree, f"{start}-{stop}"))
        described = schema.of({**metadata, "fileuuid": of_file})
        events = NanoEventsFactory(described, columns, key, mode="virtual").events()
        return events if kept is None else events[kept]


class _Opened(UUIDOpener):  # type: ignore[misc]
    """Gives coffea the file that is open, whatever else it wants to read of it."""

    def __init__(self, file: object) -> None:
        self._file = file

    def open_uuid(self, uuid: str) -> object:
        return self._file


def file_tree(tree: ColumnSource) -> FileTree | None:
    """The tree of a file among its columns; None if they are not of a file."""
    while isinstance(tree, ExtendedTree):
        tree = tree.tree
    return tree if isinstance(tree, FileTree) else None


def partition_key(tree: FileTree | None, start: int, stop: int) -> str:
    """coffea's name of the entries `[start, stop)` of a file: its UUID, the tree's key and the
    entries. Processors name the files that they write after it."""
    file, path = ("", "") if tree is None else (tree.uuid or "", tree.key)
    key: str = tuple_to_key((file, path, f"{start}-{stop}"))
    return key


def _name(schema: Callable[..., object]) -> str:
    return getattr(schema, "__name__", type(schema).__name__)
