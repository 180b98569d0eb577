"""Files that coffea reads by itself: chunks of schemas that use uproot's names of branches, the
file as uproot opens it, and the file's UUID.

Knows files by their paths only. Only this module and coffea.py import coffea.
"""

from __future__ import annotations

import copy
import struct
import uuid
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import awkward as ak
from coffea.nanoevents import NanoEventsFactory
from coffea.nanoevents.mapping.uproot import TrivialUprootOpener
from coffea.nanoevents.util import key_to_tuple, tuple_to_key

from ..errors import TreemillError, UnsupportedError
from ..tree.file_tree import FileTree

if TYPE_CHECKING:
    from awkward.forms import RecordForm

    from .._core import Control
    from ..tree.column_source import ColumnSource
    from .chunk_source import Places

    Behavior = Mapping[object, object]

__all__ = ["OwnReader", "Schema", "handle", "uuid_of"]

_SMALL, _BIG = struct.Struct(">4s4x39x16s"), struct.Struct(">4s4x51x16s")
_BIG_VERSIONS = 1_000_000
"""Files of this version or a later one have 64-bit positions in their headers."""


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
            whole = NanoEventsFactory.from_root(
                handle(self._tree.path),
                treepath=self._tree.path_in_file,
                schemaclass=self._schema,
                mode="virtual",
            )
            form = ak.forms.from_dict(whole._schema.form)
            self._opened = whole, Schema(form, whole._schema.behavior())
        whole, schema = self._opened
        columns = copy.copy(whole._mapping)
        columns._start, columns._stop = start, stop
        file, tree, _ = key_to_tuple(whole._partition_key)
        key = tuple_to_key((file, tree, f"{start}-{stop}"))
        described = schema.of({**metadata, "fileuuid": uuid_of(self._tree.path)})
        events = NanoEventsFactory(described, columns, key, mode="virtual").events()
        return events if kept is None else events[kept]


@lru_cache(maxsize=64)
def uuid_of(path: str) -> str:
    """The UUID in a file's header; empty if it is not a ROOT file."""
    with open(path, "rb") as file:
        header = file.read(_BIG.size)
    if len(header) < _BIG.size or header[:4] != b"root":
        return ""
    big = int.from_bytes(header[4:8], "big") >= _BIG_VERSIONS
    return str(uuid.UUID(bytes=(_BIG if big else _SMALL).unpack_from(header)[1]))


def handle(path: str) -> object:
    """The file as uproot opens it. coffea's processors get it with their events."""
    file_uuid = uuid_of(path)
    return TrivialUprootOpener({file_uuid: path}).open_uuid(file_uuid)


def _name(schema: Callable[..., object]) -> str:
    return getattr(schema, "__name__", type(schema).__name__)
